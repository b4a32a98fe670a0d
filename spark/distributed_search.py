"""The compiled search with its wide levels on Spark: the engine `spark` of the commands.

`SparkSearch` is the ordinary search (`explorer.search.compiled`) with a space that changes between levels: it
starts in the driver, moves to partitions on the executors once levels are wide, and returns when they are
narrow again, or were no faster there (`placement`). It inherits limits, counts, checkpoints and traces.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from elrcheck.base.progress import Progress, Silent
from elrcheck.base.requests import SparkRequest
from elrcheck.base.runner.processors import processors
from elrcheck.explorer.kernel.kernel import blueprint
from elrcheck.explorer.kernel.word_layout import Rows
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.level_questions import Answers, LevelQuestion
from elrcheck.explorer.search.tally import Tally
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel
from elrcheck.lang.lowering.program import Program
from elrcheck.spark.cancellable_job import ExecutorWatch
from elrcheck.spark.conf import SparkChoice, parse_conf, parse_master
from elrcheck.spark.exchange import LevelExchange
from elrcheck.spark.placement import Placement, Preparation
from elrcheck.spark.session import spark_session
from elrcheck.spark.shards import Plans
from elrcheck.spark.space import Distributed, LevelCost
from elrcheck.spark.tasks import LevelTasks, SparkRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkSearch(Search):
    """A search over a program on the executors of a session.

    partitions: number of partitions of the states, by default one per concurrent task. handover: see `Placement`.
    progress: is told of lost executors.
    settings: `workers` is the number of threads in the driver; spark.task.cpus is that of a task.
    """

    tasks: type[LevelTasks] = LevelTasks

    def __init__(
        self,
        program: Program,
        session: SparkSession,
        settings: SearchSettings,
        partitions: int | None = None,
        handover: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(program, settings)
        self.session = session
        context = session.sparkContext
        self.threads = int(context.getConf().get("spark.task.cpus", "1") or 1)
        self.partitions = partitions or max(1, context.defaultParallelism // self.threads)
        self.placement = Placement(handover, shares=parse_master(str(context.master)).loopback)
        self.watch = ExecutorWatch(session, progress or Silent())
        self.exchange = LevelExchange(session, self.partitions, self.watch)
        self.costs: list[LevelCost] = []
        self.retraced = 0  # levels that executors were asked about for traces
        self._preparation: Preparation | None = None
        self._level_started = 0.0
        plan = self.native.plan
        assert plan is not None
        plans = Plans(blueprint(program), plan) if settings.fingerprint else Plans(plan, None)
        self._plans = context.broadcast(plans)
        self._run = SparkRun(
            uuid.uuid4().hex,
            self._plans,
            plans.digest,
            self.exchange.keys,
            self._level_files.place,
            self.threads,
            settings.limits.memory,
        )

    @property
    def _level_files(self) -> LevelFiles:
        assert self._files is not None, "a search on Spark has a keeper"
        return self._files

    def close(self) -> None:
        if self._preparation is not None:
            self._preparation.close()
        self.exchange.close()
        self._plans.destroy()

    def start(self) -> None:
        """Begin to prepare the executors, unless they would slow down the first levels (`Placement.prepares`)."""
        if self.placement.prepares(0.0):
            self._prepare()

    def _prepare(self) -> Preparation:
        """Return the preparation of the executors, which begins with the first call.

        They compile their kernels, check that they see the driver's files, and measure the cost of an empty level.
        """
        if self._preparation is not None:
            return self._preparation
        none = np.zeros((0, self.layout.words), np.uint64)
        probe = self._level_files.write(0, none, 1, f"00000-probe-{self._run.name}")
        nothing = LevelTasks(replace(self._run, name="floor"), ((probe,),) * self.partitions)
        self._preparation = Preparation(partial(self.exchange.level, nothing))
        return self._preparation

    def ask(self, depth: int, question: LevelQuestion) -> Answers | None:
        """Ask a wide level where it is; return None for one that the driver asks itself."""
        if not isinstance(self.space, Distributed) or not self.placement.favours_spark(self.space.sizes[depth]):
            return None
        self.retraced += 1
        return self.space.ask(depth, question)

    # -- moving between driver and Spark

    def _advance(self, depth: int, begun: Tally) -> str | None:
        frontier = self.space.sizes[-1]
        if isinstance(self.space, Distributed):
            if self.placement.favours_driver(frontier, self.space.distinct):
                self._return_to_driver(self.space)
        elif self._prepared() and self.placement.favours_spark(frontier):
            self._move_to_spark(len(self.space.sizes))
        started = self._level_started = time.perf_counter()
        with self._saved_from_failures(depth, begun):
            reason = super()._advance(depth, begun)
        seconds = time.perf_counter() - started
        if not isinstance(self.space, Distributed):
            self.placement.measured(frontier, seconds)
        elif reason is None and not self.costs[-1].read:
            self.placement.measured_on_spark(frontier, seconds)
        return reason

    def _prepared(self) -> bool:
        """Return whether the executors are ready; wait for them if the user has said when to use them."""
        if self._preparation is None and not self.placement.prepares(self.seconds):
            return False
        floor = self._prepare().floor(wait=self.placement.handover is not None)
        if floor is not None:
            self.placement.floor = floor
        return floor is not None

    def _due(self) -> bool:
        """Save after every level on Spark, whose files are on disk anyway."""
        return isinstance(self.space, Distributed) or super()._due()

    @contextlib.contextmanager
    def _saved_from_failures(self, depth: int, begun: Tally) -> Iterator[None]:
        """If Spark fails (`job_fault`), save the counts up to the last level, so that the run can be resumed."""
        try:
            yield
        except Exception:
            if isinstance(self.space, Distributed):
                self._set_back(begun)
                self._save(depth, begun)
            raise

    def _remark(self) -> str:
        if not isinstance(self.space, Distributed):
            return "in the driver"
        if not self.costs:
            return f"on Spark in {self.partitions} partitions"
        last = self.costs[-1]
        pace = last.seconds / max(1, last.states)
        left = max(0.0, self._level_size * pace - (time.perf_counter() - self._level_started))
        return f"on Spark, {last.sent / 2**20:,.0f} MiB shuffled last, about {left:.0f} s to the next level"

    def about(self) -> str:
        where = f"{self.partitions} partitions" if self.partitions > 1 else "1 partition"
        many = self.watch.lost
        lost = f", {many} executor{'s' if many > 1 else ''} lost" if many else ""
        return f", {len(self.costs)} levels on Spark in {where}, {self.threads} threads each{lost}"

    def _move_to_spark(self, levels: int) -> None:
        """Move the search to Spark, with its first `levels` levels."""
        self._adopt(self.space.written, self.space.batches, levels)

    def _return_to_driver(self, space: Distributed) -> None:
        """Bring the states back to the driver, if they fit into its memory."""
        mine = self._in_memory()
        if mine.load(space.written):
            self.space = mine
        else:
            self.crew.forget()
            self.placement.too_large = True

    @property
    def _can_spill(self) -> bool:
        return not isinstance(self.space, Distributed)

    def _spill_from(self, depth: int, begun: Tally) -> None:
        """Move states that exceed the driver's memory to Spark, for good."""
        self.placement.too_large = True
        self._move_to_spark(depth + 1)

    def _spill(self, written: list[SavedLevel]) -> None:
        """Continue on Spark from level files."""
        self._adopt(written, lambda depth: self._level_files.read(written[depth]), len(written))

    def resume(self, written: list[SavedLevel], tally: Tally) -> None:
        """Resume from a checkpoint: on Spark if it was written there or is too large for the driver."""
        if written and Distributed.wrote(written[-1], self.partitions):
            self._spill(written)
            self.tally = tally
            self.crew.restore(tally.counters)
        else:
            super().resume(written, tally)

    def _adopt(self, written: list[SavedLevel], batches: Callable[[int], Iterator[Rows]], levels: int) -> None:
        self._prepare().floor(wait=True)
        self.crew.forget()
        space = Distributed(self.native, self.crew, self._level_files, self.exchange, self._run, self.costs, self.tasks)
        space.adopt(written, batches, levels)
        self.placement.moved_at = space.sizes[-1]
        self.space = space


