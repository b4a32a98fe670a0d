"""The searches of a finding as text: the command that repeats each, and what it breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from elrcheck.base.typed.configuration import setting_text
from elrcheck.catalogue.finding_file import Finding, FindingRun, OtherSearch


def searches(finding: Finding) -> list[str]:
    """Return each search with what it breaks, followed by its control."""
    lines = []
    for run in finding.runs:
        lines.append(f"{command(run)}   # {broken(run)}")
        if run.control is not None:
            lines.append(f"{command(run, control=True)}   # control: none of these breaks")
    return [*lines, *map(elsewhere, finding.elsewhere)]


def elsewhere(search: OtherSearch) -> str:
    """Return the command line that repeats a search in another model, with what it breaks."""
    options = f"--model {search.model} --scope {search.scope} --variant {search.variant}"
    note = f"{search.note}: " if search.note else ""
    return f"elrcheck check {options}   # {note}{broken(search)}"


def command(run: FindingRun, control: bool = False) -> str:
    """Return the command line that repeats a search, or its control."""
    repaired = run.control if control else None
    knobs = {**run.knobs, **(repaired.knobs if repaired else {})}
    options = " ".join(["--liveness"] * run.liveness + [f"--scope {run.scope}"])
    variant = repaired.variant if repaired else run.variant
    return " ".join(["elrcheck check", options, f"--variant {variant}", *_sets(knobs)])


def control_options(run: FindingRun) -> str:
    """Return the options that turn a search's command into its control."""
    assert run.control is not None
    variant = [f"--variant {run.control.variant}"] if run.control.variant != run.variant else []
    return " ".join([*variant, *_sets(run.control.knobs)])


def _sets(knobs: Mapping[str, Any]) -> Iterator[str]:
    for name, value in knobs.items():
        yield f"--set {name}={setting_text(value)}"


def broken(run: FindingRun | OtherSearch) -> str:
    """Return the broken properties with their depths, the nearest first."""
    by_depth: dict[int, list[str]] = {}
    for name, depth in run.breaks.items():
        by_depth.setdefault(depth, []).append(name)
    words = ", ".join(f"{', '.join(names)} at {depth}" for depth, names in sorted(by_depth.items()))
    return words.replace(" at ", " at depth ", 1) or "holds"
