"""The report of `elrcheck prove --controller`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.prove_report import SolverReport
from elrcheck.results.trace_view import Argument, Change, Scalar

StepVerdict: TypeAlias = Literal["proved", "refuted", "unknown"]
Possibility: TypeAlias = Literal["possible", "impossible", "unknown"]
TotalVerdict: TypeAlias = Literal["proved", "refuted", "inconclusive"]


class RuleReport(Record, frozen=True):
    """A rule of the controller."""

    id: str
    name: str
    title: str
    source: str
    """The document that states it."""
    place: str | None = None
    """Its location, ``folder/file.py:line``."""


class StepFailure(Record, frozen=True):
    """A counterexample: a legal registration and an event after which the rule is broken."""

    knobs: Mapping[str, Scalar]
    """Values of the open knobs."""
    brokers: Mapping[str, str]
    """Broker id -> description of its registration."""
    before: Mapping[str, str]
    arguments: tuple[Argument, ...]
    changes: tuple[Change, ...]
    conjunct: str | None
    replayed: bool


class StepReport(Record, frozen=True):
    """One obligation: `event` preserves `rule`, for every registration."""

    event: str
    rule: str
    verdict: StepVerdict
    seconds: float
    """Solver time."""
    reason: str | None = None
    failure: StepFailure | None = None


class EventReport(Record, frozen=True):
    """An event of the controller."""

    name: str
    title: str
    verdict: Possibility
    """`impossible` if no legal registration allows the event, which then has no cells."""
    seconds: float


class VariantReport(Record, frozen=True):
    """All events and rules of one variant."""

    variant: str
    verdict: TotalVerdict
    proved: int
    refuted: int
    unknown: int
    seconds: float
    config: Mapping[str, Scalar]
    open: tuple[str, ...]
    """Knobs that are arbitrary in every obligation."""
    events: tuple[EventReport, ...]
    cells: tuple[StepReport, ...]


class ControllerReport(Report, frozen=True, tag="elrcheck.controller/1"):
    """The result of `elrcheck prove --controller`."""

    verdict: TotalVerdict
    brokers: int
    """Number of brokers, replicas or not."""
    solver: SolverReport
    seconds: float
    rules: tuple[RuleReport, ...]
    variants: tuple[VariantReport, ...]
