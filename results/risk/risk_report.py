"""The report of `elrcheck risk`: the events after which a topic may lose data or stay without a leader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import field

from elrcheck.base.errors import ExitCode
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report
from elrcheck.results.trace_view import UNWRITTEN, TraceView

RiskOutcome: TypeAlias = Literal["lost", "unavailable"]
RiskVerdict: TypeAlias = Literal["lost", "unavailable", "no_loss", "inconclusive"]
CauseKind: TypeAlias = Literal["finding", "setting", "unknown"]
FindingSeverity: TypeAlias = Literal["loss", "unavailable"]
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
    """The partition is number 0 of its topic, whose ISR alone decides the effective min ISR in some releases."""


class SettingRisk(Record, frozen=True):
    """A loss or an outage that the settings themselves allow, in every release."""

    setting: str
    """The setting to change, by Kafka's name."""
    severity: FindingSeverity
    happens: str
    remedy: str


class RiskCause(Record, frozen=True):
    """The cause of an outcome."""

    kind: CauseKind
    text: str
    finding: str = ""
    """Id of the finding; empty unless `kind` is `finding`."""
    page: str = ""
    """Page of the finding in the documentation."""
    confirmed: bool = False
    """With only this cause repaired, a search of the same events finds no such outcome; otherwise, only this story is
    known not to happen."""


class RiskAnswer(Record, frozen=True):
    """A minimal set of events with an outcome: without any one of them it does not happen."""

    events: Mapping[str, int]
    """Event -> how often it happens."""
    words: str
    outcome: RiskOutcome
    expected: bool
    """More logs are lost than the settings tolerate, which is not a bug."""
    story: tuple[str, ...]
    causes: tuple[RiskCause, ...]
    evidence: tuple[EvidenceLevel, ...]
    """The levels at which this very release showed it; `model`: the trace, which plain Python replayed."""
    shown: str
    """The evidence in words."""
    remedy: str
    """What to do; may be empty."""
    command: str
    """A search that repeats it."""
    trace: str | None = None
    """Where the trace is stored."""
    view: TraceView | None = field(default=None, name=UNWRITTEN)
    """The trace, for a page."""


class RiskReach(Record, frozen=True):
    """The extent of the search for an outcome."""

    events: int
    """Up to this many events never cause the outcome."""
    most: int
    """The largest size of a set that was tried."""
    sets: int
    """Number of sets of up to `most` events."""
    undecided: int
    """Sets that a limit left open."""


class OutsideFinding(Record, frozen=True):
    """A known finding of the release that no answer shows."""

    finding: str
    title: str
    lost: str
    page: str
    loss_on_brokers: bool = False
    """Brokers of the release have lost acknowledged records by it."""


class RiskPart(Record, frozen=True):
    """The answers about one group of settings."""

    settings: RiskSettings
    answers: tuple[RiskAnswer, ...]
    safe_up_to: Mapping[RiskOutcome, RiskReach]
    safe_events: tuple[str, ...]
    """Events that occur in no answer."""
    topics: tuple[str, ...] = ()
    """Topics that have these settings, if a description was read."""
    notes: tuple[str, ...] = ()
    outside: tuple[OutsideFinding, ...] = ()
    by_design: tuple[SettingRisk, ...] = ()
    """What the settings allow in every release; no search is needed for it."""
    searched: int = 0
    """Sets that this run searched; smaller sets or an earlier run decide the others."""
    states: int = 0
    seconds: float = 0.0
    kept: KeptOrigin | None = None
    """The answers of earlier runs that were used; the time is that of the oldest."""
    time_budget: float = 0.0
    """Seconds that the search had, compiling included."""
    compiling: float = 0.0
    """Seconds spent on compiling the model."""
    compiled: bool = True
    """The model was compiled before the time was over, if that was needed; else nothing of it is kept."""

    @property
    def verdict(self) -> RiskVerdict:
        outcomes = {answer.outcome for answer in self.answers if not answer.expected}
        if outcomes:
            return "lost" if "lost" in outcomes else "unavailable"
        return "inconclusive" if self._undecided else "no_loss"

    @property
    def exit_code(self) -> ExitCode:
        """Return 1 if records can be lost that the settings should keep; else 3 if a set is undecided."""
        if any(answer.outcome == "lost" and not answer.expected for answer in self.answers):
            return ExitCode.FINDING
        return ExitCode.INCONCLUSIVE if self._undecided else ExitCode.HOLDS

    @property
    def titles(self) -> dict[str, str]:
        """Return the findings that are known with these settings, in an answer or outside of all: ids and titles."""
        causes = (cause for answer in self.answers for cause in answer.causes if cause.finding)
        return {one.finding: one.title for one in self.outside} | {one.finding: one.text for one in causes}

    @property
    def _undecided(self) -> bool:
        return any(reach.undecided for reach in self.safe_up_to.values())


class RiskDifference(Record, frozen=True):
    """An outcome that only some groups of settings have."""

    events: Mapping[str, int]
    words: str
    outcome: RiskOutcome
    here: str
    """Whether the first group has it, in words."""
    there: tuple[str, ...]
    """The same for each group of `others`."""


class RiskReport(Report, frozen=True, tag="elrcheck.risk/1"):
    """The result of `elrcheck risk`: the answers for the first settings, then for `others`."""

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
    not_searched: int = 0
    """Topics of a description whose settings are beyond the number of groups that one run searches."""
    run_dir: str | None = None
    kept: KeptOrigin | None = None
    """The answers of earlier runs that were used; the time is that of the oldest."""
    by_design: tuple[SettingRisk, ...] = ()
    time_budget: float = 0.0
    compiling: float = 0.0
    compiled: bool = True

    @property
    def first(self) -> RiskPart:
        return RiskPart(**{name: getattr(self, name) for name in RiskPart.__struct_fields__})

    @property
    def parts(self) -> tuple[RiskPart, ...]:
        """Return the answers of every group of settings."""
        return (self.first, *self.others)

    @property
    def exit_code(self) -> ExitCode:
        """Return the worst exit code of all groups: 1 before 3 before 0."""
        codes = {part.exit_code for part in self.parts}
        return next((code for code in (ExitCode.FINDING, ExitCode.INCONCLUSIVE) if code in codes), ExitCode.HOLDS)
