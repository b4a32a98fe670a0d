"""The store: answers that elrcheck keeps from one run to the next, and can compute again.

An entry answers a question. The question is its key: a text that names everything on which the answer depends
(`named_digests.py`). A file has the kind of the entry, its key, the time and the answer, after a checksum:

    <cache folder>/store-1/<kind>/<SHA-256 of the key>
    elrcheck-kept/1 <SHA-256 of the rest>
    {"key": "..", "kind": "searches", "when": 1763942400}
    the answer: text or bytes as they are, a record in MessagePack

An entry is believed only if no other user can have written it (file and folder belong to this user or to root, and no
one else may change them), its checksum fits, it answers the very question that is asked, and it has the expected type.
Owner and mode guard against other users, who can compute a checksum too; the checksum detects damage, and the key
detects a renamed file. Anything else is ignored: the caller computes the answer again, and the process reports that
once (`Notice`). A folder that is missing or cannot be written stores nothing, and never ends a run.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Generic, TypeVar, cast

from elrcheck.base.atomic import write_bytes
from elrcheck.base.caches import cache_directory, notice
from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.kept.age import KeptOrigin, kept_at, sha
from elrcheck.base.package_files import ROOT

MAGIC = b"elrcheck-kept/1 "
FOLDER = "store-1"
SHIPPED = "shipped"
"""The folder of the package whose entries an installation brings along (`setup.py`)."""
OWNER_ONLY = stat.S_IRUSR | stat.S_IWUSR
OTHERS = stat.S_IWGRP | stat.S_IWOTH
LAST_SECOND = 253_402_300_799
"""The last second of the year 9999, the last that datetime represents."""

T = TypeVar("T")


@dataclass(frozen=True)
class StoredAnswer(Generic[T]):
    """An answer that is believed, and its origin."""

    value: T
    origin: KeptOrigin


@dataclass(frozen=True)
class _File:
    """The contents after the checksum. body: the encoded answer."""

    kind: str
    key: str
    when: int
    body: bytes


class _Unbelieved(Exception):
    """Raised for a file that is ignored, with the reason."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path, self.reason = path, reason


class Store(Generic[T]):
    """The entries of one kind. payload: the type of the answers; fresh: `get` returns None.

    environ: names the cache folder; by default the environment of the process. shipped: entries that the installation
    brought along count, too; they are believed as the code beside them is, whoever owns them.
    """

    def __init__(
        self,
        kind: str,
        payload: type[T],
        *,
        fresh: bool = False,
        environ: Mapping[str, str] | None = None,
        shipped: bool = False,
    ) -> None:
        root = cache_directory(os.environ if environ is None else environ) / FOLDER
        self.kind, self.payload, self.fresh = kind, payload, fresh
        self.folder = root / kind
        self._shipped = files(ROOT) / SHIPPED / FOLDER / kind if shipped else None

    def get(self, key: str) -> StoredAnswer[T] | None:
        """Return the answer to a question; None if no stored answer can be believed, or if the store is fresh."""
        return None if self.fresh else self.peek(key)

    def peek(self, key: str) -> StoredAnswer[T] | None:
        """Return the answer to a question, even if the store is fresh; None if none can be believed."""
        path = self.path(key)
        try:
            file = self._believed(path) or self._brought_along(path)
            if file is None:
                return None
            if (file.kind, file.key) != (self.kind, key):
                raise _Unbelieved(path, "answers another question")
            return self._entry(file, path)
        except _Unbelieved as why:
            notice().tell(why.path, why.reason)
            return None

    def put(self, key: str, value: T, when: int | None = None) -> None:
        """Store an answer for this user alone; a full disk is not an error.

        when: seconds since 1970 at which the answer was computed; by default now.
        """
        moment = int(time.time()) if when is None else when
        head = json.dumps({"key": key, "kind": self.kind, "when": moment}).encode()
        self.write(self.path(key), checked(b"%s\n%s" % (head, self._encoded(value))))

    def refuse(self, key: str, why: str) -> None:
        """Remove an entry whose answer the caller could not confirm, and report it."""
        notice().tell(self.path(key), why)
        with contextlib.suppress(OSError):
            self.path(key).unlink()

    def path(self, key: str) -> Path:
        """Return the path of an entry."""
        return self.folder / sha(key)

    def entries(self) -> Iterator[tuple[str, StoredAnswer[T]]]:
        """Yield the key and the answer of every entry that can be believed."""
        try:
            paths = sorted(self.folder.iterdir())
        except OSError:
            return
        for path in paths:
            if path.suffix or path.name.startswith("."):
                continue
            with contextlib.suppress(_Unbelieved):
                file = self._believed(path)
                if file is not None and file.kind == self.kind and self.path(file.key) == path:
                    yield file.key, self._entry(file, path)

    def content(self, path: Path) -> bytes | None:
        """Return the bytes of a file, None if it is missing; raise _Unbelieved if another user may have written it."""
        if (folder := self._foreign()) is not None:
            raise _Unbelieved(*folder)
        try:
            with open(path, "rb", opener=_at_once) as file:
                status = os.fstat(file.fileno())
                why = distrust(status) if stat.S_ISREG(status.st_mode) else "is not a regular file"
                if why is not None:
                    raise _Unbelieved(path, why)
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as fault:
            raise _Unbelieved(path, f"cannot be read ({fault.strerror or fault})") from fault

    def _entry(self, file: _File, path: Path) -> StoredAnswer[T]:
        try:
            return StoredAnswer(self._decoded(file.body), kept_at(file.when, file.key))
        except (ValueError, RecursionError) as fault:
            raise _Unbelieved(path, "is damaged") from fault

    def _encoded(self, value: T) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, str):
            return value.encode()
        from msgspec import msgpack  # not at the top: completion does not need it

        return msgpack.encode(value)

    def _decoded(self, body: bytes) -> T:
        """Return the answer; raise ValueError if it is of another type."""
        if self.payload is bytes:
            return cast(T, body)
        if self.payload is str:
            return cast(T, body.decode())
        from msgspec import msgpack

        return msgpack.decode(body, type=self.payload)

    def _believed(self, path: Path) -> _File | None:
        """Return the contents of a file, None if there is no file; raise _Unbelieved if it cannot be believed."""
        data = self.content(path)
        return None if data is None else _parsed(data, path)

    def _brought_along(self, path: Path) -> _File | None:
        """Return the contents of the installation's file of this name, None if it does not exist."""
        if self._shipped is None:
            return None
        place = self._shipped / path.name
        try:
            return _parsed(place.read_bytes(), Path(str(place)))
        except (OSError, KeyError):  # KeyError: there is no such file in a zip
            return None

    def _foreign(self) -> tuple[Path, str] | None:
        """Return a folder in which another user can replace files, and why; None if only this user can."""
        for folder in (self.folder.parent, self.folder):
            try:
                why = distrust(folder.stat())
            except OSError:
                return None  # there is nothing to read
            if why is not None:
                return folder, why
        return None

    def write(self, path: Path, data: bytes) -> bool:
        """Write a file atomically; return whether the folder is ours and could be written."""
        with contextlib.suppress(OSError, EnvironmentFault):
            self.folder.parent.parent.mkdir(parents=True, exist_ok=True)
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(mode=0o700, exist_ok=True)
            if self._foreign() is None:
                write_bytes(path, data, mode=OWNER_ONLY)
                return True
        return False


