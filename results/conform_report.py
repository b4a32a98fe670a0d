"""The report of `elrcheck conform`: the model compared with Kafka's own classes.

A difference belongs to a class of known ones, which explains it, or it is unexplained and a finding.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import field

from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report

ConformVerdict: TypeAlias = Literal["holds", "violated", "nothing"]


class FieldPair(Record, frozen=True):
    """A field in which the answers differ."""

    name: str
    kafka: str
    model: str


class ExampleReport(Record, frozen=True):
    """The shortest question that shows a difference."""

    setup: tuple[str, ...]
    """The registrations at the start, one a line."""
    events: tuple[str, ...]
    """The events; Kafka and the model answer the last one differently."""
    before: str
    """The partition before the last event, as text."""
    fields: tuple[FieldPair, ...]
    from_new_topic: bool
    """The events start from a topic that was just created, so that a cluster can do the same."""
    command: str
    """The command that repeats the comparison."""
    what_if: str | None
    """The last event as a question to `elrcheck what-if`, JSON; null if that has no such operation."""


class DisagreementReport(Record, frozen=True):
    """Differences in one version: of one known class, or unexplained ones of one event in the same fields."""

    kafka: str
    class_: str = field(name="class")
    """Id of the known class; for unexplained differences, the event and the fields."""
    explained: bool
    count: int
    what: str
    why: str | None
    """Why the model stays as it is; null if unexplained."""
    source: str | None
    example: ExampleReport


class ComparedSpace(Record, frozen=True):
    """A finite set of questions."""

    name: str
    points: int
    """All questions, well formed or not."""
    asked: int
    """Questions that were asked."""


class VersionReport(Record, frozen=True):
    """The comparison with one version of Kafka."""

    kafka: str
    variant: str
    compared: int
    builder: int
    """Compared answers of PartitionChangeBuilder."""
    controller: int
    """Compared events of the controller's managers."""
    isr_order: int
    """Compared events that Kafka's classes decided twice, with the ISR in either order."""
    unheld: int
    """Answers not compared, because they have a value outside the model."""
    explained: int
    unexplained: int
    spaces: tuple[ComparedSpace, ...]
    indexes: int = 0
    """Events after which the controller's indexes were compared with its partitions."""


class ProjectionReport(Record, frozen=True):
    """A part of Kafka's answers that is not compared in full."""

    name: str
    what: str
    why: str


class ConformReport(Report, frozen=True, tag="elrcheck.conform/1"):
    """The result of `elrcheck conform`."""

    verdict: ConformVerdict
    """`nothing` if no answer was compared."""
    kafka: str
    """Versions of Kafka, separated by commas."""
    variant: str
    """Variants of the versions, separated by commas."""
    compared: int
    seconds: float
    """Duration of the whole run, Java included."""
    seed: int
    workers: int
    disagreements: tuple[DisagreementReport, ...]
    unexplained: int
    versions: tuple[VersionReport, ...]
    projections: tuple[ProjectionReport, ...]
    settings: tuple[str, ...] = ()
    """Knobs that were set for this run, so that the comparison is not with the variant itself."""
    stopped_by: str | None = None
    """What ended the run early."""

    @property
    def interrupted(self) -> bool:
        return self.stopped_by == "interrupted"
