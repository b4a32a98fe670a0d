"""The modules of the checked model, of the model with liveness, and of the model of the proof."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from elrcheck.invariants import (
    acknowledgements,
    controller_events,
    controller_legal,
    controller_rules,
    epochs,
    liveness,
    membership,
    operations,
    outcomes,
    properties,
    witnesses,
)
from elrcheck.invariants.lemmas import (
    lemmas_changes,
    lemmas_logs,
    lemmas_losses,
    lemmas_metadata,
    lemmas_quorums,
    lemmas_recovery,
    lemmas_responses,
    lemmas_unread,
    lemmas_views,
)
from elrcheck.invariants.proof_parts import INDUCTION
from elrcheck.invariants.reductions import representatives
from elrcheck.invariants.stages import process_waits, replication_waits
from elrcheck.lang.induction import Induction
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, demand_listed, in_order
from elrcheck.lang.runtime import Role
from elrcheck.model import timeouts
from elrcheck.model.protocol import load_model

CHECKED = (properties, membership, epochs, acknowledgements, operations, witnesses)
LIVENESS = (liveness, timeouts)
LEMMAS = (
    lemmas_views,
    lemmas_logs,
    lemmas_quorums,
    lemmas_changes,
    lemmas_recovery,
    lemmas_losses,
    lemmas_responses,
    lemmas_metadata,
    lemmas_unread,
    representatives,
)
"""What only proofs read: lemmas, and the representatives of states."""
WAITS = (*LIVENESS, process_waits, replication_waits)
OUTCOMES = (outcomes,)
CONTROLLER = (controller_events, controller_legal, controller_rules)
NONE = Induction()
KINDS = ("always", "sometimes", "leads_to", "lemma", "rule")


def load_checked_model() -> Model:
    """Load the protocol with its safety properties and witnesses."""
    return _load(*CHECKED)


def load_whole_model() -> Model:
    """Load the protocol with all its properties, including liveness."""
    return _load(*CHECKED, *LIVENESS)


def load_proof_model() -> Model:
    """Load the protocol with its properties and the lemmas that prove them."""
    return _load(*CHECKED, *LEMMAS, induction=INDUCTION)


def load_wait_model() -> Model:
    """Load the model of the proof with its liveness properties and the stages of their waits."""
    return _load(*CHECKED, *LEMMAS, *WAITS, induction=INDUCTION)


@functools.cache
def _load(*modules: ModuleType, induction: Induction = NONE) -> Model:
    """The model with these modules, which nothing changes: a changed one is a copy."""

    from elrcheck.declared.model_file import mark_of  # completion needs only the names of modules

    mark = mark_of(modules)
    if not mark.sound:
        from elrcheck.invariants import partitions  # of another model, which nothing else here needs

        every = (*CHECKED, *LIVENESS, *LEMMAS, *OUTCOMES, *CONTROLLER, *partitions.MODULES)
        demand_listed(Path(__file__).parent, KINDS, every, "invariants/modules.py")
    return mark.left_on(replace(in_order(load_model(*modules, lazily=mark.sound)), induction=induction))


def load_outcome_model() -> Model:
    """Load the protocol with the questions of `elrcheck risk`."""
    return _load(*OUTCOMES)


def load_controller_model() -> Model:
    """Load the protocol with the events and rules of single controller steps."""
    from elrcheck.declared.model_file import mark_of  # completion needs only the names of modules

    mark = mark_of(CONTROLLER)
    return mark.left_on(load_model(*CONTROLLER, lazily=mark.sound))


def rules_of(model: Model) -> tuple[Fn, ...]:
    """Return the rules of `load_controller_model`, in the order of their ids."""
    roles = {name: getattr(value, "__elr_role__", None) for name, value in vars(controller_rules).items()}
    names = [name for name, role in roles.items() if isinstance(role, Role) and role.kind == "rule"]
    return tuple(sorted((model.fns[name] for name in names), key=lambda fn: fn.line))
