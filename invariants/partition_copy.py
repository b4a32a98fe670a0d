"""The source files of Kafka's partition as a model of the user, to copy or to patch.

They are in two folders of this package. The copy has the files that define the model, with relative imports, a
declaration that lists them, the scopes and the suites.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import ModuleType

from elrcheck.base.package_files import ROOT, files_of
from elrcheck.base.version import __version__
from elrcheck.invariants import proof_parts
from elrcheck.invariants.modules import CHECKED, LEMMAS, WAITS
from elrcheck.model import config, state, variants
from elrcheck.model.protocol import MODULES

DECLARATION = "__init__.py"
COPIED = ("model", "invariants")
"""The folders of the package that define Kafka's partition."""
_MENTION = re.compile(rf"\b{ROOT}\.((?:{'|'.join(COPIED)})\.)")
_IMPORT = re.compile(rf"^(\s*from ){ROOT}\.((?:{'|'.join(COPIED)})[\w.]*)(?= import )", re.MULTILINE)


def partition_texts(data: Mapping[str, Iterable[Traversable]]) -> dict[str, str]:
    """Return the files of Kafka's partition as a model of its own, which imports its own files.

    data: the files of its scopes and suites, by the folder of the copy.
    """
    packaged = {name: file for room in COPIED for name, file in files_of(room)}
    texts = {name: packaged[name].read_text(encoding="utf-8") for name in _needed(packaged)}
    copy = {DECLARATION: _declaration(), **{name: _relative(name, text) for name, text in texts.items()}}
    for folder, every in data.items():
        copy |= {f"{folder}/{file.name}": file.read_text(encoding="utf-8") for file in every}
    return copy


def _needed(packaged: Mapping[str, object]) -> list[str]:
    """Return the files that define the model and those that they import, sorted by path."""
    needed: set[str] = set()
    modules = (state, config, variants, *MODULES, *CHECKED, *WAITS, *LEMMAS, proof_parts)
    todo = [_file_of(module.__name__) for module in modules]
    while todo:
        name = todo.pop()
        if name in needed:
            continue
        needed.add(name)
        folder = name.rpartition("/")[0]
        todo += [f"{folder}/{DECLARATION}"] if folder else []
        text = (files(ROOT) / name).read_text(encoding="utf-8")
        todo += [file for _, target in _IMPORT.findall(text) if (file := f"{target.replace('.', '/')}.py") in packaged]
    return sorted(needed)


def _file_of(module: str) -> str:
    return module.removeprefix(f"{ROOT}.").replace(".", "/") + ".py"


def _relative(name: str, text: str) -> str:
    """Return the text of a file with relative imports of the copied folders."""
    here = name.split("/")[:-1]

    def relative(match: re.Match[str]) -> str:
        target = match[2].split(".")
        shared = next((n for n, (a, b) in enumerate(zip(here, target, strict=False)) if a != b), len(here))
        return f"{match[1]}{'.' * (len(here) - shared + 1)}{'.'.join(target[shared:])}"

    return _MENTION.sub(r"\1", _IMPORT.sub(relative, text))


def _declaration() -> str:
    """Return the text of the file that declares the copy."""
    groups = {"PROTOCOL": MODULES, "PROPERTIES": CHECKED, "LIVENESS": WAITS, "LEMMAS": LEMMAS}
    return "\n".join(
        (
            f'"""The partition of a Kafka topic, copied from elrcheck {__version__} to be changed."""',
            "",
            "from pathlib import Path",
            "",
            f"from {ROOT}.lang.load import ProtocolModel",
            "",
            *_imports(module for modules in groups.values() for module in modules),
            "",
            *(line for name, modules in groups.items() for line in _listed(name, modules)),
            "MODEL = ProtocolModel(",
            "    State,",
            "    Config,",
            f"    modules=({', '.join(f'*{name}' for name in groups)}),",
            "    variants={variant.name: variant.knobs for variant in VARIANTS},",
            "    aliases={alias: variant.name for variant in VARIANTS for alias in variant.aliases},",
            '    scopes=Path(__file__).parent / "scopes",',
            '    suites=Path(__file__).parent / "suites",',
            "    induction=INDUCTION,",
            ")",
            "",
        )
    )


def _imports(modules: Iterable[ModuleType]) -> Iterator[str]:
    """Return lines that import the modules, folder by folder, and the classes of state and configuration."""
    by_folder: dict[str, list[str]] = {}
    for module in modules:
        folder, _, name = module.__name__.removeprefix(f"{ROOT}.").rpartition(".")
        by_folder.setdefault(folder, []).append(name)
    for folder in sorted(by_folder):
        yield from (f"from .{folder} import (", *(f"    {name}," for name in sorted(by_folder[folder])), ")")
    yield "from .invariants.proof_parts import INDUCTION"
    yield from ("from .model.config import Config", "from .model.state import State")
    yield "from .model.variants import VARIANTS"


def _listed(name: str, modules: Iterable[ModuleType]) -> Iterator[str]:
    yield from (f"{name} = (", *(f"    {module.__name__.rpartition('.')[2]}," for module in modules), ")")
