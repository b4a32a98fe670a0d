"""The levels of a search as Parquet files: `00012.parquet` holds the states at depth 12.

A file has one column, `state`, of fixed-size binaries: the packed words of a state, little-endian. A row
group is a part of the level: any part, or in a partitioned file part p of `PARTS` by the top bits of the
hash. Files appear whole or not at all, and are known by length and SHA-256, so that a damaged one is
found and named before anything of it is used.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from elrcheck.errors import EnvironmentFault, UsageFault

Rows = npt.NDArray[np.uint64]
GROUP = 1 << 18
PARTS = 64
READ = 1 << 20


@dataclass(frozen=True)
class LevelFile:
    """One finished file. partitioned: its row groups are the parts 0..PARTS-1."""

    depth: int
    rows: int
    size: int
    sha256: str
    partitioned: bool

    @property
    def name(self) -> str:
        return f"{self.depth:05d}.parquet"


class _Hashing(io.RawIOBase):
    """A file that is hashed while it is written."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        self._file.write(data)
        count = memoryview(data).nbytes
        self.size += count
        return count

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()


class LevelFiles:
    """The folder of the level files of one run."""

    def __init__(self, folder: Path, words: int) -> None:
        self.folder, self.words = folder, words
        self._open: dict[int, Any] = {}
        self._kind = pa.binary(8 * words)
        self._schema = pa.schema([pa.field("state", self._kind, nullable=False)])

    def write(self, depth: int, groups: Iterable[Rows], partitioned: bool = False) -> LevelFile:
        """Write a level; every array of rows becomes a row group (large ones several, unless partitioned)."""
        self._open.pop(depth, None)
        place = self.folder / f"{depth:05d}.parquet"
        draft = self.folder / f".{place.name}.{os.getpid()}.tmp"
        count = 0
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with open(draft, "wb") as file:
                sink = _Hashing(file)
                with pq.ParquetWriter(
                    sink, self._schema, compression="zstd", compression_level=1, use_dictionary=False,
                    write_statistics=False,
                ) as writer:  # fmt: skip
                    for rows in groups:
                        size = max(1, len(rows)) if partitioned else GROUP
                        for start in range(0, max(1, len(rows)), size):
                            part = rows[start : start + size]
                            writer.write_table(self._table(part), row_group_size=max(1, len(part)))
                            count += len(part)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, place)
        except OSError as fault:
            why = fault.strerror or str(fault)
            raise EnvironmentFault("cannot-write", f"cannot write {place}: {why}") from fault
        finally:
            with contextlib.suppress(OSError):
                draft.unlink()
        return LevelFile(depth, count, sink.size, sink.digest.hexdigest(), partitioned)

    def _table(self, rows: Rows) -> Any:
        flat = np.ascontiguousarray(rows, "<u8")
        column = pa.FixedSizeBinaryArray.from_buffers(self._kind, len(flat), [None, pa.py_buffer(flat)])
        return pa.Table.from_arrays([column], schema=self._schema)

    def verify(self, level: LevelFile) -> None:
        """UsageFault if the file is not what was written."""
        place = self.folder / level.name
        digest = hashlib.sha256()
        try:
            with open(place, "rb") as file:
                while block := file.read(READ):
                    digest.update(block)
            size = place.stat().st_size
        except FileNotFoundError as fault:
            raise _damaged(place, "it is missing") from fault
        except OSError as fault:
            why = fault.strerror or str(fault)
            raise EnvironmentFault("cannot-read", f"cannot read {place}: {why}") from fault
        if size != level.size:
            raise _damaged(place, f"it has {size:,} bytes, {level.size:,} were written")
        if digest.hexdigest() != level.sha256:
            raise _damaged(place, "its contents differ from what was written (SHA-256)")

    def groups(self, depth: int) -> int:
        """The number of row groups of a level."""
        count: int = self._file(depth).num_row_groups
        return count

    def rows(self, depth: int, number: int) -> int:
        """The number of rows of a row group."""
        count: int = self._file(depth).metadata.row_group(number).num_rows
        return count

    def group(self, depth: int, number: int) -> Rows:
        """One row group."""
        column = self._file(depth).read_row_group(number, columns=["state"]).column(0)
        parts = [self._rows(chunk) for chunk in column.chunks if len(chunk)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.zeros((0, self.words), np.uint64)

    def read(self, depth: int) -> Iterator[Rows]:
        """The rows of a level, a row group at a time."""
        for number in range(self.groups(depth)):
            rows = self.group(depth, number)
            if len(rows):
                yield rows

    def _rows(self, chunk: Any) -> Rows:
        data = np.frombuffer(chunk.buffers()[1], "<u8")
        start = chunk.offset * self.words
        return data[start : start + len(chunk) * self.words].reshape(-1, self.words)

    def _file(self, depth: int) -> Any:
        if depth not in self._open:
            self._open[depth] = pq.ParquetFile(self.folder / f"{depth:05d}.parquet")
        return self._open[depth]

    def remove(self) -> None:
        """Delete the level files and what an interrupted run may have left of them."""
        self._open.clear()
        for place in [*self.folder.glob("?????.parquet"), *self.folder.glob(".?????.parquet.*.tmp")]:
            place.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def _damaged(place: Path, why: str) -> UsageFault:
    return UsageFault(
        "checkpoint-damaged", f"a file of the checkpoint is damaged: {why}", where=str(place),
        help="nothing was changed; restore the file, or start again without --resume",
    )  # fmt: skip
