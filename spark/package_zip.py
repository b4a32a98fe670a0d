"""The installed elrcheck as a zip for executors, so that a cluster needs only its dependencies."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path

from elrcheck.base.atomic import write_bytes
from elrcheck.base.package_files import ROOT, files_of, rooms, root_files

SUFFIXES = (".py", ".toml", ".ll")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest date a zip can hold: equal sources give equal bytes


def package_zip(folder: Path) -> Path:
    """Return the package as ``elrcheck-<hash>.zip`` in `folder`, written once and atomically.

    The hash is that of the content, because Spark and the executors cache files by name, and two versions of the
    package must not share one. Raise EnvironmentFault if the folder cannot be written.
    """
    data = zip_bytes()
    place = folder / f"{ROOT}-{hashlib.sha256(data).hexdigest()[:16]}.zip"
    if place.is_file() and place.stat().st_size == len(data):
        return place
    write_bytes(place, data)
    return place


def zip_bytes() -> bytes:
    """Return the zip: sources and scope files below ``elrcheck/``, sorted, one date, nothing compiled."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, item in sorted(_contents(), key=lambda pair: pair[0]):
            info = zipfile.ZipInfo(f"{ROOT}/{name}", EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, item.read_bytes())
    return target.getvalue()


def _contents() -> Iterator[tuple[str, Traversable]]:
    """Yield (path below the package, file)."""
    yield from root_files((".py", ".typed"))
    for room in rooms():
        yield from files_of(room, SUFFIXES)
