"""The table of findings by release and level, made from records alone.

    model      searched.json: the finding's search under the rules of the release's variant, with its control
    classes    [[junit]] of the finding: the exported test on the released jars; and its [[evidence]]
    brokers    [[seen]] of the recipes: what `reproduce` reported; and the finding's [[evidence]]

A cell without a record says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.evidence.searched import RELEASED, FindingSearch, packaged_searches
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.packaged_findings import worst_first
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe, packaged_recipes
from elrcheck.results.reproduce_report import ReproduceOutcome
from elrcheck.results.risk.finding_table import LEVELS, NO_LEADER, CellState, FindingRow, FindingTable, Level, TableCell

NOT_TRIED = "not tried"
STATES: Mapping[ReproduceOutcome, CellState] = {
    "lost": "shown",
    "unavailable": "shown",
    "not-reproduced": "not-shown",
    "inconclusive": "inconclusive",
}
WORDS: Mapping[ReproduceOutcome, str] = {
    "lost": "lost",
    "unavailable": NO_LEADER,
    "not-reproduced": "not seen",
    "inconclusive": "inconclusive",
}


def finding_table() -> FindingTable:
    """Return the table of the packaged findings, searches and recipes."""
    return table_of(worst_first(), packaged_searches(), packaged_recipes())


def table_of(findings: Sequence[Finding], searches: Sequence[FindingSearch], recipes: Sequence[Recipe]) -> FindingTable:
    """Return the table, with a column for each release whose classes or brokers were tried for any finding."""
    every = {release for variant in RELEASED for release in variant.kafka}
    tried = {release for finding in findings for part in finding.evidence for release in part.versions}
    tried |= {run for finding in findings for test in finding.junit for run in (*test.fails, *test.passes)}
    tried |= {seen.kafka for recipe in recipes for seen in recipe.seen}
    releases = tuple(sorted(every & tried, key=release_numbers))
    return FindingTable(releases, tuple(_row(one, releases, searches, recipes) for one in findings))


def _row(
    finding: Finding, releases: Sequence[str], searches: Sequence[FindingSearch], recipes: Sequence[Recipe]
) -> FindingRow:
    prevented = {release: part.by for part in finding.prevented for release in part.versions}
    searched = {each.variant: each for each in searches if each.finding == finding.id}
    own = [recipe for recipe in recipes if recipe.finding == finding.id]

    def cells(level: Level, release: str) -> list[TableCell]:
        readers = {
            "model": lambda: _model(release, searched),
            "classes": lambda: _classes(release, finding),
            "brokers": lambda: _brokers(release, finding, own),
        }
        return list(readers[level]()) or [_nothing(level, release, prevented)]

    every = tuple(cell for release in releases for level in LEVELS for cell in cells(level, release))
    return FindingRow(finding.id, finding.title, prevented, every)


def _nothing(level: Level, release: str, prevented: Mapping[str, str]) -> TableCell:
    if release in prevented:
        return TableCell(level, release, "absent", "absent", f"{NOT_TRIED}; {prevented[release]}", "")
    return TableCell(level, release, "not-tried", NOT_TRIED, NOT_TRIED, "")


def _model(release: str, searched: Mapping[str, FindingSearch]) -> Iterator[TableCell]:
    for variant in RELEASED:
        search = searched.get(variant.name)
        if search is None or release not in variant.kafka:
            continue
        own = ", ".join(f"{name} at {search.breaks[name]}" for name in search.broken_by_finding)
        masked = ", ".join(name for name in search.breaks if name in search.control)
        text = "; ".join(filter(None, (own, masked and f"{masked} with the rule repaired as well")))
        state: CellState = "shown" if own else "inconclusive" if masked else "not-shown"
        word = {"shown": "breaks", "inconclusive": "masked", "not-shown": "holds"}[state]
        yield TableCell("model", release, state, word, text or "holds", search.command)


def _classes(release: str, finding: Finding) -> Iterator[TableCell]:
    tests = [test for test in finding.junit if release in (*test.fails, *test.passes)]
    for test in tests:
        fails = release in test.fails
        command = f"elrcheck export junit {finding.id} --property {test.property}"
        text = f"the test of {test.property} {'fails' if fails else 'passes'}"
        yield TableCell(
            "classes", release, "shown" if fails else "not-shown", "fails" if fails else "passes", text, command
        )
    if not tests:
        yield from _evidence("classes", release, finding, "seen")


def _brokers(release: str, finding: Finding, recipes: Iterable[Recipe]) -> Iterator[TableCell]:
    runs = [(recipe, run) for recipe in recipes for run in recipe.seen if run.kafka == release]
    for recipe, run in runs:
        command = f"elrcheck reproduce {recipe.id} --kafka {release}"
        text = f"{run.what} (control: {run.control_left})"
        yield TableCell("brokers", release, STATES[run.outcome], WORDS[run.outcome], text, command)
    if not runs:
        yield from _evidence("brokers", release, finding, "by hand")


def _evidence(level: Level, release: str, finding: Finding, word: str) -> Iterator[TableCell]:
    for part in finding.evidence:
        if part.level == level and release in part.versions:
            command = part.command.replace("VERSION", release) or f"elrcheck show {finding.id}"
            yield TableCell(level, release, "shown", word, word, command)
