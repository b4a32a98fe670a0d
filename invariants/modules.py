"""The modules of the checked model, of the model with liveness, and of the model of the proof."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from elrcheck.invariants import (
    acknowledgements,
    controller_events,
    controller_legal,
    controller_rules,
    epochs,
    lemmas_changes,
    lemmas_logs,
    lemmas_losses,
    lemmas_quorums,
    lemmas_recovery,
    lemmas_views,
    liveness,
    membership,
    operations,
    outcomes,
    properties,
    witnesses,
)
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, demand_listed, in_order
from elrcheck.lang.runtime import ModelConfig, Role
from elrcheck.lang.types import Ty
from elrcheck.model import timeouts
from elrcheck.model.protocol import load_model

CHECKED = (properties, membership, epochs, acknowledgements, operations, witnesses)
LIVENESS = (liveness, timeouts)
LEMMAS = (lemmas_views, lemmas_logs, lemmas_quorums, lemmas_changes, lemmas_recovery, lemmas_losses)
OUTCOMES = (outcomes,)
CONTROLLER = (controller_events, controller_legal, controller_rules)
SEEN = "seen"
"""The parameter of a function that is the history."""
KINDS = ("always", "sometimes", "leads_to", "lemma", "rule")


def load_checked_model() -> Model:
    """Load the protocol with its safety properties and witnesses."""
    return _load(*CHECKED)


def load_whole_model() -> Model:
    """Load the protocol with all its properties, including liveness."""
    return _load(*CHECKED, *LIVENESS)


def load_proof_model() -> Model:
    """Load the protocol with its properties and the lemmas that prove them."""
    return _load(*CHECKED, *LEMMAS)


@functools.cache
def _load(*modules: ModuleType) -> Model:
    """The model with these modules, which nothing changes: a changed one is a copy."""

    def load(sound: bool) -> Model:
        if not sound:
            every = (*CHECKED, *LIVENESS, *LEMMAS, *OUTCOMES, *CONTROLLER)
            demand_listed(Path(__file__).parent, KINDS, every, "invariants/modules.py")
        return in_order(load_model(*modules, lazily=sound))

    from elrcheck.invariants.kept_model import kept_model  # completion needs only the names of modules

    return kept_model(modules, load)


def load_outcome_model() -> Model:
    """Load the protocol with the questions of `elrcheck risk`."""
    return _load(*OUTCOMES)


def lemmas_of(model: Model) -> tuple[Fn, ...]:
    """Return the lemmas of `load_proof_model`: those about a state, then those about the history as well.

    Of another model, its lemmas and its properties of states, which are proved together.
    """
    if not is_partition(model):
        return (*model.lemmas, *(fn for fn in model.always if not fn.is_step))
    return (*model.lemmas, *_own(model, lemmas_losses.LEMMAS))


def is_partition(model: Model) -> bool:
    """Return whether a model is that of `load_proof_model`, or a copy of it, with its history."""
    return lemmas_losses.seen_after.__name__ in model.fns


def history_type(model: Model) -> Ty | None:
    """Return the type of the history that lemmas of `load_proof_model`, or of a copy, speak of."""
    if not is_partition(model):
        return None
    return dict(model.fns[lemmas_losses.seen_after.__name__].params)[SEEN]


def _own(model: Model, functions: Iterable[Callable[..., Any]]) -> Iterator[Fn]:
    """The functions of a model with these names; a copy may have lost some."""
    yield from (model.fns[function.__name__] for function in functions if function.__name__ in model.fns)


def condition_of(model: Model, fn: Fn, config: ModelConfig) -> Fn | None:
    """Return what a property of `load_proof_model` needs to hold there, if that is more than the rules."""
    if not is_partition(model):
        return None
    conditions = dict(lemmas_losses.CONDITIONS)
    if getattr(config, "reassignments", 0) > 0:
        conditions |= lemmas_losses.WITH_REASSIGNMENTS
    condition = conditions.get(fn.ident)
    return None if condition is None else next(_own(model, (condition,)), None)


def assumptions_of(model: Model, names: Iterable[str]) -> Iterator[Fn]:
    """The assumptions of `load_proof_model` on steps that these names of `prove --assume` mean."""
    yield from (model.fns[lemmas_recovery.ASSUMPTIONS[name].__name__] for name in names)


def must_be_possible(model: Model, assumptions: Iterable[Fn]) -> Iterator[tuple[Fn, Fn | None]]:
    """Steps and states that no proof may exclude, and the assumption that has to allow each, if any."""
    allowed = {fn.__name__: steps for fn, steps in lemmas_changes.ALLOWED.items()}
    allowed |= {fn.__name__: steps for fn, steps in lemmas_recovery.ALLOWED.items()}
    for assumption in assumptions:
        yield from ((step, assumption) for step in _own(model, allowed[assumption.name]))
    yield from ((fn, None) for fn in _own(model, lemmas_losses.POSSIBLE))


def load_controller_model() -> Model:
    """Load the protocol with the events and rules of single controller steps."""
    from elrcheck.invariants.kept_model import kept_model  # completion needs only the names of modules

    return kept_model(CONTROLLER, lambda sound: load_model(*CONTROLLER, lazily=sound))


def rules_of(model: Model) -> tuple[Fn, ...]:
    """Return the rules of `load_controller_model`, in the order of their ids."""
    roles = {name: getattr(value, "__elr_role__", None) for name, value in vars(controller_rules).items()}
    names = [name for name, role in roles.items() if isinstance(role, Role) and role.kind == "rule"]
    return tuple(sorted((model.fns[name] for name in names), key=lambda fn: fn.line))
