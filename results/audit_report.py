"""The report of `elrcheck audit`: what the metadata logs of real controllers say about their partitions."""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.errors import ExitCode
from elrcheck.base.roundtrip import Record
from elrcheck.results.any_report import Report

AuditVerdict: TypeAlias = Literal["holds", "violated", "inconclusive"]
Severity: TypeAlias = Literal["critical", "high", "medium", "low"]
WORST_FIRST: tuple[Severity, ...] = ("critical", "high", "medium", "low")


class AuditFlag(Record, frozen=True):
    """Something wrong with a partition, at the record from which on it is so.

    rule: a property of the model, or a rule of the audit; hazard: the finding it is a sign of. log: one of
    the logs, by its name. path, position: the file, and the byte at which the batch or the line with the
    record starts. offset, time: of the record; for one in a snapshot, the last offset that it contains.
    """

    rule: str
    hazard: str | None
    severity: Severity
    log: str
    path: str
    position: int
    offset: int
    time: str
    topic: str
    partition: int
    message: str
    remedy: str
    """What to do now."""
    until: int | None = None
    """Offset at which the condition ended; null if it still holds, and for an event."""


class AuditDamage(Record, frozen=True):
    """Something in a file that could not be read, or that cannot follow what was read before.

    position: byte of the file, where the batch or the line starts; offset: of the log.
    """

    path: str
    position: int
    offset: int
    message: str


class AuditedLog(Record, frozen=True):
    """One log: the binary files of a folder, or the text of a dump. files: in the order in which they count.

    first_offset, last_offset: null without any record. partitions: at its end. explained, unexplained:
    records of partitions that some event of the controller writes by the model's rules, and those that none
    does; not_asked: those with a value that the model does not hold.
    """

    name: str
    files: tuple[str, ...]
    records: int
    first_offset: int | None
    last_offset: int | None
    partitions: int
    explained: int
    unexplained: int
    not_asked: int
    aborted_transactions: int
    open_transaction: bool
    """The log ends within a transaction, whose records do not count."""
    incomplete_bytes: int
    """Of a batch at the end that is not complete, as a controller that runs leaves it."""


class UnreadRecords(Record, frozen=True):
    """Records that were counted and not read. known: of a kind that says nothing about partitions.

    path, offset: of the first one.
    """

    name: str
    version: int
    known: bool
    count: int
    path: str
    offset: int


class AuditStep(Record, frozen=True):
    """A partition after a record that changed it. leader: -1 for none, as in Kafka's records.

    record: what kind it is. exists: false if the record removed the partition; the rest is then as before.
    """

    offset: int
    time: str
    record: str
    exists: bool
    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]


class AuditTimeline(Record, frozen=True):
    """The history of a flagged partition. left_out: its first steps, if it has too many."""

    log: str
    topic: str
    partition: int
    steps: tuple[AuditStep, ...]
    left_out: int = 0


class AuditRepair(Record, frozen=True):
    """A finding whose patch the cluster's build has (`--repaired`). left_out: rules that are not flagged."""

    finding: str
    left_out: tuple[str, ...]


class AuditedCluster(Record, frozen=True):
    """A cluster that runs, as its brokers describe it. kafka: the line of releases, such as 4.1.

    elr_version: eligible.leader.replicas.version, 0 while ELR is off. brokers: those registered; fenced: of
    them. offset: the high watermark of the metadata log, -1 if it is not known. unseen: what the brokers did
    not tell, and why.
    """

    name: str
    cluster_id: str
    kafka: str
    metadata_version: int
    elr_version: int
    brokers: tuple[int, ...]
    fenced: tuple[int, ...]
    topics: int
    reassignments: int
    offset: int
    time: str
    unseen: tuple[str, ...]


class AuditReport(Report, frozen=True, tag="elrcheck.audit/1"):
    """The result of `elrcheck audit`. records, partitions: of all logs.

    timelines: of the flagged partitions, the worst first, up to a limit; none after an interruption. cluster:
    what was asked instead of logs; its flags have the name of the cluster as log and path, and position 0.
    """

    verdict: AuditVerdict
    """`inconclusive`: no flag, but a part could not be read or seen, or was not, so there may be one."""
    records: int
    partitions: int
    flags: tuple[AuditFlag, ...]
    damage: tuple[AuditDamage, ...]
    logs: tuple[AuditedLog, ...]
    unread: tuple[UnreadRecords, ...]
    seconds: float
    timelines: tuple[AuditTimeline, ...] = ()
    strict: bool = False
    """Damage is an error."""
    interrupted: bool = False
    """The report is partial: it has what was read until then."""
    cluster: AuditedCluster | None = None
    repaired: tuple[AuditRepair, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        if self.strict and self.damage and not self.interrupted:
            return ExitCode.DID_NOT_RUN
        return super().exit_code
