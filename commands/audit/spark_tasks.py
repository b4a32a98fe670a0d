"""The Spark tasks of an audit: a file cut into records, and the partitions of a bucket judged.

    file --cut--> records of partitions  --shuffle by topic--> judge --> findings
             \\--> all other records --> driver --> broadcast ----/

`cut` looks only at the start of a record, to see which partition it is about. `judge` follows the partitions
of its bucket by the code that audits a whole log (`LogAudit`), together with the records about the cluster,
which every bucket gets. So whatever concerns one partition is judged as if the log were read by one process.
"""

from __future__ import annotations

import base64
import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias

from elrcheck.base.errors import EnvironmentFault
from elrcheck.commands.audit.findings import LogFindings
from elrcheck.commands.audit.log_audit import LogAudit
from elrcheck.kafka.log.binary import Malformed, unsigned_varint
from elrcheck.kafka.log.blocks import Block, Values
from elrcheck.kafka.log.dump_text import read_dump_text
from elrcheck.kafka.log.entries import Entry, Item, Run, decoded
from elrcheck.kafka.log.log_files import LogPart, MetadataLog, PartItem, Reached, in_one
from elrcheck.kafka.log.metadata_records import CHANGES, CREATIONS, FRAME_VERSION, REST, START
from elrcheck.kafka.log.record_table import BY_NAME
from elrcheck.kafka.log.segments import Batch, read_pieces

if TYPE_CHECKING:
    import pyarrow as pa

FILE = "log int, part int, path string, content binary"
"""A file to be cut. content: None for one that the task opens itself."""
CUT = (
    "log int, part int, piece long, offset long, time long, position long, topic binary, partition int,"
    " value binary, item binary"
)
"""A record of a partition, undecoded; or an item about the cluster (pickled), with no topic."""
FOUND = "log int, body binary"
ROWS = 4096
ABOUT_A_PARTITION = {BY_NAME[name].key: BY_NAME[name].newest for name in (
    "PARTITION_RECORD", "PARTITION_CHANGE_RECORD")}  # fmt: skip
ABOUT = CHANGES | CREATIONS
"""Both start with the number of the partition and the id of its topic. Keys, with the newest version."""


class Placed(NamedTuple):
    """An item of a file with its place: the batch, or the damage, by number; then by offset."""

    piece: int
    offset: int
    item: PartItem


Shared: TypeAlias = Mapping[tuple[int, int], Sequence[Placed]]
"""What all buckets get: by log and part."""
END = 1 << 62


def cut_files(batches: Iterable[pa.RecordBatch], logs: Sequence[MetadataLog]) -> Iterator[pa.RecordBatch]:
    """Cut files into records. logs: all logs, by number."""
    rows: list[tuple[Any, ...]] = []
    for batch in batches:
        for row in batch.to_pylist():
            log, part = row["log"], row["part"]
            with closing(_open(row["path"], row["content"])) as file:
                for each in _cut(file, logs[log].parts[part]):
                    rows.append((log, part, *each))
                    if len(rows) >= ROWS:
                        yield _columns(rows)
                        rows = []
    if rows:
        yield _columns(rows)


