"""Level files at a location that all executors see: a folder, or a URI of an object store or HDFS."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from elrcheck.base.errors import EnvironmentFault
from elrcheck.explorer.kernel.word_layout import Rows
from elrcheck.explorer.store.levels import FileMark, LevelDraft, LevelFiles
from elrcheck.explorer.store.storage import Storage


class _StoredDraft(LevelDraft):
    """A file in memory while it is written, because one write must store it whole."""

    def __init__(self, storage: Storage, stem: str, schema: Any, table: Callable[[Rows], Any]) -> None:
        import pyarrow as pa

        self._storage, self._sink = storage, pa.BufferOutputStream()
        super().__init__(stem, self._sink, schema, table)

    def finish(self) -> FileMark:
        self.close()
        data = self._sink.getvalue()
        mark = self.mark(data.size, hashlib.sha256(data).hexdigest())
        self._storage.write(mark.name, data)
        return mark


class StoredLevels(LevelFiles):
    """The level files of a run that are not on a local file system."""

    def __init__(self, place: str, words: int) -> None:
        super().__init__(Path(), words)
        self.storage = Storage.at(place)
        self._place = place

    @property
    def place(self) -> str:
        return self._place

    @contextlib.contextmanager
    def _draft(self, stem: str) -> Iterator[LevelDraft]:
        yield _StoredDraft(self.storage, stem, self._schema, self._table)

    def _parquet(self, name: str) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pq.ParquetFile(pa.BufferReader(self.storage.read(name)))

    def digest(self, name: str) -> tuple[int, str] | None:
        if not self.storage.exists(name):
            return None
        data = self.storage.read(name)
        return data.size, hashlib.sha256(data).hexdigest()

    def sync(self) -> None:
        """Nothing to do: a stored file has its name once it is complete."""

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            with contextlib.suppress(EnvironmentFault):
                self.storage.delete(name)

    def remove_others(self) -> None:
        """Nothing to do: `remove` deletes the files of a killed process with the others."""

    def remove(self) -> None:
        """Delete all level files."""
        self._named = frozenset()
        for name in self.storage.list():
            if name.endswith(".parquet"):
                self.storage.delete(name)


def level_files(place: str, words: int) -> LevelFiles:
    """Return the level files at a path or URI."""
    location = Storage.at(place).location
    if location.scheme == "file":
        return LevelFiles(Path(location.path), words)
    return StoredLevels(place, words)
