"""Drawings of a state: by its fields, or of a partition, as a Kafka engineer draws it."""

from __future__ import annotations

from elrcheck.base.roundtrip import Record


class Fact(Record, frozen=True):
    """A value, and whether the last step changed it."""

    name: str
    value: str
    changed: bool = False


class DrawnMember(Record, frozen=True):
    """A member of a sort, such as `node 0`, and its values in the order of the columns."""

    name: str
    values: tuple[Fact, ...]


class DrawnSort(Record, frozen=True):
    """The table of a sort."""

    word: str
    columns: tuple[str, ...]
    members: tuple[DrawnMember, ...]


class DrawnFields(Record, frozen=True):
    """A state of any model: facts, and a table with a row for each member of a sort."""

    facts: tuple[Fact, ...]
    sorts: tuple[DrawnSort, ...]


class DrawnRecord(Record, frozen=True):
    """A record at its offset."""

    offset: int
    name: str
    epoch: int
    acks: str
    role: str
    """`acknowledged`, `committed`, `other` (another record was committed at this offset), `open`, or `missing` (the log
    ends before this committed record)."""
    change: str = ""
    """`new` if the last step appended it, `gone` if it removed it, else empty."""


class DrawnBroker(Record, frozen=True):
    """The lane of a broker."""

    number: int
    role: str
    """Its role for the partition: leader, ISR, ELR, LastKnownELR, replica or none."""
    role_changed: bool
    status: tuple[Fact, ...]
    """What keeps it from serving, in the controller or in the process; empty if nothing does."""
    log: tuple[DrawnRecord | None, ...]
    """One entry for each offset."""
    high_watermark: int
    watermark_changed: bool
    facts: tuple[Fact, ...]


class DrawnPartition(Record, frozen=True):
    """A lane for each broker with its log as boxes, and the controller's view."""

    facts: tuple[Fact, ...]
    offsets: int
    committed: tuple[DrawnRecord | None, ...]
    """The records below the highest high watermark of any leader so far."""
    holders: tuple[str, ...]
    """For each of them, the brokers that have it."""
    brokers: tuple[DrawnBroker, ...]
    notes: tuple[Fact, ...] = ()
