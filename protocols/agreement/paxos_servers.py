"""A register that servers agree on by Paxos: each client proposes a value to one server and reads from the next.

Source: the example `paxos` of Stateright 0.31, after L. Lamport, "Paxos Made Simple", 2001. A server leads one ballot
for the first client that asks it; a decided value is final. A message that its receiver has no use for stays under way,
as in Stateright. With two clients and three servers: 16,668 distinct states and 32,971
generated, as Stateright counts them.
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
Ballot = Annotated[int, nat("Ballot", hi="last_ballot")]
Count = Annotated[int, nat("Count", hi=2)]


class Stage(enum.Enum):
    WRITES = "writes"
    READS = "reads"
    DONE = "done"


@config
class Config:
    """last_ballot: the last of the ballots, of which the k-th that server n leads is k * servers + n.

    adopts: a leader proposes the last value that its majority has accepted.
    """

    clients: int = 2
    servers: int = 3
    last_ballot: int = 7
    adopts: bool = True


@record
class Accepted:
    """The value that a server has accepted, and its ballot; 0 and 0 for none."""

    ballot: Ballot
    value: Value


@record
class Prepare:
    to: Server
    ballot: Ballot


@record
class Promise:
    """A message to the leader of a ballot: a server takes part, and says what it has accepted."""

    server: Server
    ballot: Ballot
    accepted: Accepted


@record
class Accept:
    to: Server
    proposal: Accepted


@record
class Vote:
    """A message to the leader of a ballot: its proposal is accepted."""

    server: Server
    ballot: Ballot


@record
class Written:
    """A message to a client: its value is decided."""

    server: Server
    client: Client


@record
class Answer:
    """A message to a client that has read."""

    client: Client
    value: Value


@state
class State:
    """ballot: the latest that a server has heard of. proposal: of a leader; the value of client k is k + 1, 0 is none.

    heard, votes: the promises and votes that a leader has. writes, .. answers: the messages under way. seen: the number
    of operations of each other client that had ended when a client began to read. result: the value that it has read.
    """

    ballot: Annotated[tuple[Ballot, ...], Per(Server)]
    proposal: Annotated[tuple[Value, ...], Per(Server)]
    heard: Annotated[tuple[Annotated[tuple[Accepted | None, ...], Per(Server)], ...], Per(Server)]
    votes: Annotated[tuple[frozenset[Server], ...], Per(Server)]
    accepted: Annotated[tuple[Accepted, ...], Per(Server)]
    decided: Annotated[tuple[bool, ...], Per(Server)]
    writes: frozenset[Client]
    prepares: frozenset[Prepare]
    promises: frozenset[Promise]
    accepts: frozenset[Accept]
    acceptances: frozenset[Vote]
    decisions: frozenset[Accept]
    written: frozenset[Written]
    reads: frozenset[Client]
    answers: frozenset[Answer]
    stage: Annotated[tuple[Stage, ...], Per(Client)]
    seen: Annotated[tuple[Annotated[tuple[Count, ...], Per(Client)], ...], Per(Client)]
    result: Annotated[tuple[Value, ...], Per(Client)]


@op
def leader(c: Config, b: Ballot) -> int:
    """The server that leads a ballot."""
    return b % c.servers


@op
def majority(c: Config, size: int) -> bool:
    """The size is that of the smallest majorities."""
    return size == c.servers // 2 + 1


@op
def ballot_of(accepted: Accepted | None) -> int:
    return 0 if accepted is None else accepted.ballot


@op
def value_of(accepted: Accepted | None) -> int:
    return 0 if accepted is None else accepted.value


@op
def last_value(c: Config, heard: Annotated[tuple[Accepted | None, ...], Per(Server)]) -> int:
    """The value that the servers of the promises accepted last; 0 if they have accepted nothing."""
    last = max((ballot_of(heard[n]) for n in range(c.servers)), default=0)
    return max((value_of(heard[n]) for n in range(c.servers) if ballot_of(heard[n]) == last), default=0)


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
        ballot=tuple(0 for n in range(c.servers)),
        proposal=tuple(0 for n in range(c.servers)),
        heard=tuple(tuple(None for m in range(c.servers)) for n in range(c.servers)),
        votes=tuple(EMPTY for n in range(c.servers)),
        accepted=tuple(Accepted(ballot=0, value=0) for n in range(c.servers)),
        decided=tuple(False for n in range(c.servers)),
        writes=frozenset(range(c.clients)),
        prepares=EMPTY,
        promises=EMPTY,
        accepts=EMPTY,
        acceptances=EMPTY,
        decisions=EMPTY,
        written=EMPTY,
        reads=EMPTY,
        answers=EMPTY,
        stage=tuple(Stage.WRITES for k in range(c.clients)),
        seen=tuple(tuple(0 for m in range(c.clients)) for k in range(c.clients)),
        result=tuple(0 for k in range(c.clients)),
    )


@action
def Propose(c: Config, s: State, k: Client) -> State:
    """A server begins a ballot for the first client that asks it."""
    n = k % c.servers
    require(k in s.writes, "the value of k is under way")
    require(s.proposal[n] == 0 and not s.decided[n], "its server has no proposal")
    b = s.ballot[n] - s.ballot[n] % c.servers + c.servers + n
    return replace(
        s,
        writes=s.writes - {k},
        ballot=put(s.ballot, n, b),
        proposal=put(s.proposal, n, k + 1),
        heard=put(s.heard, n, tuple(s.accepted[n] if m == n else None for m in range(c.servers))),
        prepares=s.prepares | frozenset(Prepare(to=m, ballot=b) for m in range(c.servers) if m != n),
    )


@action
def MakePromise(c: Config, s: State, message: Prepare) -> State:
    """A server promises to accept nothing in earlier ballots, and says what it has accepted."""
    n = message.to
    require(message in s.prepares, "the message is under way")
    require(s.ballot[n] < message.ballot and not s.decided[n], "its receiver has not heard of a ballot as late")
    promise = Promise(server=n, ballot=message.ballot, accepted=s.accepted[n])
    return replace(
        s, prepares=s.prepares - {message}, ballot=put(s.ballot, n, message.ballot), promises=s.promises | {promise}
    )


@action
def HearPromise(c: Config, s: State, message: Promise) -> State:
    """A leader with the promises of a majority proposes what was accepted last among them, else the client's value."""
    b = message.ballot
    n = leader(c, b)
    require(message in s.promises, "the message is under way")
    require(s.ballot[n] == b and not s.decided[n], "its ballot is that of its receiver")
    heard = put(s.heard[n], message.server, message.accepted)
    rest = s.promises - {message}
    if not majority(c, sum(1 for each in range(c.servers) if heard[each] is not None)):
        return replace(s, promises=rest, heard=put(s.heard, n, heard))
    value = last_value(c, heard) if c.adopts else 0
    proposal = Accepted(ballot=b, value=value if value > 0 else s.proposal[n])
    return replace(
        s,
        promises=rest,
        heard=put(s.heard, n, heard),
        proposal=put(s.proposal, n, proposal.value),
        accepted=put(s.accepted, n, proposal),
        votes=put(s.votes, n, s.votes[n] | {n}),
        accepts=s.accepts | frozenset(Accept(to=m, proposal=proposal) for m in range(c.servers) if m != n),
    )


