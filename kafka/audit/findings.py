"""The findings of an audit in one log, and the report of all logs.

The order of flags and damage depends on the log alone, not on how it was read.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.audit.builds import NONE, Repairs, is_newest, line_seen
from elrcheck.kafka.audit.rules import audit_rules
from elrcheck.kafka.log.cluster_state import ELR_FEATURE, METADATA, ClusterState, PartitionKey
from elrcheck.kafka.log.history import ReadSoFar, UnreadCount
from elrcheck.kafka.log.log_files import MetadataLog
from elrcheck.kafka.log.metadata_records import Unread
from elrcheck.kafka.log.segments import Damage
from elrcheck.results.audit_report import AuditDamage, AuditedLog, AuditFlag, AuditReport, AuditTimeline, UnreadRecords

HEAD = 512
"""Bytes that tell text from a log."""
TEXT_HELP = "this is text: `elrcheck assess --topics FILE` reads descriptions of topics"


@dataclass
class RecordShares:
    """Numbers of partition records: explained by an event, unexplained, and not checked."""

    explained: int = 0
    unexplained: int = 0
    not_asked: int = 0


@dataclass(frozen=True)
class ClusterAtEnd:
    """The cluster at the end of a log: levels of features, 0 if no record sets one, and brokers.

    supports: the highest metadata.version that a broker supports, which tells its release.
    """

    supports: int = 0
    metadata_version: int = 0
    elr_version: int = 0
    brokers: tuple[int, ...] = ()
    fenced: tuple[int, ...] = ()

    @classmethod
    def of(cls, state: ClusterState) -> ClusterAtEnd:
        features = state.features
        brokers = tuple(sorted(state.brokers))
        level = features.get(METADATA, 0)
        supports = max((broker.level for broker in state.brokers.values()), default=level)
        return cls(supports, level, features.get(ELR_FEATURE, 0), brokers, state.fenced_brokers())


@dataclass
class LogFindings:
    """The findings in one log, or in some of its partitions. partitions: their number at its end."""

    log: MetadataLog
    read: ReadSoFar
    partitions: int = 0
    flags: list[tuple[PartitionKey, AuditFlag]] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    incomplete_bytes: int = 0
    records: RecordShares = field(default_factory=RecordShares)
    cluster: ClusterAtEnd = ClusterAtEnd()

    def sort(self) -> None:
        place = {path: number for number, path in enumerate(self.log.files)}
        order = audit_rules().order
        self.flags.sort(key=lambda pair: (pair[1].offset, pair[0], order[pair[1].rule], pair[1].message))
        self.damage.sort(key=lambda damage: (place[damage.path], damage.position, damage.offset))

    def described(self) -> AuditedLog:
        read = self.read
        return AuditedLog(
            name=self.log.name,
            files=self.log.files,
            records=read.records,
            first_offset=read.first_offset,
            last_offset=read.last_offset,
            partitions=self.partitions,
            explained=self.records.explained,
            unexplained=self.records.unexplained,
            not_asked=self.records.not_asked,
            aborted_transactions=read.transactions_aborted,
            open_transaction=read.transaction_open,
            incomplete_bytes=self.incomplete_bytes,
            metadata_version=self.cluster.metadata_version,
            kafka=line_seen(self.cluster.supports),
            or_later=self.cluster.supports > 0 and is_newest(self.cluster.supports),
            elr_version=self.cluster.elr_version,
            brokers=self.cluster.brokers,
            fenced=self.cluster.fenced,
        )


def report_of(
    findings: Sequence[LogFindings],
    timelines: Sequence[AuditTimeline],
    started: float,
    *,
    strict: bool,
    interrupted: bool = False,
    repairs: Repairs = NONE,
) -> AuditReport:
    """Return the report of all logs; raise UsageFault if no record could be read."""
    damage = tuple(AuditDamage(d.path, d.position, d.offset, d.message) for f in findings for d in f.damage)
    records = sum(each.read.records for each in findings)
    if records == 0:
        if interrupted:
            raise KeyboardInterrupt
        raise _no_record(damage, findings)
    flags = tuple(flag for each in findings for _, flag in each.flags)
    unread: dict[Unread, UnreadCount] = {}
    for each in findings:
        for kind, more in each.read.unread.items():
            before = unread.get(kind)
            unread[kind] = more if before is None else replace(before, count=before.count + more.count)
    is_violated = any(flag.severity != "low" for flag in flags)
    return AuditReport(
        verdict="violated" if is_violated else "inconclusive" if damage or interrupted else "no_sign",
        records=records,
        partitions=sum(each.partitions for each in findings),
        flags=flags,
        damage=damage,
        logs=tuple(each.described() for each in findings),
        unread=tuple(
            UnreadRecords(*kind, count=counted.count, path=counted.path, offset=counted.offset)
            for kind, counted in sorted(unread.items())
        ),
        seconds=round(time.monotonic() - started, 3),
        timelines=tuple(timelines),
        strict=strict,
        interrupted=interrupted,
        repaired=repairs.reported(),
        invisible=audit_rules().invisible,
    )


def add_share(whole: LogFindings, share: LogFindings, shared: int, shared_damage: frozenset[Damage]) -> None:
    """Add the findings of one judge. shared, shared_damage: records and damage that every judge reads."""
    read, more = whole.read, share.read
    read.records += more.records - shared
    firsts = [each for each in (read.first_offset, more.first_offset) if each is not None]
    lasts = [each for each in (read.last_offset, more.last_offset) if each is not None]
    read.first_offset, read.last_offset = min(firsts, default=None), max(lasts, default=None)
    whole.partitions += share.partitions
    whole.flags += share.flags
    whole.records.explained += share.records.explained
    whole.records.unexplained += share.records.unexplained
    whole.records.not_asked += share.records.not_asked
    whole.damage += [damage for damage in share.damage if damage not in shared_damage]


def _no_record(damage: tuple[AuditDamage, ...], findings: Sequence[LogFindings]) -> UsageFault:
    if damage:
        first = damage[0]
        where = f"{first.path}, byte {first.position}"
        help = TEXT_HELP if _is_text(first.path) else None
        return UsageFault("log-empty", f"no record could be read: {first.message}", where=where, help=help)
    first_log = findings[0].log
    where = first_log.files[0] if len(first_log.files) == 1 else first_log.name
    return UsageFault("log-empty", "the log has no complete batch of records", where=where)


def _is_text(path: str) -> bool:
    """Return whether a local file begins with readable text."""
    try:
        with Path(path).open("rb") as file:
            text = file.read(HEAD).decode("ascii")
            return bool(text) and text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable()
    except (OSError, ValueError):
        return False
