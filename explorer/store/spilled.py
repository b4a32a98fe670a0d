"""The space of a search whose states exceed memory: level files on disk, partitioned by hash.

A level is computed in two passes (delayed duplicate detection):

1. The newest level is read and expanded into a set as large as memory allows. Whenever that set is full,
   its states, each with its credit, are appended to one file per part, and the set is emptied. The set
   already removes most duplicates, which lie close together.
2. For each part in turn, the states of all levels and then the candidates are read into a set; candidates
   that were not in it are the part's share of the new level.

So memory holds one part at a time, 1 / `PARTS` of the states, or several if there is room, and all files are read
and written sequentially. Parts replace sorted runs (docs/adr/0012). An unfinished level leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from elrcheck.base.atomic import writing
from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Rows
from elrcheck.explorer.store.judgement import Judgement, judge_rows
from elrcheck.explorer.store.levels import PARTS, LevelFiles, SavedLevel
from elrcheck.explorer.store.spaces import OUT_OF_MEMORY, LevelEnd, Pause, SpaceInFiles
from elrcheck.explorer.store.visited import LARGE_GROWTH, LOAD, ExactSet, histogram, positions_of

CANDIDATES = 0.6
PART = 0.85
GROUP = 0.5
"""Shares of the budget: the set of the first pass, the limit for the set of the second, and the target for it."""
BLOCK = 1 << 17
CANDIDATE_FILES = ".candidates-"


class _Stopped(Exception):
    """Raised to abandon a level; carries the reason."""


def by_part(kernel: Kernel, rows: Rows) -> list[npt.NDArray[np.int64]]:
    """Return the positions of the rows of each part."""
    return positions_of((kernel.hashes(rows) % np.uint64(PARTS)).astype(np.uint8), PARTS)


class Buckets:
    """Rows and their credits on disk, in a pair of temporary files per part."""

    def __init__(self, folder: Path, kernel: Kernel) -> None:
        self.kernel, self.words = kernel, kernel.layout.words
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=CANDIDATE_FILES, dir=folder))
        self.rows = [0] * PARTS

    def append(self, rows: Rows, whos: npt.NDArray[np.uint16]) -> None:
        """Append rows block by block, to avoid a large copy."""
        for start in range(0, len(rows), BLOCK):
            block = np.ascontiguousarray(rows[start : start + BLOCK])
            for number, chosen in enumerate(by_part(self.kernel, block)):
                if len(chosen):
                    self._write(number, block[chosen], whos[start : start + BLOCK][chosen])

    def _write(self, number: int, rows: Rows, whos: npt.NDArray[np.uint16]) -> None:
        for name, data in ((f"{number}.rows", rows.tobytes()), (f"{number}.whos", whos.tobytes())):
            place = self.folder / name
            with writing(place), open(place, "ab") as file:
                file.write(data)
        self.rows[number] += len(rows)

    def read(self, number: int) -> Iterator[tuple[Rows, npt.NDArray[np.uint16]]]:
        """Yield the rows and credits appended to a part, block by block."""
        if self.rows[number] == 0:
            return
        with open(self.folder / f"{number}.rows", "rb") as rows, open(self.folder / f"{number}.whos", "rb") as whos:
            while data := rows.read(8 * self.words * BLOCK):
                block = np.frombuffer(data, np.uint64).reshape(-1, self.words)
                yield block, np.frombuffer(whos.read(2 * len(block)), np.uint16)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class _Candidates(ExactSet):
    """The set of the first pass, which empties itself into buckets when full."""

    def __init__(self, kernel: Kernel, crew: SearchCrew, budget: int, buckets: Buckets) -> None:
        super().__init__(kernel, crew, budget)
        self.buckets = buckets

    def make_room(self, more: int = 0) -> int | None:
        room = super().make_room(more)
        if room is None and self.reserved:
            self.drain()
            room = super().make_room(more)
        return room

    def drain(self) -> None:
        self.close_level()
        self.buckets.append(self.view(0, self.reserved), self.credits())
        self.clear()


class Spilled(SpaceInFiles):
    """States on disk, partitioned by hash."""

    whole_levels = True

    def __init__(self, kernel: Kernel, crew: SearchCrew, budget: int, files: LevelFiles) -> None:
        super().__init__(kernel, crew, files)
        self.budget = budget
        self.part_rows = np.zeros(PARTS, np.int64)
        self._used = 0

    @property
    def used_bytes(self) -> int:
        return self._used

    def load(self, written: list[SavedLevel]) -> None:
        """Continue from level files; those that are not partitioned are written again, under other names."""
        for level in written:
            if level.partitioned:
                self._close(level)
                continue
            buckets = Buckets(self.files.folder, self.kernel)
            try:
                for rows in self.files.read(level):
                    buckets.append(rows, np.zeros(len(rows), np.uint16))
                self._add(level.depth, buckets)
            finally:
                buckets.remove()
            self.files.discard(level)

    def _add(self, depth: int, buckets: Buckets) -> None:
        def parts() -> Iterator[Rows]:
            empty = np.zeros((0, self.kernel.layout.words), np.uint64)
            for number in range(PARTS):
                blocks = [rows for rows, _ in buckets.read(number)]
                yield np.concatenate(blocks) if blocks else empty

        self._close(self.files.write_parts(depth, parts()))

    def _close(self, level: SavedLevel) -> None:
        self.written.append(level)
        self.sizes.append(level.rows)
        self.part_rows += self.files.part_rows(level)

    def advance(self, pause: Pause) -> LevelEnd:
        end = LevelEnd(None, np.zeros(max(1, self.kernel.instances), np.int64), Judgement.empty(self.kernel))
        buckets = Buckets(self.files.folder, self.kernel)
        try:
            self._expand(pause, buckets)
            parts = self._parts(pause, buckets, end)
            level = self.files.write_parts(len(self.sizes), parts)
        except _Stopped as stopped:
            return replace(end, reason=str(stopped))
        finally:
            buckets.remove()
        self._close(level)
        return end

    def _expand(self, pause: Pause, buckets: Buckets) -> None:
        """Run the first pass."""
        candidates = _Candidates(self.kernel, self.crew, int(CANDIDATES * self.budget), buckets)
        for rows in self.files.read(self.written[-1]):
            block = np.ascontiguousarray(rows)
            candidates.source = block.ctypes.data
            candidates.make_room()
            reason = self.crew.expand(candidates, 0, len(block), pause)
            if reason is not None:
                candidates.close_level()
                raise _Stopped(reason)
        self._used = max(self._used, candidates.used_bytes)
        candidates.drain()
        candidates.source = None

    def _parts(self, pause: Pause, buckets: Buckets, end: LevelEnd) -> Iterator[Rows]:
        """Run the second pass, as many parts at a time as fit into memory; yield each part's new states.

        Their credit and judgement are added to `end`.
        """
        empty = np.zeros((0, self.kernel.layout.words), np.uint64)
        for parts in self._groups(buckets):
            count = sum(buckets.rows[part] for part in parts)
            if count == 0:
                yield from (empty for _ in parts)
                continue
            expected = sum(int(self.part_rows[part]) for part in parts) + count
            states = ExactSet(self.kernel, self.crew, int(PART * self.budget), expected)
            for level in self.written:
                for rows in self.files.parts(level, parts):
                    if not states.insert(rows):
                        raise _Stopped(OUT_OF_MEMORY)
            states.close_level()
            states.begin_level()
            for part in parts:
                for rows, whos in buckets.read(part):
                    if not states.insert(rows, whos):
                        raise _Stopped(OUT_OF_MEMORY)
            states.close_level()
            reason = pause()
            if reason is not None:
                raise _Stopped(reason)
            address, first, last = states.rows.address, states.base, states.reserved
            end.judgement.add(judge_rows(self.kernel, self.crew, address, first, last))
            np.add(end.credit, histogram(states.credits(), len(end.credit)), out=end.credit)
            self._used = max(self._used, states.used_bytes)
            fresh = states.view(first, last)
            places = by_part(self.kernel, fresh)
            for part in parts:
                yield fresh[places[part]]
            del states, fresh, places  # before the next ones are allocated

    def _groups(self, buckets: Buckets) -> Iterator[range]:
        """Yield groups of consecutive parts that fit into memory together; a part that is too large is alone."""
        cost = 8 * self.kernel.layout.words + 2 + 8 * LARGE_GROWTH / LOAD
        most = GROUP * self.budget / cost - 2 * self.crew.margin
        first, total = 0, 0
        for part in range(PARTS):
            size = int(self.part_rows[part]) + buckets.rows[part]
            if part > first and total + size > most:
                yield range(first, part)
                first, total = part, 0
            total += size
        yield range(first, PARTS)


def forget_candidates(folder: Path) -> None:
    """Remove the candidates that a killed run left behind."""
    for left in folder.glob(f"{CANDIDATE_FILES}*"):
        with contextlib.suppress(OSError):
            shutil.rmtree(left)
