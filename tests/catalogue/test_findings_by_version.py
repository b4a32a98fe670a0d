"""The table of findings by release: what a cell says, that it is up to date, and that searches repeat."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.catalogue.evidence.by_version import finding_table, table_of
from elrcheck.catalogue.evidence.evidence_text import spans
from elrcheck.catalogue.evidence.searched import RELEASED, packaged_searches
from elrcheck.catalogue.finding_file import Finding
from elrcheck.catalogue.packaged_findings import find_finding, packaged_findings, worst_first
from elrcheck.catalogue.recipe_notation.recipe_file import packaged_recipes, read_recipe
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.laboratory.evidence.released_search import ReleasedSearch, commands_of, released_searches
from elrcheck.results.risk.finding_table import FindingRow
from support.edits import replaced
from support.places import ROOT, SCHEMAS
from support.scripts import script

FINDINGS: tuple[Finding, ...] = packaged_findings()
SEVERITY = {finding.id: finding.severity for finding in FINDINGS}
SEARCHES: dict[tuple[str, str], ReleasedSearch] = {
    (search.finding, search.variant): search for finding in FINDINGS for search in released_searches(finding)
}
SAMPLE = (("F-1", "code_4_0"), ("F-2", "code_3_9"), ("F-23", "code_4_3"), ("F-25", "code_4_3"))
"""Some that break and some that hold, of a second or two each."""


def row(finding: str) -> FindingRow:
    return next(row for row in finding_table().rows if row.finding == finding)


def test_every_cell_says_something_and_has_its_command() -> None:
    table = finding_table()
    assert {"3.9.1", "4.0.2", "4.1.1", "4.2.1", "4.3.1", "4.4.0"} <= set(table.releases)
    assert [row.finding for row in table.rows] == [finding.id for finding in worst_first()]
    for each in table.rows:
        cells = {(cell.level, cell.kafka) for cell in each.cells}
        assert len(cells) == 3 * len(table.releases)
        for cell in each.cells:
            assert cell.result and cell.word
            assert bool(cell.command) == (cell.state not in ("absent", "not-tried"))


def test_losses_come_first_those_that_brokers_showed_before_others() -> None:
    """Whether a recipe or the evidence says so."""
    table = finding_table()
    losses = [row for row in table.rows if SEVERITY[row.finding] == "loss"]
    assert list(table.rows[: len(losses)]) == losses
    on_brokers = [any(row.is_shown("brokers", release) for release in table.releases) for row in losses]
    assert on_brokers == sorted(on_brokers, reverse=True) and len(set(on_brokers)) == 2


def test_cells_say_what_is_recorded() -> None:
    cells = row("F-20")
    assert [cells.words(level, "4.1.1") for level in ("model", "classes", "brokers")] == ["breaks", "fails", "lost"]
    (lost,) = (cell for cell in cells.cells if (cell.level, cell.kafka) == ("brokers", "4.1.1"))
    assert lost.result == "lost 600 of 600 (control: lost 0 of 600)"
    assert lost.command == "elrcheck reproduce F-20/loss --kafka 4.1.1"
    assert cells.words("model", "3.9.1") == "holds"
    assert cells.words("brokers", "3.9.1") == "absent" and "isElrSupported" in cells.prevented["3.9.1"]
    assert [row("F-23").words("classes", release) for release in ("4.2.1", "4.3.0")] == ["fails", "passes"]
    assert row("F-52").words("brokers", "3.9.1") == "lost"
    assert row("F-58").words("brokers", "4.3.1") == "lost (F-58/proposal), inconclusive in other runs"
    assert "not reproduced in 9 runs (control: not run)" in [cell.result for cell in row("F-51").cells]


def test_a_cell_without_a_record_says_so() -> None:
    bare = [replace(FINDINGS[1], evidence=(), junit=(), prevented=())]
    table = table_of(bare, (), packaged_recipes())
    words = {cell.word for cell in table.rows[0].cells if cell.level != "brokers"}
    assert words == {"not tried"}


def test_the_searches_are_those_of_the_findings() -> None:
    """A finding or a rule that changed its search needs `python docs/search_findings.py F-..`."""
    stored = {(each.finding, each.variant): each for each in packaged_searches()}
    assert set(stored) == set(SEARCHES)
    for key, search in SEARCHES.items():
        assert (stored[key].command, stored[key].control_command) == commands_of(search)
        assert set(stored[key].control) <= set(stored[key].breaks) <= set(search.run.breaks)


def test_a_released_search_has_the_rules_of_the_release() -> None:
    command, control = commands_of(SEARCHES["F-56", "code_4_0"])
    assert "feature_on_clears_elr" not in command and control.endswith("feature_on_clears_elr=true")
    assert ("F-56", "code_3_9") not in SEARCHES  # there ELR cannot be switched
    assert len(RELEASED) == len([name for finding, name in SEARCHES if finding == "F-51"])


@pytest.mark.slow
@pytest.mark.parametrize("key", SAMPLE, ids=" ".join)
def test_a_search_repeats(key: tuple[str, str]) -> None:
    again(key)


def newest() -> list[tuple[str, str]]:
    """Each finding with the last of the variants that it was searched in."""
    return sorted(set(dict(sorted(SEARCHES)).items()) - set(SAMPLE))


@pytest.mark.slow
@pytest.mark.parametrize("key", newest(), ids=" ".join)
def test_the_newest_search_repeats(key: tuple[str, str]) -> None:
    again(key)


def again(key: tuple[str, str]) -> None:
    (stored,) = (each for each in packaged_searches() if (each.finding, each.variant) == key)
    searched = script("docs/search_findings.py").searched(SEARCHES[key])
    assert (searched.breaks, searched.control, searched.states) == (stored.breaks, stored.control, stored.states)


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["list", "findings", "--by-version"]) == ExitCode.HOLDS
    printed = capsys.readouterr().out
    assert "elrcheck reproduce F-20/loss --kafka 4.1.1" in printed and "not tried" in printed
    head, *lines = printed.splitlines()
    rows = [line.split() for line in lines[: len(FINDINGS)]]
    matrix = {name: dict(zip(head.split()[1:], words, strict=True)) for name, *words in rows}
    assert (matrix["F-2"]["3.9.1"], matrix["F-2"]["4.1.2"], matrix["F-20"]["4.3.1"]) == ("brokers", "no", "brokers")
    assert (matrix["F-26"]["3.9.1"], matrix["F-55"]["4.1.2"]) == ("-", "?")
    severities = [find_finding(name).severity for name in matrix]
    assert severities == sorted(severities), "losses come before outages"
    assert run(cli, ["list", "findings", "--by-version", "-f", "json"]) == ExitCode.HOLDS
    table = json.loads(capsys.readouterr().out)
    schema = json.loads((SCHEMAS / "elrcheck.finding-table-1.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(table)
    assert len(table["rows"]) == len(FINDINGS)


def test_only_findings_have_releases(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["list", "hazards", "--by-version"]) == ExitCode.DID_NOT_RUN
    assert "--by-version is about findings" in capsys.readouterr().err
    assert run(cli, ["list", "findings", "--by-version", "--kafka", "4.1"]) == ExitCode.DID_NOT_RUN
    assert "leave out --kafka, or --by-version" in capsys.readouterr().err


def test_every_finding_of_a_release_has_a_control_and_a_remedy() -> None:
    rows = finding_table().rows
    findings = {row.finding for row in rows if any(cell.state == "shown" for cell in row.cells)}
    assert len(findings) >= 17
    for finding in FINDINGS:
        if finding.id in findings:
            # Where the model has no search, the control is the same walk on the classes of another release, or on
            # those with the patch.
            walked = any(part.level == "classes" for part in finding.evidence) and (
                finding.prevented or (finding.patch is not None and finding.patch.edits)
            )
            assert any(run.control for run in finding.runs) or walked, finding.id
            assert finding.meanwhile, finding.id


def test_releases_in_a_row_are_a_span() -> None:
    every = ("3.9.1", "4.0.0", "4.0.2", "4.1.0", "4.1.1")
    assert spans(("4.0.0", "4.0.2", "4.1.0"), every) == "4.0.0 to 4.1.0"
    assert spans(("3.9.1", "4.0.2", "4.1.0"), every) == "3.9.1, 4.0.2, 4.1.0"
    assert spans(("3.7.0", "3.9.1", "4.0.0"), every) == "3.7.0, 3.9.1, 4.0.0"
    assert spans((), every) == ""


SEEN = (ROOT / "catalogue" / "recipes" / "F-20-stuck.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kafka = "4.1.2"', 'kafka = "4.1"', "a release such as 4.1.2"),
        ('outcome = "unavailable"', 'outcome = "lots"', "did you mean"),
        ('outcome = "unavailable"', 'outcome = "lost"', "is said of the outcome"),
        ("control = { left = 100,", "control = { left = 101,", "at most 100"),
        ("seconds = 67", "seconds = 0", "1 or more"),
        ("seconds = 67", "runs = { ended = 2, shown = 3 }\nseconds = 67", "at most 2"),
        ("seconds = 67", "runs = { ended = 2, shown = 0 }\nseconds = 67", "shows in any of the runs"),
        ('day = "2026-11-22"', 'day = "today"', "a day such as"),
    ],
)
def test_a_wrong_record_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    head, _, seen = SEEN.partition("[[seen]]")
    assert old in seen
    file = tmp_path / "recipe.toml"
    file.write_text(f"{head}[[seen]]{replaced(seen, old, new)}")
    with pytest.raises(UsageFault) as fault:
        read_recipe(file)
    assert message in f"{fault.value} {fault.value.help}"
