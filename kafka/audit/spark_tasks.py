"""The Spark tasks of an audit: a file cut into records, and the partitions of a bucket judged.

    file --cut--> records of partitions, by bucket  --shuffle--> judge --> findings
             \\--> all other records --> driver --> broadcast ----/

`cut` looks only at the start of a record, to see which partition it is about; those of a bucket travel
together, undecoded. `judge` follows the partitions of its bucket by the code that audits a
whole log (`LogAudit`), together with the records about the cluster, which every bucket gets. So whatever
concerns one partition is judged as if the log were read by one process.
"""

from __future__ import annotations

import io
import pickle
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.audit.builds import Repairs
from elrcheck.kafka.audit.findings import LogFindings
from elrcheck.kafka.audit.log_audit import LogAudit
from elrcheck.kafka.log.dump_text import read_dump_text
from elrcheck.kafka.log.entries import Item, LogEntry, RecordRun, decoded
from elrcheck.kafka.log.log_files import LogPart, MetadataLog, PartItem, Reached, in_one
from elrcheck.kafka.log.segments import StoredBatch, read_pieces
from elrcheck.kafka.log.shares import EVERY, name_in, shares_of

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "log int, part int, path string, content binary"
"""A file to be cut. content: None for one that the task opens itself."""
CUT = "log int, part int, piece long, bucket int, body binary"
"""Records of a bucket (a pickled list of `Piece`) from a batch on; or items about the cluster (a pickled list of
`Placed`), for every bucket."""
FOUND = "log int, body binary"
MOST_RECORDS = 1 << 14
"""Records after which those of each bucket become a row."""


class Piece(NamedTuple):
    """A run, and the number of its batch in the file."""

    number: int
    run: RecordRun


class Placed(NamedTuple):
    """An item of a file with its place: the batch, or the damage, by number; then by offset."""

    piece: int
    offset: int
    item: PartItem


Shared: TypeAlias = Mapping[tuple[int, int], Sequence[Placed]]
"""What all buckets get: by log and part."""
END = 1 << 62


class BucketRow(NamedTuple):
    """Records of a bucket."""

    log: int
    part: int
    piece: int
    bucket: int
    body: bytes


def cut_files(batches: Iterable[pa.RecordBatch], logs: Sequence[MetadataLog], buckets: int) -> Iterator[pa.RecordBatch]:
    """Cut files into records. logs: all logs, by number."""
    for batch in batches:
        for row in batch.to_pylist():
            log, part = row["log"], row["part"]
            with closing(_open(row["path"], row["content"])) as file:
                for piece, bucket, body in _cut(file, logs[log].parts[part], buckets):
                    yield _columns(BucketRow(log, part, piece, bucket, body))


def _columns(row: BucketRow) -> pa.RecordBatch:
    import pyarrow as pa

    kinds = {"int": pa.int32(), "long": pa.int64(), "binary": pa.binary()}
    pairs = [column.split() for column in CUT.split(",")]
    schema = pa.schema([(name, kinds[kind]) for name, kind in pairs])
    return pa.RecordBatch.from_pylist([row._asdict()], schema)


def _open(path: str, content: bytes | None) -> BinaryIO:
    if content is not None:
        return io.BytesIO(content)
    try:
        return open(path, "rb")
    except OSError as fault:
        raise EnvironmentFault("executor", f"{path}: {fault.strerror or fault}") from fault


