"""`elrcheck explain` for a lasso: why the goal of a liveness property is never reached in a fair cycle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.declared.declared_model import declared
from elrcheck.lang.fairness import fair_actions, fairness_of_step
from elrcheck.lang.guards import guards_of_state
from elrcheck.lang.ir import Fn, guard_names
from elrcheck.lang.load import instances
from elrcheck.lang.marks import Fair, Strength
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.results.trace_reports import Cycle, EndlessWait, Explained, FairStep, Goal
from elrcheck.traces.conditions import Conditions
from elrcheck.traces.describe import arguments
from elrcheck.traces.replay import Replayed, ReplayError

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


def with_liveness(subject: Replayed, words: Sequence[str]) -> Replayed:
    """Return the subject, a lasso with the liveness properties; raise UsageFault if a finite trace has any named."""
    named = [word for word in words if word.upper().startswith("V-")]
    if subject.loop is not None:
        return subject if subject.model.leads_to else replace(subject, model=declared(None).whole())
    if named:
        raise UsageFault(
            "explain-liveness",
            f"{named[0]} is a property of infinite behaviours, and this trace is finite",
            where=subject.origin.source,
            help="`elrcheck check --liveness` stores lassos",
        )
    return subject


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
