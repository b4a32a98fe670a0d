"""Tasks that Spark runs twice: what it takes from one attempt is never completed by what another attempt has left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.roundtrip import from_text
from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import blueprint
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel
from elrcheck.lang.lowering.program import Program
from elrcheck.spark import tasks as tasks_module
from elrcheck.spark.shards import Plans, ShardWorker, write_shard
from elrcheck.spark.tasks import Clock, LevelTasks, ShardReport, SparkRun, fat_row
from support.searches import search
from support.small_programs import grid

SIDE = 20


@dataclass(frozen=True)
class Here:
    """Stands for a broadcast of Spark."""

    value: Any


def reversed_rows(self: LevelFiles, level: SavedLevel) -> Iterator[Any]:
    """Other workers have the states of a shard in another order, for several threads insert them."""
    yield from [rows[::-1] for rows in IN_ORDER(self, level)][::-1]


IN_ORDER = LevelFiles.read


def begun(folder: Path) -> tuple[Program, SparkRun, list[SavedLevel]]:
    """A search of one partition that has the initial state."""
    program = grid(SIDE, 3)
    plans = Plans(blueprint(program), None)
    layout = plans.states.shapes.layout
    files = LevelFiles(folder, layout.words)
    run = SparkRun("attempts", Here(plans), plans.digest, (0,), files.place, 1, batch=1 << 8, held=1 << 8)
    return program, run, [write_shard(files, 0, 0, 1, layout.pack_rows(program.init), 1)]


def test_candidates_of_two_attempts_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level is expanded here and then elsewhere, and settled here, with what the second attempt has sent.

    An attempt keeps a few candidates for its own partition, and sends the others.
    """
    program, run, levels = begun(tmp_path)
    here, elsewhere = ShardWorker(), ShardWorker()

    def expanded(worker: ShardWorker) -> list[Any]:
        monkeypatch.setattr(tasks_module, "WORKER", worker)
        monkeypatch.setattr(LevelFiles, "read", reversed_rows if worker is elsewhere else IN_ORDER)
        return list(tasks.expand(iter([fat_row(0)])))

    while levels[-1].rows:
        tasks = LevelTasks(run, (tuple(levels),))
        expanded(here)
        sent = expanded(elsewhere)
        monkeypatch.setattr(tasks_module, "WORKER", here)
        (batch,) = tasks.settle(iter([fat_row(0), *sent]))
        report = from_text(batch.column("report")[0].as_py(), ShardReport)
        assert report.level is not None
        levels.append(report.level)
    local = search(program, cache=KernelCache())
    assert tuple(level.rows for level in levels[:-1]) == local.levels


def test_threads_end_though_candidates_are_not_read_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inserting a recomputed candidate fails, for example for lack of memory."""
    closed: list[SearchCrew] = []

    class WatchedCrew(SearchCrew):
        def close(self) -> None:
            closed.append(self)
            super().close()

    _, run, levels = begun(tmp_path)
    monkeypatch.setattr(tasks_module, "WORKER", ShardWorker())
    monkeypatch.setattr(tasks_module, "SearchCrew", WatchedCrew)
    tasks = LevelTasks(run, (tuple(levels),))
    own = tasks._own(0, "an attempt elsewhere", tasks._begin()[0], Clock())
    assert len(next(own)[0]) == 3
    own.close()
    assert len(closed) == 1
