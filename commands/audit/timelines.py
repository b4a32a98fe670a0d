"""The history of the partitions that an audit flags, for a reader who wants to see how it came to that.

An audit keeps no history of any partition, because there can be a hundred thousand of them. Once it is known
which are flagged, their logs are read a second time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from elrcheck.commands.audit.log_audit import LogAudit, time_of
from elrcheck.kafka.log.cluster_state import Key
from elrcheck.kafka.log.entries import Item
from elrcheck.kafka.log.history import Applied, History
from elrcheck.results.audit_report import WORST_FIRST, AuditFlag, AuditStep, AuditTimeline

MOST = 50
"""Partitions with a timeline."""
MOST_STEPS = 200
"""Steps of a timeline: the last ones are kept."""
BEHIND = 40
"""Steps that are kept behind the last flag."""


def worst_partitions(audited: Sequence[LogAudit]) -> list[tuple[LogAudit, list[Key]]]:
    """The flagged partitions that get a timeline, log by log, the worst of each first."""
    ranked: dict[tuple[int, Key], tuple[int, int]] = {}
    for number, audit in enumerate(audited):
        for flag, key in zip(audit.flags, audit.flagged, strict=True):
            rank = (WORST_FIRST.index(flag.severity), flag.offset)
            ranked[number, key] = min(rank, ranked.get((number, key), rank))
    chosen = sorted(ranked, key=lambda each: (ranked[each], each))[:MOST]
    found = []
    for number, audit in enumerate(audited):
        if keys := [key for place, key in chosen if place == number]:
            found.append((audit, keys))
    return found


def timelines_of(audit: LogAudit, keys: Sequence[Key], items: Iterable[Item]) -> Iterator[AuditTimeline]:
    """Read the log again, for these partitions."""
    history = History()
    lines = {key: _Line(_last_flag(audit, key)) for key in keys}
    end = audit.history.read.last_offset or 0
    for event in history.events(items):
        if not isinstance(event, Applied):
            continue
        if event.offset > end:
            break  # written since
        for changed in event.changed:
            if (line := lines.get(changed.key)) is not None:
                stored = changed.after or changed.before
                assert stored is not None
                p = stored.registration
                line.add(
                    AuditStep(
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
                )
    for key in keys:
        line = lines[key]
        topic = next(flag.topic for flag, each in zip(audit.flags, audit.flagged, strict=True) if each == key)
        yield AuditTimeline(audit.log.name, topic, key.partition, tuple(line.steps), line.left_out)


def _last_flag(audit: LogAudit, key: Key) -> int:
    """The offset of the last thing said about a partition."""

    def last(flag: AuditFlag) -> int:
        return flag.offset if flag.until is None else max(flag.offset, flag.until)

    return max(last(flag) for flag, each in zip(audit.flags, audit.flagged, strict=True) if each == key)


class _Line:
    def __init__(self, last_flag: int) -> None:
        self.steps: deque[AuditStep] = deque()
        self.left_out = 0
        self._last_flag = last_flag
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
