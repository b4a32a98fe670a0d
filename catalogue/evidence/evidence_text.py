"""How a finding was shown, as text: its searches with what they break, and the evidence of each level.

Also what the runs of its recipes did on brokers. The page of a finding, `elrcheck show` and the gallery print this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from elrcheck.base.typed.configuration import setting_text
from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.evidence.searched import RELEASED
from elrcheck.catalogue.finding_file import Finding, FindingRun, OtherSearch
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe
from elrcheck.catalogue.recipe_notation.recipe_seen import SeenRun
from elrcheck.results.risk.finding_table import STRONGEST_FIRST, Level


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


LEVEL: Mapping[Level, str] = {"brokers": "brokers", "classes": "Kafka's classes", "model": "the model"}
RUN_COLUMNS = ("recipe", "Kafka", "run", "control")
RELEASES = tuple(sorted({release for variant in RELEASED for release in variant.kafka}, key=release_numbers))


class EvidenceText(NamedTuple):
    """Evidence. where: the level in words; releases: as text, empty for the model."""

    where: str
    releases: str
    text: str

    @property
    def head(self) -> str:
        """Return the level with its releases."""
        return f"{self.where}{', ' if self.releases else ''}{self.releases}"


class Runs(NamedTuple):
    """Runs of a recipe that ended alike.

    releases: of Kafka, as text; run, control: the results in words, of the records acknowledged with acks=all.
    """

    releases: str
    run: str
    control: str


def evidence_of(finding: Finding) -> Iterator[EvidenceText]:
    """Yield the evidence of a finding, the strongest level first, and the results of its exported tests."""
    for level in STRONGEST_FIRST:
        for part in finding.evidence:
            if part.level == level:
                yield EvidenceText(LEVEL[level], spans(part.versions), " ".join(part.text.split()))
        if level == "classes":
            yield from _exported_tests(finding)


def _exported_tests(finding: Finding) -> Iterator[EvidenceText]:
    """Yield the results of the exported tests, grouped by the releases on which they fail and pass."""
    together: dict[tuple[str, str], list[str]] = {}
    for run in finding.junit:
        together.setdefault((spans(run.fails), spans(run.passes)), []).append(run.property)
    for (fails, passes), names in together.items():
        several = len(names) > 1
        options = " and ".join(f"`--property {name}`" for name in names)
        tests = f"`elrcheck export junit {finding.id}` with {options}"
        passed = f"; {'they pass' if several else 'it passes'} on {passes}" if passes else ""
        text = f"the {'tests' if several else 'test'} of {tests} {'fail' if several else 'fails'}{passed}"
        yield EvidenceText(LEVEL["classes"], fails, text)


def runs_of(recipe: Recipe) -> list[Runs]:
    """Return the results of a recipe's runs, each with the releases that had it; the runs that show it come first."""
    together: dict[tuple[str, str], list[str]] = {}
    for run in sorted(_telling(recipe.seen), key=lambda run: run.outcome not in ("lost", "unavailable")):
        together.setdefault((run.what, run.control_left), []).append(run.kafka)
    return [Runs(spans(releases), *results) for results, releases in together.items()]


def _telling(runs: Sequence[SeenRun]) -> Iterator[SeenRun]:
    """Yield the runs that say what no other run of the same release says with more.

    Left out are inconclusive runs where others ended, and runs without a control that ended as one with it.
    """
    ended = {run.kafka for run in runs if run.outcome != "inconclusive"}
    controlled = {(run.kafka, run.what) for run in runs if run.control is not None}
    for run in runs:
        superseded = run.kafka in ended if run.outcome == "inconclusive" else (run.kafka, run.what) in controlled
        if run.control is not None or not superseded:
            yield run


def spans(releases: Sequence[str], every: Sequence[str] = RELEASES) -> str:
    """Return releases in order as text, consecutive ones as `4.0.0 to 4.2.1`.

    every: all releases, in order; one that is not among them is consecutive to none.
    """
    runs: list[list[str]] = []
    for release in sorted(set(releases), key=release_numbers):
        if runs and _follows(release, runs[-1][-1], every):
            runs[-1].append(release)
        else:
            runs.append([release])
    parts = (f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)
    return ", ".join(parts)


def _follows(release: str, before: str, every: Sequence[str]) -> bool:
    return before in every and tuple(every[every.index(before) + 1 :][:1]) == (release,)
