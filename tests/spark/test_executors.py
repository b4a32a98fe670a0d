"""Executors that are lost are reported once, with their addresses; Spark itself is played."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.progress import Event, ExecutorsLost, Silent
from elrcheck.spark import cancellable_job, session
from elrcheck.spark.cancellable_job import ExecutorWatch
from elrcheck.spark.conf import parse_master

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Listed(list[str]):
    """A sequence of Scala."""

    def mkString(self, between: str) -> str:
        return between.join(self)

    def size(self) -> int:
        return len(self)

    def apply(self, at: int) -> SimpleNamespace:
        return SimpleNamespace(id=lambda: self[at], hostPort=lambda: f"node{self[at]}:7000")


class Heard(Silent):
    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, event: Event) -> None:
        self.events.append(event)


class PlayedSpark:
    """A session whose executors come and go. master: as given to Spark."""

    def __init__(self, master: str) -> None:
        self.present = Listed(["0", "1", "2"])
        self.looks = 0
        scheduler = SimpleNamespace(getExecutorIds=self._ids)
        store = SimpleNamespace(executorList=lambda _: Listed([*self.present, "driver"]))
        jvm = SimpleNamespace(schedulerBackend=lambda: scheduler, statusStore=lambda: store)
        self.sparkContext = SimpleNamespace(master=master, _jsc=SimpleNamespace(sc=lambda: jvm))

    def _ids(self) -> Listed:
        self.looks += 1
        return self.present

    @property
    def session(self) -> SparkSession:
        return cast("SparkSession", self)


def test_each_lost_executor_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellable_job, "EVERY", 0.0)
    spark, heard = PlayedSpark("spark://head:7077"), Heard()
    watch = ExecutorWatch(spark.session, heard)
    watch.look()
    spark.present = Listed(["0", "2"])
    watch.look()
    watch.look()
    spark.present = Listed(["2", "3"])  # one is lost while another one comes
    watch.look()
    spark.present = Listed([])
    watch.look()
    assert heard.events == [
        ExecutorsLost(("1 at node1:7000",), 2),
        ExecutorsLost(("0 at node0:7000",), 2),
        ExecutorsLost(("2 at node2:7000", "3 at node3:7000"), 0),
    ]
    assert watch.lost == 4


def test_spark_is_asked_now_and_then_and_never_on_a_local_master() -> None:
    spark = PlayedSpark("spark://head:7077")
    watch = ExecutorWatch(spark.session, Heard())
    for _ in range(100):
        watch.look()
    assert spark.looks == 1
    local = PlayedSpark("local[2]")
    ExecutorWatch(local.session, Heard()).look()
    assert local.looks == 0


class Arriving:
    """A session to which executors come at given times, in seconds after it is first asked."""

    def __init__(self, *times: float) -> None:
        self.times = times
        self.began: float | None = None
        status = SimpleNamespace(size=lambda: 1 + self.count())
        self.sparkContext = SimpleNamespace(
            _jsc=SimpleNamespace(sc=lambda: SimpleNamespace(getExecutorMemoryStatus=lambda: status))
        )

    def count(self) -> int:
        now = time.monotonic()
        self.began = now if self.began is None else self.began
        return sum(now - self.began >= each for each in self.times)


def test_a_session_waits_for_all_executors_that_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SETTLED", 0.3)
    spark = Arriving(0.0, 0.2, 0.4, 5.0)
    session._wait_for_executors(cast("SparkSession", spark), parse_master("spark://head:7077"), {}, 10.0)
    assert spark.count() == 3


def test_a_session_without_executors_is_a_fault() -> None:
    spark = Arriving()
    with pytest.raises(EnvironmentFault, match="no executor registered"):
        session._wait_for_executors(cast("SparkSession", spark), parse_master("spark://head:7077"), {}, 0.2)
