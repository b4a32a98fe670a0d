"""`elrcheck explain`: why a property fails or holds in a state, or why an action is not enabled there.

For a lasso: why the goal of a liveness property is never reached in a fair cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import structs

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.declared.select import choose
from elrcheck.lang.fairness import fair_actions, fairness_of_step
from elrcheck.lang.guards import guards_of_state
from elrcheck.lang.ir import Fn, guard_names
from elrcheck.lang.load import instances
from elrcheck.lang.marks import Fair, Strength
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.results.trace_reports import Cycle, EndlessWait, Explained, ExplainReport, FairStep, Goal
from elrcheck.stored_traces.recorded import parse_action
from elrcheck.traces.conditions import Conditions
from elrcheck.traces.describe import arguments, changes, leaves, spelled
from elrcheck.traces.replay import Replayed, ReplayError
from elrcheck.traces.truth import first_hit
from elrcheck.traces.violation import explain


@dataclass(frozen=True)
class ExplainQuestion:
    """Properties by id, name or glob (empty: those that fail), or an action.

    at: index of the state; None for the first state in which one of the properties fails, else the last state.
    """

    properties: tuple[str, ...] = ()
    action: str | None = None
    at: int | None = None


def run_explain(subject: Replayed, question: ExplainQuestion) -> ExplainReport:
    """Return the explanation; raise UsageFault for names and states that do not exist."""
    last = len(subject.states) - 1
    if question.at is not None and not 0 <= question.at <= last:
        raise UsageFault("no-state", f"there is no state {question.at}; the last one is {last}", where="--at")
    if question.action is not None and question.properties:
        raise UsageFault("usage-explain", "--property and --action exclude each other: give only one")
    if question.action is not None:
        at = last if question.at is None else question.at
        return _report(subject, at, _action(subject, question.action, at))
    reject_liveness_of_finite(subject, question.properties)
    chosen = _chosen(subject, question)
    waiting = tuple(fn for fn in chosen if fn.kind == "leads_to")
    if waiting:
        if len(waiting) < len(chosen):
            raise UsageFault(
                "usage-explain",
                "V-* are properties of a whole behaviour, the others of a state or step",
                help="explain them in separate commands",
            )
        return _behaviour(subject, waiting, question.at)
    at = _place(subject, chosen, question.at)
    return _report(subject, at, tuple(_property(subject, fn, at) for fn in chosen))


def _report(subject: Replayed, at: int, explained: tuple[Explained, ...]) -> ExplainReport:
    state, actions = subject.states[at], subject.model.actions_by_name
    about_action = explained[0].id == ""
    verdict: Literal["holds", "violated", "enabled", "refused"]
    if about_action:
        verdict = "enabled" if any(one.value for one in explained) else "refused"
    else:
        verdict = "holds" if all(one.value for one in explained) else "violated"
    led = subject.labels[at - 1] if at else None
    return ExplainReport(
        verdict=verdict,
        origin=subject.origin,
        at=at,
        steps=len(subject.labels),
        led=None if led is None else spelled(actions[led.action], led.args),
        explained=explained,
        state=dict(leaves(state, subject.model.state_ty)),
    )


# ---------------------------------------------------------------------------- liveness


def _behaviour(subject: Replayed, chosen: Sequence[Fn], at: int | None) -> ExplainReport:
    """Return the explanation of liveness properties; an unfair cycle violates none."""
    assert subject.loop is not None
    cycle = cycle_of(subject)
    explained = tuple(one for fn in chosen for one in explain_waits(subject, fn, at))
    report = _report(subject, subject.loop if at is None else at, explained)
    verdict: Literal["holds", "violated"]
    verdict = "violated" if report.verdict == "violated" and cycle.fair else "holds"
    return structs.replace(report, verdict=verdict, cycle=cycle)


# ---------------------------------------------------------------------------- properties


def _chosen(subject: Replayed, question: ExplainQuestion) -> tuple[Fn, ...]:
    model = subject.model
    every = model.properties
    names = question.properties
    if not names and subject.origin.property:
        names = (subject.origin.property,)
    if names:
        return choose(every, names, "property")
    failing = tuple(fn for fn in model.always if first_hit(subject.plain, fn, subject.states) is not None)
    if not failing:
        raise NothingChecked(
            "no-property", "the trace names no property and violates none", help="choose one with --property"
        )
    return failing


def _place(subject: Replayed, chosen: Sequence[Fn], at: int | None) -> int:
    """Return the requested state, by default the first one that any of the properties hits, else the last."""
    steps = [fn for fn in chosen if fn.is_step]
    if at == 0 and steps:
        why = f"{steps[0].ident} is a property of steps, and no step leads to state 0"
        raise UsageFault("no-state", why, where="--at")
    if at is not None:
        return at
    hits = [first_hit(subject.plain, fn, subject.states) for fn in chosen]
    first = min((hit for hit in hits if hit is not None), default=len(subject.states) - 1)
    if not first and steps:
        raise UsageFault("no-state", f"{steps[0].ident} is a property of steps, and this trace has none")
    return first


def _property(subject: Replayed, fn: Fn, at: int) -> Explained:
    states = subject.states[at - 1 : at + 1] if fn.is_step else (subject.states[at],)
    config = subject.config
    clause = Conditions(subject.model, config).of_property(fn, states)
    if clause.value != subject.plain.holds(fn, *states):
        raise ReplayError(f"{fn.ident} is {clause.value} in the IR and not in plain Python")
    parts = clause.parts if any(part.name for part in clause.parts) else (clause,)
    statement = fn.doc.strip().partition("\n")[0]
    witness = None
    if fn.kind == "always" and not clause.value:
        before = subject.states[at - 1] if at else None
        witness = explain(subject.model, config, fn, states, before).witness
    return Explained(fn.ident, fn.name, clause.value, parts, statement=statement, source=fn.place, witness=witness)


# ---------------------------------------------------------------------------- actions


def _action(subject: Replayed, text: str, at: int) -> tuple[Explained, ...]:
    """Return every choice of the arguments, or the one in the text."""
    label = parse_action(text, subject.model, subject.config)
    fn = subject.model.actions_by_name[label if isinstance(label, str) else label.action]
    choices = list(instances(fn, subject.config))
    if not isinstance(label, str):
        if label.args not in choices:
            raise UsageFault("bad-action", f"{fn.name} cannot take these arguments here", where=text)
        choices = [label.args]
    return tuple(_choice(subject, fn, args, at) for args in choices)


def _choice(subject: Replayed, fn: Fn, args: Sequence[object], at: int) -> Explained:
    state, config = subject.states[at], subject.config
    refusals = Conditions(subject.model, config).of_action(fn, state, args)
    successor, refusal = None, None
    try:
        successor = fn.source(config, state, *args)
    except NotEnabled as fault:
        refusal = fault.guard
    if refusal != refusals.refused:
        raise ReplayError(f"{fn.name} is refused by {refusals.refused} in the IR, by {refusal} in plain Python")
    changed = () if successor is None else changes(state, successor, subject.model.state_ty)
    statement = fn.doc.strip().partition("\n")[0]
    return Explained(
        id="",
        name=fn.name,
        value=refusal is None,
        clauses=refusals.evaluated,
        arguments=arguments(fn, args),
        guard=refusal,
        later=refusals.later,
        statement=statement,
        source=fn.place,
        changes=changed,
        beyond=successor is not None and not subject.plain.within(successor),
    )


REFUSED = "refused by: "


def explain_waits(subject: Replayed, fn: Fn, at: int | None) -> tuple[Explained, ...]:
    """Return each choice of the property's parameters that waits for ever, or one explanation that none does.

    at: the only state of the cycle to explain.
    """
    assert subject.loop is not None
    first = subject.loop
    numbers = [at] if at is not None else list(range(first, _last(subject) + 1))
    if at is not None and not first <= at <= _last(subject):
        why = f"state {at} is not in the cycle, which consists of states {first} to {_last(subject)}"
        raise UsageFault("no-state", why, where="--at")
    conditions = Conditions(subject.model, subject.config)
    waits = []
    for args in instances(fn, subject.config):
        since = _since(subject.plain, fn, args, subject.states)
        if since is None:
            continue
        premise, _ = conditions.of_wait(fn, subject.states[since], args)
        goals = tuple(Goal(n, conditions.of_wait(fn, subject.states[n], args)[1]) for n in numbers)
        if not premise.value or any(goal.clause.value for goal in goals):
            raise ReplayError(f"{fn.ident} waits in plain Python and not in the IR")
        waits.append(_explained(fn, args, EndlessWait(since, premise, goals)))
    return tuple(waits) or (_explained(fn, (), None),)


def reject_liveness_of_finite(subject: Replayed, words: Sequence[str]) -> None:
    """Raise UsageFault if a liveness property is named for a finite trace."""
    named = [word for word in words if word.upper().startswith("V-")]
    if named and subject.loop is None:
        raise UsageFault(
            "explain-liveness",
            f"{named[0]} is a property of infinite behaviours, and this trace is finite",
            where=subject.origin.source,
            help="`elrcheck check --liveness` stores lassos",
        )


def cycle_of(subject: Replayed) -> Cycle:
    """Return the cycle, and how it satisfies the fairness of every step that the configuration does not exclude."""
    assert subject.loop is not None
    first, last = subject.loop, _last(subject)
    stops = subject.loop == len(subject.labels)
    plain, taken = subject.plain, dict(enumerate(subject.labels[first:], start=first + 1))
    states = {number: subject.states[number] for number in range(first, last + 1)}
    owed = (_owed(plain, label, entry, states, taken) for label, entry in _fair(plain))
    constant = {
        fn.name: {REFUSED + guard for guard in guard_names(fn) if guard not in guards_of_state(fn)}
        for fn in plain.model.actions
    }
    steps = tuple(step for step in owed if not (step.never and step.why in constant[step.action]))
    return Cycle(first, last, stops, steps)


def _last(subject: Replayed) -> int:
    """Return the last state of the cycle; if it has steps, the state after it is its first again."""
    assert subject.loop is not None
    return max(subject.loop, len(subject.labels) - 1)


def _since(plain: PlainModel, fn: Fn, args: tuple[Any, ...], states: Sequence[Any]) -> int | None:
    """Return the first state of a wait that never ends; None if every wait ends."""
    since = None
    for number, state in enumerate(states):
        if plain.says(fn, state, args, "conclusion"):
            since = None
        elif since is None and plain.says(fn, state, args, "premise"):
            since = number
    return since


def _explained(fn: Fn, args: Sequence[Any], wait: EndlessWait | None) -> Explained:
    named = arguments(fn, args) if args else ()
    return Explained(
        id=fn.ident,
        name=fn.name,
        value=wait is None,
        clauses=(),
        arguments=named,
        statement=fn.doc.strip().partition("\n")[0],
        source=fn.place,
        witness=", ".join(f"{a.name}={a.value}" for a in named) or None,
        wait=wait,
    )


# ---------------------------------------------------------------------------- fairness


def _fair(plain: PlainModel) -> Iterator[tuple[Label, Fair]]:
    """Yield every step with a fairness assumption."""
    fns = plain.model.actions_by_name
    fair = fair_actions(plain.model.actions)
    for label, _ in plain.steps:
        entry = fairness_of_step(label, fns, fair)
        if entry is not None:
            yield label, entry


def _owed(plain: PlainModel, label: Label, entry: Fair, states: dict[int, Any], taken: dict[int, Label]) -> FairStep:
    fn = plain.model.actions_by_name[label.action]
    refusals = {number: _refusal(plain, label, entry, state) for number, state in states.items()}
    idle = next((number for number, why in refusals.items() if why is not None), None)
    mine = [number for number, other in taken.items() if other == label]
    again = (number for number in mine if entry.stops and not _is_fair(plain, label, entry, states[number - 1]))
    return FairStep(
        label.action,
        arguments(fn, label.args),
        entry.strength is Strength.STRONG,
        taken=next((number for number in mine if refusals[number - 1] is None), None),
        idle=idle,
        why=None if idle is None else refusals[idle],
        never=all(why is not None for why in refusals.values()),
        again=next(again, None),
    )


def _is_fair(plain: PlainModel, label: Label, entry: Fair, state: Any) -> bool:
    """Return whether the condition of the fairness of a step holds in a state."""
    return entry.when is None or plain.says(plain.model.fns[entry.when.__name__], state, label.args)


def _refusal(plain: PlainModel, label: Label, entry: Fair, state: Any) -> str | None:
    """Return why fairness does not require a step in a state; None if it does."""
    if entry.when is not None and not _is_fair(plain, label, entry, state):
        return f"it is fair only while {entry.when.__name__}"
    try:
        after = plain.step(state, label)
    except NotEnabled as refusal:
        return REFUSED + refusal.guard
    if after == state:
        return "it changes nothing"
    return None if plain.within(after) else "it leaves the budgets"
