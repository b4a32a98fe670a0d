"""The text that `kafka-dump-log.sh --cluster-metadata-decoder` prints, read into the same records as the files.

The tool prints a line for each batch and one for each record in it, with the record as JSON
(kafka.tools.DumpLogSegments). Tagged fields are printed only if they are set, so the table of records supplies the
others. Other lines, such as warnings of the shell script, are skipped. A redirection of PowerShell writes UTF-16.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from elrcheck.kafka.log.batches import FULL
from elrcheck.kafka.log.binary import Malformed
from elrcheck.kafka.log.entries import Item, LogEntry, SnapshotStart
from elrcheck.kafka.log.metadata_records import ControlRecord, MetadataRecord, Unread, defaults_of
from elrcheck.kafka.log.record_table import BY_NAME, UNREAD, SchemaField, ValueEncoding
from elrcheck.kafka.log.segments import CutOff, Damage, never, unreadable

BATCH = re.compile(
    r"baseOffset: (\d{1,18}) lastOffset: (\d{1,18}) count: (\d{1,18}) (?>.*?isControl: )(true|false) "
    r"(?>.*?(?:CreateTime|LogAppendTime): )(-?\d{1,18}) (?>.*?isvalid: )(true|false)"
)
"""Each gap ends at the next name and is not tried again: no line takes more time than its length."""
RECORD = re.compile(r"\| (?:offset: (\d{1,18}) (?:CreateTime|LogAppendTime): (-?\d{1,18}) .*?)? ?payload: (.*)")
CONTROL = re.compile(r"\| offset: (\d{1,18}) (?:CreateTime|LogAppendTime): (-?\d{1,18}) .*\] (\w+)(?::| )")
SNAPSHOT = re.compile(r"Snapshot end offset: (\d{1,18}), epoch: (\d{1,18})")
TRAILING = re.compile(r"Found (\d{1,18}) invalid bytes at the end of")
NEXT_FILE = "Dumping "
STARTS = ("Dumping ", "baseOffset: ", "Log starting offset: ", "Snapshot end offset: ", "| offset: ")
"""The starts of lines that only a dump has."""
LONGEST = 1 << 24
"""Bytes of a line. A record of a metadata log has at most 8 MB."""
LOOKED_AT = 1 << 14
MARK, REPLACED = codecs.BOM_UTF8.decode(), "\N{REPLACEMENT CHARACTER}"
RANGES = {
    ValueEncoding.INT8: 7,
    ValueEncoding.INT16: 15,
    ValueEncoding.INT32: 31,
    ValueEncoding.INT64: 63,
    ValueEncoding.UINT16: 16,
}


def is_dump(path: Path) -> bool:
    """Return whether a file is the text of a dump, by its first lines."""
    try:
        with path.open("rb") as file:
            start = file.read(LOOKED_AT)
    except OSError:
        return False
    return starts_as_dump(start)


def starts_as_dump(start: bytes) -> bool:
    """Return whether a file with these first bytes is the text of a dump."""
    return _encoding(start) is not None


def _encoding(start: bytes) -> str | None:
    """Return the encoding of a dump with these first bytes; None if they are not those of a dump."""
    for encoding in ("utf-16-le", "utf-16-be") if b"\0" in start else ("utf-8",):
        lines = start.decode(encoding, "replace").removeprefix(MARK).splitlines()
        if any(line.startswith(STARTS) for line in lines):
            return encoding
    return None


def read_dump(path: Path, stop: Callable[[], bool] = never) -> Iterator[Item]:
    """Read all records that the text has, in its order. stop: once true, no further line is read."""
    try:
        with path.open("rb") as file:
            yield from read_dump_text(str(path), file, stop)
    except OSError as fault:
        raise unreadable(path, fault) from fault


def read_dump_text(path: str, file: BinaryIO, stop: Callable[[], bool] = never) -> Iterator[Item]:
    """Read the records of an open file; path is its name in messages."""
    encoding = _encoding(file.read(LOOKED_AT)) or "utf-8"
    file.seek(0)
    return _Dump(path, encoding, _lines(file, encoding, stop)).items()


def _lines(file: BinaryIO, encoding: str, stop: Callable[[], bool]) -> Iterator[tuple[str | None, int]]:
    """Yield each line, None if it is not in this encoding, and its length in bytes."""
    if encoding == "utf-8":
        while not stop() and (raw := file.readline(LONGEST)):
            try:
                yield raw.decode(), len(raw)
            except UnicodeDecodeError:
                yield None, len(raw)
        return
    text = io.TextIOWrapper(file, encoding, errors="replace", newline="\n")
    try:
        while not stop() and (line := text.readline(LONGEST)):
            yield None if REPLACED in line else line, len(line.encode(encoding))
    finally:
        text.detach()


class _Dump:
    def __init__(self, path: str, encoding: str, lines: Iterator[tuple[str | None, int]]) -> None:
        self.path, self.encoding, self.lines = path, encoding, lines
        self.position = 0
        self.expected: int | None = 0
        """The offset of the next batch; None for the first one of a snapshot."""
        self.snapshot_end: int | None = None
        """Of the snapshot that is being read, its end offset."""
        self.started = False
        self.again: tuple[int, range] | None = None
        """Batches in a row that were read before: the line of the first, and their offsets."""
        self.fresh = 0
        """Of the batch: the first offset that was not read before."""
        self.next, self.last, self.time, self.valid = 0, 0, 0, True
        """Of the batch: the offset of its next record, that of its last one, its time, its checksum."""
        self.is_full = False
        """Whether the rest of its last event may be in the next batch."""

    def items(self) -> Iterator[Item]:
        for line, size in self.lines:
            if line is None:
                yield self._damage(self.next, f"the line is not {self.encoding[:6].upper()}")
            else:
                yield from self._line(line.removeprefix(MARK).rstrip("\r\n"))
            self.position += size
        yield from self._repeated()

    def _line(self, line: str) -> Iterator[Item]:
        if match := BATCH.match(line):
            yield from self._batch(*match.groups())
        elif match := SNAPSHOT.match(line):
            self.expected, self.snapshot_end = None, int(match[1])
            yield SnapshotStart(self.path, int(match[1]))
        elif line.startswith(NEXT_FILE) and self.snapshot_end is not None:
            self.expected, self.snapshot_end = self.snapshot_end, None
        elif match := TRAILING.match(line):
            yield CutOff(self.path, self.position, self.expected or 0, int(match[1]))
        elif self.valid and (match := RECORD.match(line)):
            offset = self.next if match[1] is None else int(match[1])
            yield from self._record(offset, self.time if match[2] is None else int(match[2]), match[3])
        elif self.valid and (match := CONTROL.match(line)) and int(match[1]) >= self.fresh:
            self.next = int(match[1]) + 1
            record = ControlRecord(match[3], None)
            yield LogEntry(self.path, int(match[1]), int(match[2]), record, int(match[1]) >= self.last)

    def _batch(self, base: str, last: str, count: str, control: str, time: str, valid: str) -> Iterator[Item]:
        self.next, self.last, self.time = int(base), int(last), int(time)
        self.valid, self.is_full = valid == "true", int(count) >= FULL
        if not self.valid:
            yield self._damage(self.next, f"the checksum of the batch is wrong (base offset {base})")
            return
        self.fresh = self.next
        if self.expected is not None and self.next < self.expected:
            if self.again is None or self.again[1].stop != self.next:
                yield from self._repeated()
                self.again = self.position, range(self.next, self.next)
            self.again = self.again[0], range(self.again[1].start, min(self.last + 1, self.expected))
            if self.last < self.expected:
                self.valid = False
                return
            self.fresh = self.expected
        yield from self._repeated()
        is_first, self.started = not self.started and self.snapshot_end is None, True
        if self.expected is not None and self.fresh > self.expected:
            uncovered = ", and no snapshot covers them" if is_first else ""
            yield self._damage(self.expected, f"offsets {self.expected} to {self.next - 1} are missing{uncovered}")
        if int(count) != self.last - self.next + 1:
            yield self._damage(self.next, f"{count} records for {self.last - self.next + 1} offsets")
        self.expected = self.last + 1

    def _repeated(self) -> Iterator[Item]:
        """Yield the batches in a row that were read before, if there are any, as one damage."""
        if self.again is not None:
            (position, offsets), self.again = self.again, None
            message = f"offsets {offsets.start} to {offsets.stop - 1} again; not read"
            yield Damage(self.path, position, offsets.start, message)

    def _record(self, offset: int, time: int, payload: str) -> Iterator[Item]:
        self.next = offset + 1
        if offset < self.fresh:
            return
        try:
            record = record_of(payload)
        except Malformed as fault:
            yield self._damage(offset, str(fault))
        else:
            ends = offset >= self.last and not self.is_full
            yield LogEntry(self.path, offset, time, record, ends, self.position)

    def _damage(self, offset: int, message: str) -> Damage:
        return Damage(self.path, self.position, offset, message)


def record_of(payload: str) -> MetadataRecord | Unread:
    """Return the record that the tool printed as JSON; raise Malformed."""
    if payload.startswith("Error at "):
        raise Malformed(f"the dump tool could not read the record: {payload}")
    try:
        content = json.loads(payload)
    except (ValueError, RecursionError):
        raise Malformed("the record is not JSON; the line may be cut off") from None
    if not isinstance(content, dict):
        raise Malformed("the record is not a JSON object")
    name, version, data = content.get("type"), content.get("version"), content.get("data")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise Malformed("the record has no version")
    if not isinstance(name, str) or not isinstance(data, dict):
        raise Malformed("the record has no type and data")
    kind = BY_NAME.get(name)
    if kind is None or version > kind.newest:
        return Unread(name, version, known=name in UNREAD.values())
    fields = defaults_of(kind) | {
        field.name: _value(field, data[field.name], version)
        for field in kind.fields
        if field.since <= version and _is_printed(field, data, name)
    }
    return MetadataRecord(name, version, fields)


def _is_printed(field: SchemaField, data: Mapping[str, Any], name: str) -> bool:
    if field.name not in data and field.tag is None:
        raise Malformed(f"{name} without {field.name}")
    return field.name in data


def _value(field: SchemaField, value: Any, version: int) -> Any:
    if value is None and field.nullable:
        return None
    if not field.many:
        return _single(field, value, version)
    if not isinstance(value, list):
        raise Malformed(f"{field.name} is not a list")
    return tuple(_single(field, each, version) for each in value)


def _single(field: SchemaField, value: Any, version: int) -> Any:
    match field.kind:
        case ValueEncoding.STRUCT:
            if isinstance(value, dict):
                return {
                    each.name: _value(each, value[each.name], version)
                    for each in field.fields
                    if each.since <= version and _is_printed(each, value, field.name)
                }
        case ValueEncoding.BOOL:
            if isinstance(value, bool):
                return value
        case ValueEncoding.STRING | ValueEncoding.UUID:
            if isinstance(value, str):
                return value
        case _:
            if isinstance(value, int) and not isinstance(value, bool) and _fits(field.kind, value):
                return value
    raise Malformed(f"{field.name} is not of type {field.kind.value}")


def _fits(kind: ValueEncoding, value: int) -> bool:
    bound = 1 << RANGES[kind]
    return (0 if kind is ValueEncoding.UINT16 else -bound) <= value < bound
