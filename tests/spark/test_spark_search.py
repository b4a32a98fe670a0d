"""The search on Spark finds what the local engine finds: every count, every first depth, every trace.

Here a session with two slots of one thread each, so that partitions change between worker processes.
The slow tests go through all pairs and all accidents; the others are a sample of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection, SparkRequest
from elrcheck.checking.check import run_check
from elrcheck.spark.exchange import LevelExchange
from elrcheck.spark.placement import Placement
from elrcheck.spark.tasks import LevelTasks, ShardReport
from support import spark_runs
from support.spark_runs import (
    PAIRS,
    KilledAfterWriting,
    KilledMidLevel,
    KilledWhileSending,
    Once,
    locally,
    lowered,
    on_spark,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", autouse=True)
def by_value() -> None:
    from pyspark.cloudpickle import register_pickle_by_value

    register_pickle_by_value(spark_runs)


def compare(
    session: SparkSession,
    folder: Path,
    pair: tuple[str, str, int],
    partitions: int,
    tasks: type[LevelTasks] = LevelTasks,
    **options: int,
) -> Any:
    variant, scope, handover = pair
    program = lowered(variant, scope)
    actual, search = on_spark(program, session, folder / "levels", partitions, handover, tasks, **options)
    assert actual == locally(program)
    assert len(search.costs) >= 4, "several levels were made on Spark"
    return search


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "partitions"),
    [(pair, (1, 2, 7)[i % 3]) for i, pair in enumerate(PAIRS)],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, tuple) else str(value),
)
def test_as_the_local_engine(spark: SparkSession, tmp_path: Path, pair: tuple[str, str, int], partitions: int) -> None:
    compare(spark, tmp_path, pair, partitions)


def test_a_short_search_with_a_local_master_prepares_no_executors(spark: SparkSession, tmp_path: Path) -> None:
    program = lowered("kip_full", "two-brokers")
    actual, search = on_spark(program, spark, tmp_path / "levels", 2, None)
    assert actual == locally(program)
    assert search._preparation is None and not search.costs


def test_as_the_local_engine_in_three_partitions(spark: SparkSession, tmp_path: Path) -> None:
    search = compare(spark, tmp_path, ("kip_full", "two-brokers", 1200), 3)
    assert search.costs[-1].depth < len(search.space.sizes) - 1, "the last levels were made in the driver"
    assert sum(cost.sent for cost in search.costs) > 0


def test_a_violation_and_its_trace(spark: SparkSession, tmp_path: Path) -> None:
    program = lowered("legacy", "two-brokers")
    actual, search = on_spark(program, spark, tmp_path, 2, 4, stop="first")
    assert actual == locally(program, stop="first")
    assert any(program.program.checks[check].kind == "always" for check in actual["first"])
    assert search.costs and search.retraced


@pytest.mark.slow
@pytest.mark.parametrize("fingerprint", [0, 64])
def test_traces_that_executors_rebuild(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fingerprint: int
) -> None:
    """Where states do not come back to the driver: traces to states and to steps are those of the local engine."""
    monkeypatch.setattr(Placement, "favours_driver", lambda *_: False)
    pair = ("legacy", "two-brokers", 200)
    search = compare(spark, tmp_path, pair, 2, fingerprint=fingerprint)
    assert search.retraced > 5
    assert {search.program.checks[check].scope for check in search.first} == {"state", "step"}


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_level(spark: SparkSession, tmp_path: Path) -> None:
    compare(spark, tmp_path, ("kip_full", "two-brokers", 1200), 2, KilledMidLevel)
    assert {path.name for path in tmp_path.rglob("accident-*")} == {"accident-0", "accident-1"}


SMALL = {"batch": 1 << 14, "held": 1 << 13}
"""Many batches in a level, and most candidates for the own partition travel."""


@pytest.mark.slow
def test_fingerprints_as_the_local_engine(spark: SparkSession, tmp_path: Path) -> None:
    search = compare(spark, tmp_path, ("kip_full", "two-brokers", 1200), 3, fingerprint=64, **SMALL)
    assert search.fingerprint == 64 and search.costs[-1].depth < len(search.space.sizes) - 1


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "partitions"), [(0, 1), (64, 2), (128, 2)])
def test_many_batches(spark: SparkSession, tmp_path: Path, bits: int, partitions: int) -> None:
    pair = ("kip_full", "recovery-two-brokers", 8000)
    search = compare(spark, tmp_path, pair, partitions, fingerprint=bits, **SMALL)
    assert max(cost.states for cost in search.costs) > 17_000


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [KilledMidLevel, KilledAfterWriting, KilledWhileSending])
def test_accidents_with_fingerprints(spark: SparkSession, tmp_path: Path, tasks: type[LevelTasks]) -> None:
    pair = ("kip_full", "two-brokers", 400)
    compare(spark, tmp_path, pair, 2, tasks, fingerprint=64, **SMALL)
    assert len(list(tmp_path.rglob("accident-*"))) == 2


@pytest.mark.slow
def test_liveness_from_shards(spark: SparkSession, tmp_path: Path) -> None:
    """The driver builds the graph from the levels of all partitions, and finds the same lassos."""
    selection = Selection("legacy", "two-brokers", ("response_loss=false", "shrinks=0", "acks_one=0"))
    request = CheckRequest(selection=selection, liveness=True)
    local = run_check(request, Silent())
    where = SparkRequest("local[2]", partitions=2, handover=100)
    shards = replace(request, engine="spark", spark=where, run_dir=tmp_path / "run")
    report = run_check(shards, Silent())
    assert report.engine.name == "spark" and "levels on Spark in 2 partitions" in report.engine.detail
    sizes = [(one.search.levels, one.search.generated) for one in (report, local)]
    assert sizes[0] == sizes[1]
    facts = [[(p.id, p.verdict, p.depth, p.waiting) for p in one.properties] for one in (report, local)]
    assert facts[0] == facts[1]
    assert {"violated", "holds"} <= {verdict for _, verdict, _, _ in facts[0]}
    lassos = [[p.counterexample for p in one.properties] for one in (report, local)]
    assert lassos[0] == lassos[1] and any(lassos[0])
    assert not list((tmp_path / "run").rglob("*.parquet"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "partitions"), [(Once, 7), (KilledMidLevel, 2), (KilledAfterWriting, 7), (KilledWhileSending, 1)]
)
def test_accidents(spark: SparkSession, tmp_path: Path, tasks: type[LevelTasks], partitions: int) -> None:
    compare(spark, tmp_path, ("kip_full", "two-brokers", 400), partitions, tasks)
    assert len(list(tmp_path.rglob("accident-*"))) == 2


@pytest.mark.slow
def test_a_level_made_twice_is_the_same(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark may run any task again, also after it has succeeded; each attempt reports the same."""
    original = LevelExchange.level
    twice: list[tuple[list[ShardReport], list[ShardReport]]] = []

    def level(self: LevelExchange, tasks: LevelTasks, stop: Callable[[], str | None]) -> list[ShardReport]:
        reports = original(self, tasks, stop)
        twice.append((reports, original(self, tasks, stop)))
        return reports

    monkeypatch.setattr(LevelExchange, "level", level)
    compare(spark, tmp_path, ("kip_full", "two-brokers", 1800), 2)
    for first, second in twice:
        for one, other in zip(first, second, strict=True):
            for name in ("counters", "flags", "credit", "judgement", "sent"):
                assert getattr(one, name) == getattr(other, name)
            assert one.level is not None and other.level is not None
            assert one.level.rows == other.level.rows
            assert not {file.name for file in one.level.files} & {file.name for file in other.level.files}
