"""The report of `elrcheck conform`: the model compared with Kafka's own classes.

A difference is explained by a class of the table of known ones, or it is unexplained and a finding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode

ConformVerdict: TypeAlias = Literal["holds", "violated", "nothing"]


@dataclass(frozen=True)
class FieldPair:
    """A field in which the answers differ."""

    name: str
    kafka: str
    model: str


@dataclass(frozen=True)
class ExampleReport:
    """The shortest questions found that show a difference.

    setup: what is registered at the start, a line each; events: what happens, of which the last is answered
    differently; before: the partition before that; kafka, model: it afterwards, as text.
    """

    setup: tuple[str, ...]
    events: tuple[str, ...]
    before: str
    fields: tuple[FieldPair, ...]
    from_new_topic: bool
    """The events start from a topic that was just created, so that a cluster can do the same."""
    command: str
    """Repeats the comparison."""
    what_if: str | None
    """The last event as a question to `elrcheck what-if`, JSON; null where it has no operation for it."""


@dataclass(frozen=True)
class DisagreementReport:
    """Differences of one class, or unexplained ones of one event in the same fields, in one version."""

    kafka: str
    class_: str = field(metadata={"key": "class"})
    """Id of the known class; for an unexplained difference the event and the fields."""
    explained: bool
    count: int
    what: str
    why: str | None
    """Why the model stays as it is; null if unexplained."""
    source: str | None
    example: ExampleReport


@dataclass(frozen=True)
class SpaceReport:
    """A finite set of questions. points: all of them, well formed or not; asked: points that were visited."""

    name: str
    points: int
    asked: int


@dataclass(frozen=True)
class VersionReport:
    """One version of Kafka. unheld: answers not compared, since the model has no value for something."""

    kafka: str
    variant: str
    compared: int
    builder: int
    """Of them, answers of PartitionChangeBuilder."""
    controller: int
    """Of them, events of the controller's managers."""
    isr_order: int
    """Of them, events asked of Kafka's classes twice, with the ISR in either order."""
    unheld: int
    explained: int
    unexplained: int
    spaces: tuple[SpaceReport, ...]


@dataclass(frozen=True)
class ProjectionReport:
    """Something of Kafka's answers that is compared in part only."""

    name: str
    what: str
    why: str


@dataclass(frozen=True)
class ConformReport:
    """The result of `elrcheck conform`.

    kafka, variant: those of all versions, separated by commas. seconds: of the whole run, Java included.
    """

    verdict: ConformVerdict
    """`nothing` if no answer was compared."""
    kafka: str
    variant: str
    compared: int
    seconds: float
    seed: int
    workers: int
    disagreements: tuple[DisagreementReport, ...]
    unexplained: int
    versions: tuple[VersionReport, ...]
    projections: tuple[ProjectionReport, ...]
    settings: tuple[str, ...] = ()
    """Knobs that were set for this run: the comparison is then not with the variant itself."""
    stopped_by: str | None = None
    """What ended the run before all questions were asked."""
    schema: Literal["elrcheck.conform/1"] = "elrcheck.conform/1"

    @property
    def exit_code(self) -> ExitCode:
        if self.stopped_by == "interrupted":
            return ExitCode.INTERRUPTED
        match self.verdict:
            case "violated":
                return ExitCode.FINDING
            case "nothing":
                return ExitCode.NOTHING_CHECKED
            case "holds":
                return ExitCode.HOLDS
