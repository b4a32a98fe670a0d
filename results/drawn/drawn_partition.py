"""A state as a Kafka engineer draws it: a lane for each broker with its log as boxes, and the controller's view."""

from __future__ import annotations

from elrcheck.base.roundtrip import Record
from elrcheck.results.drawn.drawn_fields import Fact


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
    """The whole picture."""

    facts: tuple[Fact, ...]
    offsets: int
    committed: tuple[DrawnRecord | None, ...]
    """The records below the highest high watermark of any leader so far."""
    holders: tuple[str, ...]
    """For each of them, the brokers that have it."""
    brokers: tuple[DrawnBroker, ...]
    notes: tuple[Fact, ...] = ()
