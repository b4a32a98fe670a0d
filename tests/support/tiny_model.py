"""A small model made of what the protocol's own model does not use, to try every printer on.

Names are chosen to clash: parameters with state variables, LETs with other LETs, bound names with
each other.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.runtime import (
    EMPTY,
    action,
    always,
    bound,
    config,
    conj,
    init,
    op,
    put,
    record,
    require,
    sometimes,
    state,
)
from elrcheck.lang.types import SeqMark, nat
from elrcheck.model.replicas import Replica, RSet, Universe, Vec

Size = Annotated[int, nat("Size", hi="slots")]
Count = Annotated[int, nat("Count", cap="cap_count")]


class Colour(enum.Enum):
    RED = 0
    GREEN = 1


@config
class Tiny:
    broker_count: int = 2
    slots: int = 2
    steps: int = 3
    strict: bool = True
    paint: Colour = Colour.RED

    @property
    def brokers(self) -> RSet:
        return Universe(range(self.broker_count))

    @property
    def cap_count(self) -> int:
        return self.steps + 1


@record
class Item:
    owner: Replica
    size: Size


Queue = Annotated[tuple[Item, ...], SeqMark("slots")]
Order = Annotated[tuple[Replica, ...], SeqMark("broker_count")]


@record
class Slot:
    queue: Queue
    colour: Colour
    chosen: Replica | None


@state
class Room:
    slots_of: Vec[Slot]
    order: Order
    picked: RSet
    count: Count


@op
def doubled(queue: Queue) -> bool:
    """Two nested loops over one sequence, with one name in the source."""
    return any(any(x.size < y.size for x in queue) for y in queue) and all(x.size <= 2 for x in queue)


@op
def longest(slots_of: Vec[Slot], picked: RSet) -> int:
    """Parameters called like state variables."""
    return max((len(slots_of[b].queue) for b in picked), default=0)


@op
def weight(queue: Queue, least: Size) -> int:
    return sum(1 for x in queue if x.size >= least) + min((x.size for x in queue), default=2)


@op
def tidy(order: Order, out: RSet) -> Order:
    return tuple(r for r in order if r not in out)


@op
def mine(s: Room, b: Replica) -> Slot:
    return s.slots_of[b]


@op
def busy(s: Room, b: Replica, least: Size) -> bool:
    """Calls an operator on the state; its copy for the next state has to call that one's copy."""
    return len(mine(s, b).queue) > 0 and weight(mine(s, b).queue, least) > 1


@op
def grew(s: Room, t: Room, b: Replica) -> bool:
    """The second argument of the call depends on the state, so `Busy(..)'` would prime it too."""
    return busy(t, b, min(len(s.picked), 1)) and not busy(s, b, min(len(s.picked), 1))


@op
def counted(s: Room) -> Room:
    """Returns a state, and is given a changed one."""
    return replace(s, count=s.count + 1)


@op
def reordered(s: Room, out: RSet) -> Room:
    """Returns a state in two branches, and has a local called like a variable and like one of its caller."""
    order = tidy(s.order, out)
    if len(order) == 0:
        return s
    return replace(s, order=order)


@init
def Begin(c: Tiny) -> Room:
    first = Slot(queue=(), colour=c.paint, chosen=None)
    return Room(slots_of=tuple(first for b in c.brokers), order=tuple(c.brokers), picked=EMPTY, count=0)


@action
def Put(c: Tiny, s: Room, b: Replica, size: Size, colour: Colour) -> Room:
    """A guard that is true for two reasons, and one that hides in an operator."""
    me = s.slots_of[b]
    require(len(me.queue) < c.slots, "room")
    require(size > 0 or colour == Colour.RED, "two reasons")
    require(not c.strict or any(x in s.picked for x in c.brokers) or not doubled(me.queue), "more reasons")
    grown = replace(me, queue=me.queue + (Item(owner=b, size=size),), colour=colour)  # noqa: RUF005
    return replace(s, slots_of=put(s.slots_of, b, grown), count=s.count + 1)


@action
def Swap(c: Tiny, s: Room, a: Replica, b: Replica) -> Room:
    """Two updates of one vector, also of the same entry; a and b may be one broker."""
    x = s.slots_of[a]
    y = s.slots_of[b]
    require(x.queue != y.queue or a == b, "there is something to swap")
    both = put(put(s.slots_of, a, replace(y, chosen=a)), b, replace(x, chosen=x.chosen))
    return replace(s, slots_of=both, count=s.count + 1)


@action
def Cut(c: Tiny, s: Room, b: Replica, keep: Size, chosen: Replica | None) -> Room:
    """A prefix that may be longer than the sequence, and an optional parameter."""
    me = s.slots_of[b]
    if chosen is None:
        require(len(me.queue) > 0, "something to cut")
        short = replace(me, queue=me.queue[:keep])
        return counted(replace(s, slots_of=put(s.slots_of, b, short)))
    require(chosen in s.order, "chosen is listed")
    return replace(s, slots_of=put(s.slots_of, b, replace(me, chosen=chosen)), count=s.count + 1)


@action
def Pick(c: Tiny, s: Room, who: RSet, swap: bool) -> Room:
    require(who != s.picked, "something changes")
    order = counted(reordered(s, who))
    return replace(
        order,
        picked=who | s.picked if swap else who - s.picked,
        count=order.count if longest(s.slots_of, who) < 2 else order.count + 1,
    )


@bound
def Few(c: Tiny, s: Room) -> bool:
    return conj(count=s.count <= c.steps)


@always("T-1")
def NeverGrewTwice(c: Tiny, s: Room, t: Room) -> bool:
    return conj(once=sum(1 for b in c.brokers if grew(s, t, b)) <= 1)


@always("T-2")
def Listed(c: Tiny, s: Room) -> bool:
    first = next((r for r in s.order if r not in s.picked), None)
    return conj(listed=first is None or first in frozenset(s.order), sane=len(s.order) > 0)


@sometimes("T-3")
def Doubled(c: Tiny, s: Room) -> bool:
    return any(doubled(s.slots_of[b].queue) for b in c.brokers)
