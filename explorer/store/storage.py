"""Where the files of a run are: a path, or a URI of a file system that every executor sees; each is written whole."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlsplit

from elrcheck.base.errors import EnvironmentFault, UsageFault, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa


Scheme: TypeAlias = Literal["file", "s3", "hdfs", "gs", "abfs"]

# Every accepted spelling of a scheme, and the scheme it stands for.
SCHEMES: Mapping[str, Scheme] = {
    "file": "file",
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "hdfs": "hdfs",
    "gs": "gs",
    "gcs": "gs",
    "abfs": "abfs",
    "abfss": "abfs",
}
S3_OPTIONS = ("endpoint_override", "region", "anonymous")
CONNECT_SECONDS, REQUEST_SECONDS = 5.0, 60.0
HDFS_HELP = (
    "driver and executors need Hadoop's native client: set JAVA_HOME, ARROW_LIBHDFS_DIR "
    "(the folder of libhdfs.so) and CLASSPATH (`hadoop classpath --glob`)"
)


@dataclass(frozen=True)
class StorageLocation:
    """A parsed location; picklable, and without credentials.

    `path` is the file system's own name for it (``bucket/key`` for S3), `authority` the host of HDFS,
    `options` the settings of S3, such as its endpoint.
    """

    text: str
    scheme: Scheme
    path: str
    authority: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @property
    def whole_objects(self) -> bool:
        """True if a file appears only once it is complete, so that no rename is needed; there are no folders."""
        return self.scheme in ("s3", "gs", "abfs")


def parse_location(text: str, env: Mapping[str, str]) -> StorageLocation:
    """Parse a path or URI; S3 honours AWS_ENDPOINT_URL of `env`, so that executors use the same server.

    Raise UsageFault for an unknown scheme or option, and for credentials in the URI, which reports show.
    """
    scheme_name = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", text)
    if scheme_name is None:
        if not text:
            raise UsageFault("bad-location", "the path is empty", help="specify a folder or a URI")
        return StorageLocation(text, "file", str(Path(os.path.expanduser(text)).absolute()))
    scheme = SCHEMES.get(scheme_name[1].lower())
    if scheme is None:
        help = did_you_mean(scheme_name[1], SCHEMES)
        raise UsageFault("bad-location", f"`{text}`: unknown scheme `{scheme_name[1]}:`", help=help)
    parts = urlsplit(text)
    if parts.password or (parts.username and scheme != "abfs"):  # there it is container@account
        help = "put them where the service's own tools look, e.g. AWS_ACCESS_KEY_ID"
        raise UsageFault("bad-location", f"a {scheme}: URI must not contain credentials", help=help)
    if scheme == "file":
        if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
            raise UsageFault("bad-location", f"`{text}` is not an absolute path", help="write file:///folder")
        return StorageLocation(text, scheme, parts.path.rstrip("/") or "/")
    if scheme == "hdfs":
        return StorageLocation(text, scheme, parts.path.rstrip("/") or "/", parts.netloc)
    if scheme == "abfs" and not parts.username:
        help = f"write {scheme_name[1]}://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER"
        raise UsageFault("bad-location", f"`{text}` names no container", help=help)
    if not parts.netloc:
        raise UsageFault("bad-location", f"`{text}` names no bucket", help=f"write {scheme_name[1]}://BUCKET/FOLDER")
    options = _s3_options(text, parts, env) if scheme == "s3" else ()
    bucket = parts.username if scheme == "abfs" else parts.netloc
    return StorageLocation(text, scheme, f"{bucket}{parts.path}".rstrip("/"), parts.netloc, options)


def filesystem(location: StorageLocation) -> Any:
    """Return the pyarrow file system of a location; some kinds connect only on first use.

    Raise EnvironmentFault if it cannot be created.
    """
    from pyarrow import ArrowException, fs

    try:
        if location.scheme == "file":
            return fs.LocalFileSystem()
        if location.scheme == "s3":
            return _s3(location)
        if location.scheme == "hdfs":
            host, _, port = location.authority.partition(":")
            return fs.HadoopFileSystem(host or "default", int(port or 0))
        return fs.FileSystem.from_uri(location.text)[0]
    except (OSError, ArrowException, ValueError) as fault:
        why = str(fault).strip().splitlines()[0]
        help = HDFS_HELP if location.scheme == "hdfs" else "check the URI and the credentials"
        raise EnvironmentFault("no-storage", f"cannot use {location.text}: {why}", help=help) from fault


def _s3_options(text: str, parts: SplitResult, env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in options:
        if name not in S3_OPTIONS:
            help = did_you_mean(name, S3_OPTIONS)
            raise UsageFault("bad-location", f"`{text}`: unknown option `{name}`", help=help)
    endpoint = env.get("AWS_ENDPOINT_URL_S3") or env.get("AWS_ENDPOINT_URL")
    if endpoint:
        options.setdefault("endpoint_override", endpoint)
    region = env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION")
    if region:
        options.setdefault("region", region)
    return tuple(sorted(options.items()))


def _s3(location: StorageLocation) -> Any:
    from pyarrow import fs

    options = dict(location.options)
    endpoint = options.get("endpoint_override", "")
    web_scheme, _, host = endpoint.rpartition("://")
    region = options.get("region")
    if region is None:
        # AWS can report the region of a bucket; other servers mostly ignore the region.
        region = "us-east-1" if endpoint else fs.resolve_s3_region(location.path.split("/")[0])
    return fs.S3FileSystem(
        region=region,
        endpoint_override=host or None,
        scheme=web_scheme or "https",
        anonymous=options.get("anonymous", "").lower() in ("1", "true", "yes"),
        connect_timeout=CONNECT_SECONDS,
        request_timeout=REQUEST_SECONDS,
    )


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
