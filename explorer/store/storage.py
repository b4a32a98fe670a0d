"""The files of a Spark run, written atomically on any file system that pyarrow supports."""

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
SHARED = "on a cluster, the driver and every executor must see the storage under the same name"

# Fragments of a service's message in lower case, the meaning, and the remedy.
REASONS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("no_such_bucket", "bucket does not exist"), "no such bucket", "create the bucket, or check its name"),
    (
        ("access_denied", "forbidden", "permission denied", "accesscontrolexception", "accessdenied"),
        "permission denied",
        "check the credentials of the driver and the executors",
    ),
    (
        ("invalid_access_key", "signature_does_not_match", "no credentials", "unable to load credentials"),
        "the service rejects the credentials",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the driver and the executors",
    ),
    (
        ("network_connection", "couldn't connect", "couldn't resolve", "connection refused", "timeout"),
        "the service does not answer",
        "check the endpoint and the network",
    ),
    (("no space left", "quota"), "no space is left", "free some space, or choose another location"),
)


@dataclass(frozen=True)
class Stored:
    """A written file: `size` in bytes, `digest` its SHA-256 in hexadecimal."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True)
class Storage:
    """A folder of files with names such as ``00007/3.parquet``; picklable, for executors.

    Writing a name twice is not an error, because a repeated task writes the same bytes.  Every operation
    raises EnvironmentFault (exit 4) when the file system refuses.
    """

    location: Location

    @classmethod
    def at(cls, place: str | os.PathLike[str]) -> Storage:
        """Return the storage at a path or URI; raise UsageFault for an invalid URI."""
        return cls(parse_location(os.fspath(place), os.environ))

    def __str__(self) -> str:
        return self.location.text

    def write(self, name: str, data: Data) -> Stored:
        """Write bytes, or a table as Parquet; the name appears only once the file is complete on disk."""
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
        """Read a whole file."""
        with self._refusals("read", name), self._fs.open_input_file(self._place(name)) as file:
            return file.read_buffer()

    def read_table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read a Parquet file, or some of its columns."""
        import pyarrow.parquet as pq

        with self._refusals("read", name), self._fs.open_input_file(self._place(name)) as file:
            return pq.ParquetFile(file).read(None if columns is None else list(columns))

    def size(self, name: str) -> int | None:
        """Return the size of a file in bytes, None if it does not exist."""
        with self._refusals("read", name):
            info = self._fs.get_file_info(self._place(name))
        return int(info.size) if info.is_file else None

    def exists(self, name: str) -> bool:
        return self.size(name) is not None

    def list(self, folder: str = "") -> tuple[str, ...]:
        """Return the sorted names of the files below a folder, without drafts of writers that died."""
        from pyarrow import fs

        root = self._place(folder) if folder else self.location.path
        with self._refusals("read", folder or "."):
            found = self._fs.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True))
        start = len(self.location.path.rstrip("/")) + 1
        names = (info.path[start:] for info in found if info.is_file)
        return tuple(sorted(name for name in names if not name.rpartition("/")[2].startswith(".")))

    def delete(self, name: str) -> None:
        """Delete a file; a missing file is not an error."""
        with self._refusals("delete", name), contextlib.suppress(FileNotFoundError):
            self._fs.delete_file(self._place(name))

    def check(self) -> None:
        """Write, read and delete a small file, so that a run fails at its start and not after hours."""
        name = f"check-{uuid.uuid4().hex}"
        self.write(name, name.encode())
        if self.read(name).to_pybytes() != name.encode():
            raise EnvironmentFault("no-storage", f"{self} returns other bytes than it was given", help=SHARED)
        self.delete(name)

    @property
    def _fs(self) -> Any:
        return _connected(self.location)

    def _place(self, name: str) -> str:
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"not a file name: {name!r}")
        return f"{self.location.path.rstrip('/')}/{name}"

    def _write_renamed(self, place: str, whole: Any) -> None:
        """Write to a draft and rename it; no fsync is needed, because closing an HDFS stream syncs it."""
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
            raise EnvironmentFault(f"cannot-{verb}", f"cannot {verb} {name} in {self}: {why}", help=help) from fault


@functools.lru_cache(maxsize=8)
def _connected(location: Location) -> Any:
    """Return one file system object per location and process, to reuse connections."""
    return filesystem(location)


def _buffer(data: Data) -> pa.Buffer:
    """Return one contiguous buffer, because a single write cannot leave a truncated object."""
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
    """Return a draft name unique to this writer: two attempts of a task may write at the same time."""
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
    """Return why a file system refused an operation, and the remedy."""
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
