"""The report of `elrcheck audit`: what the metadata logs of real controllers say about their partitions."""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report

AuditVerdict: TypeAlias = Literal["no_sign", "violated", "inconclusive"]
Severity: TypeAlias = Literal["critical", "high", "medium", "low"]
WORST_FIRST: tuple[Severity, ...] = ("critical", "high", "medium", "low")


class AuditFlag(Record, frozen=True):
    """Something wrong with a partition, at the record from which on it is so."""

    rule: str
    """A property of the model, or a rule of the audit."""
    hazard: str | None
    """The finding it is a sign of."""
    severity: Severity
    log: str
    """Name of the log."""
    path: str
    """The file."""
    position: int
    """Byte at which the batch or the line with the record starts."""
    offset: int
    """Offset of the record; for one in a snapshot, the last offset that it contains."""
    time: str
    """Time of the record."""
    topic: str
    partition: int
    message: str
    remedy: str
    """What to do now."""
    until: int | None = None
    """Offset at which the condition ended; null if it still holds, and for an event."""


class AuditDamage(Record, frozen=True):
    """Something in a file that could not be read, or that cannot follow what was read before."""

    path: str
    position: int
    """Byte of the file, where the batch or the line starts."""
    offset: int
    """Offset in the log."""
    message: str


class AuditedLog(Record, frozen=True):
    """One log: the binary files of a folder, or the text of a dump."""

    name: str
    files: tuple[str, ...]
    """Files of the log, in the order in which they count."""
    records: int
    first_offset: int | None
    """Null without any record."""
    last_offset: int | None
    """Null without any record."""
    partitions: int
    """Partitions at the end of the log."""
    explained: int
    """Records of partitions that some event of the controller writes by the model's rules."""
    unexplained: int
    """Records of partitions that no such event writes."""
    not_asked: int
    """Records of partitions with a value that the model does not hold."""
    aborted_transactions: int
    open_transaction: bool
    """The log ends within a transaction, whose records do not count."""
    incomplete_bytes: int
    """Bytes of an incomplete batch at the end, as a running controller leaves it."""
    metadata_version: int = 0
    """Level at the end of the log; 0 if no record sets it."""
    kafka: str = ""
    """The line of releases of the brokers, such as 4.1, by what they support; empty if no record says it."""
    or_later: bool = False
    """It is the newest line that is known, which stands for later ones too."""
    elr_version: int = 0
    """Eligible.leader.replicas.version at the end of the log; 0 while ELR is off."""
    brokers: tuple[int, ...] = ()
    """Ids of the brokers that are registered at the end of the log."""
    fenced: tuple[int, ...] = ()
    """Ids of the fenced brokers among them."""


class UnreadRecords(Record, frozen=True):
    """Records that were counted and not read."""

    name: str
    version: int
    known: bool
    """The kind is known to say nothing about partitions."""
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
    """What kind it is."""
    exists: bool
    """False if the record removed the partition; the rest is then as before."""
    leader: int
    """-1 for none, as in Kafka's records."""
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
    """Number of first steps that are left out, if there are too many."""


class AuditRepair(Record, frozen=True):
    """A finding whose patch the cluster's build has (`--repaired`)."""

    finding: str
    left_out: tuple[str, ...]
    """Rules that are not flagged."""


class InvisibleFinding(Record, frozen=True):
    """A finding that loses acknowledged records, and leaves no sign in what was audited."""

    finding: str
    shows: str
    """What there is instead of a sign."""


class AuditedCluster(Record, frozen=True):
    """A cluster that runs, as its brokers describe it."""

    name: str
    cluster_id: str
    kafka: str
    """The line of releases of the brokers, such as 4.1."""
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
    """The high watermark of the metadata log, -1 if it is not known."""
    time: str
    unseen: tuple[str, ...]
    """What the brokers did not tell, and why."""
    or_later: bool = False
    """`kafka` is the newest line that is known, which stands for later ones too."""


class AuditReport(Report, frozen=True, tag="elrcheck.audit/1"):
    """The result of `elrcheck audit`."""

    verdict: AuditVerdict
    """`no_sign`: of what leaves one in what was audited; `inconclusive`: no flag, but a part could not be read or seen,
    or was not, so there may be one."""
    records: int
    """Records of all logs."""
    partitions: int
    """Partitions of all logs."""
    flags: tuple[AuditFlag, ...]
    damage: tuple[AuditDamage, ...]
    logs: tuple[AuditedLog, ...]
    unread: tuple[UnreadRecords, ...]
    seconds: float
    timelines: tuple[AuditTimeline, ...] = ()
    """Histories of the flagged partitions, the worst first, up to a limit; none after an interruption."""
    strict: bool = False
    """Damage is an error."""
    interrupted: bool = False
    """The report is partial: it has what was read until then."""
    cluster: AuditedCluster | None = None
    """What was asked instead of logs; its flags have the name of the cluster as log and path, and position 0."""
    repaired: tuple[AuditRepair, ...] = ()
    invisible: tuple[InvisibleFinding, ...] = ()
    """Losses of records that this audit cannot see, whatever its verdict."""

    @property
    def exit_code(self) -> ExitCode:
        if self.strict and self.damage and not self.interrupted:
            return ExitCode.DID_NOT_RUN
        return super().exit_code
