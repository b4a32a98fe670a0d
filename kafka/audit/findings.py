"""The findings of an audit in one log, such as its flags, and the report of all logs.

The order of flags and damage depends on the log alone, not on how it was read.

A flag is open while its partition still breaks the rule or, after an event, lacks a replica in the ISR.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.audit.hazard_signs import Sign
from elrcheck.kafka.audit.rules import NONE, Repairs, audit_rules, is_newest, line_seen
from elrcheck.kafka.log.cluster_state import ELR_FEATURE, METADATA, ClusterState, PartitionKey
from elrcheck.kafka.log.entries import RecordRun
from elrcheck.kafka.log.history import Applied, ReadSoFar, UnreadCount
from elrcheck.kafka.log.log_files import MetadataLog
from elrcheck.kafka.log.metadata_records import Unread
from elrcheck.kafka.log.segments import Damage
from elrcheck.results.audit_report import AuditDamage, AuditedLog, AuditFlag, AuditReport, AuditTimeline, UnreadRecords


class RecordPlace(NamedTuple):
    """The place of a record, and the time at which it was written."""

    path: str
    offset: int
    time: int
    position: int

    @classmethod
    def of(cls, applied: Applied) -> RecordPlace:
        return cls(applied.path, applied.offset, applied.time, applied.position)

    @classmethod
    def in_run(cls, run: RecordRun, number: int) -> RecordPlace:
        return cls(run.path, run.offsets[number], run.time, run.position)


@dataclass
class FlagList:
    """Raises flags, in the order of the log, unless the build has a patch that makes them harmless."""

    log: MetadataLog
    repairs: Repairs
    raised: list[tuple[PartitionKey, AuditFlag]] = field(default_factory=list)
    open: dict[PartitionKey, list[int]] = field(default_factory=dict)
    """The numbers of the flags of a partition that are open."""

    def add(self, place: RecordPlace, key: PartitionKey, topic: str, sign: Sign) -> None:
        """Raise a flag, unless it is harmless."""
        if not self.repairs.harmless(sign[0]):
            if audit_rules().by_name[sign[0]].afterwards:
                self.open.setdefault(key, []).append(len(self.raised))
            self.raised.append((key, flag_of(sign, place, self.log.name, topic, key.partition)))

    def update(
        self,
        key: PartitionKey,
        topic: str,
        signs: Iterable[Sign],
        place: RecordPlace | None,
        end: tuple[int, int],
        recovered: bool,
    ) -> None:
        """Raise flags for rules that a partition newly breaks, and close those that are over.

        place: of the record that changed it; None if nothing new can be wrong. end: the offset and the time at which
        conditions end. recovered: every replica is in the ISR, or the partition is deleted.
        """
        messages = {rule: message for rule, message in signs if not self.repairs.harmless(rule)}
        for number in self.open.pop(key, ()):
            flagged, flag = self.raised[number]
            is_over = recovered and flag.offset != end[0] if flag.event else flag.rule not in messages
            if not is_over:
                self.open.setdefault(key, []).append(number)
                messages.pop(flag.rule, None)
            else:
                offset, time = end
                advice = audit_rules().by_name[flag.rule].afterwards
                over = structs.replace(flag, until=offset, until_time=time_of(time), remedy=advice)
                self.raised[number] = flagged, over
        if place is not None:
            for sign in messages.items():
                self.add(place, key, topic, sign)


def flag_of(sign: Sign, place: RecordPlace, log: str, topic: str, partition: int) -> AuditFlag:
    """Return the flag for a sign, with the severity and the remedy of its rule."""
    name, message = sign
    rule = audit_rules().by_name[name]
    return AuditFlag(
        rule=name,
        hazard=rule.hazard,
        severity=rule.severity,
        log=log,
        path=place.path,
        position=place.position,
        offset=place.offset,
        time=time_of(place.time),
        topic=topic,
        partition=partition,
        message=message,
        remedy=rule.remedy,
        event=rule.event,
    )


def time_of(milliseconds: int) -> str:
    """Return a time of the log in UTC, or the number itself if it is out of range."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return str(milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
