"""The levels of a search as Parquet files: `00012-0-<digest>.parquet` holds states at depth 12.

The name of a file ends with the start of its SHA-256. So a level that is written again, because the search
was resumed or moved to disk, never replaces a file that a checkpoint names. Such a file is removed once the
next checkpoint no longer names it (`discard`, `named_by_checkpoint`).

A file has one column, `state`, of fixed-size binaries: the packed words of a state, little-endian. A level
is one file, or several if several threads wrote it. A partitioned level is one file whose row group p holds
part p of `PARTS` by hash (`spilled`); otherwise row groups carry no meaning. Files are written atomically and
identified by length and SHA-256, so a damaged file is reported before any of it is used. pyarrow is imported with
the first file, because most searches need none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec import field

from elrcheck.base.atomic import FileDraft, sync_folder, writing
from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.roundtrip import Record
from elrcheck.explorer.kernel.word_layout import Rows

T = TypeVar("T")
R = TypeVar("R")
GROUP = 1 << 16
PARTS = 64
READ = 1 << 20
MOST_OPEN = 128
"""Partitioned levels whose files stay open; a process may often open no more than 256 or 1024."""
DIGITS = 16
"""Digits of the SHA-256 in the name of a file."""
Block = tuple[int, int, int]
"""States in memory: the address of row 0, the first row, and the row after the last."""
ALL_FILES = ("?????-*.parquet", ".?????-*.parquet.*.tmp")
"""Patterns of the level files of a run and of their drafts."""


class FileMark(Record, frozen=True):
    """One finished file of a level: its name beside the others, its size and its digest."""

    name: str
    rows: int
    size: int = field(name="bytes")
    sha256: str


class SavedLevel(Record, frozen=True):
    """The files of a level. partitioned: a single file whose row groups are the parts 0..PARTS-1."""

    depth: int
    files: tuple[FileMark, ...]
    partitioned: bool

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)


class LevelDraft(ABC):
    """One file of a level while it is written. stem: the beginning of its name; table: converts rows for Arrow."""

    def __init__(self, stem: str, sink: Any, schema: Any, table: Callable[[Rows], Any]) -> None:
        import pyarrow.parquet as pq

        self.stem, self.rows, self._table = stem, 0, table
        self._writer = pq.ParquetWriter(
            sink, schema, compression="zstd", compression_level=1, use_dictionary=False, write_statistics=False
        )

    def append(self, rows: Rows) -> None:
        """Write these rows as one row group."""
        self._writer.write_table(self._table(rows), row_group_size=max(1, len(rows)))
        self.rows += len(rows)

    def close(self) -> None:
        self._writer.close()

    def mark(self, size: int, sha256: str) -> FileMark:
        """Describe the file, which gets its name from its contents."""
        return FileMark(f"{self.stem}-{sha256[:DIGITS]}.parquet", self.rows, size, sha256)

    @abstractmethod
    def finish(self) -> FileMark:
        """Complete the file and give it its name."""


class _Hashing(io.RawIOBase):
    """A file that computes its hash as it is written."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size = 0
        self._given_up = False

    def writable(self) -> bool:
        return True

    def give_up(self) -> None:
        """Ignore all further writes."""
        self._given_up = True

    def write(self, data: Any) -> int:
        if not self._given_up:
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


class _LocalDraft(LevelDraft):
    """A file in a folder of this machine."""

    def __init__(self, folder: Path, stem: str, schema: Any, table: Callable[[Rows], Any]) -> None:
        self._place = folder / f"{stem}.parquet"
        with writing(self._place):
            folder.mkdir(parents=True, exist_ok=True)
            self._draft = FileDraft(folder, self._place.name)
        self._sink = _Hashing(self._draft.file)
        super().__init__(stem, self._sink, schema, table)

    def append(self, rows: Rows) -> None:
        """See `LevelDraft`."""
        with writing(self._place):
            super().append(rows)

    def drop(self) -> None:
        """Remove the file unless it is finished."""
        self._sink.give_up()
        self.close()
        self._draft.drop()

    def finish(self) -> FileMark:
        with writing(self._place):
            self.close()
            self._draft.complete()
            mark = self.mark(self._sink.size, self._sink.digest.hexdigest())
            self._draft.publish(mark.name)
        return mark


