"""Prepares the executors for a search while the driver computes its first levels."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

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
