"""Digests of what an answer depends on, from which every key of the store is made."""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from elrcheck.base.package_files import files_of, rooms, root_files
from elrcheck.base.version import __version__

RULES = ("lang", "model", "invariants")
"""The model, its properties and the language they are written in."""
ENGINE = ("explorer/kernel", "explorer/search", "explorer/store", "checking/runs", "lang/lowering")
"""The code that turns a model into a search."""
WORDS = re.compile(rb'^[ \t]*(?:""".*?""")?[ \t]*(?:#[^\n]*)?\n', re.MULTILINE | re.DOTALL)
"""The lines of a file, as ruff formats it, that are blank, a comment or a docstring."""


@functools.cache
def sources(*places: str) -> str:
    """Return the digest of the source files below these places, each a room or a folder such as `explorer/kernel`."""
    digest = hashlib.sha256()
    for place in places:
        for name, file in files_of(place, (".py", ".ll")):
            digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def statements(*places: str, without: str | None = None) -> str:
    """Return the digest of the source files below these places without docstrings, comments and blank lines.

    without: a folder below one of them that does not count.
    It reads the text, not the syntax tree, because `assess` answers within a second.
    """
    digest = hashlib.sha256()
    for place in places:
        for name, file in files_of(place):
            if without is None or not name.startswith(f"{without}/"):
                digest.update(f"{name}\0".encode() + WORDS.sub(b"", file.read_bytes()) + b"\0")
    return digest.hexdigest()


@functools.cache
def rules() -> str:
    """Return the digest, without comments, of the code that decides a verdict with any engine."""
    digest = hashlib.sha256()
    for room in RULES:
        for name, file in files_of(room):
            tree = ast.dump(ast.parse(file.read_bytes()))
            digest.update(f"{name}\0{tree}\0".encode())
    return digest.hexdigest()


@functools.cache
def engine() -> str:
    """Return the digest of the compiled search and of the libraries that make its machine code and traces."""
    import llvmlite
    import numpy as np

    parts = (__version__, llvmlite.__version__, np.__version__, sources(*ENGINE))
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()


@functools.cache
def package() -> str:
    """Return the digest of every source and data file of the package, and of its version."""
    digest = hashlib.sha256(__version__.encode())
    every = [*root_files(), *(pair for room in rooms() for pair in files_of(room, (".py", ".toml", ".ll")))]
    for name, file in every:
        digest.update(f"{name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


def key(**parts: Any) -> str:
    """Return the text of a question, its named parts as sorted JSON; different questions have different texts."""
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)


def values(settings: Mapping[str, Any]) -> str:
    """Return the digest of the values of a configuration."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
