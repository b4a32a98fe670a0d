"""The model as one object: its modules, loaded and compiled once for each caller."""

from __future__ import annotations

from types import ModuleType

from elrcheck.lang.load import Model, load
from elrcheck.model import (
    broker_events,
    controller,
    elections,
    isr_proposals,
    lifecycle,
    metadata,
    operator_settings,
    partition,
    reassignment,
    recovery,
    replica,
    start,
    state,
)
from elrcheck.model.config import Config

MODULES: tuple[ModuleType, ...] = (
    state,
    start,
    partition,
    controller,
    broker_events,
    metadata,
    replica,
    isr_proposals,
    lifecycle,
    elections,
    reassignment,
    operator_settings,
    recovery,
)


def load_model(*extra: ModuleType) -> Model:
    """The protocol, with modules of properties or lemmas added by the caller."""
    return load(state.State, Config, [*MODULES, *extra])
