"""`elrcheck sweep`: check each configuration of a grid as `elrcheck check` does.

Small configurations run concurrently, the largest first: in a pool on this machine (`pool`) or in Spark tasks
(`on_spark`). One that exceeds `--large` states stops there and runs again later, on its own, with all resources. Every
answer is stored as it arrives (`ledger`), so that a sweep can resume.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from elrcheck.base.errors import ElrError, Interrupted, UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.progress import PointsDone, Progress
from elrcheck.base.requests import Selection, SparkRequest, SweepRequest
from elrcheck.base.run_lock import alone_in
from elrcheck.base.runner.processors import processors
from elrcheck.base.runner.runner import InProcess, TaskCrew, run_tasks
from elrcheck.checking.batch.job import Job, JobAnswer, check_job
from elrcheck.checking.batch.pool import check_all, share
from elrcheck.checking.runs.folders import RUNS
from elrcheck.commands.sweep import ledger as ledgers
from elrcheck.commands.sweep.axes import plain_value
from elrcheck.commands.sweep.grid import Point, SweepGrid, cost, job_of, largest_first, make_grid
from elrcheck.commands.sweep.ledger import Ledger, row_of
from elrcheck.declared.declared_model import declared
from elrcheck.declared.patched import patch_applied
from elrcheck.declared.select import select_properties
from elrcheck.report.plain_words import of_model
from elrcheck.results.suite_report import Searcher, SweepAxis, SweepEngine, SweepReport, in_order, verdict_of

WORK = "work"
"""Subfolder of a sweep for the temporary files of running searches."""


@dataclass(frozen=True)
class Engines:
    """The crews for the jobs: `small` of all small jobs at once, `whole` of a large job."""

    small: Callable[[Sequence[Job]], TaskCrew[Job, JobAnswer]]
    whole: Callable[[Job], TaskCrew[Job, JobAnswer]]
    by: Searcher
    workers: int
    detail: str | None = None


def run_sweep(request: SweepRequest, progress: Progress) -> SweepReport:
    """Check every configuration of the grid; after an interrupt the report has the answers so far.

    Raises UsageFault for an invalid grid or an unknown property, NothingChecked if no configuration can be checked,
    EnvironmentFault if the engine cannot start.
    """
    started = time.monotonic()
    if request.resume is None:
        request, grid, ledger = _begin(request)
        with alone_in(ledger.folder):
            return _run_in(ledger, grid, request, progress, started)
    # Lock first: reading the answers removes an incomplete line, which another process may be writing.
    with alone_in(request.resume, request.resume.is_dir()):
        request, grid, ledger = _resume(request, request.resume)
        return _run_in(ledger, grid, request, progress, started)


def _run_in(ledger: Ledger, grid: SweepGrid, request: SweepRequest, progress: Progress, started: float) -> SweepReport:
    resumed = sum(ledger.settled(point.number) for point in grid.points)
    stop = Interrupts()
    work = ledger.folder / WORK
    run = _SweepRun(grid, ledger, request, progress, stop, started)
    workers, detail = 0, "all configurations were already done" if not run.jobs else None
    try:
        if run.jobs:
            if request.engine == "spark":
                progress.stage("starting Spark")
            with _engines(request, work, progress) as engines, stop:
                workers, detail = engines.workers, engines.detail
                run.small(engines)
                run.large(engines)
    except BaseException as fault:
        if not ledger.done:  # nothing to resume, for example because Spark did not start
            _forget(ledger)
        elif isinstance(fault, ElrError):
            again = f"resume with `{again_with(ledger.folder, request.selection)}`"
            fault.help = again if fault.help is None else f"{fault.help}; then {again}"
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    rows = in_order(row_of(point, ledger.done.get(point.number)) for point in grid.points)
    stays, model = _folder_stays(ledger, grid), declared(request.selection.source)
    return SweepReport(
        verdict=verdict_of(rows),
        axes=tuple(
            SweepAxis(axis.key, tuple(plain_value(model, axis.key, value) for value in axis.values))
            for axis in grid.axes
        ),
        keys=grid.keys,
        rows=rows,
        excluded=grid.excluded,
        seconds=round(time.monotonic() - started, 3),
        engine=SweepEngine(request.engine, workers, request.large, detail),
        interrupted=stop.requested and not all(_settled(ledger, point) for point in grid.points),
        resumed=resumed,
        run_dir=str(ledger.folder) if stays else None,
        model=None if request.selection.model is None else str(request.selection.model),
        patch=patch_applied(request.selection.source),
    )


def _begin(request: SweepRequest) -> tuple[SweepRequest, SweepGrid, Ledger]:
    """Return the request, the grid and the new folder of a sweep."""
    grid = make_grid(request.selection, request.sweeps, request.grid)
    select_properties(declared(request.selection.source).whole(), request.properties)
    return request, grid, ledgers.create(request.run_dir, ledgers.describe(grid, request))


def _resume(request: SweepRequest, place: Path) -> tuple[SweepRequest, SweepGrid, Ledger]:
    """Return the request, the grid and the folder of a sweep to resume."""
    if request.run_dir is not None:
        raise UsageFault("usage-resume", "--resume already names the run folder: leave out --run-dir")
    saved = ledgers.read_sweep(place)
    if request.named:
        grid = make_grid(request.selection, request.sweeps, request.grid)
    else:
        request = ledgers.request_of(request, saved)
        grid = ledgers.grid_of(saved, request.selection)
    ledgers.reject_other(saved, ledgers.describe(grid, request), place)
    ledger = Ledger(place, (point.number for point in grid.points))
    ledger.journal.read()
    return request, grid, ledger


@contextlib.contextmanager
def _engines(request: SweepRequest, work: Path, progress: Progress) -> Iterator[Engines]:
    processes = request.workers or processors()

    def with_all_threads(job: Job) -> Job:
        return structs.replace(job, workers=request.workers, large=None)

    if request.engine == "local":
        yield Engines(
            small=lambda jobs: check_all(share(jobs), processes, work),
            # A process of its own, because it may run out of memory.
            whole=lambda job: check_all([with_all_threads(job)], 1, work),
            by="process",
            workers=processes,
        )
        return
    from elrcheck.commands.sweep.on_spark import SparkTasks, slots
    from elrcheck.spark.session import SparkChoice, parse_conf, spark_session

    conf = parse_conf(request.spark_conf)
    choice = SparkChoice(request.master or "local[*]", conf, verbose=request.verbose, app_name="elrcheck sweep")
    with spark_session(choice) as session:
        spark = SparkRequest(choice.master, request.spark_conf, storage=request.storage)

        def on_cluster(job: Job) -> JobAnswer:
            return check_job(job, progress, work, spark)

        yield Engines(
            small=lambda jobs: SparkTasks(session, jobs),
            whole=lambda job: InProcess(on_cluster, [with_all_threads(job)]),
            by="task",
            workers=slots(session),
            detail=choice.master,
        )


def _settled(ledger: Ledger, point: Point) -> bool:
    return point.selected is None or ledger.settled(point.number)


def _folder_stays(ledger: Ledger, grid: SweepGrid) -> bool:
    """Return whether the folder stays; one that the user did not name is removed if nothing in it is useful."""
    has_traces = any(done.traces for done in ledger.done.values())
    unfinished = not all(_settled(ledger, point) for point in grid.points)
    if has_traces or unfinished or ledger.folder.parent != RUNS:
        return True
    _forget(ledger)
    return False


def again_with(folder: Path | str, selection: Selection) -> str:
    """Return the command that resumes a sweep; a run folder never names the model."""
    model, patch = (None if file is None else str(file) for file in (selection.model, selection.patch))
    return of_model(f"elrcheck sweep --resume {folder}", model, patch)


def _forget(ledger: Ledger) -> None:
    """Remove the folder, unless the user named it."""
    if ledger.folder.parent != RUNS:
        return
    shutil.rmtree(ledger.folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        RUNS.rmdir()
        RUNS.parent.rmdir()


class _SweepRun:
    """A sweep in progress: the remaining jobs and the answers so far."""

    def __init__(
        self,
        grid: SweepGrid,
        ledger: Ledger,
        request: SweepRequest,
        progress: Progress,
        stop: Interrupts,
        started: float,
    ) -> None:
        self.ledger, self.progress, self.stop = ledger, progress, stop
        self.points = {point.number: point for point in grid.points}
        self.started = started
        left = [p for p in grid.points if not _settled(ledger, p)]
        self.jobs = {point.number: job_of(point, request) for point in left}
        costs = {point.number: cost(point.selected.before.states, request.large) for point in left if point.selected}
        self.costs: Mapping[int, float] = costs
        self.order = list(largest_first(costs))
        self.cost_done = 0.0
        self.states = 0

    def small(self, engines: Engines) -> None:
        """Run all jobs not known to be large, concurrently."""
        large = self.ledger.known_large()
        jobs = [self.jobs[number] for number in self.order if number not in large]
        if jobs:
            self.progress.stage(f"[1/2] {len(jobs)} configurations, the largest first")
            self._collect(engines.small(jobs), engines.by)

    def large(self, engines: Engines) -> None:
        """Run the large jobs one after the other."""
        large = self.ledger.known_large()
        jobs = [self.jobs[number] for number in reversed(self.order) if number in large]
        for place, job in enumerate(jobs, start=1):
            if self.stop():
                return
            self.progress.stage(f"[2/2] large configuration {place} of {len(jobs)}")
            try:
                self._collect(engines.whole(job), "whole")
            except Interrupted:
                self.stop.requested = True

    def _collect(self, crew: TaskCrew[Job, JobAnswer], by: Searcher) -> None:
        answers = run_tasks(crew, interrupted=self.stop, on_tick=self._report_progress)
        with contextlib.closing(answers):
            for answer in answers:
                self.ledger.add(answer, by)
                if not answer.large:
                    self.cost_done += self.costs[answer.number]
                    self.states += 0 if answer.report is None else answer.report.search.distinct

    def _report_progress(self, running: Sequence[tuple[Job, int | None]]) -> None:
        seconds = time.monotonic() - self.started
        ahead = sum(self.costs.values()) - self.cost_done
        self.progress.tell(
            PointsDone(
                done=sum(_settled(self.ledger, point) for point in self.points.values()),
                total=len(self.points),
                current=tuple(self._name(job.number) for job, _ in running),
                states=self.states + sum(states or 0 for _, states in running),
                seconds=seconds,
                left=seconds * ahead / self.cost_done if self.cost_done > 0 else None,
            )
        )

    def _name(self, number: int) -> str:
        settings = self.points[number].settings
        return f"{number} ({', '.join(f'{key}={value}' for key, value in settings.items())})"
