"""A buffer between two channels, which hand over one message at a time by two bits that alternate.

Source: InnerFIFO.tla and MCInnerFIFO.tla of the TLA+ Examples, after L. Lamport, "Specifying Systems", 2002, chapter 4.
With three messages and a buffer of three: 3,864 distinct states, 9,660 generated, diameter 11.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, bound, config, init, record, require, sometimes, state
from elrcheck.lang.types import SeqMark, sort

Message = Annotated[int, sort("Message", "messages")]


@config
class Config:
    messages: int = 3
    length: int = 3

    @property
    def capacity(self) -> int:
        """A buffer that is full takes one more, in a state that is not explored."""
        return self.length + 1


@record
class Channel:
    """ready: the bit of the sender; taken: that of the receiver. A value is on offer while they differ."""

    value: Message
    ready: bool
    taken: bool


@state
class State:
    incoming: Channel
    outgoing: Channel
    buffer: Annotated[tuple[Message, ...], SeqMark("capacity")]


@init
def Init(c: Config, a: Message, b: Message, in_bit: bool, out_bit: bool) -> State:
    return State(
        incoming=Channel(value=a, ready=in_bit, taken=in_bit),
        outgoing=Channel(value=b, ready=out_bit, taken=out_bit),
        buffer=(),
    )


@bound
def Bound(c: Config, s: State) -> bool:
    return len(s.buffer) <= c.length


@action
def Offer(c: Config, s: State, value: Message) -> State:
    """The sender offers a message."""
    require(s.incoming.ready == s.incoming.taken, "nothing is on offer to the buffer")
    return replace(s, incoming=replace(s.incoming, value=value, ready=not s.incoming.ready))


@action
def Take(c: Config, s: State) -> State:
    """The buffer takes the message that is on offer."""
    require(s.incoming.ready != s.incoming.taken, "a message is on offer to the buffer")
    incoming = replace(s.incoming, taken=not s.incoming.taken)
    return replace(s, incoming=incoming, buffer=(*s.buffer, s.incoming.value))


@action
def OfferFirst(c: Config, s: State) -> State:
    """The buffer offers its first message to the receiver."""
    require(len(s.buffer) > 0, "the buffer has a message")
    require(s.outgoing.ready == s.outgoing.taken, "nothing is on offer to the receiver")
    outgoing = replace(s.outgoing, value=s.buffer[0], ready=not s.outgoing.ready)
    return replace(s, outgoing=outgoing, buffer=s.buffer[1:])


@action
def Accept(c: Config, s: State) -> State:
    """The receiver takes the message that is on offer."""
    require(s.outgoing.ready != s.outgoing.taken, "a message is on offer to the receiver")
    return replace(s, outgoing=replace(s.outgoing, taken=not s.outgoing.taken))


@always("P-1")
def OnlyTheFirstLeaves(c: Config, s: State, t: State) -> bool:
    """The buffer becomes shorter only by its first message, which is then on offer."""
    return len(t.buffer) >= len(s.buffer) or (t.outgoing.value == s.buffer[0] and t.buffer == s.buffer[1:])


@sometimes("W-1")
def Full(c: Config, s: State) -> bool:
    """The buffer is full."""
    return len(s.buffer) == c.length


MODEL = ProtocolModel(State, Config)
