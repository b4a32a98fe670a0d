"""A trace, its states and the graph of a small scope, as reports show them to people; and values of a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import field

from elrcheck.base.roundtrip import Record


class Fact(Record, frozen=True):
    """A value, and whether the last step changed it."""

    name: str
    value: str
    changed: bool = False


class DrawnMember(Record, frozen=True):
    """A member of a sort, such as `node 0`, and its values in the order of the columns."""

    name: str
    values: tuple[Fact, ...]


class DrawnSort(Record, frozen=True):
    """The table of a sort."""

    word: str
    columns: tuple[str, ...]
    members: tuple[DrawnMember, ...]


class DrawnFields(Record, frozen=True):
    """A state of any model: facts, and a table with a row for each member of a sort."""

    facts: tuple[Fact, ...]
    sorts: tuple[DrawnSort, ...]


class DrawnRecord(Record, frozen=True):
    """A record at its offset."""

    offset: int
    name: str
    epoch: int
    acks: str
    role: str
    """`acknowledged`, `committed`, `other` (another record was committed at this offset), `open`, or `missing` (the log
    ends before this committed record)."""
    change: str = ""
    """`new` if the last step appended it, `gone` if it removed it, else empty."""


class DrawnBroker(Record, frozen=True):
    """The lane of a broker."""

    number: int
    role: str
    """Its role for the partition: leader, ISR, ELR, LastKnownELR, replica or none."""
    role_changed: bool
    status: tuple[Fact, ...]
    """What keeps it from serving, in the controller or in the process; empty if nothing does."""
    log: tuple[DrawnRecord | None, ...]
    """One entry for each offset."""
    high_watermark: int
    watermark_changed: bool
    facts: tuple[Fact, ...]


class DrawnPartition(Record, frozen=True):
    """A lane for each broker with its log as boxes, and the controller's view."""

    facts: tuple[Fact, ...]
    offsets: int
    committed: tuple[DrawnRecord | None, ...]
    """The records below the highest high watermark of any leader so far."""
    holders: tuple[str, ...]
    """For each of them, the brokers that have it."""
    brokers: tuple[DrawnBroker, ...]
    notes: tuple[Fact, ...] = ()


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


MOST_STATES = 200
"""Number of states beyond which a picture would be unreadable, so that none is drawn."""


class DrawnState(Record, frozen=True):
    """One reachable state; its number is its index in the list, 0 for the initial state."""

    depth: int
    parent: int | None
    """The predecessor on a shortest path, with `step` and its `changes`; null for the initial state."""
    step: str
    changes: tuple[Change, ...]
    violates: tuple[str, ...] = ()
    """Ids of state properties that are false here."""


class DrawnStep(Record, frozen=True):
    """One action instance that leads from one state to another, within the budgets."""

    source: int
    target: int
    label: str
    action: str
    kind: str
    """The module of the model that defines the action."""
    violates: tuple[str, ...] = ()
    """Ids of step properties that it violates."""


class DrawnPath(Record, frozen=True):
    """The states on a shortest path to a violation; for a liveness property, those of a lasso."""

    property: str
    states: tuple[int, ...]


class SmallGraph(Record, frozen=True):
    """The graph."""

    initial: Mapping[str, str] = field(default_factory=dict)
    """Every leaf of the first state; `changes` then determine all other states."""
    states: tuple[DrawnState, ...] = ()
    steps: tuple[DrawnStep, ...] = ()
    paths: tuple[DrawnPath, ...] = ()
    """One for each violated property."""
