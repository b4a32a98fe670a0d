"""`elrcheck suite`: what is as expected, what is not, and which answers are used again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection, SuiteRequest
from elrcheck.catalogue.kafka_partition import MODEL
from elrcheck.checking.check import run_check
from elrcheck.checking.suite import suite as suite_module
from elrcheck.checking.suite.suite import run_suite, selected_cases
from elrcheck.checking.suite.suite_counts import CaseCounts, packaged_counts, read_counts, record_counts
from elrcheck.checking.suite.suite_file import packaged_suites
from elrcheck.model.config import Config
from elrcheck.report.documents.suite_document import suite_sheet
from elrcheck.report.formats import render
from elrcheck.results.suite_report import SuiteReport
from support.edits import replaced
from support.invoked import Invoke
from support.sweeps import check_here

HEAD = 'description = "small"\nscope = "two-brokers-quiet"\nreaches = ["W-11"]\n'
ONE = '[[configuration]]\nname = "fence"\nset = { fences = 1 }\n'
BROKEN = '[[configuration]]\nname = "lossy"\nset = { crashes = 2, acks_one = 1 }\n'


@pytest.fixture(autouse=True)
def own_cache(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are kept in the folder of the test, kernels where they are; no process is started."""

    monkeypatch.setattr(suite_module, "check_all", check_here)


def suite(folder: Path, text: str, **more: Any) -> SuiteReport:
    file = folder / "small.toml"
    file.write_text(HEAD + text)
    return run_suite(SuiteRequest(files=(file,), workers=1, run_dir=folder / "run", **more), Silent())


def test_what_holds_is_as_expected_and_is_not_searched_again(tmp_path: Path) -> None:
    first = suite(tmp_path, ONE)
    (run,) = first.runs
    assert (first.verdict, run.verdict, run.searched, int(first.exit_code)) == ("expected", "holds", True, 0)
    alone = run_check(CheckRequest(Selection("kip_full", "two-brokers-quiet", ("fences=1",))), Silent())
    assert (run.distinct, run.generated) == (alone.search.distinct, alone.search.generated)
    (again,) = suite(tmp_path, ONE).runs
    assert again == structs.replace(run, searched=False, kept=again.kept) and again.kept is not None
    (fresh,) = suite(tmp_path, ONE, fresh=True).runs
    assert fresh.searched and fresh.distinct == run.distinct


