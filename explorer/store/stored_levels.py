"""Level files at a location that all executors see: a folder, or a URI of an object store or HDFS."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from elrcheck.explorer.store.levels import FileMark, LevelFiles, Rows
from elrcheck.explorer.store.storage import Storage


class StoredLevels(LevelFiles):
    """The level files of a run that are not on a local file system."""

    def __init__(self, place: str, words: int) -> None:
        super().__init__(Path(), words)
        self.storage = Storage.at(place)
        self._place = place

    @property
    def place(self) -> str:
        return self._place

    def _write(self, name: str, groups: Iterable[Rows]) -> FileMark:
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        count = 0
        with pq.ParquetWriter(
            sink, self._schema, compression="zstd", compression_level=1, use_dictionary=False,
            write_statistics=False,
        ) as writer:  # fmt: skip
            for rows in groups:
                writer.write_table(self._table(rows), row_group_size=max(1, len(rows)))
                count += len(rows)
        stored = self.storage.write(name, sink.getvalue())
        return FileMark(name, count, stored.size, stored.digest)

    def _parquet(self, name: str) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pq.ParquetFile(pa.BufferReader(self.storage.read(name)))

    def digest(self, name: str) -> tuple[int, str] | None:
        if not self.storage.exists(name):
            return None
        data = self.storage.read(name)
        return data.size, hashlib.sha256(data).hexdigest()

    def remove(self) -> None:
        """Delete all level files."""
        self._open.clear()
        for name in self.storage.list():
            if name.endswith(".parquet"):
                self.storage.delete(name)


def level_files(place: str, words: int) -> LevelFiles:
    """Return the level files at a path or URI."""
    location = Storage.at(place).location
    if location.scheme == "file":
        return LevelFiles(Path(location.path), words)
    return StoredLevels(place, words)
