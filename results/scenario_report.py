"""The report of a replayed scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.trace_reports import Hit
from elrcheck.results.trace_view import Scalar

ScenarioVerdict: TypeAlias = Literal["as_expected", "unexpected", "pending"]


class Mismatch(Record, frozen=True):
    """A difference between a run and the scenario's expectation."""

    step: int | None
    """Number of the step; null for the run as a whole."""
    what: str
    expected: str
    actual: str


class StoryReport(Record, frozen=True):
    """One step of a replayed story."""

    index: int
    note: str
    actions: tuple[str, ...]
    state: str
    """A summary of the resulting state."""


class RunReport(Record, frozen=True):
    """One variant's run of a scenario."""

    label: str
    variant: str
    knobs: Mapping[str, Scalar]
    verdict: ScenarioVerdict
    expected: str
    actual: str
    broken: tuple[Hit, ...] = ()
    reached: tuple[str, ...] = ()
    disputed: Mapping[str, str] = field(default_factory=dict)
    """Property -> why it holds, contrary to the source."""
    mismatches: tuple[Mismatch, ...] = ()
    pending: str | None = None
    config: Mapping[str, Scalar] = field(default_factory=dict)
    steps: tuple[StoryReport, ...] = ()
    traces: tuple[str, ...] = ()


class ScenarioReport(Report, frozen=True, tag="elrcheck.scenario/1"):
    """A scenario replayed in every variant that it names."""

    verdict: ScenarioVerdict
    id: str
    title: str
    source: str
    about: str
    runs: tuple[RunReport, ...]
    pending: str | None = None
    run_dir: str | None = None
