"""The report of `elrcheck risk`: after which events a topic may lose data, or stays without a leader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report

RiskOutcome: TypeAlias = Literal["lost", "unavailable"]
RiskVerdict: TypeAlias = Literal["lost", "unavailable", "safe", "inconclusive"]
CauseKind: TypeAlias = Literal["finding", "setting", "unknown"]
EvidenceLevel: TypeAlias = Literal["model", "controller", "brokers"]


class RiskSettings(Record, frozen=True):
    """The settings of a question, in Kafka's words."""

    kafka: str
    """The release, with all three numbers."""
    variant: str
    """The rules of the model that stand for it."""
    replication_factor: int
    min_insync_replicas: int
    acks: str
    elr: bool
    unclean_leader_election_enable: bool
    first_partition: bool
    """The partition is number 0 of its topic, which alone decides the effective min.insync.replicas."""


class RiskCause(Record, frozen=True):
    """The cause of an outcome."""

    kind: CauseKind
    text: str
    finding: str = ""
    """Id of the finding; empty unless `kind` is `finding`."""
    page: str = ""
    """Page of the finding in the documentation."""
    confirmed: bool = False
    """With this cause repaired, and nothing else, a search of the same events finds no such outcome; if not, only this
    story is known not to happen then."""


class RiskAnswer(Record, frozen=True):
    """A smallest set of events with an outcome: without any one of them it does not happen."""

    events: Mapping[str, int]
    """Event -> how often it happens."""
    words: str
    outcome: RiskOutcome
    expected: bool
    """As many logs are lost as the settings do not tolerate: not a bug."""
    story: tuple[str, ...]
    causes: tuple[RiskCause, ...]
    evidence: tuple[EvidenceLevel, ...]
    """How far it was shown on this very release: `model` means the trace, which plain Python has replayed."""
    shown: str
    """The evidence in words."""
    remedy: str
    """What to do; empty if nothing is on record."""
    command: str
    """A search that repeats it."""
    trace: str | None = None
    """Where the trace is stored."""


class RiskReach(Record, frozen=True):
    """The extent of the search for an outcome."""

    events: int
    """Up to this many events never cause the outcome."""
    most: int
    sets: int
    """Number of sets of up to `most` events."""
    undecided: int
    """Sets that a limit left open."""


class OutsideFinding(Record, frozen=True):
    """A finding known in the release that none of the answers shows."""

    finding: str
    title: str
    lost: str
    page: str


class RiskPart(Record, frozen=True):
    """The answers about one group of settings."""

    settings: RiskSettings
    answers: tuple[RiskAnswer, ...]
    safe_up_to: Mapping[RiskOutcome, RiskReach]
    safe_events: tuple[str, ...]
    """Events in no answer: however they were combined, nothing happened."""
    topics: tuple[str, ...] = ()
    """Topics that have these settings, if a description was read."""
    notes: tuple[str, ...] = ()
    outside: tuple[OutsideFinding, ...] = ()
    searched: int = 0
    """Sets that were searched now; the others are implied by smaller ones, or kept from an earlier run."""
    states: int = 0
    seconds: float = 0.0
    kept: KeptOrigin | None = None
    """The answers of earlier runs that were used; the time is that of the oldest."""

    @property
    def verdict(self) -> RiskVerdict:
        outcomes = {answer.outcome for answer in self.answers if not answer.expected}
        if outcomes:
            return "lost" if "lost" in outcomes else "unavailable"
        return "inconclusive" if any(reach.undecided for reach in self.safe_up_to.values()) else "safe"

    @property
    def exit_code(self) -> ExitCode:
        """1 if something can be lost that the settings should keep; 3 if nothing is known to be, so far."""
        if any(answer.outcome == "lost" and not answer.expected for answer in self.answers):
            return ExitCode.FINDING
        open_sets = any(reach.undecided for reach in self.safe_up_to.values())
        return ExitCode.INCONCLUSIVE if open_sets else ExitCode.HOLDS


class RiskDifference(Record, frozen=True):
    """An outcome that some groups of settings have and others have not. here: the first; there: each of `others`."""

    events: Mapping[str, int]
    words: str
    outcome: RiskOutcome
    here: str
    there: tuple[str, ...]


class RiskReport(Report, frozen=True, tag="elrcheck.risk/1"):
    """The result of `elrcheck risk`: of the first settings, then of `others`."""

    verdict: RiskVerdict
    settings: RiskSettings
    answers: tuple[RiskAnswer, ...]
    safe_up_to: Mapping[RiskOutcome, RiskReach]
    safe_events: tuple[str, ...]
    topics: tuple[str, ...]
    notes: tuple[str, ...]
    outside: tuple[OutsideFinding, ...]
    tried: Mapping[str, str]
    """Event -> what happens then."""
    not_tried: tuple[str, ...]
    searched: int
    states: int
    seconds: float
    others: tuple[RiskPart, ...] = ()
    differences: tuple[RiskDifference, ...] = ()
    unread: tuple[str, ...] = ()
    """Lines of a description that were not understood."""
    run_dir: str | None = None
    kept: KeptOrigin | None = None
    """The answers of earlier runs that were used; the time is that of the oldest."""

    @property
    def first(self) -> RiskPart:
        return RiskPart(**{name: getattr(self, name) for name in RiskPart.__struct_fields__})

    @property
    def parts(self) -> tuple[RiskPart, ...]:
        """Return the answers of every group of settings."""
        return (self.first, *self.others)

    @property
    def exit_code(self) -> ExitCode:
        """That of the worst: 1 before 3 before 0."""
        codes = {part.exit_code for part in self.parts}
        for code in (ExitCode.FINDING, ExitCode.INCONCLUSIVE):
            if code in codes:
                return code
        return ExitCode.HOLDS