def _columns(rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    import pyarrow as pa

    schema = _kinds()
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _kinds() -> pa.Schema:
    import pyarrow as pa

    kinds = {"int": pa.int32(), "long": pa.int64(), "binary": pa.binary(), "string": pa.string()}
    pairs = [column.split() for column in CUT.split(",")]
    return pa.schema([(name, kinds[kind]) for name, kind in pairs])


def _open(path: str, content: bytes | None) -> BinaryIO:
    if content is not None:
        return io.BytesIO(content)
    try:
        return open(path, "rb")
    except OSError as fault:
        raise EnvironmentFault("executor", f"{path}: {fault.strerror or fault}") from fault


def _cut(file: BinaryIO, part: LogPart) -> Iterator[tuple[Any, ...]]:
    """The columns of each row from `piece` on."""
    size = file.seek(0, io.SEEK_END)
    reached = -1
    for number, piece in enumerate(read_pieces(part.path, file, size, part.base, footer=part.has_footer)):
        if not isinstance(piece, Batch):
            yield _shared(Placed(number, piece.offset, piece))
            continue
        for stored in piece.records:
            reached = stored.offset
            topic = None if piece.control else _partition_of(stored.value)
            if topic is None:
                item = decoded(part.path, piece.position, stored, piece.control)
                yield _shared(Placed(number, stored.offset, item))
                continue
            yield number, stored.offset, stored.time, piece.position, *topic, stored.value, None
    if reached >= 0:
        yield _shared(Placed(END, reached, Reached(reached)))


def _shared(placed: Placed) -> tuple[Any, ...]:
    return placed.piece, placed.offset, None, None, None, None, None, pickle.dumps(placed)


def _partition_of(value: bytes | None) -> tuple[bytes, int] | None:
    """The topic's id and the number of the partition that a record is about; None if of none, or unclear."""
    if value is None:
        return None
    if value[:START] in ABOUT and len(value) >= REST:
        return value[START + 4 : REST], int.from_bytes(value[START : START + 4], signed=True)
    try:
        frame, at = unsigned_varint(value, 0)
        key, at = unsigned_varint(value, at)
        version, at = unsigned_varint(value, at)
    except Malformed:
        return None
    if frame != FRAME_VERSION or version > ABOUT_A_PARTITION.get(key, -1) or len(value) < at + 20:
        return None
    return value[at + 4 : at + 20], int.from_bytes(value[at : at + 4], signed=True)


def topic_bytes(topic_id: str) -> bytes:
    """The bytes of an id as Kafka prints it."""
    return base64.urlsafe_b64decode(f"{topic_id}==")


# ---------------------------------------------------------------------------- buckets


class Row(NamedTuple):
    """A row with a record of a partition."""

    log: int
    part: int
    piece: int
    offset: int
    time: int
    position: int
    value: bytes


def judge_bucket(
    batches: Iterable[pa.RecordBatch], logs: Sequence[MetadataLog], shared: Shared
) -> Iterator[pa.RecordBatch]:
    """Judge the partitions of a bucket, whose rows stand in the order of the logs."""
    import pyarrow as pa

    for number, rows in groupby(_rows(batches), key=lambda row: row.log):
        audit = LogAudit(logs[number])
        for _ in audit.run(together(number, logs[number], shared, rows)):
            pass
        yield pa.RecordBatch.from_pylist(
            [{"log": number, "body": pickle.dumps(audit.findings())}],
            pa.schema([("log", pa.int32()), ("body", pa.binary())]),
        )


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        yield from map(Row, *(batch.column(name).to_pylist() for name in Row._fields))


def together(number: int, log: MetadataLog, shared: Shared, rows: Iterable[Row]) -> Iterator[Item]:
    """What all buckets get and these rows, as one log."""
    place = {part: index for index, part in enumerate(log.parts)}
    waiting = _Waiting(rows)

    def read(part: LogPart) -> Iterator[PartItem]:
        index = place[part]
        own = waiting.of(index, part.path)
        return _with_ends(_merged(shared.get((number, index), ()), own))

    return in_one(log, read)


class _Waiting:
    """Rows in order, handed out part by part."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = iter(rows)
        self._next = next(self._rows, None)

    def of(self, part: int, path: str) -> Iterator[Placed]:
        while self._next is not None and self._next.part == part:
            row = self._next
            run = Run(path, row.position, row.time, (row.offset,), _alone(row.value), ends_batch=False)
            yield Placed(row.piece, row.offset, run)
            self._next = next(self._rows, None)


def _merged(some: Iterable[Placed], others: Iterable[Placed]) -> Iterator[Placed]:
    left, right = iter(some), iter(others)
    one, other = next(left, None), next(right, None)
    while one is not None and other is not None:
        if one[:2] <= other[:2]:
            yield one
            one = next(left, None)
        else:
            yield other
            other = next(right, None)
    if one is not None:
        yield one
    if other is not None:
        yield other
    yield from left
    yield from right


def _with_ends(items: Iterable[Placed]) -> Iterator[PartItem]:
    """Join the rows of each batch, and mark the last record of it, whichever of its records are here."""
    for _, group in groupby(items, key=lambda placed: placed.piece):
        told = [placed.item for placed in group]
        rows = [item for item in told if isinstance(item, Run)]
        block = Block.of([run.values[0] for run in rows])
        here: list[PartItem] = []
        at = 0
        for is_row, some in groupby(told, key=_time_of_row):
            same = list(some)
            if is_row is None:
                here += same
                continue
            offsets = tuple(run.offsets[0] for run in rows[at : at + len(same)])
            values = Values(block, at, at + len(same))
            here.append(rows[at]._replace(offsets=offsets, values=values))
            at += len(same)
        for number in range(len(here) - 1, -1, -1):
            item = here[number]
            if isinstance(item, Entry | Run):
                here[number] = item._replace(ends_batch=True)
                break
        yield from here


def _time_of_row(item: PartItem) -> int | None:
    return item.time if isinstance(item, Run) else None


def _alone(value: bytes) -> Values:
    return Values(Block.of([value]), 0, 1)


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
                [{"log": row["log"], "body": body}],
                pa.schema([("log", pa.int32()), ("body", pa.binary())]),
            )


def audited_whole(_: int, log: MetadataLog, items: Iterator[Item]) -> LogFindings:
    audit = LogAudit(log)
    for _event in audit.run(items):
        pass
    return audit.findings()
