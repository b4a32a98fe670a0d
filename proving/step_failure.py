"""Reports of counterexamples to induction, which are replayed in plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from elrcheck.lang.induction import RunHistory
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.types import type_of
from elrcheck.proof.obligations import Discharge
from elrcheck.proof.transition import SymbolicStep
from elrcheck.results.prove_report import BrokenConjunct, CellReport, InductionFailure, ObligationReport
from elrcheck.results.trace_view import Argument, as_call
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.conditions import Conditions
from elrcheck.traces.describe import arguments, changes, leaves, talk
from elrcheck.traces.replay import ReplayError, replay
from elrcheck.traces.violation import explain


def step_report(
    model: Model, config: ModelConfig, instance: SymbolicStep, goal: Fn | None, answer: Discharge, name: str = ""
) -> CellReport:
    """Report the answer to an obligation of a step. name: of a goal that is no function."""
    if answer.args is not None:
        instance = replace(instance, args=answer.args)
    return CellReport(
        instance.action,
        name if goal is None else goal.ident or goal.name,
        answer.verdict,
        round(answer.seconds, 3),
        tuple(sorted(answer.core)),
        answer.reason,
        None if answer.before is None else step_failure(model, config, instance, goal, answer),
        None if goal is None else goal.place,
        answer.kept,
    )


def counterexample_lines(cell: CellReport) -> tuple[str, ...]:
    """Return a counterexample for the progress: what differs from the initial state, what the step does."""
    failure = cell.failure
    if failure is None:
        return ()
    before = ", ".join(f"{path} = {failure.before[path]}" for path in failure.differs)
    after = ", ".join(f"{change.path}: {change.old} -> {change.new}" for change in failure.changes)
    broken = f"  breaks {cell.lemma}" + (f" for {failure.conjunct}" if failure.conjunct else "")
    step = as_call(cell.action, failure.arguments)
    return (f"  before {before or 'the initial state'}", f"  step   {step}: {after}", broken)


def state_report(model: Model, config: ModelConfig, name: str, fn: Fn | None, answer: Discharge) -> ObligationReport:
    """Report the answer to an obligation about states, with the solver's state if it is refuted."""
    witness = None if answer.before is None else dict(leaves(answer.before, model.state_ty))
    return ObligationReport(
        name,
        answer.verdict,
        round(answer.seconds, 3),
        fn.ident or None if fn is not None else None,
        tuple(sorted(answer.core)),
        answer.reason,
        witness,
        None if fn is None else fn.place,
        differs=() if witness is None else differing(model, config, witness),
    )


def step_failure(
    model: Model, config: ModelConfig, instance: SymbolicStep, goal: Fn | None, answer: Discharge
) -> InductionFailure:
    """Report the solver's step that breaks the goal, or the types; ReplayError if plain Python disagrees."""
    label = Label(instance.action, instance.args)
    after = answer.after
    if answer.broken:
        # The solver's value cannot always be converted back if it is outside its type.
        after = PlainModel(model, config).step(answer.before, label)
    behaviour = Behaviour(TraceOrigin(), (answer.before, after), (label,))
    if replay(model, config, behaviour, anywhere=True).rejection is not None:
        raise ReplayError(f"the solver's step {label} is not the model's")
    history = _history(model, goal)
    seen = {} if history is None else dict(leaves(answer.seen, type_of(history.record), "seen"))
    failure = replayed_step(
        model, config, label, answer.before, after, _broken_part(model, config, goal, answer, after)
    )
    return structs.replace(
        failure,
        before={**failure.before, **seen},
        differs=(*failure.differs, *seen),
        broken=None if goal is None or history is not None else _conjunct(model, config, goal, answer.before, after),
    )


def replayed_step(
    model: Model, config: ModelConfig, label: Label, before: Any, after: Any, conjunct: str | None
) -> InductionFailure:
    """Return a step that plain Python has taken, as a report shows it. after: None for one that is not possible."""
    values = dict(leaves(before, model.state_ty))
    action = model.actions_by_name[label.action]
    with_arguments = arguments(action, label.args)
    return InductionFailure(
        before=values,
        arguments=with_arguments,
        changes=() if after is None else changes(before, after, model.state_ty),
        conjunct=conjunct,
        replayed=True,
        source=action.place,
        talk=talk(action, with_arguments),
        differs=differing(model, config, values),
    )


def _conjunct(model: Model, config: ModelConfig, goal: Fn, before: Any, after: Any) -> BrokenConjunct:
    """Return the smallest false part of a goal: below quantifiers, implications and junctions, above calls."""
    conditions = Conditions(model, config)
    clause = conditions.of_property(goal, (before, after) if goal.is_step else (after,))
    members = list(clause.witness)
    while not clause.looked and (part := next((one for one in clause.parts if not one.value), None)) is not None:
        clause = part
        members += clause.witness
    values = tuple(Argument(one.text, one.value) for one in clause.looked)
    return BrokenConjunct(clause.text, tuple(members), values)


def differing(model: Model, config: ModelConfig, state: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths at which a state, given by its leaves, differs from the first initial state."""
    initial = dict(leaves(PlainModel(model, config).initial(), model.state_ty))
    return tuple(path for path, value in state.items() if initial.get(path) != value)


def _history(model: Model, goal: Fn | None) -> RunHistory | None:
    """Return the history of the model if a goal is about it."""
    history = model.induction.history
    about = goal is not None and history is not None and any(ty.cls is history.record for _, ty in goal.params)
    return history if about else None


def _broken_part(model: Model, config: ModelConfig, goal: Fn | None, answer: Discharge, after: Any) -> str | None:
    if goal is None:
        return f"outside its type: {', '.join(answer.broken)}" if answer.broken else None
    states = (answer.before, after) if goal.is_step else (after,)
    history = _history(model, goal)
    if history is not None:
        if goal.source(config, after, history.after(config, answer.before, after, answer.seen)):
            raise ReplayError(f"{goal.name} holds after the solver's counterexample")
        return None
    if PlainModel(model, config).holds(goal, *states):
        raise ReplayError(f"{goal.name} holds after the solver's counterexample")
    broken = explain(model, config, goal, states)
    return ": ".join(part for part in (broken.conjunct, broken.witness) if part) or None
