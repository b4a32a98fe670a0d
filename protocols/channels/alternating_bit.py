"""The alternating bit: values are sent over channels that lose messages, each with a bit that is acknowledged.

Source: AlternatingBit.tla and MCAlternatingBit.tla of the TLA+ Examples, after L. Lamport, "Specifying Systems", 2002,
chapter 14. With two values and channels of two messages: 240 distinct states, 1,392 generated, diameter 10.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.marks import Fair, Strength
from elrcheck.lang.runtime import (
    LeadsTo,
    action,
    always,
    bound,
    config,
    init,
    leads_to,
    lemma,
    record,
    require,
    sometimes,
    state,
)
from elrcheck.lang.types import SeqMark, nat, sort

Data = Annotated[int, sort("Data", "values")]
Place = Annotated[int, nat("Place", hi="channel")]
SENDS = Fair("who waits sends again")
ARRIVES = Fair("not every message is lost", Strength.STRONG)


@config
class Config:
    """channel: the most messages in a channel."""

    values: int = 2
    channel: int = 2

    @property
    def capacity(self) -> int:
        """A channel that is full takes one more, in a state that is not explored."""
        return self.channel + 1


@record
class Message:
    bit: bool
    value: Data


Messages = Annotated[tuple[Message, ...], SeqMark("capacity")]
Acknowledgements = Annotated[tuple[bool, ...], SeqMark("capacity")]


@state
class State:
    """bit: of the value sent last. acknowledged: the bit that the sender has heard of. received_bit: the receiver's."""

    messages: Messages
    acknowledgements: Acknowledgements
    bit: bool
    acknowledged: bool
    received_bit: bool
    sent: Data
    received: Data


@init
def Init(c: Config, bit: bool, sent: Data, received: Data) -> State:
    return State(
        messages=(), acknowledgements=(), bit=bit, acknowledged=bit, received_bit=bit, sent=sent, received=received
    )


@bound
def Bound(c: Config, s: State) -> bool:
    return len(s.messages) <= c.channel and len(s.acknowledgements) <= c.channel


@action
def SendNew(c: Config, s: State, value: Data) -> State:
    """The last value was acknowledged, and the sender sends another one with the other bit."""
    require(s.acknowledged == s.bit, "the last value is acknowledged")
    require(len(s.messages) < c.channel + 1, "the channel takes one more message")
    messages = (*s.messages, Message(bit=not s.bit, value=value))
    return replace(s, sent=value, bit=not s.bit, messages=messages)


@action(fairness=SENDS)
def SendAgain(c: Config, s: State) -> State:
    """The sender sends the last value again."""
    require(s.acknowledged != s.bit, "the last value is not acknowledged")
    require(len(s.messages) < c.channel + 1, "the channel takes one more message")
    return replace(s, messages=(*s.messages, Message(bit=s.bit, value=s.sent)))


@action(fairness=ARRIVES)
def Receive(c: Config, s: State) -> State:
    """The receiver takes the first message."""
    require(len(s.messages) > 0, "a message is on its way")
    first = s.messages[0]
    return replace(s, messages=s.messages[1:], received_bit=first.bit, received=first.value)


@action(fairness=SENDS)
def Acknowledge(c: Config, s: State) -> State:
    """The receiver sends the bit of the message that it has received last."""
    require(len(s.acknowledgements) < c.channel + 1, "the channel takes one more acknowledgement")
    return replace(s, acknowledgements=(*s.acknowledgements, s.received_bit))


@action(fairness=ARRIVES)
def ReceiveAcknowledgement(c: Config, s: State) -> State:
    """The sender takes the first acknowledgement."""
    require(len(s.acknowledgements) > 0, "an acknowledgement is on its way")
    return replace(s, acknowledged=s.acknowledgements[0], acknowledgements=s.acknowledgements[1:])


@action
def LoseMessage(c: Config, s: State, k: Place) -> State:
    """A message is lost."""
    require(k < len(s.messages), "there is a k-th message")
    return replace(s, messages=s.messages[:k] + s.messages[k + 1 :])


@action
def LoseAcknowledgement(c: Config, s: State, k: Place) -> State:
    """An acknowledgement is lost."""
    require(k < len(s.acknowledgements), "there is a k-th acknowledgement")
    return replace(s, acknowledgements=s.acknowledgements[:k] + s.acknowledgements[k + 1 :])


@lemma
def MessagesComeInOrder(c: Config, s: State) -> bool:
    """No message with the old bit comes after one with the new bit, and those with the new bit have the last value."""
    in_order = all(
        s.messages[i].bit != s.bit or s.messages[j].bit == s.bit
        for i in range(len(s.messages))
        for j in range(len(s.messages))
        if i < j
    )
    return in_order and all(m.bit != s.bit or m.value == s.sent for m in s.messages)


@lemma
def AcknowledgementsComeInOrder(c: Config, s: State) -> bool:
    """No acknowledgement of the old bit comes after one of the new bit."""
    return all(
        s.acknowledgements[i] != s.bit or s.acknowledgements[j] == s.bit
        for i in range(len(s.acknowledgements))
        for j in range(len(s.acknowledgements))
        if i < j
    )


@lemma
def ReceivedIsTheLast(c: Config, s: State) -> bool:
    """Once the receiver has the new bit, so have all messages; until the sender has heard of it, it has the value."""
    on_their_way = all(m.bit == s.bit for m in s.messages)
    return s.received_bit != s.bit or (on_their_way and (s.acknowledged == s.bit or s.received == s.sent))


@lemma
def AcknowledgedWasReceived(c: Config, s: State) -> bool:
    """Until the receiver has the new bit, no acknowledgement has it; once the sender has heard, all have it."""
    nobody = s.acknowledged != s.bit and all(a != s.bit for a in s.acknowledgements)
    return (s.received_bit == s.bit or nobody) and (
        s.acknowledged != s.bit or all(a == s.bit for a in s.acknowledgements)
    )


@always("P-1")
def AcknowledgedIsReceived(c: Config, s: State, t: State) -> bool:
    """The receiver has the last value when the sender hears that it has."""
    hears = s.acknowledged != s.bit and t.acknowledged == t.bit
    return not hears or (t.received_bit == t.bit and t.received == t.sent)


@sometimes("W-1")
def Arrives(c: Config, s: State) -> bool:
    """The last value arrives, and its sender does not know it yet."""
    return s.acknowledged != s.bit and s.received_bit == s.bit


@leads_to("V-1")
def SentIsReceived(c: Config, s: State, value: Data) -> LeadsTo:
    """A value that is sent is received."""
    return LeadsTo(premise=s.sent == value and s.bit != s.acknowledged, conclusion=s.received == value)


MODEL = ProtocolModel(State, Config)
