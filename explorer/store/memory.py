"""Memory that a search asks the system for, and what the process uses.

Rows and slots live in anonymous memory mappings that are only backed by memory where they were
touched, so capacity is free and only use counts. On Linux a mapping grows without being copied, and
a table, where every access misses, asks for huge pages.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
"""What says that a mapping is memory of this process; Windows has no flags for it."""


class Region:
    """Zeroed memory that can grow. Views must be dropped before it grows."""

    def __init__(self, size: int, huge: bool = False) -> None:
        self.size = max(size, mmap.PAGESIZE)
        self.huge = huge
        self._map = self._new(self.size)

    def _new(self, size: int) -> mmap.mmap:
        made = mmap.mmap(-1, size, **PRIVATE)
        self._advise(made)
        return made

    def _advise(self, made: mmap.mmap) -> None:
        if self.huge and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):
                made.madvise(mmap.MADV_HUGEPAGE)

    def array(self, dtype: Any = np.uint64) -> npt.NDArray[Any]:
        return np.frombuffer(self._map, dtype, count=self.size // np.dtype(dtype).itemsize)

    @property
    def address(self) -> int:
        return int(self.array(np.uint8).ctypes.data)

    def grow(self, size: int) -> None:
        """At least `size` bytes; the address may change."""
        if size <= self.size:
            return
        if not self._resized(size):
            larger = self._new(size)
            larger[: self.size] = self._map[:]
            self._map = larger
        self.size = size
        self._advise(self._map)

    def _resized(self, size: int) -> bool:
        """Only a private mapping can grow in its place."""
        try:
            if PRIVATE:
                self._map.resize(size)
            return bool(PRIVATE)
        except (OSError, SystemError, ValueError):
            return False

    def release(self, start: int, end: int) -> None:
        """Give the whole pages of a range back; their contents are lost."""
        start = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        end = end // mmap.PAGESIZE * mmap.PAGESIZE
        if start < end and hasattr(mmap, "MADV_DONTNEED"):
            with contextlib.suppress(OSError, ValueError):
                self._map.madvise(mmap.MADV_DONTNEED, start, end - start)


def peak_bytes() -> int:
    """The most memory this process has used so far (its greatest resident set); 0 where nothing tells."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def used_bytes() -> int:
    """The memory this process uses now; its peak where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return peak_bytes()
