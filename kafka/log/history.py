"""Follows a metadata log in steps: each batch of records with the resulting state.

Records become visible as for the controller: those of a batch together, those of a transaction together at its
end, and those of an aborted one never (KIP-868). A snapshot replaces the state, and is one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from elrcheck.kafka.log.cluster_state import ClusterState, EarlierRecordsMissing, PartitionChanged
from elrcheck.kafka.log.entries import Item, LogEntry, RecordRun, SnapshotStart
from elrcheck.kafka.log.metadata_records import ControlRecord, MetadataRecord, Unread
from elrcheck.kafka.log.record_table import SNAPSHOT_FOOTER
from elrcheck.kafka.log.segments import CutOff, Damage


class Applied(NamedTuple):
    """A record, after it changed the state. offset: in the log; for a record of a snapshot, its last one.

    position: byte of the file where its batch starts, or its line.
    """

    path: str
    offset: int
    time: int
    record: MetadataRecord
    changed: list[PartitionChanged]
    position: int = 0


@dataclass(frozen=True, slots=True)
class Settled:
    """The end of a step: the state can be judged. whole: everything may have changed, by a snapshot of what
    stands up to `offset`.
    """

    whole: bool = False
    offset: int = 0


HistoryEvent: TypeAlias = Applied | Settled | Damage | CutOff


@dataclass(frozen=True, slots=True)
class UnreadCount:
    """The number of records of a kind that were not read, and the place of the first."""

    count: int
    path: str
    offset: int


ApplyRun: TypeAlias = Callable[[RecordRun, int], int]
"""Applies records of a run from that number on, without events; returns how many it has applied."""


@dataclass
class ReadSoFar:
    """Counts of what was read so far."""

    records: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    unread: dict[Unread, UnreadCount] = field(default_factory=dict)
    transactions_aborted: int = 0
    transaction_open: bool = False


class History:
    """Follows one log. `state` is that after the last event."""

    def __init__(self, apply_run: ApplyRun | None = None) -> None:
        self.apply_run = apply_run
        self.state = ClusterState()
        self.read = ReadSoFar()
        self._held: list[LogEntry] | None = None
        """The records of an open transaction."""
        self._snapshot: SnapshotStart | None = None
        self._passed_over = False
        self._unsettled = False
        self._reported: set[str] = set()
        """Messages about impossible records, each reported once."""

    @property
    def in_snapshot(self) -> bool:
        """Whether the last event was about a record of a snapshot."""
        return self._snapshot is not None

    def events(self, items: Iterable[Item]) -> Iterator[HistoryEvent]:
        """Apply a log, one event after the other."""
        for item in items:
            if isinstance(item, LogEntry | RecordRun):
                if self._snapshot is not None and item.path != self._snapshot.path:
                    yield from self._end_snapshot()
                yield from self._entry(item) if isinstance(item, LogEntry) else self._run(item)
            elif isinstance(item, SnapshotStart):
                self._start(item)
            else:
                yield item
        if self._snapshot is not None:
            yield from self._end_snapshot()
        elif self._unsettled and self._held is None:
            yield Settled()
        self.read.transaction_open = self._held is not None

    def _start(self, snapshot: SnapshotStart) -> None:
        """Begin a snapshot, or skip one whose records were read already, which a dump may contain."""
        last = self.read.last_offset
        self._passed_over = last is not None and snapshot.end_offset <= last + 1
        if not self._passed_over:
            self.state = ClusterState()
            self._snapshot = snapshot
            self._held = None

    def _end_snapshot(self) -> Iterator[HistoryEvent]:
        assert self._snapshot is not None
        offset = max(self._snapshot.end_offset - 1, 0)
        self._snapshot = None
        self._unsettled = False
        yield Settled(whole=True, offset=offset)

    def _entry(self, entry: LogEntry) -> Iterator[HistoryEvent]:
        record = entry.record
        if isinstance(record, ControlRecord):
            if record.name == SNAPSHOT_FOOTER.name and self._passed_over:
                self._passed_over = False
            elif record.name == SNAPSHOT_FOOTER.name and self._snapshot is not None:
                yield from self._end_snapshot()
            elif not self._passed_over:
                self._count(self._offset_of(entry))
            return
        if self._passed_over:
            return
        self._count(self._offset_of(entry))
        if isinstance(record, Unread):
            self._count_unread(record, entry)
        else:
            yield from self._follow(entry, record)
        if entry.ends_batch:
            yield from self._end_batch()

    def _run(self, run: RecordRun) -> Iterator[HistoryEvent]:
        number, size = 0, len(run.values)
        while number < size:
            if self.apply_run is not None and self._is_followed():
                count = self.apply_run(run, number)
                if count:
                    self._unsettled = True
                    self._count(run.offsets[number], run.offsets[number + count - 1], count)
                    number += count
                    continue
            item = run.item(number)
            number += 1
            if isinstance(item, Damage):
                yield item
            else:
                yield from self._entry(item)
        if run.ends_batch:
            yield from self._end_batch()

    def _is_followed(self) -> bool:
        """Return whether each record changes the state at once."""
        return self._held is None and self._snapshot is None and not self._passed_over

    def _end_batch(self) -> Iterator[HistoryEvent]:
        if self._unsettled and self._held is None and self._snapshot is None:
            self._unsettled = False
            yield Settled()

    def _follow(self, entry: LogEntry, record: MetadataRecord) -> Iterator[HistoryEvent]:
        match record.name:
            case "BEGIN_TRANSACTION_RECORD":
                self._held = []
            case "ABORT_TRANSACTION_RECORD":
                self._held = None
                self.read.transactions_aborted += 1
            case "END_TRANSACTION_RECORD":
                held, self._held = self._held or [], None
                for each in held:
                    yield from self._applied(each)
            case _ if self._held is not None:
                self._held.append(entry)
            case _:
                yield from self._applied(entry)

    def _applied(self, entry: LogEntry) -> Iterator[HistoryEvent]:
        record = entry.record
        assert isinstance(record, MetadataRecord)
        offset = self._offset_of(entry)
        try:
            changed = self.state.apply(record)
        except EarlierRecordsMissing as fault:
            if str(fault) not in self._reported:
                self._reported.add(str(fault))
                yield Damage(entry.path, entry.position, offset, str(fault))
        else:
            self._unsettled = True
            yield Applied(entry.path, offset, entry.time, record, changed, entry.position)

    def _count_unread(self, kind: Unread, entry: LogEntry) -> None:
        before = self.read.unread.get(kind)
        if before is None:
            self.read.unread[kind] = UnreadCount(1, entry.path, self._offset_of(entry))
        else:
            self.read.unread[kind] = replace(before, count=before.count + 1)

    def _offset_of(self, entry: LogEntry) -> int:
        """Return the offset in the log; 0 in the snapshot that formatting a controller leaves."""
        return entry.offset if self._snapshot is None else max(self._snapshot.end_offset - 1, 0)

    def _count(self, first: int, last: int | None = None, records: int = 1) -> None:
        """Count records. first, last: their offsets; last is None for a single one."""
        self.read.records += records
        if self.read.first_offset is None:
            self.read.first_offset = first
        self.read.last_offset = first if last is None else last
