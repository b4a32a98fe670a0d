"""The report of `elrcheck conform`: the model compared with Kafka's own classes.

A difference is explained by a class of the table of known ones, or it is unexplained and a finding.
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


class DisagreementReport(Record, frozen=True):
    """Differences of one class, or unexplained ones of one event in the same fields, in one version."""

    kafka: str
    class_: str = field(name="class")
    """Id of the known class; for an unexplained difference the event and the fields."""
    explained: bool
    count: int
    what: str
    why: str | None
    """Why the model stays as it is; null if unexplained."""
    source: str | None
    example: ExampleReport


class SpaceReport(Record, frozen=True):
    """A finite set of questions. points: all of them, well formed or not; asked: points that were visited."""

    name: str
    points: int
    asked: int


class VersionReport(Record, frozen=True):
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


class ProjectionReport(Record, frozen=True):
    """Something of Kafka's answers that is compared in part only."""

    name: str
    what: str
    why: str


class ConformReport(Report, frozen=True, tag="elrcheck.conform/1"):
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

    @property
    def interrupted(self) -> bool:
        return self.stopped_by == "interrupted"