def test_after_an_edited_rule_a_program_that_is_the_same_is_not_searched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another source of the model has other answers, but this configuration still has the same program."""
    (first,) = suite(tmp_path, ONE).runs
    monkeypatch.setattr(digests, "rules", lambda: "edited")
    (again,) = suite(tmp_path, ONE).runs
    assert first.searched and again == structs.replace(first, searched=False, kept=again.kept)
    monkeypatch.setattr(digests, "rules", lambda: "edited twice")
    (other,) = suite(tmp_path, replaced(ONE, "fences = 1", "fences = 2")).runs
    assert other.searched and other.distinct > first.distinct
    (fresh,) = suite(tmp_path, ONE, fresh=True).runs
    assert fresh.searched


@pytest.mark.slow
def test_violations_need_reasons_and_reasons_violations(tmp_path: Path) -> None:
    report = suite(tmp_path, BROKEN)
    (run,) = report.runs
    broken = sorted(violation.id for violation in run.violations)
    assert broken and report.verdict == "unexpected" and int(report.exit_code) == 1
    assert all(not violation.expected and violation.trace for violation in run.violations)
    assert (tmp_path / "run" / str(run.violations[0].trace)).is_file()
    assert run.command == "elrcheck check --scope two-brokers-quiet --set crashes=2 --set acks_one=1"
    why = f'[[violates]]\nproperties = {json.dumps(broken)}\nin = ["lossy"]\nbecause = "both logs are lost"\n'
    explained = suite(tmp_path, BROKEN + why)
    assert (explained.verdict, explained.runs[0].as_expected) == ("expected", True)
    assert not any(violation.trace for violation in explained.runs[0].violations)
    gone = suite(tmp_path, ONE + replaced(why, "lossy", "fence"))
    assert gone.verdict == "unexpected"
    assert gone.runs[0].problems == tuple(f"{violation.id} no longer breaks" for violation in gone.runs[0].violations)
    for form in ("text", "junit", "markdown", "github", "html", "jsonl"):
        text = render(gone, form)
        assert "no longer breaks" in text, form


def test_a_search_that_shows_nothing_fails(tmp_path: Path) -> None:
    dead = '[[configuration]]\nname = "dead"\nset = { min_isr = 2, records = 0 }\n'
    report = suite(tmp_path, dead)
    assert (report.verdict, report.runs[0].dead, report.runs[0].verdict) == ("unexpected", ("W-11",), "holds")
    assert "shows nothing" in render(report, "text")


def test_a_search_that_a_limit_stops_is_inconclusive(tmp_path: Path) -> None:
    report = suite(tmp_path, "max-states = 10\n" + ONE)
    assert report.verdict == report.runs[0].verdict == "inconclusive" and int(report.exit_code) == 3
    assert suite(tmp_path, "max-states = 10\n" + ONE).runs[0].searched  # an incomplete answer is not kept


@pytest.mark.slow
def test_selecting_configurations() -> None:
    every = selected_cases(SuiteRequest())
    assert selected_cases(SuiteRequest(only=("pairs",)))[0] in every
    assert len(selected_cases(SuiteRequest(only=("pairs/elect+*/lag",)))) == 6
    sample = selected_cases(SuiteRequest(sample=5))
    assert len(sample) == 5 and sample == selected_cases(SuiteRequest(sample=5))
    assert len(selected_cases(SuiteRequest(sample=10_000))) == len(every)
    with pytest.raises(UsageFault, match="unknown configuration"):
        selected_cases(SuiteRequest(only=("pears",)))
    with pytest.raises(NothingChecked):
        selected_cases(SuiteRequest(only=("pears/*",)))


def test_the_command(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(HEAD + ONE)
    code, out, _ = invoke("suite", "--file", str(tmp_path / "s.toml"), "-f", "json")
    document = json.loads(out)
    assert code == 0 and document["schema"] == "elrcheck.suite/1"
    keys = {"name", "verdict", "distinct", "searched", "seconds"}
    assert keys <= set(document["runs"][0]) and document["runs"][0]["name"] == "s/fence"
    assert invoke("suite", "--file", str(tmp_path / "none.toml"))[0] == 2


def test_a_sample_of_the_packaged_suite_is_as_expected() -> None:
    """A bounded part of `elrcheck suite`, spread over its families."""
    report = run_suite(SuiteRequest(only=("pairs/elect+unregister/*",), sample=3), Silent())
    assert [run.problems for run in report.runs if not run.as_expected] == []
    assert report.verdict == "expected" and len(report.runs) == 3


@pytest.mark.slow
def test_the_witnesses_are_reached() -> None:
    report = run_suite(SuiteRequest(only=("witnesses",)), Silent())
    assert (report.verdict, report.witnesses) == ("expected", ())


def test_a_check_says_that_no_write_was_acknowledged() -> None:
    report = run_check(CheckRequest(Selection("kip_full", "two-brokers-quiet")), Silent())
    assert report.vacuous is None and MODEL.vacuous(Config(records=1), ()) is None
    reason = MODEL.vacuous(Config(records=1), ("W-11",))
    assert reason is not None and MODEL.vacuous(Config(records=0), ("W-11",)) is None
    text = render(structs.replace(report, vacuous=reason), "text")
    assert "VACUOUS  no write was ever acknowledged" in text
    assert "vacuous: no write was ever acknowledged" in render(structs.replace(report, vacuous=reason), "markdown")


@pytest.mark.slow
def test_other_counts_than_recorded_are_unexpected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One configuration recorded, then recorded with one step too many, then not at all."""
    one = ("knobs/gates",)
    record = tmp_path / "counts.json"
    assert run_suite(SuiteRequest(only=one, record=record), Silent()).verdict == "expected"
    recorded = read_counts(record)
    assert recorded == {"knobs/gates": packaged_counts()["knobs/gates"]}
    monkeypatch.setattr("elrcheck.checking.suite.suite.packaged_counts", lambda _: read_counts(record))
    assert run_suite(SuiteRequest(only=one), Silent()).runs[0].recorded is None
    more = CaseCounts(recorded["knobs/gates"].generated + 1, recorded["knobs/gates"].distinct, 0)
    record_counts(record, {"knobs/gates": more})
    report = run_suite(SuiteRequest(only=one), Silent())
    assert report.verdict == "unexpected" and report.runs[0].recorded == str(more)
    assert str(more) in report.runs[0].problems[0] and suite_sheet(report).suites[0].cases[0].outcome == "failed"
    record.write_text('{"schema": "elrcheck.suite-counts/1", "configurations": {}}')
    assert run_suite(SuiteRequest(only=one), Silent()).runs[0].recorded == "not recorded"
    record.write_text("[]")
    with pytest.raises(UsageFault, match="not a record of counts"):
        run_suite(SuiteRequest(only=one), Silent())


WALK = """
[walk]
walks = 20
steps = 10
[[configuration]]
name = "large"
variant = "legacy"
seed = 3
set = { broker_count = 3, crashes = 1, fences = 1 }
"""


@pytest.mark.slow
def test_a_walk_is_compared_with_what_was_recorded(tmp_path: Path) -> None:
    report = suite(tmp_path, WALK, record=tmp_path / "counts.json")
    (run,) = report.runs
    assert (report.verdict, run.verdict, run.variant, run.diameter) == ("expected", "walked", "legacy", 10)
    assert run.generated > run.distinct > 20 and run.searched and not run.violations
    assert read_counts(tmp_path / "counts.json")["small/large"].digest == run.digest
    assert "digest" in str(read_counts(tmp_path / "counts.json")["small/large"])
    (walked,) = suite(tmp_path, WALK).runs
    assert walked == structs.replace(run, searched=False, kept=walked.kept) and walked.kept is not None
    (other,) = suite(tmp_path, replaced(WALK, "seed = 3", "seed = 4")).runs
    assert other.searched and other.digest != run.digest
    assert "1 walked" in render(report, "text")
    for form in ("text", "junit", "markdown", "html", "jsonl"):
        assert render(report, form), form


@pytest.mark.slow
def test_another_digest_than_recorded_is_unexpected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    record = tmp_path / "counts.json"
    counts = packaged_counts()
    walks = [case.name for family in packaged_suites() for case in family.cases if case.walk]
    name = min(walks, key=lambda walk: counts[walk].generated)
    recorded = counts[name]
    record_counts(record, {name: CaseCounts(recorded.generated, recorded.distinct, recorded.diameter, "0" * 16)})
    monkeypatch.setattr("elrcheck.checking.suite.suite.packaged_counts", lambda _: read_counts(record))
    report = run_suite(SuiteRequest(only=(name,)), Silent())
    assert report.verdict == "unexpected" and "digest 0000" in report.runs[0].problems[0]
    assert report.runs[0].digest == recorded.digest


def test_every_packaged_configuration_has_its_counts() -> None:
    names = {case.name for family in packaged_suites() for case in family.cases if not case.deep}
    assert names <= set(packaged_counts())
    assert set(packaged_counts()) <= {case.name for f in packaged_suites() for case in f.cases}
