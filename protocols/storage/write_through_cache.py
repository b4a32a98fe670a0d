"""A write-through cache: each processor has its own, which sees the writes of all, before a queue to the memory.

Source: WriteThroughCache.tla and MCWriteThroughCache.tla of the TLA+ Examples, after L. Lamport, "Specifying Systems",
2002, chapter 5. With two processors, one address, two values and a queue of one: 5,196 distinct states, 28,170
generated, diameter 18.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, SeqMark, sort

Processor = Annotated[int, sort("Processor", "processors")]
Address = Annotated[int, sort("Address", "addresses")]
Value = Annotated[int, sort("Value", "values")]
Memory = Annotated[tuple[Value, ...], Per(Address)]
Cache = Annotated[tuple[Value | None, ...], Per(Address)]


class Control(enum.Enum):
    READY = "ready"
    BUSY = "busy"
    WAITING = "waiting"
    DONE = "done"


@config
class Config:
    """updates: a write reaches the caches of all processors that have the address."""

    processors: int = 2
    addresses: int = 1
    values: int = 2
    length: int = 1
    updates: bool = True


@record
class Content:
    """A request to read, with an address, or to write, with both; an answer, with a value; or nothing."""

    address: Address | None
    value: Value | None


@record
class Queued:
    """A request in the queue; without a value, to read."""

    processor: Processor
    address: Address
    value: Value | None


@state
class State:
    """last, interface: the processor that has sent or received last, and the content."""

    memory: Memory
    control: Annotated[tuple[Control, ...], Per(Processor)]
    buffer: Annotated[tuple[Content, ...], Per(Processor)]
    last: Processor
    interface: Content
    cache: Annotated[tuple[Cache, ...], Per(Processor)]
    queue: Annotated[tuple[Queued, ...], SeqMark("length")]


@op
def nothing() -> Content:
    return Content(address=None, value=None)


@init
def Init(c: Config, ones: frozenset[Address]) -> State:
    return State(
        memory=tuple(1 if a in ones else 0 for a in range(c.addresses)),
        control=tuple(Control.READY for p in range(c.processors)),
        buffer=tuple(nothing() for p in range(c.processors)),
        last=0,
        interface=nothing(),
        cache=tuple(tuple(None for a in range(c.addresses)) for p in range(c.processors)),
        queue=(),
    )


@action
def Request(c: Config, s: State, p: Processor, a: Address, v: Value | None) -> State:
    """A processor asks to read an address, or to write a value to it."""
    require(s.control[p] == Control.READY, "p is ready")
    request = Content(address=a, value=v)
    return replace(
        s, control=put(s.control, p, Control.BUSY), buffer=put(s.buffer, p, request), last=p, interface=request
    )


@action
def Respond(c: Config, s: State, p: Processor) -> State:
    """A processor receives the answer."""
    require(s.control[p] == Control.DONE, "what p asked is done")
    return replace(s, control=put(s.control, p, Control.READY), last=p, interface=s.buffer[p])


@action
def Miss(c: Config, s: State, p: Processor, a: Address) -> State:
    """A cache does not have the address that its processor asks to read, and the request joins the queue."""
    require(s.control[p] == Control.BUSY, "p waits for an answer")
    require(s.buffer[p].address == a and s.buffer[p].value is None, "p has asked to read the address")
    require(s.cache[p][a] is None, "its cache does not have it")
    require(len(s.queue) < c.length, "the queue has room")
    queue = (*s.queue, Queued(processor=p, address=a, value=None))
    return replace(s, queue=queue, control=put(s.control, p, Control.WAITING))


@action
def Read(c: Config, s: State, p: Processor, a: Address) -> State:
    """A processor reads its cache."""
    require(s.control[p] in (Control.BUSY, Control.WAITING), "p waits for an answer")
    require(s.buffer[p].address == a and s.buffer[p].value is None, "p has asked to read the address")
    require(s.cache[p][a] is not None, "its cache has it")
    answer = Content(address=None, value=s.cache[p][a])
    return replace(s, buffer=put(s.buffer, p, answer), control=put(s.control, p, Control.DONE))


@action
def Write(c: Config, s: State, p: Processor, a: Address) -> State:
    """A processor writes to its cache, to those of all that have the address, and to the queue."""
    require(s.control[p] == Control.BUSY, "p waits for an answer")
    require(s.buffer[p].address == a and s.buffer[p].value is not None, "p has asked to write to the address")
    require(len(s.queue) < c.length, "the queue has room")
    value = s.buffer[p].value
    cache = tuple(
        put(s.cache[q], a, value) if q == p or (c.updates and s.cache[q][a] is not None) else s.cache[q]
        for q in range(c.processors)
    )
    return replace(
        s,
        cache=cache,
        queue=(*s.queue, Queued(processor=p, address=a, value=value)),
        buffer=put(s.buffer, p, nothing()),
        control=put(s.control, p, Control.DONE),
    )


@action
def WriteThrough(c: Config, s: State) -> State:
    """The first request of the queue is a write, and the memory does it."""
    require(len(s.queue) > 0, "the queue has a request")
    first = s.queue[0]
    require(first.value is not None, "it is a write")
    return replace(s, memory=put(s.memory, first.address, first.value), queue=s.queue[1:])


@action
def Fill(c: Config, s: State) -> State:
    """The first request of the queue is a read, and its cache gets the newest value of the queue, or of the memory."""
    require(len(s.queue) > 0, "the queue has a request")
    first = s.queue[0]
    require(first.value is None, "it is a read")
    value = newest(c, s, first.address)
    cache = put(s.cache, first.processor, put(s.cache[first.processor], first.address, value))
    return replace(s, cache=cache, queue=s.queue[1:])


@op
def newest(c: Config, s: State, a: Address) -> Value:
    """The value of an address after all writes in the queue."""
    writes = tuple(each for each in s.queue if each.address == a and each.value is not None)
    return s.memory[a] if len(writes) == 0 else writes[len(writes) - 1].value


@action
def Evict(c: Config, s: State, p: Processor, a: Address) -> State:
    """A cache drops an address, unless its processor waits for it."""
    require(s.control[p] != Control.WAITING or s.buffer[p].address != a, "p does not wait for the address")
    return replace(s, cache=put(s.cache, p, put(s.cache[p], a, None)))


@always("P-1")
def Coherent(c: Config, s: State) -> bool:
    """Two caches that have an address have the same value for it."""
    return all(
        s.cache[p][a] is None or s.cache[q][a] is None or s.cache[p][a] == s.cache[q][a]
        for p in range(c.processors)
        for q in range(c.processors)
        for a in range(c.addresses)
    )


@sometimes("W-1")
def Ahead(c: Config, s: State) -> bool:
    """A cache has a value that the memory does not have yet."""
    return any(
        s.cache[p][a] is not None and s.cache[p][a] != s.memory[a]
        for p in range(c.processors)
        for a in range(c.addresses)
    )


MODEL = ProtocolModel(State, Config)
