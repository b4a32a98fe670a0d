"""Marks for model sources that have been compiled completely, without a mistake.

Most questions about a model need only a few of its functions, and compiling all of them takes longer than the answer.
So the first run compiles and checks everything and leaves a mark in the store, under a digest of the sources; later
runs compile only what they use.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType

from elrcheck.base.kept.named_digests import RULES, sources
from elrcheck.base.kept.store import Store
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.model_digest import model_digest

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
