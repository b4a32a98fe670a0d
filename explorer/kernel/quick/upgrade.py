"""The good kernel of a program, which follows the quick one if the search turns out to be long.

Helper processes compile it during the search, and it takes the place of the quick kernel between two native calls.
Both write the same records and count the same, so nothing that is reported depends on when that happens
(docs/adr/0040). A search that ends before leaves a note in the cache, and the next search of the program compiles the
good kernel at once. A process beside others of its kind has no helpers: it waits longer and compiles the kernel itself.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Protocol

from elrcheck.explorer.kernel.native_code import Native
from elrcheck.explorer.kernel.object_code import Helper, answers_of, helpers_allowed

PATIENCE = 0.5
"""Processor seconds of searching after which helpers compile the good kernel, if that takes no longer."""
PATIENCE_ALONE = 1.5
"""Processor seconds after which a process does so that has no helpers."""


class GoodKernel(Protocol):
    """What an upgrade needs of the good kernel, whose modules nothing has written so far."""

    def texts(self) -> Sequence[str]:
        """Return its modules."""
        ...

    def effort(self) -> float:
        """Return about how many processor seconds it takes to compile."""
        ...

    def note(self) -> None:
        """Keep in the cache that it was wanted."""
        ...

    def native(self, codes: Sequence[bytes] | None) -> Native:
        """Return its functions from the object code of its modules, which is compiled here if `codes` is None."""
        ...


class Upgrade:
    """Replaces the functions of a quick kernel by those of the good one, once they have been used for long enough.

    Its methods are called by one thread, between native calls. at_once: an earlier search of the program was long.
    """

    def __init__(self, functions: dict[str, Callable[..., int]], good: GoodKernel, at_once: bool) -> None:
        self._functions, self._good = functions, good
        self._seconds = PATIENCE_ALONE if at_once else 0.0
        self._native: Native | None = None
        self._begun = False
        self._patience: float | None = 0.0 if at_once else None
        self._codes: list[bytes] | None = None
        self._failed = False
        self._helpers: list[Helper] = []
        weakref.finalize(self, _end, self._helpers)

    @property
    def done(self) -> bool:
        """Whether the good kernel is in use."""
        return self._native is not None

    def used(self, seconds: float) -> None:
        """Note the processor seconds of native calls; begin to compile the good kernel, or use it, if it is time."""
        if self._native is not None:
            return
        self._seconds += seconds
        if self._codes is not None:
            self._use(self._codes)
        elif self._failed or not helpers_allowed():
            if self._seconds >= self._worth(PATIENCE_ALONE):
                self._use(None)
        elif not self._begun and self._seconds > self._worth(PATIENCE):
            self._begun = True
            self._good.note()
            work = threading.Thread(target=_compile, args=(weakref.ref(self), self._good, self._helpers), daemon=True)
            work.start()

    def _worth(self, least: float) -> float:
        """Return after how many processor seconds of searching the good kernel is worth compiling."""
        if self._seconds < least:
            return least
        if self._patience is None:
            self._patience = self._good.effort()
        return max(least, self._patience)

    def _use(self, codes: Sequence[bytes] | None) -> None:
        self._native = self._good.native(codes)
        self._functions.update(self._native.functions)

    def receive(self, codes: list[bytes] | None) -> None:
        """Take the object code, from another thread; None if a helper has failed."""
        self._codes, self._failed = codes, codes is None


def _compile(upgrade: weakref.ref[Upgrade], good: GoodKernel, helpers: list[Helper]) -> None:
    """Have the modules compiled, for an upgrade that may be gone by then."""
    codes = answers_of(good.texts(), helpers)
    waiting = upgrade()
    if waiting is not None:
        waiting.receive(codes)


def _end(helpers: list[Helper]) -> None:
    for helper in helpers:
        with contextlib.suppress(OSError):
            helper.kill()
            helper.wait()
