"""The compiled model of an earlier run, kept in the cache folder.

Compiling the model's source takes longer than answering most questions about it. What is kept is the IR, with
its functions by name; it is used only while every file that it was compiled from, and the compiler itself,
are what they were. The folder has machine code too, so it is trusted as that is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable
from importlib.resources import files
from types import ModuleType

from elrcheck.base.atomic import write_bytes
from elrcheck.base.caches import cache_directory
from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.package_files import ROOT, files_of
from elrcheck.lang.load import Model

MAGIC = b"elrcheck model 1\n"
ROOMS = ("invariants", "lang", "model")
"""Everything that decides what the IR is."""


def kept_model(modules: Iterable[ModuleType], load: Callable[[], Model]) -> Model:
    """The model of these modules: what an earlier run has kept, else what `load` makes."""
    names = " ".join(module.__name__ for module in modules)
    place = hashlib.sha256(f"{files(ROOT)} {names}".encode()).hexdigest()[:16]
    file = cache_directory(os.environ) / "models" / f"{place}.model"
    head = MAGIC + _digest().digest()
    with contextlib.suppress(Exception):  # whatever a damaged file does: it is compiled again
        data = file.read_bytes()
        body = data[len(head) + 32 :]
        if data[: len(head) + 32] == head + hashlib.sha256(body).digest():
            kept = pickle.loads(body)
            if isinstance(kept, Model):
                return kept
    model = load()
    with contextlib.suppress(EnvironmentFault, pickle.PicklingError, RecursionError):
        body = pickle.dumps(model, pickle.HIGHEST_PROTOCOL)
        write_bytes(file, head + hashlib.sha256(body).digest() + body)
    return model


def _digest() -> hashlib._Hash:
    """Over the source of the model, its properties and its language, and what reads them."""
    digest = hashlib.sha256(f"{sys.version}".encode())
    for room in ROOMS:
        for name, file in files_of(room):
            digest.update(f"{name}\0".encode())
            digest.update(file.read_bytes())
    return digest
