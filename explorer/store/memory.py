"""Memory mappings for a search, and the memory use of the process.

Rows and slots live in anonymous memory mappings. Only touched pages take physical memory, so capacity is free. On
Linux a mapping grows without a copy, and a table, where every access misses the cache, requests huge pages.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
"""Flags for a mapping private to this process; Windows has no such flags."""
MMAP_THRESHOLD = -3
"""M_MMAP_THRESHOLD of glibc's malloc.h."""


class Region:
    """Zeroed memory that can grow, and its address. Drop all views before it grows."""

    def __init__(self, size: int, huge: bool = False) -> None:
        self.size = max(size, mmap.PAGESIZE)
        self.huge = huge
        self._map = self._new(self.size)
        self.address = self._place()

    def _new(self, size: int) -> mmap.mmap:
        mapping = mmap.mmap(-1, size, **PRIVATE)
        self._advise(mapping)
        return mapping

    def _advise(self, mapping: mmap.mmap) -> None:
        if self.huge and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):
                mapping.madvise(mmap.MADV_HUGEPAGE)

    def array(self, dtype: Any = np.uint64) -> npt.NDArray[Any]:
        return np.frombuffer(self._map, dtype, count=self.size // np.dtype(dtype).itemsize)

    def _place(self) -> int:
        return int(self.array(np.uint8).ctypes.data)

    def grow(self, size: int) -> None:
        """Grow to at least `size` bytes; the address may change."""
        if size <= self.size:
            return
        if not self._resized(size):
            larger = self._new(size)
            larger[: self.size] = self._map[:]
            self._map = larger
        self.size = size
        self._advise(self._map)
        self.address = self._place()

    def _resized(self, size: int) -> bool:
        """Try to grow in place; only a private mapping can."""
        try:
            if PRIVATE:
                self._map.resize(size)
            return bool(PRIVATE)
        except (OSError, SystemError, ValueError):
            return False

    def release(self, start: int, end: int) -> None:
        """Return the whole pages in a range to the system; their contents are lost."""
        start = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        end = end // mmap.PAGESIZE * mmap.PAGESIZE
        if start < end and hasattr(mmap, "MADV_DONTNEED"):
            with contextlib.suppress(OSError, ValueError):
                self._map.madvise(mmap.MADV_DONTNEED, start, end - start)


def return_large_blocks() -> None:
    """Make glibc return blocks of 256 KiB and more to the system as soon as they are freed.

    Otherwise it raises that threshold to 32 MiB as blocks are freed, and tens of MiB stay in its heap. Other
    allocators are left as they are.
    """
    import ctypes

    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, 1 << 18)


def peak_bytes() -> int:
    """Return the peak resident set size of this process in bytes; 0 where the system does not report it.

    On Linux a process inherits `ru_maxrss` from the one that started it, so the peak of its own address space is
    preferred.
    """
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            own = next((line for line in file if line.startswith("VmHWM:")), "")
        return 1024 * int(own.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def used_bytes() -> int:
    """Return the current memory use of this process in bytes; its peak where only that is reported."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return peak_bytes()
