"""Run the solver so that Ctrl-C still works."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import z3


def ask(solver: Any, timeout: int, *assumptions: Any) -> Any:
    """Run a check; raise KeyboardInterrupt if interrupted. timeout: the solver's, in ms; 0 for none.

    Z3 handles SIGINT itself while it works: it gives up with `unknown`, then restores Python's handler with
    SA_RESTART, so that system calls are restarted. Python could then not be interrupted while it waits for
    a lock or for another process. `canceled` may also mean a timeout, so the clock decides.
    Where SIGINT is ignored (under `nohup`, in a worker of a proof), Z3 is told to leave it alone.
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
