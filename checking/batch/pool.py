"""Checks configurations in processes of this machine; those that differ in budgets only share a kernel.

A process that dies loses only its own configuration. Lowering and compiling take longer than searching a small
configuration, so a process keeps the family of its last job (`explorer/search/family.py`), and prefers other jobs of
that family. A kernel with many open budgets is up to twice as slow as one with constants, so a large configuration has
its own. The kernel cache on disk is shared by all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from elrcheck.base.errors import Interrupted
from elrcheck.base.progress import Event, LevelDone, Silent
from elrcheck.base.runner.runner import TICK, Processes, Tell
from elrcheck.base.typed.configuration import config_fields
from elrcheck.checking.batch.job import Job, JobAnswer, Sharing, check_job, compile_alone
from elrcheck.checking.engines import no_collection
from elrcheck.declared.declared_model import declared
from elrcheck.lang.lowering.open_numbers import budgets_of

if TYPE_CHECKING:
    from elrcheck.explorer.search.family import KernelFamily


def check_all(jobs: Sequence[Job], processes: int, scratch: Path) -> Processes[Job, JobAnswer]:
    """Return the processes that check all jobs; each reports the number of states of its job so far.

    Jobs start in the given order, except when a process can reuse its kernel. scratch: a folder for temporary files
    of the searches; the caller removes it.
    """
    return Processes(_JobChecker(scratch), jobs, processes, lost=_answer_of_lost, choose=next_job)


def _answer_of_lost(job: Job, fate: str) -> JobAnswer:
    return JobAnswer(job.number, error=fate)


class _JobChecker:
    """Checks one job after the other in a process, which keeps the family of its last job."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._families = Families()

    def __call__(self, job: Job, tell: Tell) -> JobAnswer:
        compile_alone(job.workers == 1)
        try:
            return check_job(job, _States(tell), self._scratch, family_of=self._families.of)
        except Interrupted:
            return JobAnswer(job.number, error="the process was stopped by a signal")


class _States(Silent):
    """Progress that sends the number of states a few times a second."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._last = 0.0

    def tell(self, event: Event) -> None:
        now = time.monotonic()
        if isinstance(event, LevelDone) and now - self._last >= TICK:
            self._last = now
            self._tell(event.distinct)


MORE = frozenset({"min_isr"})
"""Numbers other than budgets that may differ within a shared kernel without slowing it."""
MOST_STATES = 2_000_000
"""Estimated states up to which a configuration shares a kernel; searching that many takes as long as compiling."""


def share(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs in the same order; a job that differs from others only in budgets names its family."""
    if not jobs:
        return []
    model = declared(jobs[0].selection.source)
    numbers = budgets_of(model.whole()) | (MORE & config_fields(model.config).keys())
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        if job.selected().before.states <= MOST_STATES:
            groups.setdefault(_shared_part(job, numbers), []).append(job)
    shared = {
        job.number: _sharing([other.config for other in group], numbers)
        for group in groups.values()
        for job in group
        if len(group) > 1
    }
    return [structs.replace(job, sharing=shared.get(job.number)) for job in jobs]


def _shared_part(job: Job, numbers: frozenset[str]) -> str:
    """Return everything that must be equal in two jobs that share a kernel."""
    config = {name: value for name, value in job.config.items() if name not in numbers}
    return json.dumps([config, job.properties, job.workers == 1], sort_keys=True)


def _sharing(configs: Sequence[Mapping[str, Any]], numbers: frozenset[str]) -> Sharing:
    first = configs[0]
    least = {name: min(config[name] for config in configs) for name in sorted(numbers)}
    most = {name: max(config[name] for config in configs) for name in sorted(numbers)}
    return Sharing({**first, **most}, {name: low for name, low in least.items() if low < most[name]})


def next_job(waiting: Sequence[Job], last: Job | None, others: Sequence[Job]) -> int:
    """Return the position of a process's next job: of its own family, else of one that no other process works on."""
    kinds = [job.sharing for job in waiting]
    if last is not None and last.sharing is not None and last.sharing in kinds:
        return kinds.index(last.sharing)
    begun = [job.sharing for job in others if job.sharing is not None]
    return next((k for k, kind in enumerate(kinds) if kind not in begun), 0)


class Families:
    """Caches the family that a process built last."""

    def __init__(self) -> None:
        self._sharing: Sharing | None = None
        self._family: KernelFamily | None = None

    def of(self, job: Job) -> KernelFamily | None:
        """Return the family of a job, None for a job without one."""
        if job.sharing is None:
            return None
        if job.sharing != self._sharing:
            self._sharing = self._family = None  # free the last one first
            self._family = _make_family(job, job.sharing)
            self._sharing = job.sharing
        return self._family


def _make_family(job: Job, sharing: Sharing) -> KernelFamily | None:
    from elrcheck.declared.select import select_properties
    from elrcheck.explorer.kernel.native_code import KernelCache
    from elrcheck.explorer.search.family import KernelFamily

    model = declared(job.selection.source).whole()
    chosen = select_properties(model, job.properties)
    if any(fn.kind == "leads_to" for fn in chosen):
        return None
    widest = structs.replace(job, config=sharing.widest).selected().config
    with no_collection():
        return KernelFamily(model, widest, chosen, least=sharing.least, cache=KernelCache())
