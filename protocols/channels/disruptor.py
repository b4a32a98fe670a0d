"""The Disruptor with one writer: a ring of slots that every reader reads in full, each at its own pace.

Source: Disruptor_SPMC.tla and RingBuffer.tla of the TLA+ Examples, by N. Schultz-Møller. With a ring of four slots,
three readers and ten values: 8,496 distinct states, 28,049 generated, diameter 82. The published module also keeps what
each reader has read, in order; here a property says that a reader finds the value it expects.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.marks import Fair
from elrcheck.lang.runtime import (
    EMPTY,
    LeadsTo,
    action,
    always,
    bound,
    config,
    init,
    leads_to,
    op,
    put,
    require,
    sometimes,
    state,
)
from elrcheck.lang.types import Per, nat, sort

Reader = Annotated[int, sort("Reader", "readers")]
Slot = Annotated[int, sort("Slot", "slots", ordered=True)]
Count = Annotated[int, nat("Count", hi="counted")]
READS = Fair("a reader reads what is published")


@config
class Config:
    """waits: the writer waits for the slowest reader."""

    readers: int = 3
    slots: int = 4
    most: int = 10
    waits: bool = True

    @property
    def counted(self) -> int:
        return self.most + 1


@state
class State:
    """values: in each slot one more than the number of the value, 0 for none. published, read: how many values."""

    values: Annotated[tuple[Count, ...], Per(Slot)]
    reading: Annotated[tuple[frozenset[Reader], ...], Per(Slot)]
    writing: frozenset[Slot]
    published: Count
    read: Annotated[tuple[Count, ...], Per(Reader)]
    busy: frozenset[Reader]
    writes: bool


@init
def Init(c: Config) -> State:
    return State(
        values=tuple(0 for i in range(c.slots)),
        reading=tuple(EMPTY for i in range(c.slots)),
        writing=EMPTY,
        published=0,
        read=tuple(0 for r in range(c.readers)),
        busy=EMPTY,
        writes=False,
    )


@bound
def Bound(c: Config, s: State) -> bool:
    return s.published <= c.most


@op
def slot(c: Config, number: Count) -> Slot:
    """The slot of a value with this number."""
    return number % c.slots


@action
def BeginWrite(c: Config, s: State) -> State:
    """The writer begins to write the next value, if no reader still needs what is in the slot."""
    require(not s.writes, "the writer is idle")
    slowest = min((s.read[r] for r in range(c.readers)), default=0)
    require(slowest + c.slots >= s.published + 1 or not c.waits, "every reader is past the slot")
    place = slot(c, s.published)
    return replace(s, writes=True, values=put(s.values, place, s.published + 1), writing=s.writing | {place})


@action
def EndWrite(c: Config, s: State) -> State:
    """The writer publishes the value."""
    require(s.writes, "the writer writes")
    place = slot(c, s.published)
    return replace(s, writes=False, writing=s.writing - frozenset({place}), published=s.published + 1)


@action(fairness=READS)
def BeginRead(c: Config, s: State, r: Reader) -> State:
    """A reader begins to read the next value."""
    require(r not in s.busy, "r is idle")
    require(s.published > s.read[r], "the next value is published")
    place = slot(c, s.read[r])
    return replace(s, busy=s.busy | {r}, reading=put(s.reading, place, s.reading[place] | {r}))


@action(fairness=READS)
def EndRead(c: Config, s: State, r: Reader) -> State:
    """A reader has read a value."""
    require(r in s.busy, "r reads")
    place = slot(c, s.read[r])
    reading = put(s.reading, place, s.reading[place] - frozenset({r}))
    return replace(s, busy=s.busy - frozenset({r}), reading=reading, read=put(s.read, r, s.read[r] + 1))


@always("P-1")
def NoDataRaces(c: Config, s: State) -> bool:
    """No slot is read while it is written."""
    return all(i not in s.writing or len(s.reading[i]) == 0 for i in range(c.slots))


@always("P-2")
def ReadersFindTheirValue(c: Config, s: State) -> bool:
    """A reader reads the value that it expects next."""
    return all(s.values[slot(c, s.read[r])] == s.read[r] + 1 for r in s.busy)


@leads_to("V-1")
def EverythingIsRead(c: Config, s: State) -> LeadsTo:
    """Every reader reads the last value, once it is published."""
    return LeadsTo(premise=s.published >= c.most, conclusion=all(s.read[r] >= c.most for r in range(c.readers)))


@sometimes("W-1")
def Full(c: Config, s: State) -> bool:
    """The writer is a whole ring ahead of a reader."""
    return any(s.published == s.read[r] + c.slots for r in range(c.readers))


MODEL = ProtocolModel(State, Config, variants={"hasty": {"waits": False}})
