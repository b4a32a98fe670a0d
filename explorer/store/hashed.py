"""The space with fingerprints of all states in memory, and the levels on disk."""

from __future__ import annotations

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel
from elrcheck.explorer.kernel.word_layout import Counts, Rows
from elrcheck.explorer.store.fingerprints import FingerprintSet
from elrcheck.explorer.store.judgement import Judgement
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel
from elrcheck.explorer.store.new_level import NewLevel
from elrcheck.explorer.store.spaces import LevelEnd, Pause, SpaceInFiles


class Hashed(SpaceInFiles):
    """Fingerprints of all states in memory; all levels on disk, and the newest also in memory if it is small."""

    whole_levels = False

    def __init__(self, kernel: Kernel, crew: SearchCrew, budget: int | None, files: LevelFiles) -> None:
        super().__init__(kernel, crew, files)
        self.visited = FingerprintSet(kernel, crew, budget)

    @property
    def distinct(self) -> int:
        return self.visited.count

    @property
    def used_bytes(self) -> int:
        return self.visited.used_bytes

    def start(self, rows: Rows) -> Judgement:
        self.visited.start(rows)
        with self._new_level() as new:
            self._add(new, 0)
            return new.judgement

    def _new_level(self) -> NewLevel:
        return NewLevel(self.kernel, self.crew, self.files, len(self.written))

    def _add(self, new: NewLevel, before: int) -> Counts:
        """Complete a level; `before` is the number of states before it."""
        credit = new.complete(self.visited)
        assert new.saved is not None
        self.sizes.append(self.visited.count - before)
        self.written.append(new.saved)
        return credit

    def load(self, written: list[SavedLevel]) -> bool:
        """Load the levels from their files; return False if memory does not suffice."""
        for level in written:
            before = self.visited.count
            if not self.visited.read_level(self.files.read(level)):
                return False
            self.sizes.append(self.visited.count - before)
        self.written = list(written)
        return True

    def advance(self, pause: Pause) -> LevelEnd:
        """See `Space`. A level that outgrows its buffer is judged and written as it is built."""
        visited = self.visited
        in_memory, before = visited.reserved, visited.count
        with self._new_level() as new:
            visited.begin_level()
            visited.overflow = lambda: new.append(visited)
            if in_memory == self.sizes[-1]:
                reason = self.crew.expand(visited, 0, in_memory, pause)
            else:
                reason = self._expand_stored(pause)
            return LevelEnd(reason, self._add(new, before), new.judgement)

    def _expand_stored(self, pause: Pause) -> str | None:
        """Expand the newest level from its files."""
        for address, first, last in self.files.blocks(self.written[-1]):
            self.visited.source = address
            reason = self.crew.expand(self.visited, first, last, pause)
            if reason is not None:
                return reason
        return None
