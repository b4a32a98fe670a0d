"""Runs Z3 such that Ctrl-C still works, and finds models that are easy to read."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterable
from typing import Any

import z3

PREFERENCE_SECONDS = 2.0
"""Time limit for making one counterexample easy to read."""


def milliseconds(timeout: float | None) -> int:
    """Convert a timeout in seconds to milliseconds for Z3; 0 for none."""
    return 0 if timeout is None else min(2**32 - 1, max(1, int(timeout * 1000)))


def new_solver(timeout: int) -> Any:
    """Return a solver with this timeout for each question, in ms; 0 for none."""
    solver = z3.Solver()
    if timeout:
        solver.set("timeout", timeout)
    return solver


def ask(solver: Any, timeout: int, *assumptions: Any) -> Any:
    """Run a check; raise KeyboardInterrupt if interrupted. timeout: the solver's, in ms; 0 for none.

    Z3 handles SIGINT itself while it works: it gives up with `unknown`, then restores Python's handler with SA_RESTART,
    so system calls are restarted. Python could then not be interrupted while it waits for a lock or another process.
    `canceled` may also mean a timeout, so the clock decides. Where SIGINT is ignored (under `nohup`, in a worker of a
    proof), Z3 is set to leave it alone.
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


def preferred_model(solver: Any, timeout: int, wishes: Iterable[Any], assumptions: Iterable[Any] = ()) -> Any:
    """Return a model after the answer `sat`, in which as many wishes hold as can be granted one by one."""
    model, granted = solver.model(), list(assumptions)
    deadline = time.perf_counter() + PREFERENCE_SECONDS
    for wish in wishes:
        if time.perf_counter() > deadline:
            break
        if z3.is_true(model.eval(wish, model_completion=True)):
            granted.append(wish)
        elif ask(solver, timeout, *granted, wish) == z3.sat:
            granted.append(wish)
            model = solver.model()
    return model
