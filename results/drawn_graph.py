"""The state graph of a small scope inside a report: every state, every step, and the ways to violations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from elrcheck.results.trace_view import Change

MOST_STATES = 200
"""Beyond this many states a picture is a thicket, so that none is made."""


@dataclass(frozen=True)
class DrawnState:
    """One reachable state; its number is its place in the list, 0 the initial one.

    parent: a state from which it was reached in the fewest steps, `step` the step from there and `changes`
    what that changed; the initial state has none. violates: ids of properties of states that are false here.
    """

    depth: int
    parent: int | None
    step: str
    changes: tuple[Change, ...]
    violates: tuple[str, ...] = ()


@dataclass(frozen=True)
class DrawnStep:
    """One action instance that leads from a state to a state, inside the budgets.

    kind: the module of the model in which the action is written; violates: ids of properties of steps.
    """

    source: int
    target: int
    label: str
    action: str
    kind: str
    violates: tuple[str, ...] = ()


@dataclass(frozen=True)
class DrawnPath:
    """The states of a shortest way to a violation of a property; of a liveness property those of a lasso."""

    property: str
    states: tuple[int, ...]


@dataclass(frozen=True)
class SmallGraph:
    """initial: every leaf of the first state; with `changes` that gives every leaf of every state."""

    initial: Mapping[str, str] = field(default_factory=dict)
    states: tuple[DrawnState, ...] = ()
    steps: tuple[DrawnStep, ...] = ()
    paths: tuple[DrawnPath, ...] = ()
    """For each violated property the states of a shortest way to a violation."""
