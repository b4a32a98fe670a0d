"""The flags of one log.

A flag is open while its partition still breaks the rule or, after an event, lacks a replica in the ISR.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from msgspec.structs import replace

from elrcheck.kafka.audit.builds import Repairs
from elrcheck.kafka.audit.hazard_signs import Sign
from elrcheck.kafka.audit.rules import audit_rules
from elrcheck.kafka.log.cluster_state import PartitionKey
from elrcheck.kafka.log.entries import RecordRun
from elrcheck.kafka.log.history import Applied
from elrcheck.kafka.log.log_files import MetadataLog
from elrcheck.results.audit_report import AuditFlag


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
                over = replace(flag, until=offset, until_time=time_of(time), remedy=advice)
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
