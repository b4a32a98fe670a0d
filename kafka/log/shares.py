"""Divides a log among several judges: each follows the partitions of some topics, and every record that is not about
one partition.

A rule may depend on partition 0 of a topic, so the partitions of a topic are in one share.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from elrcheck.kafka.log.binary import Malformed, unsigned_varint
from elrcheck.kafka.log.entries import Item, LogEntry, RecordRun
from elrcheck.kafka.log.metadata_records import (
    CHANGES,
    CREATIONS,
    FRAME_VERSION,
    NAMES_A_PARTITION,
    REST,
    START,
    MetadataRecord,
)
from elrcheck.kafka.log.record_table import BY_NAME

EVERY = -1
"""The share of the records that every judge gets."""
ABOUT_A_PARTITION = CHANGES | CREATIONS
NAMES = ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD")
NEWEST = {BY_NAME[name].key: BY_NAME[name].newest for name in NAMES}


@lru_cache(maxsize=1 << 16)
def share_of(topic: bytes, count: int) -> int:
    """Return the share of a topic, by the bytes of its id."""
    return zlib.crc32(topic) % count


def shares_of(values: Sequence[bytes], count: int) -> list[int]:
    """Return the share of each record."""
    names = [name_in(value) for value in values]
    return [EVERY if name is None else share_of(name[4:], count) for name in names]


def name_in(value: bytes) -> bytes | None:
    """Return the partition that a record is about, as the record names it; None if it is unclear or not named."""
    if value[:START] in ABOUT_A_PARTITION:
        return value[START:REST] if len(value) >= REST else None
    if max(value[:START], default=0) <= 0x7F:
        return None
    try:  # numbers of several bytes
        frame, at = unsigned_varint(value, 0)
        key, at = unsigned_varint(value, at)
        version, at = unsigned_varint(value, at)
    except Malformed:
        return None
    if frame != FRAME_VERSION or version > NEWEST.get(key, -1) or len(value) < at + NAMES_A_PARTITION:
        return None
    return value[at : at + NAMES_A_PARTITION]


class Share:
    """One of `count` shares, by number. Share EVERY has no partition."""

    def __init__(self, number: int, count: int) -> None:
        self.number = number
        self.count = count

    def of(self, items: Iterable[Item]) -> Iterator[Item]:
        """Return the items of the share, batch by batch."""
        last: LogEntry | None = None  # of its batch, so far
        for item in items:
            if isinstance(item, LogEntry):
                if self._has(item):
                    if last is not None:
                        yield last
                    last = item
                elif last is not None:
                    last = last._replace(ends_batch=item.ends_batch)
                if last is not None and last.ends_batch:
                    yield last
                    last = None
                continue
            if isinstance(item, RecordRun):
                shares = enumerate(shares_of(item.values, self.count))
                numbers = [n for n, share in shares if share in (self.number, EVERY)]
                if numbers:
                    yield item if len(numbers) == len(item.values) else item.chosen(numbers)
                continue
            if last is not None:
                yield last
                last = None
            yield item
        if last is not None:
            yield last

    def _has(self, entry: LogEntry) -> bool:
        record = entry.record
        if not isinstance(record, MetadataRecord) or record.name not in NAMES:
            return True
        topic = base64.urlsafe_b64decode(f"{record.fields['topicId']}==")
        return self.number == share_of(topic, self.count)
