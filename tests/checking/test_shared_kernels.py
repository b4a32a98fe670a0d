"""Configurations that differ in budgets only share a kernel, and nobody can tell from what they answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from elrcheck.base.progress import Silent
from elrcheck.base.requests import SweepRequest
from elrcheck.base.roundtrip import to_data
from elrcheck.checking.batch.job import Job, JobAnswer, Sharing, check_job
from elrcheck.checking.batch.pool import Families, next_job, share
from elrcheck.commands.sweep.grid import job_of, make_grid
from support.sweeps import SMALL

ENGINE = ("engine", "variables", "run_dir")
COST = ("seconds", "states_per_second", "bytes_per_state", "peak_memory_bytes")


def jobs_of(request: SweepRequest) -> list[Job]:
    grid = make_grid(request.selection, request.sweeps, request.grid)
    return [job_of(point, request) for point in grid.points]


def test_what_differs_in_budgets_only_is_a_family() -> None:
    jobs = share(jobs_of(replace(SMALL, sweeps=("variant=kip_full,legacy", "crashes=0..2", "min_isr=1..2"))))
    kinds = [job.sharing for job in jobs]
    kip, legacy = kinds[0], kinds[-1]
    assert kinds == [kip] * 6 + [legacy] * 6 and kip is not None and legacy is not None and kip != legacy
    assert kip.least == {"crashes": 0, "min_isr": 1}
    assert (kip.widest["crashes"], kip.widest["min_isr"], kip.widest["shrinks"]) == (2, 2, 1)
    assert {**kip.widest, "crashes": 0, "min_isr": 1} == jobs[0].config


def test_what_differs_in_knobs_or_properties_shares_nothing() -> None:
    jobs = jobs_of(replace(SMALL, sweeps=("log_slots=1..2", "strict_hwm=true,false")))
    assert [job.sharing for job in share(jobs)] == [None] * 4
    same = [jobs[0], structs.replace(jobs[0], number=9, config={**jobs[0].config, "fences": 1})]
    assert all(job.sharing is not None for job in share(same))
    other = [same[0], structs.replace(same[1], properties=("P-1",))]
    assert [job.sharing for job in share(other)] == [None, None]


@pytest.mark.parametrize(
    ("last", "others", "taken"),
    [
        (None, [], 0),
        ("b", ["a"], 1),  # goes on with what it has compiled
        ("x", ["a"], 1),  # another process compiles a
        (None, ["a", "b"], 3),  # c needs no kernel that another process is about to make
        (None, ["a", "b", "c"], 0),
        ("", ["a"], 1),
    ],
)
def test_a_process_goes_on_with_its_family(last: str | None, others: list[str], taken: int) -> None:
    def job(name: str) -> Job:
        sharing = Sharing({"variant": name}, {"crashes": 0}) if name else None
        return structs.replace(one, sharing=sharing)

    one = jobs_of(SMALL)[0]
    waiting = [job(name) for name in "abac"]
    assert next_job(waiting, None if last is None else job(last), [job(name) for name in others]) == taken


def comparable(answer: JobAnswer) -> dict[str, Any]:
    assert answer.report is not None, (answer.error, answer.refused)
    report = {key: value for key, value in to_data(answer.report).items() if key not in ENGINE}
    search = {key: value for key, value in report["search"].items() if key not in COST}
    # Whether an action that never fired could have: a family knows only what its numbers alone rule out.
    actions = [{key: value for key, value in one.items() if key != "possible"} for one in report["actions"]]
    return {**report, "search": search, "actions": actions, "traces": answer.traces}


def test_the_answer_is_that_of_a_kernel_of_its_own(tmp_path: Path) -> None:
    """Counts, actions, properties and the very same traces, though the family remembers more promises."""
    sweeps = ("variant=legacy", "crashes=0..1", "min_isr_changes=0..1")
    jobs = share(jobs_of(replace(SMALL, sweeps=sweeps)))
    families = Families()
    job = jobs[2]
    assert families.of(jobs[0]) is families.of(job)
    shared = check_job(job, Silent(), tmp_path, family_of=families.of)
    alone = check_job(job, Silent(), tmp_path)
    assert shared.report is not None and "kernel shared" in shared.report.engine.detail
    assert comparable(shared) == comparable(alone) and alone.report is not None
    possible = [{one.name for one in report.actions if one.possible} for report in (shared.report, alone.report)]
    assert possible[1] <= possible[0] and "ChangeMinIsr" not in possible[0]
    assert len(shared.traces) > 3
    assert families.of(structs.replace(job, sharing=None)) is None
