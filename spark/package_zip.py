"""The installed elrcheck as a zip for executors, and another one of the packages that it needs there."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources.abc import Traversable
from pathlib import Path

from elrcheck.base.atomic import write_bytes
from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.package_files import ROOT, files_of, rooms, root_files

SUFFIXES = (".py", ".toml", ".ll")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest date a zip can hold: equal sources give equal bytes

DEPENDENCIES = ("numpy", "pyarrow", "pandas", "python-dateutil", "six", "pytz", "tzdata", "llvmlite", "msgspec")
OPTIONAL = ("google-crc32c",)
"""Only an audit needs it."""
UNUSED = re.compile(
    r"\.\.|(.*/)?__pycache__/|(pandas|pyarrow|llvmlite)/tests/|.*/include/|pyarrow/(src/|.*flight)"
    r"|.*\.(pyi|pyx|pxd|pxi|h)$|pyarrow/libarrow_python\.so(\.\d+\.\d+\.\d+)?$"
)
"""Files of the packages that no task reads; wheels of pyarrow have one library under three names."""


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


def packages_zip(folder: Path, *, compressed: bool) -> Path:
    """Return the packages that tasks import, as this process has them, in a zip of some hundred MiB in `folder`.

    Raise EnvironmentFault if one is not installed with a list of its files, as pip and conda do.
    """
    place = folder / "packages.zip"
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(place, "w", method, compresslevel=1 if compressed else None) as archive:
        for name in (*DEPENDENCIES, *OPTIONAL):
            try:
                files = distribution(name).files
            except PackageNotFoundError:
                files = None
            if files is None and name in DEPENDENCIES:
                message = f"--ship-packages: {name} is not installed here by a package manager"
                raise EnvironmentFault("package-missing", message, help=f"pip install {name}")
            for file in files or ():
                if not UNUSED.match(file.as_posix()):
                    archive.write(file.locate(), file.as_posix())
    return place