class FileStore:
    """Files that other programs open by their paths, such as jars: each beside an entry with its checksum."""

    def __init__(self, kind: str, suffix: str, environ: Mapping[str, str] | None = None) -> None:
        self._sums = Store(kind, str, environ=environ)
        self.suffix = suffix

    def get(self, key: str) -> Path | None:
        """Return the path of a file that can be believed and has the right checksum, or None."""
        entry, path = self._sums.get(key), self.path(key)
        if entry is None:
            return None
        try:
            data = self._sums.content(path)
            if data is None:
                return None
            if hashlib.sha256(data).hexdigest() != entry.value:
                raise _Unbelieved(path, "is damaged")
        except _Unbelieved as why:
            notice().tell(why.path, why.reason)
            return None
        return path

    def put(self, key: str, data: bytes) -> Path | None:
        """Store a file and return its path; None if the folder cannot be written."""
        if not self._sums.write(self.path(key), data):
            return None
        self._sums.put(key, hashlib.sha256(data).hexdigest())
        return self.path(key)

    def place(self, key: str, data: bytes) -> Path:
        """Store a file and return its path; if that fails, the path of a file that lasts as long as this process."""
        path = self.put(key, data)
        if path is None:
            folder = tempfile.mkdtemp(prefix="elrcheck-unkept-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            path = Path(folder) / self.path(key).name
            path.write_bytes(data)
        return path

    def prune(self, most: int) -> None:
        """Remove the oldest files if there are more than `most`."""
        with contextlib.suppress(OSError):
            files = sorted(self._sums.folder.glob(f"*{self.suffix}"), key=lambda file: file.stat().st_mtime_ns)
            for old in files[: max(0, len(files) - most)]:
                old.with_suffix("").unlink(missing_ok=True)
                old.unlink(missing_ok=True)

    def path(self, key: str) -> Path:
        """Return the path of the file of a key."""
        return self._sums.path(key).with_suffix(self.suffix)


def checked(rest: bytes) -> bytes:
    """Return the contents of a file of the store, with their checksum."""
    return b"%s%s\n%s" % (MAGIC, hashlib.sha256(rest).hexdigest().encode(), rest)


def _parsed(data: bytes, path: Path) -> _File:
    """Return what a file contains; raise _Unbelieved if it is damaged."""
    rest = data.partition(b"\n")[2]
    if data != checked(rest):
        raise _Unbelieved(path, "is damaged")
    head, _, body = rest.partition(b"\n")
    try:
        match json.loads(head):
            case {"key": str(key), "kind": str(kind), "when": int(when), **more} if not more:
                if 0 <= when <= LAST_SECOND:
                    return _File(kind, key, when, body)
    except (ValueError, RecursionError):
        pass
    raise _Unbelieved(path, "is damaged")


def distrust(status: os.stat_result) -> str | None:
    """Return why another user could have written a file or a folder; None if that is impossible."""
    if not hasattr(os, "geteuid"):  # Windows: the folder is in the user's profile
        return None
    if status.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    return "can be changed by other users" if status.st_mode & OTHERS else None


def _at_once(path: str, flags: int) -> int:
    """Open a file without blocking, in case it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
