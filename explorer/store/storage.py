"""The files of a Spark run on a file system that pyarrow supports, each written whole."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from elrcheck.base.errors import EnvironmentFault
from elrcheck.explorer.store.location import StorageLocation, filesystem, parse_location

if TYPE_CHECKING:
    import pyarrow as pa

Data: TypeAlias = "bytes | pa.Buffer"
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
class Storage:
    """A folder of files with names such as ``00007/3.parquet``; picklable, for executors.

    Writing a name twice is not an error, because a repeated task writes the same bytes. Every operation
    raises EnvironmentFault (exit 4) when the file system refuses.
    """

    location: StorageLocation

    @classmethod
    def at(cls, place: str | os.PathLike[str]) -> Storage:
        """Return the storage at a path or URI; raise UsageFault for an invalid URI."""
        return cls(parse_location(os.fspath(place), os.environ))

    def __str__(self) -> str:
        return self.location.text

    def write(self, name: str, data: Data) -> None:
        """Write a file in one request, which cannot leave a truncated object.

        The name appears only once the file is complete.
        """
        place = self._place(name)
        with self._refusals("write", name):
            if self.location.whole_objects:
                with self._fs.open_output_stream(place) as stream:
                    stream.write(data)
            else:
                self._write_renamed(place, data)

    def read(self, name: str) -> pa.Buffer:
        """Read a whole file."""
        with self._refusals("read", name), self._fs.open_input_file(self._place(name)) as file:
            return file.read_buffer()

    def exists(self, name: str) -> bool:
        with self._refusals("read", name):
            return bool(self._fs.get_file_info(self._place(name)).is_file)

    def list(self) -> tuple[str, ...]:
        """Return the sorted names of all files, without drafts of writers that died."""
        from pyarrow import fs

        with self._refusals("read", "."):
            entries = self._fs.get_file_info(fs.FileSelector(self.location.path, recursive=True, allow_not_found=True))
        start = len(self.location.path.rstrip("/")) + 1
        names = (entry.path[start:] for entry in entries if entry.is_file)
        return tuple(sorted(name for name in names if not name.rpartition("/")[2].startswith(".")))

    def delete(self, name: str) -> None:
        """Delete a file; a missing file is not an error."""
        with self._refusals("delete", name), contextlib.suppress(FileNotFoundError):
            self._fs.delete_file(self._place(name))

    @property
    def _fs(self) -> Any:
        return _connected(self.location)

    def _place(self, name: str) -> str:
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"not a file name: {name!r}")
        return f"{self.location.path.rstrip('/')}/{name}"

    def _write_renamed(self, place: str, data: Data) -> None:
        """Write to a draft and rename it; no fsync is needed, because closing an HDFS stream syncs it.

        The name of the draft is unique to this writer: two attempts of a task may write at the same time.
        """
        folder, _, name = place.rpartition("/")
        draft = f"{folder}/.{name}.{uuid.uuid4().hex}.tmp"
        self._fs.create_dir(folder, recursive=True)
        try:
            with self._fs.open_output_stream(draft) as stream:
                stream.write(data)
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
def _connected(location: StorageLocation) -> Any:
    """Return one file system object per location and process, to reuse connections."""
    return filesystem(location)


def _reason(fault: BaseException) -> tuple[str, str]:
    """Return why a file system refused an operation, and the remedy."""
    if isinstance(fault, OSError):
        by_number: dict[int, int] = {errno.ENOSPC: 4, errno.EDQUOT: 4, errno.EACCES: 1, errno.EPERM: 1}
        row = by_number.get(fault.errno or 0)
        if row is not None:
            return REASONS[row][1], REASONS[row][2]
    lines = str(fault).strip().splitlines() or [type(fault).__name__]
    message = " ".join(lines).lower()
    for words, meaning, help in REASONS:
        if any(word in message for word in words):
            return meaning, help
    if isinstance(fault, FileNotFoundError):
        return "there is no such file", SHARED
    strerror = fault.strerror if isinstance(fault, OSError) else None
    return strerror or lines[0], SHARED
