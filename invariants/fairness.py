"""Which steps finally happen: the assumption under which the liveness properties are meant to hold.

Weak fairness of a step: it is not possible for ever without being taken. Strong fairness: it is not
possible again and again without being taken. Either is assumed for every choice of parameters apart,
so that one broker's fetches do not stand in for another's. A step that changes nothing is no step.

Everything else may never happen: crashes, fencings of live brokers, orderly stops, lost answers, ISR
shrinks, what producers write and what operators ask for. Each action says which it is, and why:
`@action(fairness=Fair(..))` or `Unfair(..)`. A test asks for it.

Source: the list in the semantics notes, docs/semantics.md, from Vanlightly's KIP-966 specification;
what is added to it says so.
"""

from __future__ import annotations

from collections.abc import Iterable

from elrcheck.lang.ir import Fn
from elrcheck.lang.marks import Fair, Unfair


def fair_actions(actions: Iterable[Fn]) -> dict[str, Fair]:
    """The actions that finally happen, by name."""
    return {fn.name: fn.marks.fairness for fn in actions if isinstance(fn.marks.fairness, Fair)}


def fairness_of(action: Fn) -> str:
    """The fairness of an action in words, for people."""
    match action.marks.fairness:
        case Fair(why, strength, only, when):
            choices = "".join(f", {name}={str(value).lower()} only" for name, value in only.items())
            condition = f", while {when.__name__}" if when is not None else ""
            return f"{strength.name.lower()}{choices}{condition}: {why}"
        case Unfair(why):
            return f"none: {why}"
    return "none"
