"""Near misses in a metadata log: situations close to a loss, whether or not one followed.

There are four kinds. A leader loses its leadership and soon leads again without a restart, as F-51 needs. No replica
leads, which is an outage. The ISR of a leader has fewer members than min.insync.replicas. A broker is in the ELR, so it
counts as complete, while it is fenced, stopping or not registered. None breaks a rule, and none is a flag of the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from elrcheck.kafka.audit.findings import time_of
from elrcheck.kafka.audit.hazard_signs import UNREAD_FOR
from elrcheck.kafka.audit.judged import settings_of
from elrcheck.kafka.log.cluster_state import ClusterState, PartitionChanged, PartitionKey, StoredPartition
from elrcheck.kafka.log.entries import Item
from elrcheck.kafka.log.history import Applied, History, Settled
from elrcheck.kafka.log.log_files import logs_of, read_log
from elrcheck.kafka.log.record_table import ABOUT_BROKERS, ABOUT_SETTINGS
from elrcheck.kafka.partition_questions import NO_LEADER
from elrcheck.model.state import configured_min_isr
from elrcheck.results.audit_report import NearMiss, NearMisses, NearMissKind, NearTogether

MOST = 300
"""Near misses of a kind that are reported one by one."""


class LastLed(NamedTuple):
    """The moment at which a broker lost the leadership. registered: the epoch of its registration then."""

    registered: int
    offset: int
    time: int


class NearMissWatch:
    """Watches one log. `near` has the near misses so far, in the order of the log."""

    def __init__(self, log: str) -> None:
        self.near: list[NearMiss] = []
        self._spans: list[tuple[int, int | None]] = []
        """When each of them began and ended, in milliseconds."""
        self.log = log
        self._history = History()
        self._last_led: dict[PartitionKey, dict[int, LastLed]] = {}
        self._open: dict[tuple[PartitionKey, NearMissKind], int] = {}
        """Conditions that hold, each with its number in `near`."""
        self._touched: set[PartitionKey] = set()
        self._with_elr: set[PartitionKey] = set()
        self._at: Applied | None = None

    @property
    def state(self) -> ClusterState:
        """The cluster at the end of what was read."""
        return self._history.state

    @property
    def end(self) -> int:
        """The offset of the last record that was read, -1 without one."""
        last = self._history.read.last_offset
        return -1 if last is None else last

    def watch(self, items: Iterable[Item]) -> None:
        """Follow the log to its end, or to where the items end."""
        for event in self._history.events(items):
            if isinstance(event, Applied):
                self._applied(event)
            elif isinstance(event, Settled):
                self._settled(event.whole)

    def _applied(self, event: Applied) -> None:
        self._at = event
        for changed in event.changed:
            self._touched.add(changed.key)
            if not self._history.in_snapshot:
                self._follow_leader(event, changed)
        if event.record.name in ABOUT_BROKERS:
            self._touched |= self._with_elr
        elif event.record.name in ABOUT_SETTINGS:
            self._touched |= self._history.state.partitions.keys()

    def _follow_leader(self, event: Applied, changed: PartitionChanged) -> None:
        key, before, after = changed
        if before is None or after is None:
            self._last_led.pop(key, None)
            return
        was, now = before.shape.lists.leader, after.shape.lists.leader
        if was == now:
            return
        led = self._last_led.setdefault(key, {})
        last = led.pop(now, None)
        if last is not None and event.time - last.time <= UNREAD_FOR and last.registered == self._epoch(now):
            others = [broker for broker, each in led.items() if each.offset > last.offset]
            if was != NO_LEADER:
                others.append(was)
            if others:
                between = ", ".join(map(str, dict.fromkeys(others)))
                words = f"leader {now}, then {between}, then {now} again after {(event.time - last.time) / 1000:.2f} s"
                self._add(key, "leader-returned", f"{words}, not restarted", last.offset, last.time)
                self._end(len(self.near) - 1, event)
        if was != NO_LEADER:
            led[was] = LastLed(self._epoch(was), event.offset, event.time)

    def _epoch(self, broker: int) -> int:
        stored = self._history.state.brokers.get(broker)
        return -1 if stored is None else stored.epoch

    def _settled(self, whole: bool) -> None:
        """Judge the partitions that may have changed. whole: all of them, by a snapshot."""
        state = self._history.state
        if whole:
            self._with_elr = {key for key, stored in state.partitions.items() if stored.shape.lists.elr}
        touched = state.partitions.keys() | {key for key, _ in self._open} if whole else self._touched
        for key in sorted(touched):
            stored = state.partitions.get(key)
            if stored is not None and stored.shape.lists.elr:
                self._with_elr.add(key)
            else:
                self._with_elr.discard(key)
            for kind, judge in CONDITIONS.items():
                self._condition(key, kind, None if stored is None else judge(state, key, stored))
        self._touched.clear()

    def _condition(self, key: PartitionKey, kind: NearMissKind, words: str | None) -> None:
        """Begin or end a condition of a partition. words: what holds now, None if it does not."""
        number = self._open.get((key, kind))
        at = self._at
        assert at is not None
        if number is None and words is not None:
            self._open[key, kind] = len(self.near)
            self._add(key, kind, words, at.offset, at.time)
        elif number is not None and words is None:
            del self._open[key, kind]
            self._end(number, at)

    def _add(self, key: PartitionKey, kind: NearMissKind, words: str, offset: int, time: int) -> None:
        topic = self._history.state.name_of(key)
        self.near.append(NearMiss(kind, self.log, topic, key.partition, words, offset, time_of(time)))
        self._spans.append((time, None))

    def _end(self, number: int, at: Applied) -> None:
        self.near[number] = replace(self.near[number], until=at.offset, until_time=time_of(at.time))
        self._spans[number] = self._spans[number][0], at.time

    def longest(self, kind: NearMissKind) -> float | None:
        """Return the seconds of the longest near miss of a kind, at least 0; None without one."""
        last = 0 if self._at is None else self._at.time
        spans = [span for near, span in zip(self.near, self._spans, strict=True) if near.kind == kind]
        return max((max((last if end is None else end) - start, 0) / 1000 for start, end in spans), default=None)

    def together(self) -> Iterator[NearTogether]:
        """Yield the partitions in which a leader was away and back, and something else happened within 15 s of it."""
        of_partition: dict[tuple[str, int], list[int]] = {}
        for number, near in enumerate(self.near):
            of_partition.setdefault((near.topic, near.partition), []).append(number)
        for (topic, partition), numbers in of_partition.items():
            returns = [self._spans[number][0] for number in numbers if self.near[number].kind == "leader-returned"]
            while returns:
                start = returns[0]
                close = [n for n in numbers if abs(self._spans[n][0] - start) <= UNREAD_FOR]
                returns = [other for other in returns if other - start > UNREAD_FOR]
                kinds = tuple(dict.fromkeys(self.near[number].kind for number in close))
                if len(kinds) > 1:
                    times = [self._spans[number][0] for number in close]
                    first = self.near[close[times.index(min(times))]]
                    seconds = (max(times) - min(times)) / 1000
                    yield NearTogether(self.log, topic, partition, kinds, first.offset, first.time, seconds)


def _without_leader(state: ClusterState, key: PartitionKey, stored: StoredPartition) -> str | None:
    p = stored.shape.lists
    return f"no leader: ISR {list(p.isr)}, ELR {list(p.elr)}" if p.leader == NO_LEADER else None


def _below_min_isr(state: ClusterState, key: PartitionKey, stored: StoredPartition) -> str | None:
    p = stored.shape.lists
    if p.leader == NO_LEADER:
        return None
    settings = settings_of(state.min_isr, state.name_of(key), state.elr_enabled, 1)
    least = min(configured_min_isr(settings), len(p.replicas))
    below = len(p.isr) < least
    return f"ISR {list(p.isr)} of replicas {list(p.replicas)}, min.insync.replicas {least}" if below else None


def _eligible_and_gone(state: ClusterState, _: PartitionKey, stored: StoredPartition) -> str | None:
    p = stored.shape.lists
    gone = [f"{broker} is {why}" for broker in p.elr if (why := _why_gone(state, broker))]
    return f"ELR {list(p.elr)}, ISR {list(p.isr)}: {', '.join(gone)}" if gone else None


def _why_gone(state: ClusterState, broker: int) -> str:
    stored = state.brokers.get(broker)
    if stored is None:
        return "not registered"
    if stored.fenced:
        return "fenced"
    return "stopping" if stored.in_controlled_shutdown else ""


Judge = Callable[[ClusterState, PartitionKey, StoredPartition], str | None]
CONDITIONS: Mapping[NearMissKind, Judge] = {
    "no-leader": _without_leader,
    "below-min-isr": _below_min_isr,
    "eligible-gone": _eligible_and_gone,
}
KINDS: tuple[NearMissKind, ...] = ("leader-returned", *CONDITIONS)


def watched(paths: Sequence[Path | str], interrupted: Callable[[], bool]) -> list[NearMissWatch]:
    """Follow every log under the paths, each to its end."""
    watches = []
    for log in logs_of([Path(path) for path in paths]):
        if interrupted():
            break
        watches.append(NearMissWatch(log.name))
        watches[-1].watch(read_log(log, interrupted))
    return watches


def near_misses(watches: Sequence[NearMissWatch], most: int = MOST) -> tuple[NearMisses, ...]:
    """Return the near misses of the logs by kind, in the order of each log. most: of a kind, one by one."""
    return tuple(_of_kind(kind, watches, most) for kind in KINDS)


def _of_kind(kind: NearMissKind, watches: Sequence[NearMissWatch], most: int) -> NearMisses:
    near = [each for watch in watches for each in watch.near if each.kind == kind]
    partitions = len({(each.log, each.topic, each.partition) for each in near})
    longest = max((seconds for watch in watches if (seconds := watch.longest(kind)) is not None), default=None)
    return NearMisses(kind, len(near), partitions, tuple(near[:most]), longest)
