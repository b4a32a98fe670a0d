"""Placement of the next level, in the driver or on Spark, and the preparation of the executors.

A level on Spark has a fixed cost of some tenths of a second; a level in the driver costs only its states.
Both are measured: the first with empty levels while the driver begins the search, the second with the levels
that the driver computes. Executors that turn out slower than the driver, such as those of a cluster on the driver's own
machine, lose the search to it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

PAYS = 4.0
"""A level goes to Spark if the driver would need this many times the seconds of an empty level on Spark."""
SHRUNK = 0.5
"""The search returns to the driver when a level is at most this fraction of the first one on Spark."""
ENOUGH = 2000
"""Smallest level, in states, from which to measure the driver's speed; smaller ones are mostly overhead."""
LOADING = 0.4
"""Cost of loading a known state from a file, relative to exploring one in the driver (measured)."""
ALONE = 10.0
"""Seconds that a driver searches before it prepares executors that take its own processors (`Master.loopback`)."""


@dataclass
class Placement:
    """Decides where the next level is computed.

    handover: size of a level, in states, from which Spark computes the next one; None to decide by time.
    floor: seconds for an empty level on Spark. pace: seconds per state in the driver so far. moved_at: size of
    the level at which the search moved to Spark. levels: computed in the driver. too_large: the states no longer
    fit into the driver. slower: Spark was slower than the driver. shares: the executors run on the driver's
    processors.
    """

    handover: int | None = None
    floor: float = 0.0
    pace: float = 0.0
    moved_at: int = 0
    levels: int = 0
    too_large: bool = False
    slower: bool = False
    shares: bool = False

    def prepares(self, seconds: float) -> bool:
        """Return True if executors should be prepared by now, after this many seconds of search."""
        return not self.shares or self.handover is not None or seconds >= ALONE

    def measured(self, states: int, seconds: float) -> None:
        """Record that the driver expanded this many states in this time."""
        self.levels += 1
        if states >= ENOUGH:
            self.pace = seconds / states

    def measured_on_spark(self, states: int, seconds: float) -> None:
        """Record that Spark expanded this many states in this time, without reading any from files first.

        If as many states are still to come as there are, the driver makes up for loading those before it loses more.
        """
        alone = states * self.pace  # 0 after a run was resumed on Spark: the driver was not measured
        self.slower = self.handover is None and 0.0 < (1.0 + LOADING) * alone < seconds

    def favours_spark(self, frontier: int) -> bool:
        """Return True if Spark should compute the next level, from a frontier of this size."""
        if self.handover is not None:
            return frontier >= self.handover
        return not self.slower and frontier * self.pace > PAYS * self.floor

    def favours_driver(self, frontier: int, distinct: int) -> bool:
        """Return True if the driver should compute the rest of the search.

        It has to load all states first. That pays off if the remaining levels, about as many as the driver has
        computed so far, would cost more on Spark.
        """
        if self.too_large:
            return False
        if self.slower:
            return True
        if frontier >= SHRUNK * self.moved_at:
            return False
        return self.handover is not None or distinct * self.pace * LOADING < self.levels * self.floor


WARM_UPS = 3
"""Empty levels; the first one compiles kernels."""
PATIENCE = 2.0
"""Seconds for the thread to end; the session ends it otherwise."""


class Preparation:
    """Runs empty levels on the executors in a thread. level: runs one until `stop`, which it is given, has a reason."""

    def __init__(self, level: Callable[[Callable[[], str | None]], object]) -> None:
        self._level = level
        self._closed = threading.Event()
        self._fault: BaseException | None = None
        self._seconds: list[float] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def floor(self, *, wait: bool) -> float | None:
        """Return the seconds of an empty level; None if it is not known yet. Raise the fault of an executor."""
        self._thread.join(None if wait else 0.0)
        if self._fault is not None:
            raise self._fault
        return None if self._thread.is_alive() else min(self._seconds[1:])

    def close(self) -> None:
        """End the levels that still run."""
        self._closed.set()
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        try:
            for _ in range(WARM_UPS):
                started = time.perf_counter()
                self._level(lambda: "closed" if self._closed.is_set() else None)
                self._seconds.append(time.perf_counter() - started)
        except Exception as fault:
            self._fault = fault
