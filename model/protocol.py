"""The model as one object: its modules, loaded and compiled once for each caller."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from types import ModuleType

from elrcheck.lang.ir import fn_nodes
from elrcheck.lang.load import Model, demand_documents, demand_listed, load
from elrcheck.lang.source import error_in_field
from elrcheck.model import absent, change_record, elr, min_isr, replication_control, start, state
from elrcheck.model.alternatives import shadow_isr
from elrcheck.model.broker import (
    acknowledgement,
    before_registration,
    epoch_cache,
    ghosts,
    high_watermark,
    isr_proposals,
    late_fetch,
    lifecycle,
    log_directories,
    logs,
    metadata,
    replica,
    shadow_isr_sync,
)
from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config
from elrcheck.model.control_plane import (
    broker_events,
    commit,
    controller,
    decide,
    directories,
    directory_events,
    election_events,
    elections,
    operator_events,
    operator_settings,
    partition,
    reassignment,
    reassignment_events,
    recovery,
    recovery_events,
)

MODULES: tuple[ModuleType, ...] = (
    state,
    min_isr,
    absent,
    start,
    replication_control,
    change_record,
    elr,
    partition,
    commit,
    controller,
    decide,
    broker_events,
    metadata,
    epoch_cache,
    logs,
    high_watermark,
    acknowledgement,
    ghosts,
    replica,
    late_fetch,
    isr_proposals,
    lifecycle,
    before_registration,
    log_directories,
    elections,
    election_events,
    reassignment,
    reassignment_events,
    operator_settings,
    operator_events,
    directories,
    directory_events,
    recovery,
    recovery_events,
    shadow_isr,
    shadow_isr_sync,
)


def load_model(*extra: ModuleType, lazily: bool = False) -> Model:
    """The protocol, with modules of properties or lemmas added by the caller.

    lazily: the sources have been loaded before and were in order, so functions are compiled as they are used.
    """
    if lazily:
        return load(state.State, Config, [*MODULES, *extra], lazily)
    from elrcheck.model import partitions  # the other model below this folder, which nothing else here needs

    listed = (*MODULES, *partitions.MODULES)
    demand_listed(Path(__file__).parent, ("action", "init", "bound"), listed, "MODULES of model/protocol.py")
    model = load(state.State, Config, [*MODULES, *extra])
    demand_documents(model)
    demand_counted(model)
    return model


def demand_counted(model: Model) -> None:
    """Raise an error unless some rule counts each budget: a budget without a counter bounds nothing."""
    from elrcheck.lang.expr import Update

    nodes = (node for fn in model.fns.values() for node in fn_nodes(fn))
    updates = (node for node in nodes if isinstance(node, Update) and node.ty.cls is Spent)
    counted = {name for update in updates for name in update.names}
    for part in fields(Spent):
        if part.name not in counted:
            help = f"its action has spent=replace(s.spent, {part.name}=s.spent.{part.name} + 1)"
            raise error_in_field(Spent, part.name, "no action counts this budget", help)
