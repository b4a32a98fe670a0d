"""Tasks for processes of a test; another process imports them from here."""

from __future__ import annotations

import os
import signal
import threading
import time

from elrcheck.base.errors import UsageFault
from elrcheck.base.runner.runner import Tell

DEADLY, ENDLESS, WRONG = -1, -2, -3


class OddFault(Exception):
    """Can be pickled, but not read again."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


class LockedFault(Exception):
    """Cannot be pickled."""

    def __init__(self) -> None:
        super().__init__("holds a lock")
        self.lock = threading.Lock()


def raise_unsendable(number: int) -> object:
    """Raise, or return, what no process can send to another."""
    if number == 1:
        raise OddFault("an odd", "fault")
    if number == 2:
        raise LockedFault
    return threading.Lock()


def square(number: int) -> int:
    if number == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == WRONG:
        raise UsageFault("config-value", "a negative number", help="leave out the sign")
    time.sleep(0.3 if number == 1 else 0.0)
    return number * number


class Counting:
    """Counts the tasks that its process has done, and tells each number before it answers."""

    def __init__(self) -> None:
        self.done = 0

    def __call__(self, number: int, tell: Tell) -> tuple[int, int]:
        tell(number)
        if number == ENDLESS:
            signal.pause()
        self.done += 1
        return square(number), self.done
