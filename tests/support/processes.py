"""Processes of tests: none of them is waited for without a limit."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

PATIENCE = 300.0
"""Seconds for a process that is expected to take a few; the machine may be busy."""


@contextlib.contextmanager
def ended_in_time(process: subprocess.Popen[Any], seconds: float = PATIENCE) -> Iterator[None]:
    """Kill the process after so many seconds: whoever reads its output then meets the end of it."""
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
