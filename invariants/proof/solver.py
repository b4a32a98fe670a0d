"""Asking the solver without losing Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import z3


def ask(solver: Any, timeout: int, *assumptions: Any) -> Any:
    """The answer of a check; KeyboardInterrupt if it was interrupted. timeout: the solver's, 0 for none (ms).

    Z3 takes SIGINT for itself while it works: it gives up with `unknown`, and puts Python's handler back as
    one after which system calls are restarted. With that, Python would wait for a lock or for other processes
    until they are there, whatever is pressed. `canceled` may also mean a timeout, so the clock decides.
    Where SIGINT is ignored (under `nohup`, in a worker of a proof) Z3 is told to leave it alone.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        solver.set("ctrl_c", False)
    started = time.perf_counter()
    answer = solver.check(*assumptions)
    if threading.current_thread() is threading.main_thread():
        signal.siginterrupt(signal.SIGINT, True)
    if answer == z3.unknown and (time.perf_counter() - started) * 1000 < (0.9 * timeout or float("inf")):
        reason = solver.reason_unknown()
        if "keyboard" in reason or reason == "canceled":
            raise KeyboardInterrupt
    return answer
