"""A register on servers that do not talk to each other: linearizable with one server, not with two.

Source: the example `single-copy-register` of Stateright 0.31. Each client writes once, then reads, from the next server
if there are several; a history says which operations had ended when a read began. With two clients and one server: 93
distinct states, as Stateright counts them.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, nat, sort

Client = Annotated[int, sort("Client", "clients", ordered=True)]
Server = Annotated[int, sort("Server", "servers", ordered=True)]
Value = Annotated[int, nat("Value", hi="clients")]
Count = Annotated[int, nat("Count", hi=2)]


class Stage(enum.Enum):
    WRITES = "writes"
    READS = "reads"
    DONE = "done"


@config
class Config:
    clients: int = 2
    servers: int = 1


@record
class Answer:
    """A message to a client that has read."""

    client: Client
    value: Value


@state
class State:
    """register: of a server; 0 until it is written, then k + 1 if client k wrote last.

    writes, written, reads, answers: the messages under way. seen: the number of operations of each other client that
    had ended when a client began to read. result: the value that it has read.
    """

    register: Annotated[tuple[Value, ...], Per(Server)]
    writes: frozenset[Client]
    written: frozenset[Client]
    reads: frozenset[Client]
    answers: frozenset[Answer]
    stage: Annotated[tuple[Stage, ...], Per(Client)]
    seen: Annotated[tuple[Annotated[tuple[Count, ...], Per(Client)], ...], Per(Client)]
    result: Annotated[tuple[Value, ...], Per(Client)]


@op
def ended(s: State, k: Client) -> int:
    """The number of a client's operations that have ended."""
    return 0 if s.stage[k] == Stage.WRITES else 1 if s.stage[k] == Stage.READS else 2


@op
def earlier(c: Config, s: State, v: Value, w: Value) -> bool:
    """A client has read w, and began after an operation with v had ended: its write, or another client's read."""
    return any(
        s.stage[k] == Stage.DONE
        and s.result[k] == w
        and any(
            (m + 1 == v and (m == k or s.seen[k][m] >= 1)) or (s.seen[k][m] == 2 and s.result[m] == v)
            for m in range(c.clients)
        )
        for k in range(c.clients)
    )


@init
def Init(c: Config) -> State:
    return State(
        register=tuple(0 for n in range(c.servers)),
        writes=frozenset(range(c.clients)),
        written=EMPTY,
        reads=EMPTY,
        answers=EMPTY,
        stage=tuple(Stage.WRITES for k in range(c.clients)),
        seen=tuple(tuple(0 for m in range(c.clients)) for k in range(c.clients)),
        result=tuple(0 for k in range(c.clients)),
    )


@action
def Write(c: Config, s: State, k: Client) -> State:
    """The server of a client writes its value."""
    require(k in s.writes, "a value of k is under way")
    register = put(s.register, k % c.servers, k + 1)
    return replace(s, register=register, writes=s.writes - {k}, written=s.written | {k})


@action
def BeginToRead(c: Config, s: State, k: Client) -> State:
    """A client learns that its value is written, and asks the next server."""
    require(k in s.written, "the word is under way that the value of k is written")
    seen = tuple(0 if m == k else ended(s, m) for m in range(c.clients))
    return replace(
        s, written=s.written - {k}, reads=s.reads | {k}, stage=put(s.stage, k, Stage.READS), seen=put(s.seen, k, seen)
    )


@action
def Read(c: Config, s: State, k: Client) -> State:
    """A server answers a client."""
    require(k in s.reads, "a question of k is under way")
    answer = Answer(client=k, value=s.register[(k + 1) % c.servers])
    return replace(s, reads=s.reads - {k}, answers=s.answers | {answer})


@action
def Learn(c: Config, s: State, answer: Answer) -> State:
    """A client has read."""
    require(answer in s.answers, "the answer is under way")
    k = answer.client
    return replace(
        s, answers=s.answers - {answer}, stage=put(s.stage, k, Stage.DONE), result=put(s.result, k, answer.value)
    )


@always("P-1")
def Linearizable(c: Config, s: State) -> bool:
    """The operations have an order in which each read returns the last write, and none comes before one that had ended.

    They have one if no read returns the first value, which the reader has overwritten, and no two values were each
    read after the other: P. Gibbons and E. Korach, "Testing Shared Memories", 1997.
    """
    overwritten = all(s.stage[k] != Stage.DONE or s.result[k] > 0 for k in range(c.clients))
    ordered = all(
        k == m or not (earlier(c, s, k + 1, m + 1) and earlier(c, s, m + 1, k + 1))
        for k in range(c.clients)
        for m in range(c.clients)
    )
    return overwritten and ordered


@sometimes("W-1")
def ValueRead(c: Config, s: State) -> bool:
    """An answer with a value is under way."""
    return any(answer.value > 0 for answer in s.answers)


MODEL = ProtocolModel(State, Config)
