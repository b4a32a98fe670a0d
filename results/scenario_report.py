"""The report of a replayed scenario, as plain frozen data (see `results.check_report`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode

ScenarioVerdict: TypeAlias = Literal["as_expected", "unexpected", "pending"]
Setting: TypeAlias = bool | int | float | str | None


@dataclass(frozen=True)
class BrokenReport:
    """A property that a run violates, and the story step in which it is first violated."""

    id: str
    name: str
    step: int
    conjunct: str | None = None
    witness: str | None = None


@dataclass(frozen=True)
class Mismatch:
    """A mismatch between a run and the scenario; step: None for the run as a whole."""

    step: int | None
    what: str
    expected: str
    actual: str


@dataclass(frozen=True)
class StoryReport:
    """One step of a replayed story: its actions and a summary of the resulting state."""

    index: int
    note: str
    actions: tuple[str, ...]
    state: str


@dataclass(frozen=True)
class RunReport:
    """One variant's run of a scenario. disputed: property -> why it holds, contrary to the source."""

    label: str
    variant: str
    knobs: Mapping[str, Setting]
    verdict: ScenarioVerdict
    expected: str
    actual: str
    broken: tuple[BrokenReport, ...] = ()
    reached: tuple[str, ...] = ()
    disputed: Mapping[str, str] = field(default_factory=dict)
    mismatches: tuple[Mismatch, ...] = ()
    pending: str | None = None
    config: Mapping[str, Setting] = field(default_factory=dict)
    steps: tuple[StoryReport, ...] = ()
    traces: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScenarioReport:
    """A scenario replayed in every variant that it names."""

    verdict: ScenarioVerdict
    id: str
    title: str
    source: str
    about: str
    runs: tuple[RunReport, ...]
    pending: str | None = None
    run_dir: str | None = None
    schema: Literal["elrcheck.scenario/1"] = "elrcheck.scenario/1"

    @property
    def exit_code(self) -> ExitCode:
        match self.verdict:
            case "as_expected":
                return ExitCode.HOLDS
            case "unexpected":
                return ExitCode.FINDING
            case "pending":
                return ExitCode.INCONCLUSIVE
