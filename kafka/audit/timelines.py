"""The history of flagged partitions, to show what led to each flag.

An audit stores no history, because there can be a hundred thousand partitions. It reads the logs a second time for
the flagged ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from elrcheck.kafka.audit.findings import LogFindings, time_of
from elrcheck.kafka.log.cluster_state import PartitionChanged, PartitionKey
from elrcheck.kafka.log.entries import Item, RecordRun
from elrcheck.kafka.log.history import Applied, History
from elrcheck.kafka.log.metadata_records import CHANGES, REST, START, name_of_partition
from elrcheck.results.audit_report import WORST_FIRST, AuditFlag, AuditStep, AuditTimeline

MOST = 50
"""Partitions with a timeline."""
MOST_STEPS = 200
"""Steps of a timeline: the last ones are kept."""
BEHIND = 40
"""Steps behind the last flag."""


def worst_partitions(findings: Sequence[LogFindings]) -> list[tuple[LogFindings, list[PartitionKey]]]:
    """Return the flagged partitions that get a timeline, log by log, the worst of each first."""
    ranked: dict[tuple[int, PartitionKey], tuple[int, int]] = {}
    for number, of_log in enumerate(findings):
        for key, flag in of_log.flags:
            rank = (WORST_FIRST.index(flag.severity), flag.offset)
            ranked[number, key] = min(rank, ranked.get((number, key), rank))
    chosen = sorted(ranked, key=lambda each: (ranked[each], each))[:MOST]
    by_log = [(of_log, [key for place, key in chosen if place == n]) for n, of_log in enumerate(findings)]
    return [(of_log, keys) for of_log, keys in by_log if keys]


def timelines_of(findings: LogFindings, keys: Sequence[PartitionKey], items: Iterable[Item]) -> Iterator[AuditTimeline]:
    """Read the log again, and yield the timelines of these partitions."""
    lines = {key: _TimelineUnderWay([flag for each, flag in findings.flags if each == key]) for key in keys}
    end = findings.read.last_offset or 0
    for event in History(_OtherPartitions(keys).skip).events(items):
        if not isinstance(event, Applied):
            continue
        if event.offset > end:
            break  # written since
        for changed in event.changed:
            if (line := lines.get(changed.key)) is not None:
                line.add(_step(event, changed))
    for key, line in lines.items():
        yield AuditTimeline(findings.log.name, line.topic, key.partition, tuple(line.steps), line.left_out)


def _step(event: Applied, changed: PartitionChanged) -> AuditStep:
    stored = changed.after or changed.before
    assert stored is not None
    p = stored.registration
    return AuditStep(
        offset=event.offset,
        time=time_of(event.time),
        record=event.record.name,
        exists=changed.after is not None,
        leader=p.leader,
        leader_epoch=p.leader_epoch,
        partition_epoch=p.partition_epoch,
        replicas=p.replicas,
        adding=p.adding,
        removing=p.removing,
        isr=p.isr,
        elr=p.elr,
        last_known_elr=p.last_known_elr,
    )


class _OtherPartitions:
    """Skips the changes of other partitions without decoding them."""

    def __init__(self, keys: Iterable[PartitionKey]) -> None:
        self._names = {name_of_partition(*key) for key in keys}

    def skip(self, run: RecordRun, number: int) -> int:
        count = 0
        for value in islice(run.values, number, None):
            if value[:START] not in CHANGES or value[START:REST] in self._names:
                break
            count += 1
        return count


class _TimelineUnderWay:
    def __init__(self, flags: Sequence[AuditFlag]) -> None:
        self.topic = flags[0].topic
        self.steps: deque[AuditStep] = deque()
        self.left_out = 0
        self._last_flag = max(flag.offset if flag.until is None else flag.until for flag in flags)
        self._behind = 0

    def add(self, step: AuditStep) -> None:
        if step.offset > self._last_flag:
            self._behind += 1
            if self._behind > BEHIND:
                return
        self.steps.append(step)
        if len(self.steps) > MOST_STEPS:
            self.steps.popleft()
            self.left_out += 1
