"""The report of `elrcheck reproduce`: what happened on a real cluster, and on that of the control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode

ReproduceOutcome: TypeAlias = Literal["lost", "unavailable", "not-reproduced", "inconclusive"]
SHOWN: tuple[ReproduceOutcome, ...] = ("lost", "unavailable")
"""Outcomes in which a finding shows."""


@dataclass(frozen=True)
class SeenState:
    """A partition as DescribeTopicPartitions showed it in a step. seconds: since the nodes were started."""

    step: int
    seconds: float
    partition: str
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]


@dataclass(frozen=True)
class DoneStep:
    """A step of the recipe. seconds: since the nodes were started; result: what came of it, or empty."""

    number: int
    text: str
    seconds: float
    result: str
    note: str


@dataclass(frozen=True)
class ControlReport:
    """The same steps on a second cluster, with one thing changed: `title`."""

    title: str
    outcome: ReproduceOutcome
    acknowledged: int
    left: int | None
    missing: str
    message: str
    states: tuple[SeenState, ...]
    steps: tuple[DoneStep, ...]
    seconds: float


@dataclass(frozen=True)
class ReproduceReport:
    """The result of `elrcheck reproduce`.

    outcome: `lost` if records that were acknowledged with acks=all could not be read at the end;
    `unavailable` if a partition stayed without a leader; `inconclusive` if the cluster did not come as far.
    """

    finding: str
    order: str
    """The name of the recipe."""
    title: str
    kafka: str
    expected: bool
    """The recipe names this release among those on which the finding was seen."""
    outcome: ReproduceOutcome
    acknowledged: int
    left: int | None
    """How many acknowledged records could be read at the end; null if the partition could not be read."""
    missing: str
    """The numbers of those that were lost, as in 16-599."""
    message: str
    """Why the outcome is inconclusive or not-reproduced; empty otherwise."""
    control: ControlReport | None
    states: tuple[SeenState, ...]
    steps: tuple[DoneStep, ...]
    timing: str
    """What depends on timing; empty if nothing does."""
    kept: str | None
    """Where logs and metadata log were kept."""
    seconds: float
    schema: Literal["elrcheck.reproduce/1"] = "elrcheck.reproduce/1"

    @property
    def control_shows_it(self) -> bool:
        """The control should not show the finding; if it does, the run proves nothing."""
        return self.control is not None and self.control.outcome in SHOWN

    @property
    def exit_code(self) -> ExitCode:
        if self.outcome == "inconclusive" or self.control_shows_it:
            return ExitCode.INCONCLUSIVE
        return ExitCode.FINDING if self.outcome in SHOWN else ExitCode.HOLDS
