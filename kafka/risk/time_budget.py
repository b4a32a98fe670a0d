"""The time budget of one group of settings, a share of which is for the report.

The work after the searches takes processor time, and on a busy machine a multiple of it in wall time. The load of the
model, which runs in one thread, measures this multiple.
"""

from __future__ import annotations

import time

REPORT = 0.5
"""Processor seconds for what follows the searches: evidence, stored traces, the report (measured)."""
EXPLAINED = 0.1
"""Processor seconds for the explanation of each answer."""
MOST = 0.3
"""The share of the time that is left for that at most."""
SHORTEST = 0.05
"""Processor seconds of loading below which they say nothing about the machine."""


class OutOfTime(Exception):
    """The time for searches is over."""


class Stopwatch:
    """Measures elapsed time, also per second of processor time."""

    def __init__(self) -> None:
        self.started, self._worked = time.monotonic(), time.thread_time()

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.started

    def slowness(self) -> float:
        """Return the elapsed seconds for each second of this thread's processor time, 1 or more."""
        worked = time.thread_time() - self._worked
        return max(1.0, self.seconds() / worked) if worked >= SHORTEST else 1.0


class TimeBudget:
    """A number of seconds from a moment on. slowness: see `Stopwatch`."""

    def __init__(self, seconds: float, started: float, slowness: float) -> None:
        self.seconds, self._started, self._slowness = seconds, started, slowness
        self.answers = 0
        """The number of sets of events to explain."""

    def left(self, share: float = 1.0) -> float:
        """Return the seconds that are left for searches, of this share of the time."""
        afterwards = self._slowness * (REPORT + EXPLAINED * self.answers)
        end = self.seconds * share - max(0.0, min(afterwards, MOST * self.seconds) - (1 - share) * self.seconds)
        return end - self.passed()

    def passed(self) -> float:
        """Return the seconds that have passed."""
        return time.monotonic() - self._started

    def demand(self) -> None:
        """Raise OutOfTime if nothing is left."""
        if self.left() <= 0:
            raise OutOfTime
