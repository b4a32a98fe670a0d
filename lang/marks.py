"""Metadata of an action: the message it represents, its fairness, and the events and operations it models.

These are the arguments of `@action(..)`; engines compute successors without them. Parties, events and what-if
operations are plain names here, and tests define the valid ones.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Names = str | tuple[str, ...]
"""One name, or several."""


@dataclass(frozen=True)
class Message:
    """The action is a message in a sequence diagram.

    sender, receiver: the parameter with the process, or the capitalised name of another party, such as Controller.
    lost: whether the message never arrives, or the name of the parameter that decides it.
    """

    sender: str
    receiver: str
    lost: bool | str = False


class Strength(enum.Enum):
    """How a step must stay enabled so that it is eventually taken."""

    WEAK = "for ever"
    STRONG = "again and again"


@dataclass(frozen=True)
class Fair:
    """The action eventually happens. why: who makes it happen, and the source.

    only: parameter -> value; other choices of it are not fair. when: an operator `(c, s, ..) -> bool` with the
    action's parameters; the step is fair only where it holds. stops: where it does not, the step is a disturbance that
    stops, so that no behaviour takes it again and again.
    """

    why: str
    strength: Strength = Strength.WEAK
    only: Mapping[str, object] = field(default_factory=dict)
    when: Callable[..., bool] | None = None
    stops: bool = False


@dataclass(frozen=True)
class Unfair:
    """The action may never happen. why: the reason it need not be taken."""

    why: str


@dataclass(frozen=True)
class Marks:
    """All metadata of one action.

    events: the events of `prove --controller` that it models. what_if: the operations of `what-if` that show its
    effect. because: the reason that it has no event or no operation although it could have one.
    """

    message: Message | None = None
    fairness: Fair | Unfair | None = None
    events: tuple[str, ...] = ()
    what_if: tuple[str, ...] = ()
    because: str = ""


NO_MARKS = Marks()


def mistake_in(marks: Marks, parameters: Mapping[str, str]) -> str | None:
    """Describe the first mistake in the marks of an action; None if they are valid. parameters: name -> kind."""
    if marks.message is not None:
        for end in (marks.message.sender, marks.message.receiver):
            if not end[:1].isupper() and parameters.get(end) != "member":
                return f"'{end}' is not a parameter of a sort that could send or receive the message"
        lost = marks.message.lost
        if isinstance(lost, str) and parameters.get(lost) != "bool":
            return f"'{lost}' is not a bool parameter that could say that the message is lost"
    if isinstance(marks.fairness, Fair):
        for name in marks.fairness.only:
            if name not in parameters:
                return f"it is fair for some values of '{name}' only, and has no such parameter"
        if marks.fairness.stops and marks.fairness.when is None:
            return "its steps stop outside of a condition, and it has no `when`"
    return None
