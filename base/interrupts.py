"""SIGINT, SIGTERM and SIGHUP as a stop request that a search polls between rounds.

A second SIGINT raises KeyboardInterrupt at once. Outside the main thread no handler can be installed, so signals keep
their effect. Ignored signals stay ignored: `nohup` relies on it.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupts:
    """Context manager that records a signal instead of letting it end the process; a call returns whether one came."""

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def __call__(self) -> bool:
        return self.requested

    def _note(self, number: int, _: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested = True
