"""Models whose sources have been compiled as a whole before, by this run or an earlier one.

To compile all of the model's source takes longer than to answer most questions about it, and few of them
need more than a few functions of it. So the first run compiles everything, makes all demands on it, and
leaves a mark in the cache folder under a digest of the sources. Later runs compile what they use. Nothing of
a model is stored: what is kept is that it had no mistake.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterable
from types import ModuleType

from elrcheck.base.caches import KeptFiles, cache_directory
from elrcheck.base.package_files import files_of
from elrcheck.lang.load import Model

MAGIC = b"elrcheck model\n"
ROOMS = ("invariants", "lang", "model")
"""Everything that decides what the compiled model is."""


def kept_model(modules: Iterable[ModuleType], load: Callable[[bool], Model]) -> Model:
    """The model of these modules; `load` is asked for it with whether it may be compiled as it is used."""
    names = " ".join(module.__name__ for module in modules)
    origin = hashlib.sha256(f"{sources()} {names}".encode()).hexdigest()
    marks = KeptFiles(cache_directory(os.environ) / "models", MAGIC, ".sound")
    sound = marks.load(origin) is not None
    model = load(sound)
    if not sound:
        marks.store(origin, b"")
    return model.read_from(origin)


@functools.cache
def sources() -> str:
    """A digest of the source of the model, its properties and its language, and of what reads them."""
    digest = hashlib.sha256(f"{sys.version}".encode())
    for room in ROOMS:
        for name, file in files_of(room):
            digest.update(f"{name}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
