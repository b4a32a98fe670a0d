"""The model as one object: its modules, loaded and compiled once for each caller."""

from __future__ import annotations

from types import ModuleType

from elrcheck.lang.load import Model, load
from elrcheck.model import controller, lifecycle, partition, replica, state
from elrcheck.model.config import Config

MODULES: tuple[ModuleType, ...] = (state, partition, controller, replica, lifecycle)


def load_model(*extra: ModuleType) -> Model:
    """The protocol, with modules of properties or lemmas added by the caller."""
    return load(state.State, Config, [*MODULES, *extra])
