"""What the tests of sweeps and suites share: a small grid, the same by separate checks, and jobs in this process."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection, SweepRequest
from elrcheck.base.runner.runner import InProcess, TaskCrew
from elrcheck.checking.batch.job import Job, JobAnswer, check_job
from elrcheck.checking.check import run_check
from elrcheck.commands.sweep.grid import make_grid
from elrcheck.commands.sweep.sweep import run_sweep
from elrcheck.results.suite_report import SweepReport, SweepRow

BASE = Selection("kip_full", "two-brokers-quiet", ("shrinks=1",))
SMALL = SweepRequest(selection=BASE, sweeps=("variant=kip_full,legacy", "crashes=0..1"), workers=2)
TWO = replace(SMALL, sweeps=("crashes=0..1",))
"""The first two configurations of the other grid, which are enough for what takes long."""
COUNTS = ("generated", "distinct", "diameter", "complete")


def sweep(request: SweepRequest, **changes: Any) -> SweepReport:
    return run_sweep(replace(request, **changes), Silent())


def answer_of(row: SweepRow) -> dict[str, Any]:
    """What must not depend on how a configuration was checked."""
    return {
        "verdict": row.verdict,
        **{name: getattr(row, name) for name in COUNTS},
        "properties": {p.id: (p.verdict, p.depth, p.conjunct) for p in row.properties},
    }


def answers_of(report: SweepReport) -> dict[int, dict[str, Any]]:
    return {row.number: answer_of(row) for row in report.rows}


def separate_answers(request: SweepRequest, folder: Path) -> dict[int, dict[str, Any]]:
    """The same, for every configuration of a grid, from a check of its own."""
    answers = {}
    for point in make_grid(request.selection, request.sweeps, request.grid).points:
        if point.selected is None:
            continue
        check = CheckRequest(
            selection=point.selection,
            workers=1,
            stop_at_first=request.stop_at_first,
            limits=request.limits,
            properties=request.properties,
            run_dir=folder / str(point.number),
        )
        report = run_check(check, Silent())
        answers[point.number] = {
            "verdict": report.verdict,
            **{name: getattr(report.search, name) for name in COUNTS},
            "properties": {p.id: (p.verdict, p.depth, p.conjunct) for p in report.properties},
        }
    return answers


def check_here(jobs: Sequence[Job], _: int, scratch: Path) -> TaskCrew[Job, JobAnswer]:
    """Run the jobs of a suite in this process, in place of `check_all`."""
    return InProcess(functools.partial(check_job, progress=Silent(), scratch=scratch), jobs)
