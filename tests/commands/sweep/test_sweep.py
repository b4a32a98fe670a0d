"""Sweeps: the same answers as separate checks, whatever happens on the way, and resumed after it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import ExitCode, NothingChecked, UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.requests import Limits, Selection
from elrcheck.results.suite_report import SweepReport
from elrcheck.stored_traces.tracefile import load_trace
from elrcheck.traces.replay import ReplayError
from support.following import refused_step
from support.sweeps import SMALL, TWO, answers_of, separate_answers, sweep


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def report(folder: Path) -> SweepReport:
    return sweep(SMALL, run_dir=folder / "run")


def first_two(report: SweepReport) -> dict[int, dict[str, Any]]:
    return {number: answer for number, answer in answers_of(report).items() if number <= 2}


@pytest.mark.slow
def test_equals_separate_checks(report: SweepReport, tmp_path: Path) -> None:
    separate = separate_answers(SMALL, tmp_path)
    assert answers_of(report) == separate
    assert sorted(separate) == [1, 2, 3, 4]
    assert (report.verdict, report.exit_code) == ("violated", ExitCode.FINDING)


@pytest.mark.slow
def test_a_wider_grid_equals_separate_checks(tmp_path: Path) -> None:
    """Three variants, of which some configurations break something and some do not."""
    axes = ("variant=kip_full,code_4_0,legacy", "shrinks=0..1", "crashes=0..1")
    wide = replace(SMALL, selection=Selection("kip_full", "two-brokers-quiet"), sweeps=axes)
    swept = sweep(wide, run_dir=tmp_path / "sweep")
    assert answers_of(swept) == separate_answers(wide, tmp_path / "separate")
    assert len(swept.rows) == 3 * 2 * 2
    assert {row.verdict for row in swept.rows} == {"holds", "violated"}


def test_the_smallest_breaking_configuration_is_first(report: SweepReport) -> None:
    """Only the crash of the last ISR member loses data, and only where it stays leader."""
    first, *others = report.rows
    assert first.settings == {"variant": "legacy", "crashes": 1}
    assert (first.verdict, first.number) == ("violated", 4)
    assert [row.verdict for row in others] == ["holds"] * 3
    sizes = [row.distinct or 0 for row in others]
    assert sizes == sorted(sizes) and sizes[0] > 0
    depths = [p.depth for p in first.properties if p.verdict == "violated" and p.depth is not None]
    assert first.depth == min(depths)


def test_traces_are_in_the_run_folder(report: SweepReport, folder: Path) -> None:
    first = report.rows[0]
    assert report.run_dir == str(folder / "run") and first.trace is not None
    loaded = load_trace(folder / "run" / first.trace)
    assert refused_step(loaded) is None
    assert (loaded.behaviour.origin.variant, loaded.behaviour.origin.property) == ("legacy", first.property)
    assert len(loaded.behaviour.labels) == first.depth
    assert not (folder / "run" / "work").exists()


@pytest.mark.slow
def test_large_configurations_get_the_whole_engine(report: SweepReport, tmp_path: Path) -> None:
    swept = sweep(TWO, large=1000, run_dir=tmp_path / "run")
    assert answers_of(swept) == first_two(report)
    sizes = {row.number: row.distinct or 0 for row in swept.rows}
    assert sizes[1] < 1000 < sizes[2]
    assert {row.number: row.by for row in swept.rows} == {1: "process", 2: "whole"}


def test_a_limit_is_never_a_pass(tmp_path: Path) -> None:
    swept = sweep(TWO, limits=Limits(max_depth=3), run_dir=tmp_path / "run", properties=("P-1",))
    assert {row.verdict for row in swept.rows} == {"inconclusive"}
    assert {row.reason for row in swept.rows} == {"--max-depth 3"}
    assert swept.exit_code == ExitCode.INCONCLUSIVE
    assert [row.number for row in swept.rows] == [1, 2]


def test_names_are_looked_up_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="unknown property"):
        sweep(SMALL, properties=("P-100",), run_dir=tmp_path / "run")
    with pytest.raises(NothingChecked):
        sweep(SMALL, properties=("Q*",), run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_failed_check_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from elrcheck.base.roundtrip import from_text, to_text
    from elrcheck.checking.batch.job import Job, check_job
    from elrcheck.commands.sweep.grid import job_of, make_grid

    point = make_grid(SMALL.selection, SMALL.sweeps, None).points[3]
    job = job_of(point, SMALL)
    assert from_text(to_text(job), Job) == job

    def raise_it(fault: Exception) -> None:
        def broken(*_: object, **__: object) -> None:
            raise fault

        monkeypatch.setattr("elrcheck.checking.check.check_selected", broken)

    for fault, words in (
        (MemoryError(), "out of memory"),
        (ReplayError("step 2"), "internal: ReplayError: step 2"),
        (OSError(28, "No space left on device"), "system: No space left on device"),
    ):
        raise_it(fault)
        assert check_job(job, Silent(), tmp_path).error == words
    raise_it(UsageFault("liveness-option", "leave out --reduce"))
    assert check_job(job, Silent(), tmp_path).refused == "leave out --reduce"
    assert list(tmp_path.iterdir()) == []


# ----------------------------------------------------------------------------------------- resume


def test_resume_refuses_another_sweep(report: SweepReport, folder: Path) -> None:
    place = folder / "run"
    with pytest.raises(UsageFault, match="the axis `crashes` was 0,1 and is now 0,1,2"):
        sweep(SMALL, sweeps=("variant=kip_full,legacy", "crashes=0..2"), resume=place)
    with pytest.raises(UsageFault, match="overrides of configuration number 1 changed"):
        sweep(SMALL, selection=replace(SMALL.selection, overrides=("shrinks=0",)), resume=place)
    with pytest.raises(UsageFault, match="`stop_at_first` was False and is now True"):
        sweep(SMALL, stop_at_first=True, resume=place)
    with pytest.raises(UsageFault, match="already contains a sweep"):
        sweep(SMALL, run_dir=place)
    with pytest.raises(UsageFault, match="no resumable sweep"):
        sweep(SMALL, resume=folder)


def test_resume_refuses_another_model_and_damage(report: SweepReport, folder: Path, tmp_path: Path) -> None:
    manifest = json.loads((folder / "run" / "sweep.json").read_text())
    manifest["sweep"]["model"] = "0" * 64
    (tmp_path / "sweep.json").write_text(json.dumps(manifest))
    with pytest.raises(UsageFault, match="the model has changed"):
        sweep(SMALL, resume=tmp_path, sweeps=(), named=False)
    (tmp_path / "sweep.json").write_bytes((folder / "run" / "sweep.json").read_bytes())
    (tmp_path / "rows.jsonl").write_text('{"by": "process", "number": 17}\n')
    with pytest.raises(UsageFault, match="no configuration number 17") as caught:
        sweep(SMALL, resume=tmp_path, sweeps=(), named=False)
    assert caught.value.where == f"{tmp_path / 'rows.jsonl'}:1"
