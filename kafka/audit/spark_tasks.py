"""The Spark tasks of an audit: a file cut into records, and the partitions of a bucket judged.

    file --cut--> records of partitions, by bucket  --shuffle--> judge --> findings
             \\--> all other records --> driver --> broadcast ----/

`cut` looks only at the start of a record, to see which partition it is about; those of a bucket travel
together, undecoded. `judge` follows the partitions of its bucket by the code that audits a
whole log (`LogAudit`), together with the records about the cluster, which every bucket gets. So each partition is
judged as if one process read the log. Logs short enough to keep all tasks busy are not cut (`read_whole`).
"""

from __future__ import annotations

import heapq
import io
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.audit.findings import LogFindings
from elrcheck.kafka.audit.log_audit import findings_of
from elrcheck.kafka.audit.rules import Repairs
from elrcheck.kafka.log.dump_text import read_dump_text
from elrcheck.kafka.log.entries import EVERY, Item, RecordRun, decoded, ended, name_in, shares_of
from elrcheck.kafka.log.log_files import LogPart, MetadataLog, PartItem, Reached, in_one, read_log
from elrcheck.kafka.log.segments import StoredBatch, read_pieces

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "log int, part int, path string, content binary"
"""A file to be cut. content: None for one that the task opens itself."""
CUT = "log int, part int, piece long, bucket int, body binary"
"""A pickled list of `Placed` items, from a batch on: the records of a bucket, or what is about the cluster, for
every bucket."""
FINDING_SCHEMA = "log int, body binary"
MOST_RECORDS = 1 << 14
"""Records after which those of each bucket become a row."""


class Placed(NamedTuple):
    """An item of a file with its place: the batch, or the damage, by number; then the offset.

    A run has no offset between those of its records that is another item's.
    """

    piece: int
    offset: int
    item: PartItem


Shared: TypeAlias = Mapping[tuple[int, int], Sequence[Placed]]
"""The items for every bucket, by log and part."""
LogAnswer: TypeAlias = Callable[[int, MetadataLog, Iterator[Item]], object]
"""A question about a whole log, its number first."""
END = 1 << 62


class BucketRow(NamedTuple):
    """Records of a bucket."""

    log: int
    part: int
    piece: int
    bucket: int
    body: bytes


def cut_files(batches: Iterable[pa.RecordBatch], logs: Sequence[MetadataLog], buckets: int) -> Iterator[pa.RecordBatch]:
    """Cut files into records by bucket. logs: all logs, by number."""
    for batch in batches:
        for row in batch.to_pylist():
            log, part = row["log"], row["part"]
            with closing(_open(row["path"], row["content"])) as file:
                for piece, bucket, body in _cut(file, logs[log].parts[part], buckets):
                    yield _batch(CUT, BucketRow(log, part, piece, bucket, body)._asdict())


def _batch(columns: str, row: Mapping[str, object]) -> pa.RecordBatch:
    """Return one row as a batch. columns: names and types for Spark, such as CUT."""
    import pyarrow as pa

    kinds = {"int": pa.int32(), "long": pa.int64(), "binary": pa.binary()}
    pairs = [column.split() for column in columns.split(",")]
    schema = pa.schema([(name, kinds[kind]) for name, kind in pairs])
    return pa.RecordBatch.from_pylist([dict(row)], schema)


def _open(path: str, content: bytes | None) -> BinaryIO:
    if content is not None:
        return io.BytesIO(content)
    try:
        return open(path, "rb")
    except OSError as fault:
        raise EnvironmentFault("executor", f"{path}: {fault.strerror or fault}") from fault


