"""The optimised kernel of a program, which replaces the quick one if the search turns out to be long.

Helper processes compile it during the search, and it takes over between two native calls. Both kernels write the same
records and count the same, so no report depends on when that happens (docs/adr/0040). A search that ends earlier leaves
a note in the cache, and the next search of the program compiles the optimised kernel at once. A process of a pool has
no helpers: it waits longer and compiles the kernel itself.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Protocol

from elrcheck.explorer.kernel.native_code import Native
from elrcheck.explorer.kernel.object_code import Helper, compiled_by_helpers, helpers_allowed

PATIENCE = 0.5
"""Processor seconds of searching after which helpers compile the optimised kernel, if that takes no longer."""
PATIENCE_ALONE = 1.5
"""The same for a process without helpers, which compiles it itself."""


class OptimisedKernel(Protocol):
    """The optimised kernel as an upgrade needs it; its modules are generated on first use."""

    def texts(self) -> Sequence[str]:
        """Return its modules."""
        ...

    def effort(self) -> float:
        """Estimate the processor seconds that it takes to compile."""
        ...

    def note(self) -> None:
        """Note in the cache that it is worth compiling."""
        ...

    def native(self, codes: Sequence[bytes] | None) -> Native:
        """Return its functions. codes: the object code of its modules, compiled here if None."""
        ...


class Upgrade:
    """Replaces the functions of a quick kernel by those of the optimised one, once a search has run for long enough.

    One thread calls its methods, between native calls. at_once: an earlier search of the program was long.
    """

    def __init__(self, functions: dict[str, Callable[..., int]], kernel: OptimisedKernel, at_once: bool) -> None:
        self._functions, self._kernel = functions, kernel
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
        """Whether the optimised kernel is in use."""
        return self._native is not None

    def used(self, seconds: float) -> None:
        """Add processor seconds of native calls; if it is time, compile the optimised kernel or switch to it."""
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
            self._kernel.note()
            work = threading.Thread(target=_compile, args=(weakref.ref(self), self._kernel, self._helpers), daemon=True)
            work.start()

    def _worth(self, least: float) -> float:
        """Return the processor seconds of searching after which the optimised kernel is worth compiling."""
        if self._seconds < least:
            return least
        if self._patience is None:
            self._patience = self._kernel.effort()
        return max(least, self._patience)

    def _use(self, codes: Sequence[bytes] | None) -> None:
        self._native = self._kernel.native(codes)
        self._functions.update(self._native.functions)

    def receive(self, codes: list[bytes] | None) -> None:
        """Accept the object code from another thread; None if a helper has failed."""
        self._codes, self._failed = codes, codes is None


def _compile(upgrade: weakref.ref[Upgrade], kernel: OptimisedKernel, helpers: list[Helper]) -> None:
    """Compile the modules in helpers, and hand them to the upgrade unless it has been collected meanwhile."""
    codes = compiled_by_helpers(kernel.texts(), helpers)
    waiting = upgrade()
    if waiting is not None:
        waiting.receive(codes)


def _end(helpers: list[Helper]) -> None:
    for helper in helpers:
        with contextlib.suppress(OSError):
            helper.kill()
            helper.wait()
