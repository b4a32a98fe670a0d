"""Models whose sources this run or an earlier one has compiled completely.

Compiling all of the model's source takes longer than answering most questions about it, which need only a few of
its functions. So the first run compiles and checks everything, and leaves a mark in the cache folder under a digest
of the sources. Later runs compile only what they use. The mark stores nothing of the model, only that it had no
mistake.
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
    """What is known of the sources of a model. sound: they were compiled as a whole, so that a model may be lazy."""

    origin: str
    sound: bool
    marks: Store[str]

    def left_on(self, model: Model) -> Model:
        """Return the model of these sources with its origin; from now on they count as sound."""
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
    """Return the model of a user's file, compiled completely, with its origin: the values that the file computed."""
    return model.read_from(hashlib.sha256(f"{sources('lang')} {model_digest(model)}".encode()).hexdigest())
