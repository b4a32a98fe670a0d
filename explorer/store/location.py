"""The location of a run's files: a path, or a URI of a file system that every executor sees."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlsplit

from elrcheck.base.errors import EnvironmentFault, UsageFault, did_you_mean

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
