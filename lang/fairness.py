"""Fairness: the assumptions of liveness properties about which steps eventually happen.

Weak fairness: a step that stays enabled for ever is eventually taken. Strong fairness: a step that is enabled again and
again is eventually taken. Both apply to each choice of parameters separately, so a step of one member does not stand
for another's. Steps that change nothing (stuttering) do not count. An action declares its fairness, with the reason:
`@action(fairness=Fair(..))` or `Unfair(..)`; a step without fairness may never happen. `Fair(.., when=.., stops=True)`
also says that the step is taken finitely often outside of its condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from elrcheck.lang.ir import Fn
from elrcheck.lang.marks import Fair, Unfair
from elrcheck.lang.plain import Label


def fair_actions(actions: Iterable[Fn]) -> dict[str, Fair]:
    """Return the fairness of each fair action, by name."""
    return {fn.name: fn.marks.fairness for fn in actions if isinstance(fn.marks.fairness, Fair)}


def fairness_of_step(label: Label, fns: Mapping[str, Fn], fair: Mapping[str, Fair]) -> Fair | None:
    """Return the fairness of an action with these arguments; None if it is not fair, or not for them."""
    entry = fair.get(label.action)
    if entry is None:
        return None
    choice = dict(zip((name for name, _ in fns[label.action].params), label.args, strict=True))
    return entry if all(choice[name] == value for name, value in entry.only.items()) else None


def fairness_of(action: Fn) -> str:
    """Describe the fairness of an action in words."""
    match action.marks.fairness:
        case Fair(why, strength, only, when, stops):
            choices = "".join(f", {name}={str(value).lower()} only" for name, value in only.items())
            otherwise = ", and otherwise finitely often" if stops else ""
            condition = f", while {when.__name__}{otherwise}" if when is not None else ""
            return f"{strength.name.lower()}{choices}{condition}: {why}"
        case Unfair(why):
            return f"none: {why}"
    return "none"
