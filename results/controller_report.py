"""The report of `elrcheck prove --controller`, as plain frozen data (see `results.check_report`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode

Setting: TypeAlias = bool | int | float | str | None
StepVerdict: TypeAlias = Literal["proved", "refuted", "unknown"]
Possibility: TypeAlias = Literal["possible", "impossible", "unknown"]
TotalVerdict: TypeAlias = Literal["proved", "refuted", "inconclusive"]


@dataclass(frozen=True)
class RuleReport:
    """A rule. source: the document it comes from; place: its location, ``folder/file.py:line``."""

    id: str
    name: str
    title: str
    source: str
    place: str | None = None


@dataclass(frozen=True)
class FieldValue:
    """A field and its value as a short string."""

    name: str
    value: str


@dataclass(frozen=True)
class FieldChange:
    """A field that the event changed."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class StepFailure:
    """A counterexample: a legal registration and an event after which the rule is broken.

    knobs: values of the open knobs; brokers: id -> description of its registration.
    """

    knobs: Mapping[str, Setting]
    brokers: Mapping[str, str]
    before: Mapping[str, str]
    arguments: tuple[FieldValue, ...]
    changes: tuple[FieldChange, ...]
    conjunct: str | None
    replayed: bool


@dataclass(frozen=True)
class StepReport:
    """One obligation: `event` preserves `rule`, for every registration. seconds: solver time."""

    event: str
    rule: str
    verdict: StepVerdict
    seconds: float
    reason: str | None = None
    failure: StepFailure | None = None


@dataclass(frozen=True)
class EventReport:
    """An event; `impossible` if no legal registration allows it, in which case it has no cells."""

    name: str
    title: str
    verdict: Possibility
    """An impossible event has no cells."""
    seconds: float


@dataclass(frozen=True)
class VariantReport:
    """All events and rules of one variant. open: knobs that are arbitrary in every obligation."""

    variant: str
    verdict: TotalVerdict
    proved: int
    refuted: int
    unknown: int
    seconds: float
    config: Mapping[str, Setting]
    open: tuple[str, ...]
    events: tuple[EventReport, ...]
    cells: tuple[StepReport, ...]


@dataclass(frozen=True)
class SolverSettings:
    """The solver and its time limit per obligation."""

    name: str
    version: str
    timeout_seconds: float | None


@dataclass(frozen=True)
class ControllerReport:
    """The result of `elrcheck prove --controller`. brokers: number of brokers, replicas or not."""

    verdict: TotalVerdict
    brokers: int
    solver: SolverSettings
    seconds: float
    rules: tuple[RuleReport, ...]
    variants: tuple[VariantReport, ...]
    schema: Literal["elrcheck.controller/1"] = field(default="elrcheck.controller/1")

    @property
    def exit_code(self) -> ExitCode:
        match self.verdict:
            case "proved":
                return ExitCode.HOLDS
            case "refuted":
                return ExitCode.FINDING
            case "inconclusive":
                return ExitCode.INCONCLUSIVE
