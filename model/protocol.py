"""The model as one object: its modules, loaded and compiled once for each caller."""

from __future__ import annotations

from types import ModuleType

from elrcheck.lang.load import Model, load
from elrcheck.model import (
    absent,
    acknowledgement,
    broker_events,
    controller,
    elections,
    high_watermark,
    isr_proposals,
    late_fetch,
    lifecycle,
    logs,
    metadata,
    operator_settings,
    partition,
    reassignment,
    recovery,
    replica,
    shadow_isr,
    start,
    state,
)
from elrcheck.model.config import Config

MODULES: tuple[ModuleType, ...] = (
    state,
    absent,
    start,
    partition,
    controller,
    broker_events,
    metadata,
    logs,
    high_watermark,
    acknowledgement,
    replica,
    late_fetch,
    isr_proposals,
    lifecycle,
    elections,
    reassignment,
    operator_settings,
    recovery,
    shadow_isr,
)


def load_model(*extra: ModuleType) -> Model:
    """The protocol, with modules of properties or lemmas added by the caller."""
    return load(state.State, Config, [*MODULES, *extra])
