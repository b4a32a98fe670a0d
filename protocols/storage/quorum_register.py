"""A register that a majority of servers keeps, and that stays linearizable without agreement among them.

Source: the example `linearizable-register` of Stateright 0.31, after H. Attiya, A. Bar-Noy and D. Dolev, "Sharing
Memory Robustly in Message-Passing Systems", 1995. Each client writes once, then reads, at the next server; a history
says which operations had ended when a read began. With two clients and two servers: 544 distinct states, as Stateright
counts them.
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
Stamp = Annotated[int, nat("Stamp", hi="last_stamp")]
Count = Annotated[int, nat("Count", hi=2)]


class Stage(enum.Enum):
    WRITES = "writes"
    READS = "reads"
    DONE = "done"


class Phase(enum.Enum):
    IDLE = "idle"
    ASKS = "asks"
    STORES = "stores"


@config
class Config:
    """last_stamp: the last of the stamps, which are k * servers + n for the k-th write at server n."""

    clients: int = 2
    servers: int = 2
    last_stamp: int = 5


@record
class Request:
    """A request of a client: to write its value, or to read."""

    client: Client
    writes: bool


@record
class Query:
    """A message to a server: ask for its value and stamp."""

    to: Server
    request: Request


@record
class Have:
    """The value of a server, and its stamp."""

    server: Server
    stamp: Stamp
    value: Value


@record
class Reply:
    """A message to the server of a request."""

    request: Request
    have: Have


@record
class Store:
    """A message to a server: store this value, unless your stamp is later."""

    to: Server
    request: Request
    stamp: Stamp
    value: Value


@record
class Stored:
    """A message to the server of a request."""

    server: Server
    request: Request


@record
class Answer:
    """A message to a client that has read."""

    client: Client
    value: Value


@state
class State:
    """stamp, value: of a server; the value of client k is k + 1, and 0 is the first one.

    phase, request: the current phase and request of a server. heard: the replies to it; acks: the servers that have
    stored; found: its answer to a reader. requests, written: messages from and to clients. seen: the number of
    operations of each other client that had ended when a client began to read. result: the value that it has read.
    """

    stamp: Annotated[tuple[Stamp, ...], Per(Server)]
    value: Annotated[tuple[Value, ...], Per(Server)]
    phase: Annotated[tuple[Phase, ...], Per(Server)]
    request: Annotated[tuple[Request | None, ...], Per(Server)]
    heard: Annotated[tuple[frozenset[Have], ...], Per(Server)]
    acks: Annotated[tuple[frozenset[Server], ...], Per(Server)]
    found: Annotated[tuple[Value, ...], Per(Server)]
    requests: frozenset[Request]
    queries: frozenset[Query]
    replies: frozenset[Reply]
    stores: frozenset[Store]
    stored: frozenset[Stored]
    written: frozenset[Client]
    answers: frozenset[Answer]
    stage: Annotated[tuple[Stage, ...], Per(Client)]
    seen: Annotated[tuple[Annotated[tuple[Count, ...], Per(Client)], ...], Per(Client)]
    result: Annotated[tuple[Value, ...], Per(Client)]


@op
def server_of(c: Config, request: Request) -> int:
    """The server that a client sends a request to."""
    return (request.client if request.writes else request.client + 1) % c.servers


@op
def majority(c: Config, size: int) -> bool:
    """The size is that of the smallest majorities."""
    return size == c.servers // 2 + 1


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
        stamp=tuple(n for n in range(c.servers)),
        value=tuple(0 for n in range(c.servers)),
        phase=tuple(Phase.IDLE for n in range(c.servers)),
        request=tuple(None for n in range(c.servers)),
        heard=tuple(EMPTY for n in range(c.servers)),
        acks=tuple(EMPTY for n in range(c.servers)),
        found=tuple(0 for n in range(c.servers)),
        requests=frozenset(Request(client=k, writes=True) for k in range(c.clients)),
        queries=EMPTY,
        replies=EMPTY,
        stores=EMPTY,
        stored=EMPTY,
        written=EMPTY,
        answers=EMPTY,
        stage=tuple(Stage.WRITES for k in range(c.clients)),
        seen=tuple(tuple(0 for m in range(c.clients)) for k in range(c.clients)),
        result=tuple(0 for k in range(c.clients)),
    )


@action
def Ask(c: Config, s: State, request: Request) -> State:
    """A server takes a request, and asks all others for their values."""
    n = server_of(c, request)
    require(request in s.requests, "the request is under way")
    require(s.phase[n] == Phase.IDLE, "its server is idle")
    own = Have(server=n, stamp=s.stamp[n], value=s.value[n])
    return replace(
        s,
        requests=s.requests - {request},
        queries=s.queries | frozenset(Query(to=m, request=request) for m in range(c.servers) if m != n),
        phase=put(s.phase, n, Phase.ASKS),
        request=put(s.request, n, request),
        heard=put(s.heard, n, frozenset({own})),
    )


@action
def Tell(c: Config, s: State, query: Query) -> State:
    """A server answers with its value."""
    require(query in s.queries, "the query is under way")
    n = query.to
    reply = Reply(request=query.request, have=Have(server=n, stamp=s.stamp[n], value=s.value[n]))
    return replace(s, queries=s.queries - {query}, replies=s.replies | {reply})


@action
def Hear(c: Config, s: State, reply: Reply) -> State:
    """A server that knows the values of a majority makes all store the latest, or the value that its client writes."""
    request = reply.request
    n = server_of(c, request)
    require(reply in s.replies, "the reply is under way")
    require(s.phase[n] == Phase.ASKS and s.request[n] == request, "its server waits for it")
    heard = s.heard[n] | {reply.have}
    rest = s.replies - {reply}
    if not majority(c, len(heard)):
        return replace(s, replies=rest, heard=put(s.heard, n, heard))
    last = max((each.stamp for each in heard), default=0)
    latest = max((each.value for each in heard if each.stamp == last), default=0)
    stamp = last - last % c.servers + c.servers + n if request.writes else last
    value = request.client + 1 if request.writes else latest
    stores = frozenset(Store(to=m, request=request, stamp=stamp, value=value) for m in range(c.servers) if m != n)
    return replace(
        s,
        replies=rest,
        stores=s.stores | stores,
        stamp=put(s.stamp, n, max(s.stamp[n], stamp)),
        value=put(s.value, n, value if stamp > s.stamp[n] else s.value[n]),
        phase=put(s.phase, n, Phase.STORES),
        heard=put(s.heard, n, EMPTY),
        acks=put(s.acks, n, frozenset({n})),
        found=put(s.found, n, 0 if request.writes else value),
    )


@action
def Keep(c: Config, s: State, message: Store) -> State:
    """A server stores a value that is later than its own."""
    require(message in s.stores, "the message is under way")
    n = message.to
    later = message.stamp > s.stamp[n]
    return replace(
        s,
        stores=s.stores - {message},
        stored=s.stored | {Stored(server=n, request=message.request)},
        stamp=put(s.stamp, n, message.stamp if later else s.stamp[n]),
        value=put(s.value, n, message.value if later else s.value[n]),
    )


@action
def End(c: Config, s: State, ack: Stored) -> State:
    """A server hears that another one has stored; after a majority it answers its client."""
    request = ack.request
    n = server_of(c, request)
    require(ack in s.stored, "the message is under way")
    require(s.phase[n] == Phase.STORES and s.request[n] == request, "its server waits for it")
    acks = s.acks[n] | {ack.server}
    rest = s.stored - {ack}
    if not majority(c, len(acks)):
        return replace(s, stored=rest, acks=put(s.acks, n, acks))
    answer = Answer(client=request.client, value=s.found[n])
    return replace(
        s,
        stored=rest,
        phase=put(s.phase, n, Phase.IDLE),
        request=put(s.request, n, None),
        acks=put(s.acks, n, EMPTY),
        found=put(s.found, n, 0),
        written=s.written | {request.client} if request.writes else s.written,
        answers=s.answers if request.writes else s.answers | {answer},
    )


@action
def BeginToRead(c: Config, s: State, k: Client) -> State:
    """A client learns that its value is written, and asks the next server."""
    require(k in s.written, "the word is under way that the value of k is written")
    seen = tuple(0 if m == k else ended(s, m) for m in range(c.clients))
    return replace(
        s,
        written=s.written - {k},
        requests=s.requests | {Request(client=k, writes=False)},
        stage=put(s.stage, k, Stage.READS),
        seen=put(s.seen, k, seen),
    )


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