class GatheredLevel:
    """A level that is written a few rows at a time. saved: its files, once it is complete."""

    saved: SavedLevel

    def __init__(self, drafts: list[LevelDraft], pool: ThreadPoolExecutor) -> None:
        self._drafts, self._pool = drafts, pool

    def append(self, rows: Rows) -> None:
        """Write these rows, each thread its share of them; the caller may change them afterwards."""
        count = len(self._drafts)

        def write(k: int) -> None:
            share = rows[len(rows) * k // count : len(rows) * (k + 1) // count]
            for start in range(0, max(1, len(share)), GROUP):  # at least one row group
                self._drafts[k].append(share[start : start + GROUP])

        on_all(self._pool, write, range(count))


class LevelFiles:
    """The folder with the level files of one run. place: its location, as other processes see it."""

    def __init__(self, folder: Path, words: int) -> None:
        self.folder, self.words = folder, words
        self._open = functools.lru_cache(MOST_OPEN)(self._parquet)
        self._named: frozenset[str] = frozenset()

    @property
    def place(self) -> str:
        return str(self.folder.absolute())

    @functools.cached_property
    def _schema(self) -> Any:
        pa = _arrow()
        return pa.schema([pa.field("state", pa.binary(8 * self.words), nullable=False)])

    def write(self, depth: int, rows: Rows, threads: int = 1, name: str | None = None) -> SavedLevel:
        """Write a level, one file per thread unless the level is small.

        name: prefix of the file names; the depth by default.
        """
        with self.gathered(depth, max(1, min(threads, len(rows) // GROUP)), name) as level:
            level.append(rows)
        return level.saved

    @contextlib.contextmanager
    def gathered(self, depth: int, threads: int, name: str | None = None) -> Iterator[GatheredLevel]:
        """Yield a level to append rows to, one file per thread.

        It is complete at the end of the block, and removed if the block raises. name: see `write`.
        """
        stem = f"{depth:05d}" if name is None else name
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(threads))
            drafts = [stack.enter_context(self._draft(f"{stem}-{k}")) for k in range(threads)]
            level = GatheredLevel(drafts, pool)
            yield level
            level.saved = SavedLevel(depth, tuple(on_all(pool, lambda draft: draft.finish(), drafts)), False)

    def write_parts(self, depth: int, parts: Iterable[Rows]) -> SavedLevel:
        """Write a partitioned level; `parts` yields every part in order, including empty ones."""
        with self._draft(f"{depth:05d}-0") as draft:
            for rows in parts:
                draft.append(rows)
            return SavedLevel(depth, (draft.finish(),), True)

    @contextlib.contextmanager
    def _draft(self, stem: str) -> Iterator[LevelDraft]:
        """Yield a file to be written; it is removed if it is not finished."""
        draft = _LocalDraft(self.folder, stem, self._schema, self._table)
        try:
            yield draft
        finally:
            draft.drop()

    def _table(self, rows: Rows) -> Any:
        import pyarrow as pa

        flat, kind = np.ascontiguousarray(rows, "<u8"), self._schema.field("state").type
        column = pa.FixedSizeBinaryArray.from_buffers(kind, len(flat), [None, pa.py_buffer(flat)])
        return pa.Table.from_arrays([column], schema=self._schema)

    def verify(self, level: SavedLevel) -> None:
        """Raise UsageFault if a file is missing or differs from what was written."""
        for mark in level.files:
            place = f"{self.place}/{mark.name}"
            contents = self.digest(mark.name)
            if contents is None:
                raise damaged(place, "it is missing")
            size, sha256 = contents
            if size != mark.size:
                raise damaged(place, f"it has {size:,} bytes, but {mark.size:,} were written")
            if sha256 != mark.sha256:
                raise damaged(place, "its contents differ from what was written (SHA-256)")

    def digest(self, name: str) -> tuple[int, str] | None:
        """Return the size in bytes and the SHA-256 of a file, None if it does not exist."""
        place = self.folder / name
        digest, size = hashlib.sha256(), 0
        try:
            with open(place, "rb") as file:
                while block := file.read(READ):
                    digest.update(block)
                    size += len(block)
        except FileNotFoundError:
            return None
        except OSError as fault:
            why = fault.strerror or str(fault)
            raise EnvironmentFault("cannot-read", f"cannot read {place}: {why}") from fault
        return size, digest.hexdigest()

    def read(self, level: SavedLevel) -> Iterator[Rows]:
        """Yield the rows of a level, one row group at a time."""
        for mark in level.files:
            with self._parquet(mark.name) as file:
                yield from self._groups(file, range(file.num_row_groups))

    def blocks(self, level: SavedLevel) -> Iterator[Block]:
        """Yield the rows of a level for native code, and read ahead; a block is gone when the next one comes."""
        for rows in ahead(self.read(level)):
            block = np.ascontiguousarray(rows)
            yield block.ctypes.data, 0, len(block)

    def part_rows(self, level: SavedLevel) -> list[int]:
        """Return the number of rows in each part of a partitioned level."""
        metadata = self._open(level.files[0].name).metadata
        return [metadata.row_group(number).num_rows for number in range(PARTS)]

    def parts(self, level: SavedLevel, numbers: Iterable[int]) -> Iterator[Rows]:
        """Yield the rows of the given parts of a partitioned level."""
        yield from self._groups(self._open(level.files[0].name), numbers)

    def _groups(self, file: Any, numbers: Iterable[int]) -> Iterator[Rows]:
        for number in numbers:
            if file.metadata.row_group(number).num_rows:
                for chunk in file.read_row_group(number, columns=["state"]).column(0).chunks:
                    yield self._rows(chunk)

    def _rows(self, chunk: Any) -> Rows:
        data = np.frombuffer(chunk.buffers()[1], "<u8")
        start = chunk.offset * self.words
        return data[start : start + len(chunk) * self.words].reshape(-1, self.words)

    def _parquet(self, name: str) -> Any:
        _arrow()
        import pyarrow.parquet as pq

        return pq.ParquetFile(self.folder / name)

    def sync(self) -> None:
        """Make the names of the files durable, before a checkpoint relies on them."""
        with writing(self.folder):
            sync_folder(self.folder)

    def discard(self, level: SavedLevel) -> None:
        """Remove the files of a level that has been written again, except those that the checkpoint names."""
        self._delete({mark.name for mark in level.files} - self._named)

    def named_by_checkpoint(self, levels: Iterable[SavedLevel]) -> None:
        """Note that the checkpoint on disk now names the files of these levels, and no others."""
        names = frozenset(mark.name for level in levels for mark in level.files)
        before, self._named = self._named, names
        self._delete(before - names)

    def _delete(self, names: Iterable[str]) -> None:
        """Remove files that are no longer needed, ignoring errors: one that stays only takes up space."""
        for name in names:
            with contextlib.suppress(OSError):
                (self.folder / name).unlink()

    def remove_others(self) -> None:
        """Remove the files of a killed process: all but those that the checkpoint names."""
        self._delete(
            place.name for pattern in ALL_FILES for place in self.folder.glob(pattern) if place.name not in self._named
        )

    def remove(self) -> None:
        """Delete the level files and any partial files of an interrupted run."""
        self._open.cache_clear()
        self._named = frozenset()
        self.remove_others()
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def on_all(pool: ThreadPoolExecutor, work: Callable[[T], R], things: Iterable[T]) -> list[R]:
    """Do the work on all things in the pool; if it fails on one, wait for the others before raising."""
    begun = [pool.submit(work, thing) for thing in things]
    wait(begun)
    return [each.result() for each in begun]


def ahead(blocks: Iterator[Rows]) -> Iterator[Rows]:
    """Yield the same blocks; each is read while the one before is in use."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = pool.submit(next, blocks, None)
            yield block


def _arrow() -> Any:
    """Return pyarrow, set to return memory at once: its own pool would keep tens of MiB."""
    import pyarrow as pa

    if pa.default_memory_pool().backend_name != "system":
        pa.set_memory_pool(pa.system_memory_pool())
    return pa


def damaged(place: Path | str, why: str) -> UsageFault:
    """Return the fault for a checkpoint file from which a run cannot be resumed."""
    return UsageFault(
        "checkpoint-damaged",
        f"a file of the checkpoint is damaged: {why}",
        where=str(place),
        help="no file was changed; restore it, or start over without --resume",
    )
