"""A linearizable memory: processors ask to read or write an address, and each request is done in one step.

Source: InternalMemory.tla and MCInternalMemory.tla of the TLA+ Examples, after L. Lamport, "Specifying Systems", 2002,
chapter 5. With two processors, three addresses and two values: 4,408 distinct states, 21,400 generated, diameter 10.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, sort

Processor = Annotated[int, sort("Processor", "processors")]
Address = Annotated[int, sort("Address", "addresses")]
Value = Annotated[int, sort("Value", "values")]
Memory = Annotated[tuple[Value, ...], Per(Address)]


class Control(enum.Enum):
    READY = "ready"
    BUSY = "busy"
    DONE = "done"


@config
class Config:
    processors: int = 2
    addresses: int = 3
    values: int = 2


@record
class Content:
    """A request to read, with an address, or to write, with both; an answer, with a value; or nothing."""

    address: Address | None
    value: Value | None


@state
class State:
    """last, interface: the processor that has sent or received last, and the content."""

    memory: Memory
    control: Annotated[tuple[Control, ...], Per(Processor)]
    buffer: Annotated[tuple[Content, ...], Per(Processor)]
    last: Processor
    interface: Content


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
def Do(c: Config, s: State, p: Processor, a: Address) -> State:
    """The memory executes the request."""
    require(s.control[p] == Control.BUSY, "p waits for an answer")
    require(s.buffer[p].address == a, "p has asked for the address")
    value = s.buffer[p].value
    answer = Content(address=None, value=s.memory[a] if value is None else None)
    memory = s.memory if value is None else put(s.memory, a, value)
    return replace(s, memory=memory, control=put(s.control, p, Control.DONE), buffer=put(s.buffer, p, answer))


@action
def Respond(c: Config, s: State, p: Processor) -> State:
    """A processor receives the answer."""
    require(s.control[p] == Control.DONE, "what p asked is done")
    return replace(s, control=put(s.control, p, Control.READY), last=p, interface=s.buffer[p])


@always("P-1")
def OnlyWritersChange(c: Config, s: State, t: State) -> bool:
    """An address changes only to what a processor has asked to write there."""
    return all(
        s.memory[a] == t.memory[a]
        or any(s.buffer[p].address == a and s.buffer[p].value == t.memory[a] for p in range(c.processors))
        for a in range(c.addresses)
    )


@sometimes("W-1")
def Conflict(c: Config, s: State) -> bool:
    """Two processors have asked to write different values to the same address."""
    return all(s.control[p] == Control.BUSY and s.buffer[p].value is not None for p in range(c.processors)) and (
        s.buffer[0].address == s.buffer[1].address and s.buffer[0].value != s.buffer[1].value
    )


MODEL = ProtocolModel(State, Config)