def _cut(file: BinaryIO, part: LogPart, buckets: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield rows as (where records start, their bucket, the records)."""
    size = file.seek(0, io.SEEK_END)
    reached = -1
    rows: dict[int, list[Piece]] = {}
    shared: list[Placed] = []
    count = 0
    for number, piece in enumerate(read_pieces(part.path, file, size, part.base, footer=part.has_footer)):
        if not isinstance(piece, StoredBatch):
            shared.append(Placed(number, piece.offset, piece))
            continue
        offsets = (piece.next_offset - 1,) if piece.values else (stored.offset for stored in piece.stored)
        reached = max([reached, *offsets])
        for run in _runs(part.path, piece):
            shares = shares_of(run.values, buckets)
            for share in set(shares) - {EVERY}:
                own = run.chosen([n for n, other in enumerate(shares) if other == share])
                rows.setdefault(share, []).append(Piece(number, own))
            others = [n for n, share in enumerate(shares) if share == EVERY]
            shared += [Placed(number, run.offsets[n], run.item(n)) for n in others]
            count += len(shares)
        for stored in piece.stored:
            if piece.control or stored.value is None:
                item = decoded(part.path, piece.position, stored, piece.control)
                shared.append(Placed(number, stored.offset, item))
        if count >= MOST_RECORDS:
            yield from _rows_of(rows, shared)
            rows, shared, count = {}, [], 0
    yield from _rows_of(rows, shared)
    if reached >= 0:
        yield END, EVERY, pickle.dumps([Placed(END, reached, Reached(reached))])


def _runs(path: str, batch: StoredBatch) -> Iterator[RecordRun]:
    """Yield the records of a batch that have a value; each by itself if they may have times of their own."""
    if batch.control:
        return
    if batch.values is not None:
        offsets = range(batch.base_offset, batch.next_offset)
        yield RecordRun(path, batch.position, batch.time, offsets, batch.values, ends_batch=False)
        return
    for stored in batch.stored:
        if stored.value is not None:
            yield RecordRun(path, batch.position, stored.time, (stored.offset,), (stored.value,), ends_batch=False)


def _rows_of(rows: Mapping[int, list[Piece]], shared: list[Placed]) -> Iterator[tuple[int, int, bytes]]:
    for bucket, pieces in rows.items():
        yield pieces[0].number, bucket, pickle.dumps(pieces)
    if shared:
        yield shared[0].piece, EVERY, pickle.dumps(shared)


# ---------------------------------------------------------------------------- buckets


def judge_bucket(
    batches: Iterable[pa.RecordBatch], logs: Sequence[MetadataLog], shared: Shared, repairs: Repairs
) -> Iterator[pa.RecordBatch]:
    """Judge the partitions of buckets, whose rows stand in the order of the buckets, and of the logs."""
    import pyarrow as pa

    for (_, number), rows in groupby(_rows(batches), key=lambda row: (row.bucket, row.log)):
        audit = LogAudit(logs[number], repairs)
        for _ in audit.run(together(number, logs[number], shared, rows)):
            pass
        yield pa.RecordBatch.from_pylist(
            [{"log": number, "body": pickle.dumps(audit.findings())}],
            pa.schema([("log", pa.int32()), ("body", pa.binary())]),
        )


def only_named(batches: Iterable[pa.RecordBatch], names: Collection[bytes]) -> Iterator[pa.RecordBatch]:
    """Yield rows with the records of these partitions alone. names: as the records have them."""
    for row in _rows(batches):
        pieces = [
            Piece(number, run.chosen([n for n, value in enumerate(run.values) if name_in(value) in names]))
            for number, run in pickle.loads(row.body)
        ]
        if any(piece.run.values for piece in pieces):
            yield _columns(row._replace(body=pickle.dumps([piece for piece in pieces if piece.run.values])))


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[BucketRow]:
    for batch in batches:
        yield from map(BucketRow, *(batch.column(name).to_pylist() for name in BucketRow._fields))


def together(number: int, log: MetadataLog, shared: Shared, rows: Iterable[BucketRow]) -> Iterator[Item]:
    """What all buckets get and these rows, as one log."""
    place = {part: index for index, part in enumerate(log.parts)}
    waiting = _Waiting(rows)

    def read(part: LogPart) -> Iterator[PartItem]:
        index = place[part]
        own = waiting.of(index)
        return _with_ends(_merged(shared.get((number, index), ()), own))

    return in_one(log, read)


class _Waiting:
    """Rows in order, handed out part by part."""

    def __init__(self, rows: Iterable[BucketRow]) -> None:
        self._rows = iter(rows)
        self._next = next(self._rows, None)

    def of(self, part: int) -> Iterator[Piece]:
        while self._next is not None and self._next.part == part:
            yield from pickle.loads(self._next.body)
            self._next = next(self._rows, None)


def _merged(some: Iterable[Placed], pieces: Iterable[Piece]) -> Iterator[Placed]:
    """Both in order; a run is cut where something else stands between its records."""
    left = iter(some)
    one = next(left, None)
    for number, run in pieces:
        while one is not None and one[:2] <= (number, run.offsets[-1]):
            before = bisect_left(run.offsets, one.offset) if one.piece == number else 0
            if before:
                first = run._replace(offsets=run.offsets[:before], values=run.values[:before])
                yield Placed(number, first.offsets[0], first)
                run = run.since(one.offset)
            yield one
            one = next(left, None)
        yield Placed(number, run.offsets[0], run)
    if one is not None:
        yield one
    yield from left


def _with_ends(items: Iterable[Placed]) -> Iterator[PartItem]:
    """Mark the last record of each batch, whichever of its records are here."""
    for _, group in groupby(items, key=lambda placed: placed.piece):
        here = [placed.item for placed in group]
        for number in range(len(here) - 1, -1, -1):
            item = here[number]
            if isinstance(item, LogEntry | RecordRun):
                here[number] = item._replace(ends_batch=True)
                break
        yield from here


# ---------------------------------------------------------------------------- dumps


def read_dumps(
    batches: Iterable[pa.RecordBatch],
    logs: Sequence[MetadataLog],
    answer: Callable[[int, MetadataLog, Iterator[Item]], object],
) -> Iterator[pa.RecordBatch]:
    """Read whole dumps: each is one text, whose lines depend on those before."""
    import pyarrow as pa

    for batch in batches:
        for row in batch.to_pylist():
            with closing(_open(row["path"], row["content"])) as file:
                items = read_dump_text(row["path"], file)
                body = pickle.dumps(answer(row["log"], logs[row["log"]], items))
            yield pa.RecordBatch.from_pylist(
                [{"log": row["log"], "body": body}], pa.schema([("log", pa.int32()), ("body", pa.binary())])
            )


def audited_whole(_: int, log: MetadataLog, items: Iterator[Item], repairs: Repairs) -> LogFindings:
    audit = LogAudit(log, repairs)
    for _event in audit.run(items):
        pass
    return audit.findings()
