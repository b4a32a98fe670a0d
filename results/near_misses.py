"""Near misses of metadata logs, for the reports of `audit` and `assess`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from elrcheck.base.roundtrip import Record

NearMissKind: TypeAlias = Literal["leader-returned", "no-leader", "below-min-isr", "eligible-gone"]


class NearMiss(Record, frozen=True):
    """A history in a metadata log that came close to a loss, though nothing in it is wrong."""

    kind: NearMissKind
    log: str
    topic: str
    partition: int
    message: str
    offset: int
    """Offset of the record that begins it."""
    time: str
    until: int | None = None
    """Offset of the record that ends it; null if it lasts."""
    until_time: str | None = None


class NearMisses(Record, frozen=True):
    """The near misses of one kind."""

    kind: NearMissKind
    times: int
    """How often it happened."""
    partitions: int
    """In how many partitions."""
    first: tuple[NearMiss, ...]
    """The first ones, up to a limit."""
    longest: float | None = None
    """Seconds that the longest one took, to the end of the log if it lasts; null without one."""


class NearTogether(Record, frozen=True):
    """Near misses of one partition that began within seconds, one of them a leader away and back."""

    log: str
    topic: str
    partition: int
    kinds: tuple[NearMissKind, ...]
    offset: int
    """Offset of the record that begins the first."""
    time: str
    seconds: float
    """From the beginning of the first to that of the last."""
