"""The source files of the package, at any depth, and its templates.

The repository root is the package, so beside the rooms are other folders (tests, docs, benchmarks). A folder belongs
to the package if it has an `__init__.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


ROOT = "elrcheck"


def rooms() -> tuple[str, ...]:
    """Return the sorted names of the package's top-level folders; works from a zip too."""
    return tuple(sorted(item.name for item in files(ROOT).iterdir() if (item / "__init__.py").is_file()))


def files_of(room: str, suffixes: tuple[str, ...] = (".py",)) -> Iterator[tuple[str, Traversable]]:
    """Yield (path below the package, file) for a room's files with one of the suffixes, sorted by path."""
    return iter(sorted(_below(files(ROOT) / room, f"{room}/", suffixes), key=lambda pair: pair[0]))


def root_files(suffixes: tuple[str, ...] = (".py",)) -> Iterator[tuple[str, Traversable]]:
    """Yield (name, file) for the files beside the rooms with one of the suffixes, sorted by name."""
    for item in sorted(files(ROOT).iterdir(), key=lambda item: item.name):
        if item.is_file() and item.name.endswith(suffixes) and not item.name.startswith("."):
            yield item.name, item


def _below(folder: Traversable, prefix: str, suffixes: tuple[str, ...]) -> Iterator[tuple[str, Traversable]]:
    for item in folder.iterdir():
        if item.name.startswith(".") or item.name == "__pycache__":
            continue
        if item.is_dir():
            yield from _below(item, f"{prefix}{item.name}/", suffixes)
        elif item.name.endswith(suffixes):
            yield prefix + item.name, item


def templates_in(folder: Traversable, escaping: bool = False) -> Environment:
    """Return the templates of a folder, for which a missing value is an error.

    escaping: every text is escaped for HTML.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=escaping,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        loader=FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
    )
