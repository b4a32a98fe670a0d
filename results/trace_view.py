"""A trace as a report shows it to a person, and what a value of a configuration may be in a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Scalar: TypeAlias = bool | int | float | str | None
"""What a configuration value may be in a report."""


CONTROLLER = "Controller"
UNWRITTEN: Mapping[str, bool] = {"written": False}
"""Metadata of a field that is for the renderers of this process, and in no JSON document."""


@dataclass(frozen=True)
class Talk:
    """Between whom a message goes: each end is CONTROLLER or the number of a broker."""

    sender: str
    receiver: str
    lost: bool = False


@dataclass(frozen=True)
class Argument:
    """One choice an action made."""

    name: str
    value: str


@dataclass(frozen=True)
class Change:
    """One leaf of the state that a step changed."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Step:
    """One step of a trace; `because` says in one line why it was possible, `source` where its action is.

    talk: the message that the step is, if it is one.
    """

    index: int
    action: str
    arguments: tuple[Argument, ...] = ()
    because: str = ""
    changes: tuple[Change, ...] = ()
    source: str = ""
    talk: Talk | None = field(default=None, metadata=UNWRITTEN)

    @property
    def label(self) -> str:
        """The action as it would be written in a call."""
        return f"{self.action}({', '.join(f'{a.name}={a.value}' for a in self.arguments)})"


@dataclass(frozen=True)
class Truth:
    """Where on a trace one property is hit: an `always` property is false there, a `sometimes` one is true.

    hits: numbers of states, 0 is the first; of a property about steps (`step`) those a step ends in, so 0
    is never judged.
    """

    id: str
    name: str
    kind: Literal["always", "sometimes"]
    step: bool = False
    hits: tuple[int, ...] = ()


@dataclass(frozen=True)
class TraceView:
    """A trace to be read by a person: where it starts, then what each step changed.

    `initial` maps each leaf path of the first state to its value; `repro` is the action-index path
    (``0/4/1``) that re-executes the trace. `loop`: the number of steps after which the rest of them is
    repeated for ever; if there is no rest, nothing happens any more. `truths`: every property on every state,
    if whoever made the view had the states.
    """

    initial: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    repro: str | None = None
    loop: int | None = None
    truths: tuple[Truth, ...] = ()
