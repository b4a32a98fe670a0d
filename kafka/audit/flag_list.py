"""The flags of one log; a flag is open while its partition still breaks the rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from msgspec.structs import replace

from elrcheck.kafka.audit.builds import Repairs
from elrcheck.kafka.audit.hazard_signs import Sign
from elrcheck.kafka.audit.rules import RULES
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
    open: dict[PartitionKey, dict[str, int]] = field(default_factory=dict)
    """The rules that a partition breaks now, each with the number of its flag."""

    def add(self, place: RecordPlace, key: PartitionKey, topic: str, sign: Sign) -> None:
        """Raise a flag, unless it is harmless."""
        if not self.repairs.harmless(sign[0]):
            self.raised.append((key, flag_of(sign, place, self.log.name, topic, key.partition)))

    def update(
        self, key: PartitionKey, topic: str, signs: Iterable[Sign], place: RecordPlace | None, offset: int
    ) -> None:
        """Raise flags for rules that a partition newly breaks, and close those of rules that hold again.

        place: of the record that changed it; None if nothing new can be wrong. offset: at which conditions end.
        """
        messages = {rule: message for rule, message in signs if not self.repairs.harmless(rule)}
        before, now = self.open.pop(key, {}), dict[str, int]()
        for rule, number in before.items():
            if rule not in messages:
                flagged, flag = self.raised[number]
                self.raised[number] = flagged, replace(flag, until=offset)
        for rule, message in messages.items():
            if rule in before:
                now[rule] = before[rule]
            elif place is not None:
                now[rule] = len(self.raised)
                self.add(place, key, topic, (rule, message))
        if now:
            self.open[key] = now


def flag_of(sign: Sign, place: RecordPlace, log: str, topic: str, partition: int) -> AuditFlag:
    """Return the flag for a sign, with the severity and the remedy of its rule."""
    name, message = sign
    rule = RULES[name]
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
    )


def time_of(milliseconds: int) -> str:
    """Return a time of the log in UTC, or the number itself if it is out of range."""
    try:
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return str(milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
