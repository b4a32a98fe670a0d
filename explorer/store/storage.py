"""The files of a Spark run: written whole or not at all, on any file system that pyarrow knows."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from elrcheck.base.errors import EnvironmentFault
from elrcheck.explorer.store.location import Location, filesystem, parse_location

if TYPE_CHECKING:
    import pyarrow as pa

Data: TypeAlias = "bytes | bytearray | memoryview | pa.Buffer | pa.Table"
SHARED = "on a cluster the place must be one that the driver and every executor see, under one name"

# What a service says, in lower case; what it means; what to do.
REASONS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("no_such_bucket", "bucket does not exist"), "no such bucket", "create the bucket, or check its name"),
    (
        ("access_denied", "forbidden", "permission denied", "accesscontrolexception", "accessdenied"),
        "permission denied",
        "check the credentials that the driver and the executors have",
    ),
    (
        ("invalid_access_key", "signature_does_not_match", "no credentials", "unable to load credentials"),
        "the credentials are not accepted",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the driver and the executors",
    ),
    (
        ("network_connection", "couldn't connect", "couldn't resolve", "connection refused", "timeout"),
        "the service does not answer",
        "check the endpoint and the network",
    ),
    (("no space left", "quota"), "no space is left", "free some space, or choose another place"),
)


@dataclass(frozen=True)
class Stored:
    """What was written: `size` in bytes, `digest` its SHA-256 in hexadecimal."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True)
class Storage:
    """A folder of files with names such as ``00007/3.parquet``; can be pickled for executors.

    Writing a name twice is no error: a repeated task writes the same bytes.  Every operation raises
    EnvironmentFault (exit 4) when the file system refuses.
    """

    location: Location

    @classmethod
    def at(cls, place: str | os.PathLike[str]) -> Storage:
        """A path or a URI; UsageFault for a URI that is not understood."""
        return cls(parse_location(os.fspath(place), os.environ))

    def __str__(self) -> str:
        return self.location.text

    def write(self, name: str, data: Data) -> Stored:
        """Writes bytes, or a table as Parquet; the name appears when all of it is on disk."""
        whole = _buffer(data)
        place = self._place(name)
        with self._refusals("write", name):
            if self.location.scheme == "file":
                _write_local(place, whole)
            elif self.location.whole_objects:
                with self._fs.open_output_stream(place) as stream:
                    stream.write(whole)
            else:
                self._write_renamed(place, whole)
        return Stored(name, len(whole), hashlib.sha256(whole).hexdigest())

    def read(self, name: str) -> pa.Buffer:
        """All bytes of a file."""
        with self._refusals("read", name), self._fs.open_input_file(self._place(name)) as file:
            return file.read_buffer()

    def read_table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """A Parquet file, or some of its columns."""
        import pyarrow.parquet as pq

        with self._refusals("read", name), self._fs.open_input_file(self._place(name)) as file:
            return pq.ParquetFile(file).read(None if columns is None else list(columns))

    def size(self, name: str) -> int | None:
        """Bytes of a file, None if there is none."""
        with self._refusals("read", name):
            info = self._fs.get_file_info(self._place(name))
        return int(info.size) if info.is_file else None

    def exists(self, name: str) -> bool:
        return self.size(name) is not None

    def list(self, folder: str = "") -> tuple[str, ...]:
        """Names of the files below a folder, sorted; drafts of writers that died are not among them."""
        from pyarrow import fs

        root = self._place(folder) if folder else self.location.path
        with self._refusals("read", folder or "."):
            found = self._fs.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True))
        start = len(self.location.path.rstrip("/")) + 1
        names = (info.path[start:] for info in found if info.is_file)
        return tuple(sorted(name for name in names if not name.rpartition("/")[2].startswith(".")))

    def delete(self, name: str) -> None:
        """Removes a file; one that is gone already is no error."""
        with self._refusals("delete", name), contextlib.suppress(FileNotFoundError):
            self._fs.delete_file(self._place(name))

    def check(self) -> None:
        """Writes, reads and deletes a small file, so that a run fails at its start and not after hours."""
        name = f"check-{uuid.uuid4().hex}"
        self.write(name, name.encode())
        if self.read(name).to_pybytes() != name.encode():
            raise EnvironmentFault("no-storage", f"{self} returns other bytes than were written", help=SHARED)
        self.delete(name)

    @property
    def _fs(self) -> Any:
        return _connected(self.location)

    def _place(self, name: str) -> str:
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"no file name: {name!r}")
        return f"{self.location.path.rstrip('/')}/{name}"

    def _write_renamed(self, place: str, whole: Any) -> None:
        """A file system with renames that is not ours to sync: closing a stream of HDFS does that."""
        draft = _draft(place)
        self._fs.create_dir(place.rpartition("/")[0], recursive=True)
        try:
            with self._fs.open_output_stream(draft) as stream:
                stream.write(whole)
            self._fs.move(draft, place)
        except BaseException:
            with contextlib.suppress(OSError):
                self._fs.delete_file(draft)
            raise

    @contextlib.contextmanager
    def _refusals(self, verb: str, name: str) -> Iterator[None]:
        from pyarrow import ArrowException

        try:
            yield
        except (OSError, ArrowException) as fault:
            why, help = _reason(fault)
            raise EnvironmentFault(
                f"cannot-{verb}", f"cannot {verb} {name} in {self}: {why}", help=help
            ) from fault


@functools.lru_cache(maxsize=8)
def _connected(location: Location) -> Any:
    """One file system object per place and process: connections are reused."""
    return filesystem(location)


def _buffer(data: Data) -> pa.Buffer:
    """One contiguous buffer: a single write cannot leave an object that ends early."""
    import pyarrow as pa

    if isinstance(data, pa.Table):
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        pq.write_table(
            data, sink, compression="zstd", compression_level=1, use_dictionary=False, write_statistics=False
        )
        return sink.getvalue()
    return data if isinstance(data, pa.Buffer) else pa.py_buffer(data)


def _draft(place: str) -> str:
    """A name of this writer alone: two attempts of one task may write at the same time."""
    folder, _, name = place.rpartition("/")
    return f"{folder}/.{name}.{uuid.uuid4().hex}.tmp"


def _write_local(place: str, whole: Any) -> None:
    draft = _draft(place)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    try:
        with open(draft, "xb") as file:
            file.write(whole)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _reason(fault: BaseException) -> tuple[str, str]:
    """Why a file system refused, and what to do."""
    if isinstance(fault, OSError):
        known: dict[int, int] = {errno.ENOSPC: 4, errno.EDQUOT: 4, errno.EACCES: 1, errno.EPERM: 1}
        at = known.get(fault.errno or 0)
        if at is not None:
            return REASONS[at][1], REASONS[at][2]
    lines = str(fault).strip().splitlines() or [type(fault).__name__]
    said = " ".join(lines).lower()
    for words, meaning, help in REASONS:
        if any(word in said for word in words):
            return meaning, help
    if isinstance(fault, FileNotFoundError):
        return "there is no such file", SHARED
    strerror = fault.strerror if isinstance(fault, OSError) else None
    return strerror or lines[0], SHARED