def _cut(file: BinaryIO, part: LogPart, buckets: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield rows as (number of the first batch, bucket, pickled items)."""
    size = file.seek(0, io.SEEK_END)
    reached = -1
    rows: dict[int, list[Placed]] = {}
    count = number = 0  # a batch has the number of a full one before it, with which it may share an event
    for piece in read_pieces(part.path, file, size, part.base, footer=part.has_footer):
        shared = rows.setdefault(EVERY, [])
        if not isinstance(piece, StoredBatch):
            shared.append(Placed(number, piece.offset, piece))
            number += 1
            continue
        offsets = (piece.next_offset - 1,) if piece.values else (stored.offset for stored in piece.stored)
        reached = max([reached, *offsets])
        for run in _runs(part.path, piece):
            count += len(run.values)
            for share, own in _shared_out(run, buckets):
                item = own.item(0) if share == EVERY else own
                rows.setdefault(share, []).append(Placed(number, own.offsets[0], item))
        for stored in piece.stored:
            if piece.control or stored.value is None:
                item = decoded(part.path, piece.position, stored, piece.control)
                shared.append(Placed(number, stored.offset, item))
        number += not piece.is_full
        if count >= MOST_RECORDS and not piece.is_full:
            yield from _rows_of(rows)
            rows, count = {}, 0
    yield from _rows_of(rows)
    if reached >= 0:
        yield END, EVERY, pickle.dumps([Placed(END, reached, Reached(reached))])


def _shared_out(run: RecordRun, buckets: int) -> Iterator[tuple[int, RecordRun]]:
    """Yield the records of each bucket, split where a record for every bucket stands between them."""
    own: dict[int, list[int]] = {}
    for n, share in enumerate(shares_of(run.values, buckets)):
        if share == EVERY:
            yield from ((bucket, run.chosen(numbers)) for bucket, numbers in own.items())
            yield EVERY, run.chosen([n])
            own = {}
        else:
            own.setdefault(share, []).append(n)
    yield from ((bucket, run.chosen(numbers)) for bucket, numbers in own.items())


def _runs(path: str, batch: StoredBatch) -> Iterator[RecordRun]:
    """Yield the records of a batch that have a value; one by one if they may have times of their own."""
    if batch.control:
        return
    if batch.values is not None:
        offsets = range(batch.base_offset, batch.next_offset)
        yield RecordRun(path, batch.position, batch.time, offsets, batch.values, ends_batch=False)
        return
    for stored in batch.stored:
        if stored.value is not None:
            yield RecordRun(path, batch.position, stored.time, (stored.offset,), (stored.value,), ends_batch=False)


def _rows_of(rows: Mapping[int, list[Placed]]) -> Iterator[tuple[int, int, bytes]]:
    return ((items[0].piece, bucket, pickle.dumps(items)) for bucket, items in rows.items() if items)


# ---------------------------------------------------------------------------- buckets


def judge_bucket(
    batches: Iterable[pa.RecordBatch], logs: Sequence[MetadataLog], shared: Shared, repairs: Repairs
) -> Iterator[pa.RecordBatch]:
    """Judge the partitions of buckets. The rows are in the order of buckets, then of logs."""
    for (_, number), rows in groupby(_rows(batches), key=lambda row: (row.bucket, row.log)):
        findings = findings_of(logs[number], together(number, logs[number], shared, rows), repairs)
        yield _batch(FINDING_SCHEMA, {"log": number, "body": pickle.dumps(findings)})


def only_named(batches: Iterable[pa.RecordBatch], names: Collection[bytes]) -> Iterator[pa.RecordBatch]:
    """Yield rows with the records of these partitions alone. names: as the records have them."""
    for row in _rows(batches):
        items = []
        for piece, offset, run in pickle.loads(row.body):
            own = run.chosen([n for n, value in enumerate(run.values) if name_in(value) in names])
            if own.values:
                items.append(Placed(piece, offset, own))
        if items:
            yield _batch(CUT, row._replace(body=pickle.dumps(items))._asdict())


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[BucketRow]:
    for batch in batches:
        yield from map(BucketRow, *(batch.column(name).to_pylist() for name in BucketRow._fields))


def together(number: int, log: MetadataLog, shared: Shared, rows: Iterable[BucketRow]) -> Iterator[Item]:
    """Return the items for every bucket and those of these rows, as one log."""
    place = {part: index for index, part in enumerate(log.parts)}
    waiting = _Waiting(rows)

    def read(part: LogPart) -> Iterator[PartItem]:
        index = place[part]
        return _with_ends(heapq.merge(shared.get((number, index), ()), waiting.of(index), key=itemgetter(0, 1)))

    return in_one(log, read)


class _Waiting:
    """Rows in order, handed out part by part."""

    def __init__(self, rows: Iterable[BucketRow]) -> None:
        self._rows = iter(rows)
        self._next = next(self._rows, None)

    def of(self, part: int) -> Iterator[Placed]:
        while self._next is not None and self._next.part == part:
            yield from pickle.loads(self._next.body)
            self._next = next(self._rows, None)


def _with_ends(items: Iterable[Placed]) -> Iterator[PartItem]:
    """Yield the items, with the last record of each batch among them marked as such."""
    for _, group in groupby(items, key=lambda placed: placed.piece):
        yield from ended([placed.item for placed in group])


# ---------------------------------------------------------------------------- whole logs


def read_whole(
    batches: Iterable[pa.RecordBatch], logs: Sequence[MetadataLog], answer: LogAnswer
) -> Iterator[pa.RecordBatch]:
    """Read logs from start to end: short ones, and dumps, whose lines depend on those before. A row is a log."""
    for batch in batches:
        for row in batch.to_pylist():
            log = logs[row["log"]]
            body = pickle.dumps(answer(row["log"], log, _whole(log, row["content"])))
            yield _batch(FINDING_SCHEMA, {"log": row["log"], "body": body})


def _whole(log: MetadataLog, content: bytes | None) -> Iterator[Item]:
    """Yield the items of a log. content: of a dump that Spark reads."""
    if log.dump is not None:
        with closing(_open(log.dump, content)) as file:
            yield from read_dump_text(log.dump, file)
        return
    for path in log.files:
        _open(path, None).close()  # an executor that lacks the file says so
    yield from read_log(log)


def audited_whole(_: int, log: MetadataLog, items: Iterator[Item], repairs: Repairs) -> LogFindings:
    """Return the findings in a log."""
    return findings_of(log, items, repairs)
