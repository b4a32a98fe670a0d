"""Where things are in the repository, for tests at any depth."""

from __future__ import annotations

import shutil
from pathlib import Path

import elrcheck
from elrcheck.base.package_files import rooms

ROOT = Path(str(elrcheck.__file__)).resolve().parent
TESTS = ROOT / "tests"
SCHEMAS = ROOT / "docs" / "schemas"
PROTOCOLS = ROOT / "protocols"
SKIPPED = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "build", "env", "*.egg-info")


def sources(*folders: str) -> list[Path]:
    """Every Python file of the package, or of these folders of it, at any depth."""
    if folders:
        return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return [*sorted(ROOT.glob("*.py")), *sources(*rooms())]


def protocol_files() -> list[Path]:
    """The files of other people's protocols, and the folders of those that need several."""
    return sorted([*PROTOCOLS.glob("*/*.py"), *(file.parent for file in PROTOCOLS.glob("*/*/__init__.py"))])


def protocol(name: str) -> Path:
    """The file or folder of a protocol, in the folder of its subject."""
    (file,) = (file for file in protocol_files() if file.stem == name)
    return file


def copy_package(package: Path) -> Path:
    """The package, without tests and documents, as the folder `package`."""
    package.mkdir(parents=True, exist_ok=True)
    for room in rooms():
        shutil.copytree(ROOT / room, package / room, ignore=SKIPPED)
    for file in (*ROOT.glob("*.py"), ROOT / "py.typed"):
        shutil.copy(file, package)
    return package
