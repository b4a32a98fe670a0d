"""`elrcheck runs coverage`: the combined coverage of several runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.cli import cli
from elrcheck.commands.run_list import list_runs, merge, stored_reports
from elrcheck.console.shell import run
from elrcheck.report.json_report import as_data
from support.places import SCHEMAS

SCHEMA = SCHEMAS / "elrcheck.coverage-1.schema.json"
SMALL = ["--scope", "two-brokers", "--max-depth", "4"]


def action(name: str, fired: int, cut: int = 0) -> dict[str, Any]:
    return {"name": name, "fired": fired, "cut": cut, "new_states": 0, "guards": []}


def witness(ident: str, verdict: str) -> dict[str, Any]:
    return {"id": ident, "name": f"name of {ident}", "kind": "sometimes", "verdict": verdict}


def report(folder: Path, *rows: dict[str, Any], complete: bool = True) -> Path:
    """A report of `check`, as far as it is read."""
    folder.mkdir(parents=True)
    body = {
        "schema": "elrcheck.report/1",
        "variant": "v",
        "scope": folder.name,
        "search": {"complete": complete},
        "actions": [row for row in rows if "fired" in row],
        "properties": [row for row in rows if "kind" in row],
    }
    (folder / "report.json").write_text(json.dumps(body))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    report(tmp_path / "a", action("Fence", 3), action("Crash", 5, 5), action("Kill", 0), witness("W-1", "reached"))
    report(
        tmp_path / "b",
        action("Fence", 4, 1),
        action("Crash", 2, 1),
        action("Kill", 2, 2),
        witness("W-1", "unreached"),
        witness("W-2", "inconclusive"),
        complete=False,
    )
    (tmp_path / "none").mkdir()
    return tmp_path


def test_runs_are_merged(folder: Path) -> None:
    """Steps beyond the budgets are no coverage: Kill fired in no run, Crash only in the second."""
    coverage = merge(stored_reports(folder), strict=True)
    jsonschema.validate(json.loads(json.dumps(as_data(coverage))), json.loads(SCHEMA.read_text()))
    assert [(a.name, a.fired, a.runs) for a in coverage.actions] == [("Fence", 6, 2), ("Crash", 1, 1), ("Kill", 0, 0)]
    assert [(w.id, w.reached, w.runs) for w in coverage.witnesses] == [("W-1", 1, 2), ("W-2", 0, 1)]
    assert [(r.scope, r.complete) for r in coverage.runs] == [("a", True), ("b", False)]
    assert (coverage.verdict, coverage.exit_code) == ("gaps", 1)
    assert merge(stored_reports(folder), strict=False).exit_code == 0
    whole = merge((report(folder / "c", action("Fence", 1), witness("W-1", "reached")),), strict=True)
    assert (whole.verdict, whole.exit_code) == ("complete", 0)


def test_guards_of_surveys(tmp_path: Path) -> None:
    """A guard is noticed if any survey noticed it."""
    paths = []
    for number, verdicts in enumerate((("noticed", "unnoticed"), ("unnoticed", "inconclusive"))):
        rows = [
            {"action": "Fence", "guard": f"g{n}", "verdict": word, "property": "P-1" if word == "noticed" else None}
            for n, word in enumerate(verdicts)
        ]
        paths.append(tmp_path / f"{number}.json")
        survey = {"variant": "v", "scope": "s"}
        paths[-1].write_text(json.dumps({"schema": "elrcheck.mutate/1", "survey": survey, "guards": rows}))
    coverage = merge(paths, strict=False)
    assert [(g.guard, g.noticed) for g in coverage.guards] == [("g0", "P-1"), ("g1", None)]
    assert coverage.verdict == "gaps" and [r.command for r in coverage.runs] == ["mutate", "mutate"]


def test_what_is_no_report(folder: Path) -> None:
    other = folder / "other.json"
    for text, says in (
        ("{", "JSON"),
        ("[]", "not a report"),
        ('{"schema": "x"}', "not a report"),
        ('{"schema": "elrcheck.report/1", "actions": 3}', "expected a list"),
        ('{"schema": "elrcheck.mutate/1", "survey": "x"}', "expected an object"),
    ):
        other.write_text(text)
        with pytest.raises(UsageFault, match=says):
            merge((other,), strict=False)
    with pytest.raises(UsageFault, match="no report of a run"):
        merge((folder / "none",), strict=False)
    with pytest.raises(NothingChecked):
        merge(stored_reports(folder / "nowhere"), strict=False)


def test_check_leaves_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bounded run with a folder; `runs` knows what it was, and `coverage` what it did."""
    place = tmp_path / "runs" / "one"
    assert run(cli, ["check", *SMALL, "-p", "P-1", "-p", "W-4", "-f", "json", "--run-dir", str(place)]) == 3
    printed = json.loads(capsys.readouterr().out)
    assert json.loads((place / "report.json").read_text()) == printed
    (listed,) = list_runs(tmp_path / "runs", 0.0)
    assert (listed.variant, listed.scope, listed.foreign) == ("kip_full", "two-brokers", None)
    assert run(cli, ["runs", "coverage", "--folder", str(tmp_path / "runs"), "--strict"]) == 1
    out = capsys.readouterr().out
    assert "GAPS  1 run, 1 of them bounded" in out and "never fired: " in out and "Kill" in out
