"""Counterexamples to induction, replayed in plain Python, as reports show them."""

from __future__ import annotations

from typing import Any

from elrcheck.invariants.lemmas_losses import seen_after
from elrcheck.invariants.modules import SEEN
from elrcheck.invariants.proof.obligations import Discharge
from elrcheck.invariants.proof.transition import SymbolicStep
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.results.prove_report import InductionFailure
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.describe import arguments, changes, leaves, talk
from elrcheck.traces.replay import ReplayError, replay
from elrcheck.traces.violation import explain


def step_failure(
    model: Model, config: ModelConfig, instance: SymbolicStep, goal: Fn | None, answer: Discharge
) -> InductionFailure:
    """Report the solver's step that breaks the goal, or the types; ReplayError if plain Python says otherwise."""
    label = Label(instance.action, instance.args)
    after = answer.after
    if answer.broken:
        # A value outside its type may not survive the way back from the solver.
        after = PlainModel(model, config).step(answer.before, label)
    behaviour = Behaviour(TraceOrigin(), (answer.before, after), (label,))
    if replay(model, config, behaviour, anywhere=True).rejection is not None:
        raise ReplayError(f"the solver's step {label} is not the model's")
    ty = model.state_ty
    action = next(a for a in model.actions if a.name == instance.action)
    with_arguments = arguments(action, instance.args)
    return InductionFailure(
        before=dict(leaves(answer.before, ty)) | _history(goal, answer),
        arguments=with_arguments,
        changes=changes(answer.before, after, ty),
        conjunct=_broken_part(model, config, goal, answer, after),
        replayed=True,
        source=action.place,
        talk=talk(action, with_arguments),
    )


def _about_history(goal: Fn | None) -> bool:
    return goal is not None and any(name == SEEN for name, _ in goal.params)


def _history(goal: Fn | None, answer: Discharge) -> dict[str, str]:
    return (
        {}
        if goal is None
        else {path: value for name, ty in goal.params if name == SEEN for path, value in leaves(answer.seen, ty, SEEN)}
    )


def _broken_part(model: Model, config: ModelConfig, goal: Fn | None, answer: Discharge, after: Any) -> str | None:
    if goal is None:
        return f"outside its type: {', '.join(answer.broken)}" if answer.broken else None
    states = (answer.before, after) if goal.is_step else (after,)
    if _about_history(goal):
        plain_config: Any = config
        history = model.fns[seen_after.__name__].source(plain_config, answer.before, after, answer.seen)
        if goal.source(plain_config, after, history):
            raise ReplayError(f"{goal.name} holds after the solver's counterexample")
        return None
    if PlainModel(model, config).holds(goal, *states):
        raise ReplayError(f"{goal.name} holds after the solver's counterexample")
    broken = explain(model, config, goal, states)
    return ": ".join(part for part in (broken.conjunct, broken.witness) if part) or None
