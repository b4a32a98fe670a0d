"""The state graph of a small scope: every state, every step, and shortest paths to violations."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.results.trace_view import Change

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
