"""The report of `elrcheck model diff`: what only one of two models has."""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import PatchApplied, Report
from elrcheck.results.trace_view import Change, TraceView

SideName: TypeAlias = Literal["a", "b"]


class ModelSide(Record, frozen=True):
    """One of two models that are compared, and its search."""

    name: str
    """The model as the user wrote it."""
    model: str | None
    """The file of the model; null for Kafka's partition."""
    patch: PatchApplied | None
    variant: str
    scope: str
    verdict: Literal["holds", "violated", "inconclusive"]
    complete: bool
    generated: int
    distinct: int
    diameter: int


class PropertyOfTwo(Record, frozen=True):
    """A property whose verdict or depth differs; `absent` where a model does not have it."""

    id: str
    name: str
    a: str
    b: str


class RefusedTrace(Record, frozen=True):
    """The shortest trace that one model has and the other refuses, if there is one."""

    has: SideName
    verdict: Literal["found", "none", "inconclusive"]
    """`inconclusive`: a limit ended the search before it found one."""
    explored: int
    """Pairs of states that the search reached by steps of both models."""
    trace: TraceView | None = None
    """The trace, up to the refused step."""
    guard: str | None = None
    """The guard that refuses the last step."""
    changed: tuple[Change, ...] = ()
    """If the other model has the step: how its state (new) differs."""
    reason: str | None = None
    """Why the other model refuses the step, in words."""


class OneSidedGuard(Record, frozen=True):
    """A guard that only one of the models has; null for the whole action."""

    side: SideName
    action: str
    guard: str | None


class ModelDiffReport(Report, frozen=True, tag="elrcheck.model-diff/1"):
    """The result of `elrcheck model diff`."""

    verdict: Literal["same", "different", "inconclusive"]
    a: ModelSide
    b: ModelSide
    settings: tuple[Change, ...]
    """Values of the configuration that differ, or that only one model has."""
    properties: tuple[PropertyOfTwo, ...]
    compared: int
    """Number of properties that both models have."""
    traces: tuple[RefusedTrace, ...]
    """One of a, then one of b."""
    guards: tuple[OneSidedGuard, ...]
    stopped_by: str | None = None
    """The limit that ended the search for traces."""
