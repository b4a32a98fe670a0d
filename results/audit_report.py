"""The report of `elrcheck audit`: what the metadata logs of real controllers say about their partitions."""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report

AuditVerdict: TypeAlias = Literal["no_sign", "violated", "inconclusive"]
Severity: TypeAlias = Literal["critical", "high", "medium", "low"]
NearMissKind: TypeAlias = Literal["leader-returned", "no-leader", "below-min-isr", "eligible-gone"]
WORST_FIRST: tuple[Severity, ...] = ("critical", "high", "medium", "low")


class AuditFlag(Record, frozen=True):
    """A fault of a partition, at the record with which it begins."""

    rule: str
    """A property of the model, or a rule of the audit."""
    hazard: str | None
    """The finding of which it is a sign."""
    severity: Severity
    log: str
    path: str
    """The file."""
    position: int
    """Byte at which the batch or the line with the record starts."""
    offset: int
    """Offset of the record; for one in a snapshot, the last offset that it contains."""
    time: str
    topic: str
    partition: int
    message: str
    remedy: str
    """What to do now; what to look at afterwards if it has ended."""
    until: int | None = None
    """Offset at which the condition ended, or every replica was in the ISR again after an event; null if it still
    matters at the end of the log."""
    until_time: str | None = None
    event: bool = False
    """It happened at this record, rather than held from it on."""


class AuditDamage(Record, frozen=True):
    """A part of a file that could not be read, or that cannot follow what was read before it."""

    path: str
    position: int
    """Byte of the file, where the batch or the line starts."""
    offset: int
    """Offset in the log."""
    message: str


class NearMiss(Record, frozen=True):
    """A history in a metadata log that came close to a loss, though nothing in it is wrong."""

    kind: NearMissKind
    log: str
    topic: str
    partition: int
    message: str
    offset: int
    """Offset of the record that begins it."""
    time: str
    until: int | None = None
    """Offset of the record that ends it; null if it lasts."""
    until_time: str | None = None


class NearMisses(Record, frozen=True):
    """The near misses of one kind."""

    kind: NearMissKind
    times: int
    """How often it happened."""
    partitions: int
    """In how many partitions."""
    first: tuple[NearMiss, ...]
    """The first ones, up to a limit."""
    longest: float | None = None
    """Seconds that the longest one took, to the end of the log if it lasts; null without one."""


class NearTogether(Record, frozen=True):
    """Near misses of one partition that began within seconds, one of them a leader away and back."""

    log: str
    topic: str
    partition: int
    kinds: tuple[NearMissKind, ...]
    offset: int
    """Offset of the record that begins the first."""
    time: str
    seconds: float
    """From the beginning of the first to that of the last."""


class AuditedLog(Record, frozen=True):
    """One log: the binary files of a folder, or the text of a dump."""

    name: str
    files: tuple[str, ...]
    """Files of the log, in the order of their records."""
    records: int
    first_offset: int | None
    """Null if the log is empty."""
    last_offset: int | None
    """Null if the log is empty."""
    partitions: int
    """Partitions at the end of the log."""
    explained: int
    """Partition records that some controller event of the model would write."""
    unexplained: int
    """Partition records that no such event would write."""
    not_asked: int
    """Partition records with a value outside the model."""
    aborted_transactions: int
    open_transaction: bool
    """The log ends inside a transaction, whose records are ignored."""
    incomplete_bytes: int
    """Bytes of an incomplete batch at the end, as a running controller leaves it."""
    metadata_version: int = 0
    """Level at the end of the log; 0 if no record sets it."""
    kafka: str = ""
    """The release line of the brokers, such as 4.1, inferred from the features they support; empty if unknown."""
    or_later: bool = False
    """`kafka` is the newest line that elrcheck knows, so the brokers may run a later one."""
    elr_version: int = 0
    """Eligible.leader.replicas.version at the end of the log; 0 while ELR is off."""
    brokers: tuple[int, ...] = ()
    """Ids of the brokers that are registered at the end of the log."""
    fenced: tuple[int, ...] = ()
    """Ids of the fenced brokers among them."""
    near_misses: tuple[NearMisses, ...] | None = None
    """By kind, with the first few of each; null if the logs are too long to look for them at once."""
    near_together: tuple[NearTogether, ...] = ()
    """The partitions in which several of them began within seconds."""


class UnreadRecords(Record, frozen=True):
    """Records of one kind that were counted but not decoded."""

    name: str
    version: int
    known: bool
    """The kind is known to be irrelevant to partitions."""
    count: int
    path: str
    """File of the first one."""
    offset: int
    """Offset of the first one."""


class AuditStep(Record, frozen=True):
    """A partition after a record that changed it."""

    offset: int
    time: str
    record: str
    """The kind of record."""
    exists: bool
    """False if the record removed the partition; the other fields are then unchanged."""
    leader: int
    """-1 without a leader, as in Kafka's records."""
    leader_epoch: int
    partition_epoch: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]


class AuditTimeline(Record, frozen=True):
    """The history of a flagged partition."""

    log: str
    topic: str
    partition: int
    steps: tuple[AuditStep, ...]
    left_out: int = 0
    """Number of early steps left out because there were too many."""


class AuditRepair(Record, frozen=True):
    """A finding whose patch the cluster's build has (`--repaired`)."""

    finding: str
    left_out: tuple[str, ...]
    """Rules that are not flagged."""


class InvisibleFinding(Record, frozen=True):
    """A finding that loses acknowledged records without leaving a sign in what was audited."""

    finding: str
    shows: str
    """What can be seen instead."""


class AuditedCluster(Record, frozen=True):
    """A running cluster, as its brokers describe it."""

    name: str
    cluster_id: str
    kafka: str
    """The release line of the brokers, such as 4.1; empty if it is older than 3.9."""
    metadata_version: int
    elr_version: int
    """Eligible.leader.replicas.version, 0 while ELR is off."""
    brokers: tuple[int, ...]
    """Ids of the registered brokers."""
    fenced: tuple[int, ...]
    """Ids of the fenced brokers among them."""
    topics: int
    reassignments: int
    offset: int
    """The high watermark of the metadata log, -1 if unknown."""
    time: str
    unseen: tuple[str, ...]
    """What the brokers did not report, and why."""
    or_later: bool = False
    """`kafka` is the newest line that elrcheck knows, so the brokers may run a later one."""


class AuditReport(Report, frozen=True, tag="elrcheck.audit/1"):
    """The result of `elrcheck audit`."""

    verdict: AuditVerdict
    """`no_sign`: no flag, though `invisible` findings leave none; `inconclusive`: no flag, but a part was not read or
    seen, so it may hide one."""
    records: int
    partitions: int
    flags: tuple[AuditFlag, ...]
    damage: tuple[AuditDamage, ...]
    logs: tuple[AuditedLog, ...]
    unread: tuple[UnreadRecords, ...]
    seconds: float
    timelines: tuple[AuditTimeline, ...] = ()
    """Histories of the flagged partitions, the worst first, up to a limit; empty after an interrupt."""
    strict: bool = False
    """Damage is an error."""
    interrupted: bool = False
    cluster: AuditedCluster | None = None
    """The cluster that was audited instead of logs; its flags have its name as log and path, and position 0."""
    repaired: tuple[AuditRepair, ...] = ()
    invisible: tuple[InvisibleFinding, ...] = ()
    """Losses of records that this audit cannot see, whatever its verdict."""

    @property
    def exit_code(self) -> ExitCode:
        if self.strict and self.damage and not self.interrupted:
            return ExitCode.DID_NOT_RUN
        return super().exit_code
