"""The model in a file or folder that the user names; it runs as Python, like a `conftest.py` of pytest.

Most questions about a model need only a few of its functions, and compiling all of them takes longer than the answer.
So the first run compiles and checks everything and leaves a mark in the store, under a digest of the sources; later
runs compile only what they use.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import linecache
import os
import sys
import traceback
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from elrcheck.base.documents import read_text
from elrcheck.base.errors import UsageFault
from elrcheck.base.kept.named_digests import RULES, sources
from elrcheck.base.kept.store import Store
from elrcheck.base.strict import Codes
from elrcheck.lang.compiler.frontend import check_limits, demand_end
from elrcheck.lang.load import Model, ProtocolModel, demand_listed
from elrcheck.lang.lowering.model_digest import model_digest
from elrcheck.lang.source import ModelError
from elrcheck.lang.tree import sorts_in
from elrcheck.lang.types import Ty, type_of

CODE = "model-file"
PREFIX = "elrcheck_model_"
"""Prefix of the names of these modules in this process, so that they shadow no other module."""
EXPECTED = "--model takes a Python file, a folder with one, or the name of an installed module"
LIMIT = 2**20
"""Limit of a source file, in bytes."""
KINDS = ("action", "init", "bound", "always", "sometimes", "leads_to", "lemma")
"""Decorators of functions whose module the model must list."""
Stamps: TypeAlias = tuple[tuple[str, int, int], ...]
"""Name, modification time and size of each source file."""


def read_model(file: Path) -> ProtocolModel:
    """Run a model file, or the `__init__.py` of a folder, once and again after a change; return its `ProtocolModel`.

    Raise UsageFault if it does not run, or does not declare exactly one.
    """
    return _declared(file, _stamps(file))


def compiled_model(file: Path) -> Model:
    """Return the compiled model of a file; raise UsageFault with the place of a mistake."""
    return _compiled(file, _stamps(file))


def sorts_of(file: Path) -> dict[str, Ty]:
    """Return name -> sort in the state of a model file; raise UsageFault with the place of a mistake."""
    declared = read_model(file)
    try:
        demand_end(declared.state)
        check_limits(type_of(declared.state), declared.config)
        return sorts_in(type_of(declared.state))
    except ModelError as fault:
        raise _refused(file, fault) from fault


def sources_of(file: Path) -> list[Path]:
    """Return the source files of a model, without links that lead nowhere, such as the locks of Emacs."""
    return [each for each in (sorted(file.rglob("*.py")) if file.is_dir() else [file]) if each.is_file()]


def sources_used(file: Path) -> list[Path]:
    """Return the source files of a model, and of the decorated functions that it uses from other modules."""
    declared = read_model(file)
    waiting = [*declared.modules, sys.modules[declared.state.__module__], sys.modules[declared.config.__module__]]
    used: dict[str, ModuleType] = {}
    while waiting:
        module = waiting.pop()
        if module.__name__ in used:
            continue
        used[module.__name__] = module
        roles = [value for value in vars(module).values() if hasattr(value, "__elr_role__")]
        waiting += [sys.modules[value.__module__] for value in roles]
    others = {Path(str(module.__file__)).resolve() for module in used.values()}
    own = sources_of(file)
    return [*own, *sorted(others - {source.resolve() for source in own})]


def source_texts(file: Path) -> dict[str, str]:
    """Return path -> text of the source files of a model, and of its TOML files."""
    folder, more = (file, _tables_of(file)) if file.is_dir() else (file.parent, [])
    named = [*sources_of(file), *more]
    if not named:
        raise UsageFault(CODE, f"there is no file {file}", help=EXPECTED)
    return {source.relative_to(folder).as_posix(): read_text(source, Codes(CODE), LIMIT) for source in named}


def _tables_of(folder: Path) -> list[Path]:
    return [each for each in sorted(folder.rglob("*.toml")) if each.is_file()]


def _stamps(file: Path) -> Stamps:
    states = ((source, source.stat()) for source in sources_of(file))
    return tuple((str(source), state.st_mtime_ns, state.st_size) for source, state in states)


@functools.cache
def _declared(file: Path, stamps: Stamps) -> ProtocolModel:
    module = _run(file)
    named = {name: value for name, value in vars(module).items() if isinstance(value, ProtocolModel)}
    declared = {id(value): value for value in named.values()}
    if not declared:
        help = "MODEL = ProtocolModel(State, Config), from elrcheck.lang.load"
        raise UsageFault(CODE, "the file declares no ProtocolModel", where=str(file), help=help)
    if len(declared) > 1:
        help = f"keep one of {', '.join(named)}, or give each a file"
        raise UsageFault(CODE, "the file declares more than one ProtocolModel", where=str(file), help=help)
    return next(iter(declared.values()))


@functools.cache
def _compiled(file: Path, stamps: Stamps) -> Model:
    declared = _declared(file, stamps)
    try:
        if file.is_dir() and declared.modules:
            demand_listed(file, KINDS, declared.modules, f"`modules` of the ProtocolModel in {file / '__init__.py'}")
        return with_origin(declared.load())
    except ModelError as fault:
        raise _refused(file, fault) from fault


def folders_of_models() -> tuple[Path, ...]:
    """Return the folders of the models that this process has run."""
    files = (module.__file__ for name, module in list(sys.modules.items()) if name.startswith(PREFIX))
    return tuple(Path(file).parent for file in files if file is not None)


class _LoaderByContent(SourceFileLoader):
    """Loads bytecode that was compiled from the same text. Python compares the size and the second of the last change:
    it would run what a file said before, if it was changed twice in a second.
    """

    def path_stats(self, path: str) -> dict[str, float]:
        """Return the size of a file, and its checksum in place of the time that its bytecode names."""
        return {**super().path_stats(path), "mtime": zlib.crc32(self.get_data(path))}


def _run(file: Path) -> ModuleType:
    source = Path(os.path.realpath(file / "__init__.py" if file.is_dir() else file))  # also of links in a circle
    if not source.is_file():
        raise UsageFault(CODE, f"there is no file {source}", help=EXPECTED)
    name = f"{PREFIX}{file.stem.replace('-', '_')}_{hashlib.sha256(str(source).encode()).hexdigest()[:8]}"
    if source.suffix != ".py":
        raise UsageFault(CODE, f"{source} is not a Python file", help="its name ends in .py")
    folders = [str(source.parent)] if file.is_dir() else None
    for folder in {text.parent for text in source.parent.rglob("*.py")} if folders else ():
        sys.path_importer_cache[str(folder)] = FileFinder(str(folder), (_LoaderByContent, [".py"]))
    loader = _LoaderByContent(name, str(source))
    spec = importlib.util.spec_from_file_location(name, source, loader=loader, submodule_search_locations=folders)
    assert spec is not None and spec.loader is not None
    for text in sources_of(file):
        read_text(text, Codes(CODE), LIMIT)  # Python runs bytes that are not UTF-8, but nothing here can quote them
    for before in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
        del sys.modules[before]
    linecache.checkcache()
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModelError as fault:
        raise _refused(file, fault) from fault
    except SyntaxError as fault:
        where = f"{fault.filename or source}:{fault.lineno}" if fault.lineno else str(source)
        excerpt = (fault.text or "").strip() or None
        raise UsageFault(CODE, f"not valid Python: {fault.msg}", where=where, excerpt=excerpt) from fault
    except (Exception, SystemExit) as fault:
        frames = traceback.extract_tb(fault.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(source.parent)]
        where = f"{own[-1].filename}:{own[-1].lineno}" if own else str(source)
        raise UsageFault(CODE, f"{type(fault).__name__}: {fault}", where=where) from fault
    return module


def _refused(file: Path, fault: ModelError) -> UsageFault:
    where, excerpt, help = fault.where or str(file), fault.excerpt or None, fault.help or None
    return UsageFault("model-source", fault.message, where=where, excerpt=excerpt, help=help)


SOUND = "sound"


@dataclass(frozen=True)
class SourceMark:
    """The mark of a model's sources. sound: they have been compiled as a whole, so that a model may be lazy."""

    origin: str
    sound: bool
    marks: Store[str]

    def left_on(self, model: Model) -> Model:
        """Mark the sources as sound; return their model with its origin."""
        if not self.sound:
            self.marks.put(self.origin, SOUND)
        return model.read_from(self.origin)


def mark_of(modules: Iterable[ModuleType]) -> SourceMark:
    """Return the mark of the sources of these modules."""
    names = " ".join(module.__name__ for module in modules)
    origin = hashlib.sha256(f"{sys.version_info[:2]} {sources(*RULES)} {names}".encode()).hexdigest()
    marks = Store("models", str, shipped=True)
    entry = marks.get(origin)
    return SourceMark(origin, entry is not None and entry.value == SOUND, marks)


def with_origin(model: Model) -> Model:
    """Return the completely compiled model of a user's file, with a digest of its values as the origin."""
    return model.read_from(hashlib.sha256(f"{sources('lang')} {model_digest(model)}".encode()).hexdigest())
