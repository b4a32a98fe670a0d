"""Searches on Spark for tests: one search compared with the local engine's, and tasks that fail on purpose.

Tasks are sent to workers by value, for a worker does not have this module.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.result import SearchResult
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.explorer.search.tally import Tally
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.spark.distributed_search import SparkSearch
from elrcheck.spark.tasks import LevelTasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from elrcheck.spark.shards import Shard


PAIRS = [
    ("kip_full", "two-brokers", 400),
    ("kip_full", "three-brokers-tiny", 200),
    ("code_2024_10", "two-brokers", 400),
    ("legacy", "two-brokers", 200),
    ("code_4_1", "three-brokers-tiny", 200),
    ("kip_full", "recovery-two-brokers", 8000),
    ("kip_full", "three-brokers-two-records", 4000),
]
"""Variant, scope, and the size of a level that goes to Spark."""


@dataclass
class Folder:
    """Where a search keeps its levels; nothing else."""

    place: Path
    written: list[SavedLevel]

    def files(self, words: int) -> LevelFiles:
        return LevelFiles(self.place, words)

    def due(self) -> bool:
        return False

    def at_stop(self, interrupted: bool) -> bool:
        return False

    def save(self, written: list[SavedLevel], tally: Tally) -> None:
        self.written = list(written)


@dataclass
class EngineResult:
    """All that must not depend on the engine: counts, levels, first hits, shortest traces."""

    facts: dict[str, Any]
    search: Search


def lowered(variant: str, scope: str, *overrides: str) -> Lowered:
    model = load_checked_model()
    config = resolve(Selection(variant, scope, overrides)).config
    return lower(model, config, model.checks)


def lowered_protocol(file: Path) -> Lowered:
    """The model in a file, with its defaults."""
    selected = resolve(Selection(model=file))
    model = selected.declared.checked()
    return lower(model, selected.config, model.checks)


def facts(search: Search, result: SearchResult) -> dict[str, Any]:
    return {
        "generated": result.generated,
        "distinct": result.distinct,
        "levels": result.levels,
        "enabled": result.enabled,
        "cut": result.cut,
        "new_states": result.new_states,
        "deadlocks": result.deadlocks,
        "overflow": result.overflow,
        "first": result.first,
        "leaf_values": result.leaf_values,
        "complete": result.complete,
        "traces": Retrace(search).traces(list(result.first)),
    }


def locally(program: Lowered, stop: str = "complete") -> dict[str, Any]:
    """The facts as the local engine finds them."""
    search = Search(program.program, SearchSettings(workers=2, cache=KernelCache()))
    return facts(search, search.run(None, stop))


def on_spark(
    program: Lowered,
    session: SparkSession,
    folder: Path,
    partitions: int,
    handover: int | None,
    tasks: type[LevelTasks] = LevelTasks,
    stop: str = "complete",
    fingerprint: int = 0,
    **sizes: int,
) -> tuple[dict[str, Any], SparkSearch]:
    """The facts as a search on Spark finds them, and the search. sizes: see `Run`."""
    settings = SearchSettings(cache=KernelCache(), fingerprint=fingerprint, keeper=Folder(folder, []))
    search = SparkSearch(program.program, session, settings, partitions, handover)
    search._run = replace(search._run, **sizes)
    search.tasks = tasks
    try:
        search.start()
        return facts(search, search.run(None, stop)), search
    finally:
        search.close()


# ---------------------------------------------------------------------------- tasks that fail


class Once(LevelTasks):
    """Has an accident in partition 0, once in an even and once in an odd level; a file says that it was."""

    when = "insert"

    def accident(self) -> None:
        raise RuntimeError("on purpose")

    def due(self, partition: int, when: str) -> bool:
        if partition != 0 or when != self.when:
            return False
        mark = Path(self.run.place) / f"accident-{self.depth % 2}"
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except (FileExistsError, FileNotFoundError):  # the folder is not there before the first level
            return False
        return True

    def _expand(self, partition: int) -> Iterator[Any]:
        for batch in super()._expand(partition):
            yield batch
            if self.due(partition, "expand"):
                self.accident()

    def _own(self, partition: int, *rest: Any) -> Iterator[Any]:
        for piece in super()._own(partition, *rest):
            yield piece
            if self.due(partition, "insert"):  # in the middle of a level, which must leave nothing behind
                self.accident()

    def _close(self, shard: Shard, report: Any, *rest: Any) -> None:
        super()._close(shard, report, *rest)
        if self.due(report.partition, "written"):
            self.accident()


class KilledMidLevel(Once):
    def accident(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class KilledAfterWriting(KilledMidLevel):
    when = "written"


class KilledWhileSending(KilledMidLevel):
    when = "expand"


SLOW_SECONDS = 60


class Slow(Once):
    """Takes long enough to be run a second time beside itself."""

    when = "written"

    def accident(self) -> None:
        time.sleep(SLOW_SECONDS)
