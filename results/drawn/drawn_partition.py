"""A state as a Kafka engineer draws it: a lane a broker, its log as boxes, and what the controller holds."""

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
    """`acknowledged`, `committed`, `other` (another record was committed at this offset), `open`, or `missing`: this
    record was committed here, and the log ends before it."""
    change: str = ""
    """`new` if the last step brought it, `gone` if that took it away, else empty."""


class DrawnBroker(Record, frozen=True):
    """The lane of a broker."""

    number: int
    role: str
    """What it is for the partition: leader, ISR, ELR, LastKnownELR, replica or none."""
    role_changed: bool
    status: tuple[Fact, ...]
    """What keeps it from serving, as the controller or the process has it; empty if nothing does."""
    log: tuple[DrawnRecord | None, ...]
    """One place an offset."""
    high_watermark: int
    watermark_changed: bool
    facts: tuple[Fact, ...]


class DrawnPartition(Record, frozen=True):
    """The whole picture."""

    facts: tuple[Fact, ...]
    offsets: int
    committed: tuple[DrawnRecord | None, ...]
    """The records below the highest watermark that any leader had."""
    holders: tuple[str, ...]
    """The brokers that have each of them."""
    brokers: tuple[DrawnBroker, ...]
    notes: tuple[Fact, ...] = ()
