"""A state as a Kafka engineer draws it: a lane a broker, its log as boxes, and what the controller holds."""

from __future__ import annotations

from elrcheck.base.roundtrip import Record


class Fact(Record, frozen=True):
    """A value of the partition, and whether the last step changed it."""

    name: str
    value: str
    changed: bool = False


class DrawnRecord(Record, frozen=True):
    """A record at its offset.

    role: `acknowledged`, `committed`, `other` (another record was committed at this offset), `open`, or
    `missing`: this record was committed here, and the log ends before it.
    change: `new` if the last step brought it, `gone` if that took it away, else empty.
    """

    offset: int
    name: str
    epoch: int
    acks: str
    role: str
    change: str = ""


class DrawnBroker(Record, frozen=True):
    """The lane of a broker.

    role: what it is for the partition: leader, ISR, ELR, LastKnownELR, replica or none. status: what keeps it
    from serving, as the controller or the process has it; empty if nothing does. log: one place an offset.
    """

    number: int
    role: str
    role_changed: bool
    status: tuple[Fact, ...]
    log: tuple[DrawnRecord | None, ...]
    high_watermark: int
    watermark_changed: bool
    facts: tuple[Fact, ...]


class DrawnPartition(Record, frozen=True):
    """The whole picture.

    committed: the records below the highest watermark that any leader had. holders: the brokers that have
    each of them.
    """

    facts: tuple[Fact, ...]
    offsets: int
    committed: tuple[DrawnRecord | None, ...]
    holders: tuple[str, ...]
    brokers: tuple[DrawnBroker, ...]
    notes: tuple[Fact, ...] = ()
