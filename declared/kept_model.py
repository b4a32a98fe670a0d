"""Models whose sources have been compiled as a whole before, by this run or an earlier one.

To compile all of the model's source takes longer than to answer most questions about it, and few of them
need more than a few functions of it. So the first run compiles everything, makes all demands on it, and
leaves a mark in the cache folder under a digest of the sources. Later runs compile what they use. Nothing of
a model is stored: what is kept is that it had no mistake.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable
from types import ModuleType

from elrcheck.base.kept.named_digests import RULES, sources
from elrcheck.base.kept.store import Store
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.model_digest import model_digest

SOUND = "sound"


def kept_model(modules: Iterable[ModuleType], load: Callable[[bool], Model]) -> Model:
    """The model of these modules; `load` is asked for it with whether it may be compiled as it is used."""
    names = " ".join(module.__name__ for module in modules)
    origin = hashlib.sha256(f"{sys.version} {sources(*RULES)} {names}".encode()).hexdigest()
    marks = Store("models", str)
    entry = marks.get(origin)
    sound = entry is not None and entry.value == SOUND
    model = load(sound)
    if not sound:
        marks.put(origin, SOUND)
    return model.read_from(origin)


def with_origin(model: Model) -> Model:
    """This model of a user's file, compiled as a whole, with its origin: what the file computed when it ran."""
    return model.read_from(hashlib.sha256(f"{sources('lang')} {model_digest(model)}".encode()).hexdigest())
