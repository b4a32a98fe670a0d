"""Multi-Paxos: replicas agree on a log of commands that write and read one value, for clients that see no difference.

Source: MultiPaxos.tla and MultiPaxos_MC_small.cfg of the TLA+ Examples (MultiPaxos-SMR) by G. Hu, 2024. A promise of a
replica is a reply and what it reports of each slot that it has voted in. With three replicas, a write, a read and
ballots 1 and 2, the manifest has 343,796 distinct states, 736,012 generated and diameter 28, of which TLC searches one
of each set of symmetric states. Here every state is searched: 2,062,561 distinct, 4,414,927 generated; with
`--symmetry` as many distinct states as in the manifest, and the same diameter, but 735,918 generated. In the published
action that takes a request, a guard says that some slot is empty, and TLC generates the step once for each such slot,
twice while both are empty. With a parameter for that slot, this model generates 736,012 too, and without symmetry the
4,415,485 of TLC.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, SeqMark, nat, sort

Replica = Annotated[int, sort("Replica", "replicas", symmetric=True)]
Slot = Annotated[int, sort("Slot", "commands", ordered=True)]
Ballot = Annotated[int, nat("Ballot", hi="last_ballot")]
Command = Annotated[int, nat("Command", hi="commands")]
Count = Annotated[int, nat("Count", hi="commands")]


class Status(enum.Enum):
    EMPTY = "empty"
    PREPARING = "preparing"
    ACCEPTING = "accepting"
    COMMITTED = "committed"


@config
class Config:
    """commands: 1 writes, the others read. events: twice as many."""

    replicas: int = 3
    commands: int = 2
    last_ballot: int = 2
    events: int = 4


@record
class Event:
    """An observation of a client: it requests a command, or receives the value before it, 0 or 1."""

    answered: bool
    command: Command
    value: Command


@record
class Entry:
    """A slot of a log. ballot, vote: the last ballot in which its replica has voted there, and for what."""

    status: Status
    command: Command
    ballot: Ballot
    vote: Command


@record
class Prepare:
    leader: Replica
    ballot: Ballot


@record
class Reply:
    """A replica promises to accept nothing in earlier ballots."""

    replica: Replica
    ballot: Ballot


@record
class Reported:
    """With its reply for a ballot a replica says in which earlier one it last voted for a slot, and for what."""

    replica: Replica
    ballot: Ballot
    slot: Slot
    earlier: Ballot
    vote: Command


@record
class Accept:
    leader: Replica
    ballot: Ballot
    slot: Slot
    command: Command


@record
class Accepted:
    replica: Replica
    ballot: Ballot
    slot: Slot


@state
class State:
    """prepared, known: the ballot that a leader has prepared, and the latest one that a replica has heard of.

    committed: the number of slots that a replica knows to be committed. pending: the commands to come in order, counted
    from 0. done: the replicas that have seen that all are answered. Messages are never lost or removed.
    """

    leader: Annotated[tuple[Replica | None, ...], Per(Replica)]
    value: Annotated[tuple[Command, ...], Per(Replica)]
    committed: Annotated[tuple[Count, ...], Per(Replica)]
    prepared: Annotated[tuple[Ballot, ...], Per(Replica)]
    known: Annotated[tuple[Ballot, ...], Per(Replica)]
    log: Annotated[tuple[Annotated[tuple[Entry, ...], Per(Slot)], ...], Per(Replica)]
    prepares: frozenset[Prepare]
    replies: frozenset[Reply]
    reported: frozenset[Reported]
    accepts: frozenset[Accept]
    accepted: frozenset[Accepted]
    notices: frozenset[Slot]
    pending: Annotated[tuple[Slot, ...], SeqMark("commands")]
    observed: Annotated[tuple[Event, ...], SeqMark("events")]
    done: frozenset[Replica]


@op
def majority(c: Config, members: frozenset[Replica]) -> bool:
    return len(members) + len(members) > c.replicas


@op
def over(c: Config, s: State) -> bool:
    """All commands are answered."""
    answered = frozenset(each.command for each in s.observed if each.answered)
    return len(s.pending) == 0 and len(answered) == c.commands


@op
def interrupted(entry: Entry) -> Entry:
    """The entry of a slot after another ballot has begun."""
    return replace(entry, status=Status.PREPARING) if entry.status == Status.ACCEPTING else entry


@op
def promise(c: Config, s: State, r: Replica, b: Ballot) -> frozenset[Reported]:
    """The reports that a replica sends with its reply."""
    return frozenset(
        Reported(replica=r, ballot=b, slot=i, earlier=s.log[r][i].ballot, vote=s.log[r][i].vote)
        for i in range(c.commands)
        if s.log[r][i].ballot > 0
    )


@op
def last_vote(s: State, b: Ballot, i: Slot) -> int:
    """The command with the latest vote in a slot among those that replied for the ballot; 0 without a vote."""
    last = max((each.earlier for each in s.reported if each.ballot == b and each.slot == i), default=0)
    return max(
        (each.vote for each in s.reported if each.ballot == b and each.slot == i and each.earlier == last), default=0
    )


@op
def noted(s: State, event: Event) -> Annotated[tuple[Event, ...], SeqMark("events")]:
    """The observed events, with one more if it is new."""
    return s.observed if any(each == event for each in s.observed) else (*s.observed, event)


@op
def answered_first(s: State, a: Command, b: Command) -> bool:
    """Command a was answered before command b was asked for."""
    return any(
        s.observed[i].answered
        and s.observed[i].command == a
        and not s.observed[j].answered
        and s.observed[j].command == b
        for i in range(len(s.observed))
        for j in range(len(s.observed))
        if i < j
    )


@op
def result(s: State, a: Command, value: Command) -> bool:
    """The command was answered with the value."""
    return any(each.answered and each.command == a and each.value == value for each in s.observed)


@init
def Init(c: Config) -> State:
    empty = Entry(status=Status.EMPTY, command=0, ballot=0, vote=0)
    return State(
        leader=tuple(None for r in range(c.replicas)),
        value=tuple(0 for r in range(c.replicas)),
        committed=tuple(0 for r in range(c.replicas)),
        prepared=tuple(0 for r in range(c.replicas)),
        known=tuple(0 for r in range(c.replicas)),
        log=tuple(tuple(empty for i in range(c.commands)) for r in range(c.replicas)),
        prepares=EMPTY,
        replies=EMPTY,
        reported=EMPTY,
        accepts=EMPTY,
        accepted=EMPTY,
        notices=EMPTY,
        pending=tuple(range(c.commands)),
        observed=(),
        done=EMPTY,
    )


@action
def BecomeLeader(c: Config, s: State, r: Replica, b: Ballot) -> State:
    """A replica begins a ballot that is later than all it has heard of."""
    require(r not in s.done and not over(c, s), "r goes on")
    require(s.leader[r] != r, "r does not lead")
    require(b > s.known[r] and all(each.ballot != b for each in s.prepares), "the ballot is later, and new")
    log = tuple(interrupted(s.log[r][i]) for i in range(c.commands))
    return replace(
        s,
        leader=put(s.leader, r, r),
        prepared=put(s.prepared, r, 0),
        known=put(s.known, r, b),
        log=put(s.log, r, log),
        prepares=s.prepares | {Prepare(leader=r, ballot=b)},
        replies=s.replies | {Reply(replica=r, ballot=b)},
        reported=s.reported | promise(c, s, r, b),
    )


@action
def MakePromise(c: Config, s: State, r: Replica, message: Prepare) -> State:
    """A replica promises to accept nothing in earlier ballots, and says what it has voted for."""
    require(r not in s.done and not over(c, s), "r goes on")
    require(message in s.prepares, "the message was sent")
    require(message.ballot > s.known[r], "r has not heard of a ballot as late")
    log = tuple(interrupted(s.log[r][i]) for i in range(c.commands))
    return replace(
        s,
        leader=put(s.leader, r, message.leader),
        known=put(s.known, r, message.ballot),
        log=put(s.log, r, log),
        replies=s.replies | {Reply(replica=r, ballot=message.ballot)},
        reported=s.reported | promise(c, s, r, message.ballot),
    )


@action
def Lead(c: Config, s: State, r: Replica) -> State:
    """A leader with the promises of a majority proposes again what was voted for last in each slot."""
    require(r not in s.done and not over(c, s), "r goes on")
    require(s.leader[r] == r and s.prepared[r] == 0, "r prepares a ballot")
    b = s.known[r]
    require(majority(c, frozenset(each.replica for each in s.replies if each.ballot == b)), "a majority has replied")
    again = frozenset(
        i
        for i in range(c.commands)
        if s.log[r][i].status in (Status.PREPARING, Status.ACCEPTING)
        or (s.log[r][i].status == Status.EMPTY and last_vote(s, b, i) > 0)
    )
    log = tuple(
        replace(s.log[r][i], status=Status.ACCEPTING if i in again else s.log[r][i].status, command=last_vote(s, b, i))
        for i in range(c.commands)
    )
    sent = frozenset(Accept(leader=r, ballot=b, slot=i, command=last_vote(s, b, i)) for i in again)
    return replace(s, prepared=put(s.prepared, r, b), log=put(s.log, r, log), accepts=s.accepts | sent)


@action
def TakeRequest(c: Config, s: State, r: Replica, i: Slot) -> State:
    """A leader takes the next command for the first empty slot."""
    require(r not in s.done and not over(c, s), "r goes on")
    require(s.leader[r] == r and s.prepared[r] == s.known[r], "r leads a ballot that it has prepared")
    require(
        all((s.log[r][j].status == Status.EMPTY) == (j == i) for j in range(c.commands) if j <= i), "i is the next slot"
    )
    new = tuple(each for each in s.pending if all(s.log[r][j].command != each + 1 for j in range(c.commands)))
    require(len(new) > 0, "a command is pending that r has not in its log")
    a, b = new[0] + 1, s.prepared[r]
    entry = Entry(status=Status.ACCEPTING, command=a, ballot=b, vote=a)
    return replace(
        s,
        log=put(s.log, r, put(s.log[r], i, entry)),
        accepts=s.accepts | {Accept(leader=r, ballot=b, slot=i, command=a)},
        accepted=s.accepted | {Accepted(replica=r, ballot=b, slot=i)},
        observed=noted(s, Event(answered=False, command=a, value=0)),
    )


@action
def Vote(c: Config, s: State, r: Replica, message: Accept) -> State:
    """A replica accepts a command of a ballot that is not earlier than one it has heard of."""
    require(r not in s.done and not over(c, s), "r goes on")
    require(message in s.accepts, "the message was sent")
    i, b, a = message.slot, message.ballot, message.command
    require(b >= s.known[r] and b > s.log[r][i].ballot, "r has neither heard of a later ballot nor voted in this one")
    entry = Entry(status=Status.ACCEPTING, command=a, ballot=b, vote=a)
    return replace(
        s,
        leader=put(s.leader, r, message.leader),
        known=put(s.known, r, b),
        log=put(s.log, r, put(s.log[r], i, entry)),
        accepted=s.accepted | {Accepted(replica=r, ballot=b, slot=i)},
    )


@action
def Commit(c: Config, s: State, r: Replica, i: Slot) -> State:
    """A leader whose command a majority has accepted commits the slot and answers the client."""
    require(r not in s.done and not over(c, s), "r goes on")
    require(s.leader[r] == r and s.prepared[r] == s.known[r], "r leads a ballot that it has prepared")
    require(s.committed[r] == i and s.log[r][i].status == Status.ACCEPTING, "i is the next slot to commit")
    voters = frozenset(each.replica for each in s.accepted if each.slot == i and each.ballot == s.prepared[r])
    require(majority(c, voters), "a majority has accepted it")
    a = s.log[r][i].command
    return replace(
        s,
        log=put(s.log, r, put(s.log[r], i, replace(s.log[r][i], status=Status.COMMITTED))),
        committed=put(s.committed, r, i + 1),
        value=put(s.value, r, a if a == 1 else s.value[r]),
        observed=noted(s, Event(answered=True, command=a, value=s.value[r])),
        pending=tuple(each for each in s.pending if each + 1 != a),
        notices=s.notices | {i},
    )


@action
def LearnCommit(c: Config, s: State, r: Replica, i: Slot) -> State:
    """A follower commits a slot that it hears is committed."""
    require(r not in s.done and not over(c, s), "r goes on")
    require(s.leader[r] != r, "r follows")
    require(s.committed[r] == i and s.log[r][i].status == Status.ACCEPTING, "i is the next slot to commit")
    require(i in s.notices, "the message was sent")
    a = s.log[r][i].command
    return replace(
        s,
        log=put(s.log, r, put(s.log[r], i, replace(s.log[r][i], status=Status.COMMITTED))),
        committed=put(s.committed, r, i + 1),
        value=put(s.value, r, a if a == 1 else s.value[r]),
    )


@action
def End(c: Config, s: State, r: Replica) -> State:
    """A replica stops when all commands are answered."""
    require(r not in s.done and over(c, s), "all commands are answered")
    return replace(s, done=s.done | {r})


@action
def Rest(c: Config, s: State) -> State:
    """Nothing happens after the end, so that no deadlock is reported."""
    require(len(s.done) == c.replicas, "all have stopped")
    return replace(s, done=s.done)


@always("P-1")
def Linearizable(c: Config, s: State) -> bool:
    """The write is the first of its kind, and a read has its value if the read is later, and not if it is earlier."""
    return not over(c, s) or (
        not result(s, 1, 1)
        and all(
            not (result(s, a, 0) and answered_first(s, 1, a)) and not (result(s, a, 1) and answered_first(s, a, 1))
            for a in range(2, c.commands + 1)
        )
    )


@sometimes("W-1")
def Over(c: Config, s: State) -> bool:
    """All commands are answered."""
    return over(c, s)


@sometimes("W-2")
def CommittedDiffer(c: Config, s: State) -> bool:
    """Two replicas have committed different commands in a slot, for no notice says which command is committed."""
    return any(
        s.log[r][i].command != s.log[q][i].command
        for r in range(c.replicas)
        for q in range(c.replicas)
        for i in range(c.commands)
        if s.log[r][i].status == Status.COMMITTED and s.log[q][i].status == Status.COMMITTED
    )


MODEL = ProtocolModel(State, Config)
