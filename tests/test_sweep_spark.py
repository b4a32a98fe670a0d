"""Sweeps as Spark tasks: the same answers, and a task that fails takes only its own configuration along."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sweeps import SMALL, separate_answers

from elrcheck.errors import EnvironmentFault
from elrcheck.report.sweep import SweepRow
from elrcheck.sweep.grid import make_grid
from elrcheck.sweep.job import Answer, Job, job_of
from elrcheck.sweep.ledger import Done
from elrcheck.sweep.rows import row_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POINTS = make_grid(SMALL.selection, SMALL.sweeps, None).points
JOBS = [job_of(point, SMALL) for point in POINTS]


def rows(answers: dict[int, Answer]) -> list[SweepRow]:
    return [row_of(point, Done(answers[point.number], "task")) for point in POINTS]


@pytest.mark.spark
def test_tasks_give_the_answers_of_separate_checks(spark: SparkSession, tmp_path: Path) -> None:
    from sweeps import answer_of

    from elrcheck.spark.sweep import check_in_tasks, slots

    assert slots(spark) == 2
    answers = {a.number: a for tick in check_in_tasks(spark, JOBS) for a in tick.answers}
    assert {row.number: answer_of(row) for row in rows(answers)} == separate_answers(SMALL, tmp_path)
    assert sorted(answers[4].traces) == sorted(f"{ident}.trace.json" for ident in rows(answers)[3].violated)


def test_only_the_configuration_that_fails_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job of several configurations fails as a whole; each is then tried by itself."""
    from elrcheck.spark import sweep

    asked: list[list[int]] = []

    def submit(_: object, packs: list[list[Job]]) -> list[Answer]:
        numbers = [job.number for each in packs for job in each]
        asked.append(numbers)
        if 3 in numbers:
            raise RuntimeError("Job aborted: executor lost\n\tat org.apache.spark")
        return [Answer(number, refused="stand-in") for number in numbers]

    monkeypatch.setattr(sweep, "_submit", submit)
    monkeypatch.setattr(sweep, "slots", lambda _: 1)
    monkeypatch.setattr(sweep, "PACKS", 2)
    monkeypatch.setattr(sweep, "JOBS", 1)
    answers = {a.number: a for tick in sweep.check_in_tasks(None, JOBS) for a in tick.answers}  # type: ignore[arg-type]
    assert sorted(asked[0]) == [1, 2, 3, 4] and sorted(asked[1:]) == [[1], [2], [3], [4]]
    assert answers[3].error == "the Spark task failed: Job aborted: executor lost"
    assert [answers[n].refused for n in (1, 2, 4)] == ["stand-in"] * 3


def test_what_every_task_will_meet_ends_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    from elrcheck.spark import sweep

    fault = EnvironmentFault("executor-python", "an executor cannot start Python: python3")

    def submit(*_: object) -> list[Answer]:
        raise fault

    monkeypatch.setattr(sweep, "_submit", submit)
    monkeypatch.setattr(sweep, "slots", lambda _: 1)
    with pytest.raises(EnvironmentFault) as caught:
        list(sweep.check_in_tasks(None, JOBS))  # type: ignore[arg-type]
    assert caught.value is fault
