"""The searches of a finding in words: the command that repeats one, and what breaks in it."""

from __future__ import annotations

from elrcheck.catalogue.finding_file import Finding, FindingRun
from elrcheck.model.knobs import plain


def searches(finding: Finding) -> list[str]:
    """Each search with what breaks, followed by its control."""
    lines = []
    for run in finding.runs:
        lines.append(f"{command(run)}   # {broken(run)}")
        if run.control is not None:
            lines.append(f"{command(run, control=True)}   # control: none of these breaks")
    return lines


def command(run: FindingRun, control: bool = False) -> str:
    """The command line that repeats a search, or its control."""
    repaired = run.control if control else None
    knobs = {**run.knobs, **(repaired.knobs if repaired else {})}
    values = {name: plain(value) for name, value in knobs.items()}
    sets = (f"{name}={str(v).lower() if isinstance(v, bool) else v}" for name, v in values.items())
    options = " ".join(["--liveness"] * run.liveness + [f"--scope {run.scope}"])
    variant = repaired.variant if repaired else run.variant
    return " ".join(["elrcheck check", options, f"--variant {variant}", *(f"--set {one}" for one in sets)])


def broken(run: FindingRun) -> str:
    """What breaks and at which depth, the nearest first."""
    by_depth: dict[int, list[str]] = {}
    for name, depth in run.breaks.items():
        by_depth.setdefault(depth, []).append(name)
    found = ", ".join(f"{', '.join(names)} at {depth}" for depth, names in sorted(by_depth.items()))
    return found or "holds"