@action
def AcceptProposal(c: Config, s: State, message: Accept) -> State:
    """A server accepts a proposal of a ballot that is not earlier than one it has heard of."""
    n, b = message.to, message.proposal.ballot
    require(message in s.accepts, "the message is under way")
    require(s.ballot[n] <= b and not s.decided[n], "its receiver has not heard of a later ballot")
    return replace(
        s,
        accepts=s.accepts - {message},
        ballot=put(s.ballot, n, b),
        accepted=put(s.accepted, n, message.proposal),
        acceptances=s.acceptances | {Vote(server=n, ballot=b)},
    )


@action
def Decide(c: Config, s: State, message: Vote) -> State:
    """A leader whose proposal a majority has accepted notifies all servers, and the client of the value."""
    b = message.ballot
    n = leader(c, b)
    require(message in s.acceptances, "the message is under way")
    require(s.ballot[n] == b and not s.decided[n], "its ballot is that of its receiver")
    votes = s.votes[n] | {message.server}
    rest = s.acceptances - {message}
    if not majority(c, len(votes)):
        return replace(s, acceptances=rest, votes=put(s.votes, n, votes))
    decision = Accepted(ballot=b, value=s.proposal[n])
    return replace(
        s,
        acceptances=rest,
        votes=put(s.votes, n, votes),
        decided=put(s.decided, n, True),
        decisions=s.decisions | frozenset(Accept(to=m, proposal=decision) for m in range(c.servers) if m != n),
        written=s.written | {Written(server=n, client=s.proposal[n] - 1)},
    )


@action
def LearnDecision(c: Config, s: State, message: Accept) -> State:
    """A server learns the decision."""
    n = message.to
    require(message in s.decisions, "the message is under way")
    require(not s.decided[n], "its receiver does not know")
    return replace(
        s,
        decisions=s.decisions - {message},
        ballot=put(s.ballot, n, message.proposal.ballot),
        accepted=put(s.accepted, n, message.proposal),
        decided=put(s.decided, n, True),
    )


@action
def BeginToRead(c: Config, s: State, message: Written) -> State:
    """A client learns that its value is decided, and asks the next server."""
    k = message.client
    require(message in s.written, "the message is under way")
    require(s.stage[k] == Stage.WRITES, "the client waits for it")
    seen = tuple(0 if m == k else ended(s, m) for m in range(c.clients))
    return replace(
        s,
        written=s.written - {message},
        reads=s.reads | {k},
        stage=put(s.stage, k, Stage.READS),
        seen=put(s.seen, k, seen),
    )


@action
def Read(c: Config, s: State, k: Client) -> State:
    """A server that knows the decision answers a client."""
    n = (k + 1) % c.servers
    require(k in s.reads, "a question of k is under way")
    require(s.decided[n], "its server knows the decision")
    answer = Answer(client=k, value=s.accepted[n].value)
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


@always("P-2")
def OneDecision(c: Config, s: State) -> bool:
    """No two servers know different decisions."""
    return all(
        s.accepted[n].value == s.accepted[m].value
        for n in range(c.servers)
        for m in range(c.servers)
        if s.decided[n] and s.decided[m]
    )


@sometimes("W-1")
def ValueRead(c: Config, s: State) -> bool:
    """An answer with a value is under way."""
    return any(answer.value > 0 for answer in s.answers)


MODEL = ProtocolModel(State, Config)
