"""The walks of a configuration that is too large to search, and their counts and digest."""

from __future__ import annotations

import time

from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.batch.job import Job
from elrcheck.checking.engines import no_collection
from elrcheck.checking.suite.suite_counts import CaseCounts
from elrcheck.checking.suite.suite_file import SuiteCase, Walk
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.recorded_walk import WalkDigest, walked
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program


class WalkTask(Record, frozen=True):
    """One configuration to walk through, as it is sent to another process."""

    number: int
    job: Job
    walk: Walk


class WalkAnswer(Record, frozen=True):
    """The counts of the walks of a configuration."""

    number: int
    counts: CaseCounts
    seconds: float


def task_of(number: int, case: SuiteCase, walk: Walk) -> WalkTask:
    return WalkTask(number, Job(number, case.selection, config_values(case.selected.config)), walk)


def walk_case(task: WalkTask) -> WalkAnswer:
    """Walk through one configuration, without checking properties; runs in a worker process."""
    started = time.monotonic()
    selected = task.job.selected()
    with no_collection():
        program = lower(selected.declared.whole(), selected.config, ()).program
    counts = counts_of_walks(walks_of(program, task.walk))
    return WalkAnswer(task.number, counts, round(time.monotonic() - started, 3))


def walks_of(program: Program, walk: Walk) -> WalkDigest:
    return walked(program, seed=walk.seed, walks=walk.walks, steps=walk.steps, cache=KernelCache())


def counts_of_walks(walks: WalkDigest) -> CaseCounts:
    return CaseCounts(walks.generated, walks.distinct, walks.steps, walks.digest)
