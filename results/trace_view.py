"""A trace as reports show it to people, and the type of configuration values in a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.results.drawn_picture import DrawnFields, DrawnPartition

Scalar: TypeAlias = bool | int | float | str | None
"""A configuration value in a report."""


CONTROLLER = "Controller"
UNWRITTEN = "-"
"""The key of a field for the renderers of this process, which no JSON document has."""


class Talk(Record, frozen=True):
    """The sender and receiver of a message, each CONTROLLER or the number of a broker."""

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
    """One step of a trace."""

    index: int
    action: str
    arguments: tuple[Argument, ...] = ()
    because: str = ""
    """Why it was possible, in one line."""
    changes: tuple[Change, ...] = ()
    source: str = ""
    """Location of its action."""
    talk: Talk | None = field(default=None, name=UNWRITTEN)
    """Set if the step is a message."""

    @property
    def label(self) -> str:
        return as_call(self.action, self.arguments)


class Truth(Record, frozen=True):
    """The states in which a trace violates an `always` property, or reaches a `sometimes` one."""

    id: str
    name: str
    kind: Literal["always", "sometimes"]
    step: bool = False
    hits: tuple[int, ...] = ()
    """Numbers of states, 0 for the first; for a property of steps (`step`), of the states in which the steps end."""


class RefusedAction(Record, frozen=True):
    """An action that is not enabled in a state, and the guard that refuses it."""

    action: str
    guard: str
    calls: tuple[str, ...]
    """The arguments for which the guard does."""


class Scene(Record, frozen=True):
    """The drawing of one state of a trace."""

    drawn: DrawnFields | DrawnPartition
    sentence: str
    """What the step into the state does; empty for the first state."""
    enabled: tuple[str, ...] = ()
    refused: tuple[RefusedAction, ...] = ()


class Scenes(Protocol):
    """Draws the states of a trace, when a page is rendered."""

    def scenes(self) -> tuple[Scene, ...]:
        """Return one scene for each state, the first included."""
        ...

    def rules(self) -> Mapping[str, str]:
        """Return the source text of each action of the trace."""
        ...


class TraceView(Record, frozen=True):
    """A trace for people to read: the initial state, then the changes of each step."""

    initial: Mapping[str, str] = field(default_factory=dict)
    """Leaf path -> value in the first state."""
    steps: tuple[Step, ...] = ()
    repro: str | None = None
    """The action-index path (``0/4/1``) that re-executes the trace."""
    loop: int | None = None
    """The number of steps after which the remaining ones repeat forever; if none remain, nothing more happens."""
    truths: tuple[Truth, ...] = ()
    """Where each property is violated or reached, if the states were available."""
    drawn: Any = field(default=None, name=UNWRITTEN)
    """The `Scenes` of the trace, if its states were available."""
