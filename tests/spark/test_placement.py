"""Where the next level is computed: by the times of levels in the driver and on executors. Spark itself is played."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from elrcheck.spark.cancellable_job import Cancelled, run_job
from elrcheck.spark.exchange import keys_of, spark_hash
from elrcheck.spark.placement import ALONE, WARM_UPS, Placement, Preparation


def measured(handover: int | None = None) -> Placement:
    """A driver that computes a million states a second; an empty level takes Spark half a second."""
    placement = Placement(handover)
    for _ in range(10):
        placement.measured(100_000, 0.1)
    placement.floor = 0.5
    return placement


def test_executors_that_are_slower_than_the_driver_lose_the_search_for_good() -> None:
    placement = measured()
    assert placement.favours_spark(3_000_000) and not placement.favours_spark(1_000_000)
    placement.moved_at = 3_000_000
    placement.measured_on_spark(4_000_000, 5.0)
    assert not placement.favours_driver(5_000_000, 20_000_000), "not much slower: loading would cost more"
    placement.measured_on_spark(4_000_000, 6.0)
    assert placement.favours_driver(5_000_000, 20_000_000)
    assert not placement.favours_spark(50_000_000)


def test_states_that_do_not_fit_into_the_driver_stay_on_slow_executors() -> None:
    placement = measured()
    placement.too_large = True
    placement.measured_on_spark(4_000_000, 60.0)
    assert not placement.favours_driver(5_000_000, 20_000_000)


def test_a_run_resumed_on_executors_stays_there() -> None:
    placement = Placement()
    placement.moved_at = 3_000_000
    placement.measured_on_spark(4_000_000, 60.0)
    assert not placement.favours_driver(5_000_000, 20_000_000)


def test_a_user_who_says_when_to_use_executors_gets_them_however_slow() -> None:
    placement = measured(handover=1000)
    placement.moved_at = 3_000_000
    placement.measured_on_spark(4_000_000, 60.0)
    assert placement.favours_spark(2000) and not placement.favours_driver(2_000_000, 20_000_000)


def test_executors_on_the_processors_of_the_driver_are_prepared_once_a_search_turns_out_long() -> None:
    assert not Placement(shares=True).prepares(0.0) and Placement(shares=True).prepares(ALONE)
    assert Placement(shares=True, handover=1000).prepares(0.0), "the user has said when to use them"
    assert Placement(shares=False).prepares(0.0), "executors elsewhere take nothing from the driver"


def test_executors_are_prepared_while_the_driver_searches() -> None:
    gate, levels = threading.Event(), []

    def level(stop: object) -> None:
        gate.wait(10)
        levels.append(stop)

    preparation = Preparation(level)
    assert preparation.floor(wait=False) is None
    gate.set()
    floor = preparation.floor(wait=True)
    assert floor is not None and 0 <= floor < 10 and len(levels) == WARM_UPS
    assert preparation.floor(wait=False) == floor


def test_a_fault_of_an_executor_is_raised_in_the_driver() -> None:
    def level(_: object) -> None:
        raise OSError("no such file")

    preparation = Preparation(level)
    with pytest.raises(OSError, match="no such file"):
        preparation.floor(wait=True)


def test_a_search_that_ends_before_its_executors_are_ready_does_not_wait_for_them() -> None:
    def level(stop: object) -> None:
        assert callable(stop)
        while (reason := stop()) is None:
            threading.Event().wait(0.01)
        raise Cancelled(reason)

    preparation = Preparation(level)
    assert preparation.floor(wait=False) is None
    preparation.close()
    with pytest.raises(Cancelled):
        preparation.floor(wait=False)


def test_keys_by_the_hash_of_spark() -> None:
    """The numbers are those of `SELECT hash(0), hash(1), hash(12345)`."""
    assert [spark_hash(number) for number in (0, 1, 12345)] == [933211791, -559580957, -2122148428]
    for partitions in (1, 3, 100):
        assert [spark_hash(key) % partitions for key in keys_of(partitions)] == list(range(partitions))


class _Late:
    """A context whose job is submitted some time after its thread has begun."""

    sparkContext = property(lambda self: self)

    def __init__(self) -> None:
        self.submitted, self.cancelled = threading.Event(), threading.Event()

    def setJobGroup(self, *_: object, **__: object) -> None: ...

    def cancelJobGroup(self, _: str) -> None:
        if self.submitted.is_set():
            self.cancelled.set()

    def job(self) -> list[object]:
        time.sleep(0.4)
        self.submitted.set()
        if not self.cancelled.wait(20):
            return ["the whole level"]
        raise RuntimeError("cancelled")


def test_a_job_that_is_not_submitted_yet_is_cancelled_all_the_same() -> None:
    pytest.importorskip("pyspark")
    late, started = _Late(), time.monotonic()
    watch = SimpleNamespace(look=lambda: None)
    with pytest.raises(Cancelled, match="Ctrl-C"):
        run_job(late, "level", late.job, lambda: "Ctrl-C", watch)  # type: ignore[arg-type]
    assert late.cancelled.is_set() and time.monotonic() - started < 10
