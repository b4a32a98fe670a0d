"""A keeper that keeps the levels of a search in a folder, and its checkpoints in a list."""

from __future__ import annotations

from pathlib import Path

from elrcheck.explorer.search.tally import Tally
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel


class Folder:
    """A keeper that saves when told to."""

    def __init__(self, folder: Path, always: bool = False) -> None:
        self.folder, self.always = folder, always
        self.saved: list[tuple[list[SavedLevel], Tally]] = []

    def files(self, words: int) -> LevelFiles:
        return LevelFiles(self.folder, words)

    def due(self) -> bool:
        return self.always

    def at_stop(self, interrupted: bool) -> bool:
        return interrupted or self.always

    def save(self, written: list[SavedLevel], tally: Tally) -> None:
        self.saved.append((list(written), tally))
