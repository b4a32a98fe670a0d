"""The Disruptor with several writers: each claims the next number, and publishes it when it has written the value.

Source: Disruptor_MPMC.tla and RingBuffer.tla of the TLA+ Examples, by N. Schultz-Møller. A slot says whether it was
published in an even or in an odd round of the ring, which is enough because no writer is a round ahead of another. With
two writers, a ring of four slots, three readers and ten values: 112,929 distinct states, 422,781 generated, diameter
81. The published module also has the values that each reader has read; here a property says that a reader finds
the value it expects.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, bound, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Reader = Annotated[int, sort("Reader", "readers")]
Writer = Annotated[int, sort("Writer", "writers")]
Slot = Annotated[int, sort("Slot", "slots", ordered=True)]
Count = Annotated[int, nat("Count", hi="counted")]


@config
class Config:
    """waits: a writer waits for the slowest reader."""

    writers: int = 2
    readers: int = 3
    slots: int = 4
    most: int = 10
    waits: bool = True

    @property
    def counted(self) -> int:
        return self.most + 1


@state
class State:
    """values: in each slot one more than the number of the value, 0 for none. even: slots published in an even round.

    next: the number that the next writer claims. claimed: one more than the number of each writer, 0 for none.
    """

    values: Annotated[tuple[Count, ...], Per(Slot)]
    reading: Annotated[tuple[frozenset[Reader], ...], Per(Slot)]
    writing: Annotated[tuple[frozenset[Writer], ...], Per(Slot)]
    even: frozenset[Slot]
    next: Count
    claimed: Annotated[tuple[Count, ...], Per(Writer)]
    read: Annotated[tuple[Count, ...], Per(Reader)]
    reads: frozenset[Reader]
    writes: frozenset[Writer]


@init
def Init(c: Config) -> State:
    return State(
        values=tuple(0 for i in range(c.slots)),
        reading=tuple(EMPTY for i in range(c.slots)),
        writing=tuple(EMPTY for i in range(c.slots)),
        even=EMPTY,
        next=0,
        claimed=tuple(0 for w in range(c.writers)),
        read=tuple(0 for r in range(c.readers)),
        reads=EMPTY,
        writes=EMPTY,
    )


@bound
def Bound(c: Config, s: State) -> bool:
    return s.next <= c.most


@op
def slot(c: Config, number: Count) -> Slot:
    """The slot of a value with this number."""
    return number % c.slots


@op
def published(c: Config, s: State, number: Count) -> bool:
    """The slot of the number was last published in the round of the number."""
    return (slot(c, number) in s.even) == (number // c.slots % 2 == 0)


@action
def BeginWrite(c: Config, s: State, w: Writer) -> State:
    """A writer claims the next number and begins to write, if no reader still needs what is in the slot."""
    require(w not in s.writes, "w is idle")
    slowest = min((s.read[r] for r in range(c.readers)), default=0)
    require(slowest + c.slots >= s.next + 1 or not c.waits, "every reader is past the slot")
    i = slot(c, s.next)
    return replace(
        s,
        writes=s.writes | {w},
        claimed=put(s.claimed, w, s.next + 1),
        next=s.next + 1,
        values=put(s.values, i, s.next + 1),
        writing=put(s.writing, i, s.writing[i] | {w}),
    )


@action
def EndWrite(c: Config, s: State, w: Writer) -> State:
    """A writer publishes its value."""
    require(w in s.writes, "w writes")
    i = slot(c, s.claimed[w] - 1)
    even = s.even - frozenset({i}) if i in s.even else s.even | {i}
    writing = put(s.writing, i, s.writing[i] - frozenset({w}))
    return replace(s, writes=s.writes - frozenset({w}), writing=writing, even=even)


@action
def BeginRead(c: Config, s: State, r: Reader) -> State:
    """A reader begins to read the next value."""
    require(r not in s.reads, "r is idle")
    require(published(c, s, s.read[r]), "the next value is published")
    i = slot(c, s.read[r])
    return replace(s, reads=s.reads | {r}, reading=put(s.reading, i, s.reading[i] | {r}))


@action
def EndRead(c: Config, s: State, r: Reader) -> State:
    """A reader has read a value."""
    require(r in s.reads, "r reads")
    i = slot(c, s.read[r])
    reading = put(s.reading, i, s.reading[i] - frozenset({r}))
    return replace(s, reads=s.reads - frozenset({r}), reading=reading, read=put(s.read, r, s.read[r] + 1))


@always("P-1")
def NoDataRaces(c: Config, s: State) -> bool:
    """No slot is read while it is written, or written by two."""
    return all((len(s.writing[i]) == 0 or len(s.reading[i]) == 0) and len(s.writing[i]) <= 1 for i in range(c.slots))


@always("P-2")
def ReadersFindTheirValue(c: Config, s: State) -> bool:
    """A reader reads the value that it expects next."""
    return all(s.values[slot(c, s.read[r])] == s.read[r] + 1 for r in s.reads)


@sometimes("W-1")
def Overtaken(c: Config, s: State) -> bool:
    """A writer has published while one with an earlier number still writes."""
    return any(v not in s.writes and s.claimed[w] < s.claimed[v] for w in s.writes for v in range(c.writers))


MODEL = ProtocolModel(State, Config, variants={"hasty": {"waits": False}})