TRIES = 4
"""Attempts per task: Spark's default on a cluster, which a local master does not apply by itself."""


@contextlib.contextmanager
def spark_search(
    program: Program, request: SparkRequest, settings: SearchSettings, progress: Progress
) -> Iterator[SparkSearch]:
    """Open a search to run within the block; raise the faults of `spark_session`. settings: of the driver."""
    choice = spark_choice(request)
    with session_for(choice, progress) as session:
        progress.stage("starting the executors")
        search = SparkSearch(program, session, settings, request.partitions, request.handover, progress)
        try:
            search.start()
            yield search
        finally:
            with contextlib.suppress(Exception):
                search.close()


def spark_choice(request: SparkRequest) -> SparkChoice:
    """Return options for one task at a time per executor, on all its cores, so that it holds each shard once."""
    conf = parse_conf(request.conf)
    properties = dict(conf)
    master = parse_master(request.master)
    url, threads = master.url, None
    if master.local:
        threads = master.threads or processors()
        if re.fullmatch(r"local(\[[^,]*\])?", url):
            url = f"local[{threads},{TRIES}]"
    elif properties.get("spark.executor.cores", "").isdecimal():
        threads = int(properties["spark.executor.cores"])
    if "spark.task.cpus" in properties:
        threads = None
    return SparkChoice(url, conf, threads=threads, verbose=request.verbose, ship_packages=request.ship_packages)


@contextlib.contextmanager
def session_for(choice: SparkChoice, progress: Progress) -> Iterator[SparkSession]:
    """Open a new session, or use the one that this process already has, such as a sweep's."""
    pyspark = sys.modules.get("pyspark")
    if pyspark is not None and pyspark.SparkContext._active_spark_context is not None:
        from pyspark.sql import SparkSession

        yield SparkSession.builder.getOrCreate()
        return
    progress.stage("starting Spark")
    with spark_session(choice) as session:
        yield session
