"""What the records of a block say, in numbers: the partition of each as a row of the table, and a code.

The code of a change has its structure and every broker that it names, by its place among those that the
partition names. So records with the same code do the same to partitions with the same pattern. numpy makes
the codes of many records at once; a record for which that is not possible has none, which is no fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elrcheck.kafka.log.blocks import Block
from elrcheck.kafka.log.cluster_state import Key
from elrcheck.kafka.log.metadata_records import CHANGE, CHANGES, CREATIONS, REST, START, topic_and_number
from elrcheck.kafka.log.partition_table import SEATS, PartitionTable
from elrcheck.kafka.log.record_table import Kind

UNCODED, CREATION, TWICE, OTHER = -1, -2, -3, -4
"""Instead of a code: a change without one; the creation of a partition; a record of a partition that comes
again in its batch; any other record.
"""
NOWHERE = 15
"""The place of no broker. Places have four bits."""
MOST_IDS = 12
MOST_FORMS = 1 << 12
MOST_NAMES = 1 << 20
LONGEST = 160
"""Bytes of a change that may have a code."""
VERSION_AT = START - 1

Numbers: TypeAlias = NDArray[np.int64]


class Form(NamedTuple):
    """Changes with the same structure. ids: where brokers stand; fixed, template: all other bytes, counted
    from the version, without the name.
    """

    number: int
    ids: tuple[int, ...]
    fixed: NDArray[np.intp]
    template: NDArray[np.uint8]


class Columns:
    """Row and code of each record of a block. Rows are 0 where the partition is not known."""

    def __init__(self, block: Block, rows: Numbers, codes: Numbers) -> None:
        self.block = block
        self.rows: list[int] = rows.tolist()
        self.codes: list[int] = codes.tolist()
        self._rows = rows

    def forget(self, row: int) -> None:
        """This partition names other brokers now."""
        for at in np.flatnonzero(self._rows == row).tolist():
            if self.codes[at] >= 0:
                self.codes[at] = UNCODED


class RecordCodes:
    """Makes codes of the records of one log, which mean the same from block to block."""

    def __init__(self) -> None:
        self._rows: dict[bytes, int] = {}
        """By the name of the partition, as records have it."""
        self._forms: dict[int, list[Form]] = {}
        """By the length of the record."""
        self._count = 0

    def forget_rows(self) -> None:
        """There is another table."""
        self._rows.clear()

    def columns(self, block: Block, table: PartitionTable) -> Columns:
        octets = np.frombuffer(block.data, dtype=np.uint8)
        codes = np.full(len(block.starts), OTHER, np.int64)
        rows = np.zeros(len(block.starts), np.int64)
        long = np.flatnonzero(block.stops - block.starts > REST)
        first = block.starts[long]
        kinds = octets[first].astype(np.int64) << 16 | octets[first + 1].astype(np.int64) << 8 | octets[first + 2]
        changes = np.isin(kinds, KINDS_OF_CHANGES)
        codes[long[changes]] = UNCODED
        codes[long[np.isin(kinds, KINDS_OF_CREATIONS)]] = CREATION
        about = np.flatnonzero(codes != OTHER)
        if len(about):
            known = self._known_rows(octets, block, about, table)
            rows[about] = np.maximum(known, 0)
            self._code(octets, block, long[changes], rows, codes, table)
            again = _twice(block.batches[about], known)
            codes[about[again]] = TWICE
        return Columns(block, rows, codes)

    def _known_rows(self, octets: NDArray[np.uint8], block: Block, about: Numbers, table: PartitionTable) -> Numbers:
        """The row of each of these records; a negative number for each partition that does not exist yet."""
        names = octets[(block.starts[about] + START)[:, None] + np.arange(REST - START)]
        told: list[bytes] = np.ascontiguousarray(names).view(f"V{REST - START}").ravel().tolist()
        if len(self._rows) > MOST_NAMES:
            self._rows.clear()
        rows, strangers = self._rows, dict[bytes, int]()
        found = []
        for name in told:
            row = rows.get(name, 0)
            if not row:
                row = table.row_of(Key(*topic_and_number(name, 0)))
                if row:
                    rows[name] = row
                else:
                    row = strangers.setdefault(name, -1 - len(strangers))
            found.append(row)
        return np.array(found, np.int64)

    def _code(
        self,
        octets: NDArray[np.uint8],
        block: Block,
        changes: Numbers,
        rows: Numbers,
        codes: Numbers,
        table: PartitionTable,
    ) -> None:
        """Give these changes their codes."""
        changes = changes[rows[changes] > 0]
        sizes = block.stops[changes] - block.starts[changes]
        for size in np.unique(sizes[sizes <= LONGEST]).tolist():
            left = changes[sizes == size]
            places = np.concatenate([[VERSION_AT], np.arange(REST, size)])
            rests = octets[block.starts[left][:, None] + places]
            forms, tried = self._forms.setdefault(size, []), 0
            while len(left):
                if tried == len(forms):
                    form = self._form(rests[0])
                    if form is None:  # that of the first has none
                        left, rests = left[1:], rests[1:]
                        continue
                    forms.append(form)
                form = forms[tried]
                tried += 1
                same = (rests[:, form.fixed] == form.template).all(axis=1)
                if same.any():
                    here = left[same]
                    seats = table.seats[table.home_numbers[rows[here]]]
                    codes[here] = _codes(form, rests[same], seats)
                    left, rests = left[~same], rests[~same]

    def _form(self, rest: NDArray[np.uint8]) -> Form | None:
        ids = _ids_in(rest.tolist())
        if ids is None or self._count >= MOST_FORMS:
            return None
        self._count += 1
        varies = {place + n for place in ids for n in range(4)}
        fixed = np.array([n for n in range(len(rest)) if n not in varies], np.intp)
        return Form(self._count, tuple(ids), fixed, rest[fixed])


def _packed(starts: frozenset[bytes]) -> list[int]:
    return sorted(int.from_bytes(start) for start in starts)


KINDS_OF_CHANGES, KINDS_OF_CREATIONS = _packed(CHANGES), _packed(CREATIONS)


def _twice(batches: Numbers, rows: Numbers) -> NDArray[np.bool_]:
    """Whether the partition of each has another record in the same batch."""
    both = batches * (1 << 40) + rows
    order = np.argsort(both, kind="stable")
    same = np.diff(both[order]) == 0
    again = np.zeros(len(both), np.bool_)
    again[order[1:][same]] = True
    again[order[:-1][same]] = True
    return again


def _codes(form: Form, rests: NDArray[np.uint8], seats: NDArray[np.int32]) -> Numbers:
    """The codes of records of one form, whose partitions name the brokers in `seats`."""
    codes = np.full(len(rests), form.number, np.int64)
    known = np.ones(len(rests), np.bool_)
    for place in form.ids:
        broker = np.ascontiguousarray(rests[:, place : place + 4]).view(">i4").astype(np.int32)
        sits = seats == broker
        none = broker[:, 0] == -1
        known &= sits.any(axis=1) | none
        codes = codes << 4 | np.where(none, NOWHERE, sits.argmax(axis=1))
    return np.where(known, codes, UNCODED)


def _ids_in(rest: Sequence[int]) -> list[int] | None:
    """Where brokers stand in a change, from its version on, without its name; None if it has anything but
    brokers and single bytes.
    """
    tags = {field.tag: field for field in CHANGE.fields if field.tag is not None and field.since <= rest[0]}
    found: list[int] = []
    at = 2
    for _ in range(rest[1]):
        if at + 2 > len(rest) or rest[at + 1] > 0x7F:
            return None
        field, size = tags.get(rest[at]), rest[at + 1]
        at += 2
        if field is not None and field.kind is Kind.INT32 and field.many and size % 4 == 1:
            found += range(at + 1, at + size, 4)
        elif field is not None and field.kind is Kind.INT32 and not field.many and size == 4:
            found.append(at)
        elif field is None or field.kind is not Kind.INT8 or size != 1:
            return None
        at += size
    return found if at == len(rest) and len(found) <= MOST_IDS else None


assert SEATS < NOWHERE
