"""The brokers that can host a replica of the partition, numbered from 0, and collections of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeVar

from elrcheck.lang.types import Per, set_of, sort

T = TypeVar("T")
REPLICA = sort("Replica", "broker_count", word="broker", every="Brokers")
RSET = set_of(REPLICA)

Replica = Annotated[int, REPLICA]
RSet = frozenset[Replica]
Vec = Annotated[tuple[T, ...], Per(REPLICA)]


class Universe(frozenset[int]):
    """The set of all brokers; iterates in ascending order, so a Vec can be built from it."""

    __slots__ = ()

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))
