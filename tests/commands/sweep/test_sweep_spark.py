"""Sweeps as Spark tasks: the same answers, and a task that fails takes only its own configuration along."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.runner.runner import run_tasks
from elrcheck.checking.batch.job import Job, JobAnswer
from elrcheck.commands.sweep.grid import job_of, make_grid
from support.sweeps import SMALL, answer_of, separate_answers, sweep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from elrcheck.spark.conf import SparkChoice

POINTS = make_grid(SMALL.selection, SMALL.sweeps, None).points
JOBS = [job_of(point, SMALL) for point in POINTS]


@pytest.mark.slow
@pytest.mark.spark
def test_tasks_give_the_answers_of_separate_checks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a bound that only some configurations meet inside their task."""
    choices: list[SparkChoice] = []

    def session(choice: SparkChoice) -> contextlib.AbstractContextManager[SparkSession]:
        choices.append(choice)
        return contextlib.nullcontext(spark)

    monkeypatch.setattr("elrcheck.spark.session.spark_session", session)
    place = tmp_path / "sweep"
    report = sweep(SMALL, engine="spark", master="local[2]", spark_conf=("spark.a=b",), run_dir=place, large=2000)
    assert {row.number: answer_of(row) for row in report.rows} == separate_answers(SMALL, tmp_path)
    large = {row.number for row in report.rows if (row.distinct or 0) >= 2000}
    assert 0 < len(large) < 4
    assert {row.number: row.by for row in report.rows} == {
        number: "whole" if number in large else "task" for number in (1, 2, 3, 4)
    }
    assert (report.engine.name, report.engine.workers, report.engine.detail) == ("spark", 2, "local[2]")
    assert [(choice.master, choice.conf) for choice in choices] == [("local[2]", (("spark.a", "b"),))]
    first = report.rows[0]
    traces = {path.name for path in (place / f"{first.number:04}").iterdir()}
    assert traces == {f"{ident}.trace.json" for ident in first.violated} and traces


def test_only_the_configuration_that_fails_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job of several configurations fails as a whole; each is then tried by itself."""
    from elrcheck.commands.sweep import on_spark as tasks

    batches: list[list[int]] = []

    def submit(_: object, packs: list[list[Job]]) -> list[JobAnswer]:
        numbers = [job.number for each in packs for job in each]
        batches.append(numbers)
        if 3 in numbers:
            raise RuntimeError("Job aborted: executor lost\n\tat org.apache.spark")
        return [JobAnswer(number, refused="stand-in") for number in numbers]

    monkeypatch.setattr(tasks, "_submit", submit)
    monkeypatch.setattr(tasks, "slots", lambda _: 1)
    monkeypatch.setattr(tasks, "PACKS", 2)
    monkeypatch.setattr(tasks, "JOBS", 1)
    crew = tasks.SparkTasks(None, JOBS)  # type: ignore[arg-type]
    answers = {answer.number: answer for answer in run_tasks(crew)}
    assert sorted(batches[0]) == [1, 2, 3, 4] and sorted(batches[1:]) == [[1], [2], [3], [4]]
    assert answers[3].error == "the Spark task failed: Job aborted: executor lost"
    assert [answers[n].refused for n in (1, 2, 4)] == ["stand-in"] * 3


def test_what_every_task_will_meet_ends_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    from elrcheck.commands.sweep import on_spark as tasks

    fault = EnvironmentFault("executor-python", "an executor cannot start Python: python3")

    def submit(*_: object) -> list[JobAnswer]:
        raise fault

    monkeypatch.setattr(tasks, "_submit", submit)
    monkeypatch.setattr(tasks, "slots", lambda _: 1)
    with pytest.raises(EnvironmentFault) as caught:
        list(run_tasks(tasks.SparkTasks(None, JOBS)))  # type: ignore[arg-type]
    assert caught.value is fault
