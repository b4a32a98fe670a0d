"""A trace as reports show it to people, and the type of configuration values in a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.results.drawn.drawn_fields import DrawnFields
from elrcheck.results.drawn.drawn_partition import DrawnPartition

Scalar: TypeAlias = bool | int | float | str | None
"""A configuration value in a report."""


CONTROLLER = "Controller"
UNWRITTEN = "-"
"""The key of a field that is for the renderers of this process, and in no JSON document."""


class Talk(Record, frozen=True):
    """Between whom a message goes: each end is CONTROLLER or the number of a broker."""

    sender: str
    receiver: str
    lost: bool = False


class Argument(Record, frozen=True):
    """One argument of an action."""

    name: str
    value: str


def as_call(action: str, arguments: Iterable[Argument]) -> str:
    """Return an action with its arguments, written as a call."""
    return f"{action}({', '.join(f'{argument.name}={argument.value}' for argument in arguments)})"


class Change(Record, frozen=True):
    """One leaf of the state that a step changed."""

    path: str
    old: str
    new: str


class Step(Record, frozen=True):
    """One step of a trace; `because` says in one line why it was possible, `source` where its action is."""

    index: int
    action: str
    arguments: tuple[Argument, ...] = ()
    because: str = ""
    changes: tuple[Change, ...] = ()
    source: str = ""
    talk: Talk | None = field(default=None, name=UNWRITTEN)
    """The message that the step is, if it is one."""

    @property
    def label(self) -> str:
        return as_call(self.action, self.arguments)


class Truth(Record, frozen=True):
    """The states in which a trace hits one property: an `always` property is false, a `sometimes` one is true."""

    id: str
    name: str
    kind: Literal["always", "sometimes"]
    step: bool = False
    hits: tuple[int, ...] = ()
    """Numbers of states, 0 for the first; for a property of steps (`step`), the states in which the steps end, so state
    0 is never evaluated."""


class RefusedAction(Record, frozen=True):
    """An action that is not enabled in a state, and the guard that refuses it."""

    action: str
    guard: str
    calls: tuple[str, ...]
    """The arguments for which it does."""


class Scene(Record, frozen=True):
    """A state of a trace as it is drawn."""

    drawn: DrawnFields | DrawnPartition
    sentence: str
    """What the step into it does; empty for the first state."""
    enabled: tuple[str, ...] = ()
    refused: tuple[RefusedAction, ...] = ()


class Scenes(Protocol):
    """Draws the states of a trace when a page is made of it."""

    def scenes(self) -> tuple[Scene, ...]:
        """Return every state, the first one included."""
        ...

    def rules(self) -> Mapping[str, str]:
        """Return the source text of each action of the trace."""
        ...


class TraceView(Record, frozen=True):
    """A trace for people to read: its initial state, then the changes of each step."""

    initial: Mapping[str, str] = field(default_factory=dict)
    """Leaf path -> value in the first state."""
    steps: tuple[Step, ...] = ()
    repro: str | None = None
    """The action-index path (``0/4/1``) that re-executes the trace."""
    loop: int | None = None
    """The number of steps after which the remaining ones repeat forever; if none remain, nothing more happens."""
    truths: tuple[Truth, ...] = ()
    """Every property in every state, if the states were available."""
    drawn: Any = field(default=None, name=UNWRITTEN)
    """The `Scenes` of the trace, where its states are at hand."""
