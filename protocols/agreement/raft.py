"""Raft: a leader is elected for a term, and replicates its log.

Source: D. Ongaro and J. Ousterhout, "In Search of an Understandable Consensus Algorithm", 2014, and raft.tla of D.
Ongaro's dissertation. Messages are never removed, so each may be lost, late, or received twice. A leader may send any
entry at any time, because the next index only affects speed; an entry is the term of its leader; servers do not
restart. No counts are published for this. With three servers, two terms and logs of one entry: 980,295 distinct states,
6,422,851 generated, diameter 30.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, record, require, sometimes, state
from elrcheck.lang.types import Per, SeqMark, nat, sort

Server = Annotated[int, sort("Server", "servers")]
Term = Annotated[int, nat("Term", hi="last_term")]
Length = Annotated[int, nat("Length", hi="longest")]
Log = Annotated[tuple[Term, ...], SeqMark("longest")]


class Role(enum.Enum):
    FOLLOWS = "follows"
    STANDS = "stands"
    LEADS = "leads"


@config
class Config:
    """compares: a server takes an entry only behind those that the leader has there."""

    servers: int = 3
    last_term: int = 2
    longest: int = 1
    compares: bool = True


@record
class Candidacy:
    """A message to all: vote for me. length, last: of the candidate's log, and the term of its last entry."""

    term: Term
    candidate: Server
    length: Length
    last: Term


@record
class Vote:
    term: Term
    voter: Server
    candidate: Server


@record
class Append:
    """A message of a term's leader to all: the entry behind `length` entries, the last of which is of the term `last`.

    Without an entry it only asks whether the logs agree so far. committed: the committed length up to there.
    """

    term: Term
    length: Length
    last: Term
    entry: Term | None
    committed: Length


@record
class Stored:
    """A message to a term's leader: a log agrees with the leader's up to this length."""

    term: Term
    server: Server
    length: Length


@state
class State:
    """voted: the server voted for in the term. committed: the number of entries that a server knows are committed."""

    term: Annotated[tuple[Term, ...], Per(Server)]
    role: Annotated[tuple[Role, ...], Per(Server)]
    voted: Annotated[tuple[Server | None, ...], Per(Server)]
    log: Annotated[tuple[Log, ...], Per(Server)]
    committed: Annotated[tuple[Length, ...], Per(Server)]
    candidacies: frozenset[Candidacy]
    votes: frozenset[Vote]
    appends: frozenset[Append]
    stored: frozenset[Stored]


@op
def majority(c: Config, members: frozenset[Server]) -> bool:
    return len(members) + len(members) > c.servers


@op
def term_before(log: Log, length: Length) -> int:
    """The term of the last of the first `length` entries; 0 for none."""
    return 0 if length == 0 else log[length - 1]


@init
def Init(c: Config) -> State:
    return State(
        term=tuple(0 for n in range(c.servers)),
        role=tuple(Role.FOLLOWS for n in range(c.servers)),
        voted=tuple(None for n in range(c.servers)),
        log=tuple(() for n in range(c.servers)),
        committed=tuple(0 for n in range(c.servers)),
        candidacies=EMPTY,
        votes=EMPTY,
        appends=EMPTY,
        stored=EMPTY,
    )


@action
def Stand(c: Config, s: State, n: Server) -> State:
    """A server that hears nothing of a leader begins a term, stands for it, and votes for itself."""
    require(s.role[n] != Role.LEADS, "n does not lead")
    require(s.term[n] < c.last_term, "there is a term left")
    term, log = s.term[n] + 1, s.log[n]
    candidacy = Candidacy(term=term, candidate=n, length=len(log), last=term_before(log, len(log)))
    return replace(
        s,
        term=put(s.term, n, term),
        role=put(s.role, n, Role.STANDS),
        voted=put(s.voted, n, n),
        candidacies=s.candidacies | {candidacy},
        votes=s.votes | {Vote(term=term, voter=n, candidate=n)},
    )


@action
def LearnTerm(c: Config, s: State, n: Server, t: Term) -> State:
    """A server that hears of a later term follows in it."""
    require(s.term[n] < t, "the term is later")
    require(any(each.term == t for each in s.candidacies), "somebody stands in it")
    return replace(s, term=put(s.term, n, t), role=put(s.role, n, Role.FOLLOWS), voted=put(s.voted, n, None))


@action
def VoteFor(c: Config, s: State, n: Server, candidacy: Candidacy) -> State:
    """A server votes once in a term, for a candidate whose log has what its own has."""
    m, last = candidacy.candidate, term_before(s.log[n], len(s.log[n]))
    require(candidacy in s.candidacies, "the message was sent")
    require(candidacy.term == s.term[n], "it is about the term of n")
    require(s.voted[n] is None, "n has not voted")
    up_to_date = candidacy.last > last or (candidacy.last == last and candidacy.length >= len(s.log[n]))
    require(up_to_date, "the log of the candidate is up to date")
    vote = Vote(term=s.term[n], voter=n, candidate=m)
    return replace(s, voted=put(s.voted, n, m), votes=s.votes | {vote})


@action
def Lead(c: Config, s: State, n: Server) -> State:
    """A candidate with the votes of a majority leads."""
    require(s.role[n] == Role.STANDS, "n stands")
    voters = frozenset(m for m in range(c.servers) if Vote(term=s.term[n], voter=m, candidate=n) in s.votes)
    require(majority(c, voters), "a majority has voted for n")
    return replace(s, role=put(s.role, n, Role.LEADS))


@action
def Request(c: Config, s: State, n: Server) -> State:
    """A leader takes an entry from a client."""
    require(s.role[n] == Role.LEADS, "n leads")
    require(len(s.log[n]) < c.longest, "its log has room")
    return replace(s, log=put(s.log, n, (*s.log[n], s.term[n])))


@action
def Send(c: Config, s: State, n: Server, length: Length) -> State:
    """A leader sends an entry, or the end of its log."""
    require(s.role[n] == Role.LEADS, "n leads")
    require(length <= len(s.log[n]), "its log is as long")
    entry = s.log[n][length] if length < len(s.log[n]) else None
    after = length if entry is None else length + 1
    append = Append(
        term=s.term[n],
        length=length,
        last=term_before(s.log[n], length),
        entry=entry,
        committed=min(s.committed[n], after),
    )
    return replace(s, appends=s.appends | {append})


@action
def Receive(c: Config, s: State, n: Server, append: Append) -> State:
    """A server whose log agrees so far takes the entry, in place of any other one there and what follows it."""
    k, log = append.length, s.log[n]
    require(append in s.appends, "the message was sent")
    require(append.term == s.term[n] and s.role[n] != Role.LEADS, "n is in the leader's term")
    require(k <= len(log), "the log is long enough")
    require(term_before(log, k) == append.last or not c.compares, "the logs agree so far")
    same = append.entry is None or (k < len(log) and log[k] == append.entry)
    after = k if append.entry is None else k + 1
    return replace(
        s,
        role=put(s.role, n, Role.FOLLOWS),
        log=s.log if same or append.entry is None else put(s.log, n, (*log[:k], append.entry)),
        committed=put(s.committed, n, max(s.committed[n], append.committed)),
        stored=s.stored | {Stored(term=append.term, server=n, length=after)},
    )


@action
def Commit(c: Config, s: State, n: Server, length: Length) -> State:
    """A leader commits what a majority has stored, if the last of it is of its own term."""
    require(s.role[n] == Role.LEADS, "n leads")
    require(s.committed[n] < length and length <= len(s.log[n]), "its log is as long, and less is committed")
    require(term_before(s.log[n], length) == s.term[n], "the entry is of the term of n")
    having = frozenset(
        m
        for m in range(c.servers)
        if m == n or any(each.server == m and each.term == s.term[n] and each.length >= length for each in s.stored)
    )
    require(majority(c, having), "a majority has stored it")
    return replace(s, committed=put(s.committed, n, length))


@always("P-1")
def OneLeader(c: Config, s: State) -> bool:
    """No two servers lead in a term."""
    return all(
        n == m or s.term[n] != s.term[m]
        for n in range(c.servers)
        for m in range(c.servers)
        if s.role[n] == Role.LEADS and s.role[m] == Role.LEADS
    )


@always("P-2")
def LeadersOnlyAppend(c: Config, s: State, t: State) -> bool:
    """A leader removes nothing from its log."""
    return all(s.log[n] == t.log[n][: len(s.log[n])] for n in range(c.servers) if s.role[n] == Role.LEADS)


@always("P-3")
def LogsMatch(c: Config, s: State) -> bool:
    """Logs with an entry of the same term at an index are the same up to there."""
    return all(
        s.log[n][k] != s.log[m][k] or s.log[n][:k] == s.log[m][:k]
        for n in range(c.servers)
        for m in range(c.servers)
        for k in range(c.longest)
        if k < len(s.log[n]) and k < len(s.log[m])
    )


@always("P-4")
def CommittedIsFinal(c: Config, s: State) -> bool:
    """Entries that two servers know to be committed are the same."""
    return all(
        k < len(s.log[n]) and k < len(s.log[m]) and s.log[n][k] == s.log[m][k]
        for n in range(c.servers)
        for m in range(c.servers)
        for k in range(c.longest)
        if k < s.committed[n] and k < s.committed[m]
    )


@always("P-5")
def LeadersHaveCommitted(c: Config, s: State) -> bool:
    """A leader has the entries that were committed in its term and before."""
    return all(
        k < len(s.log[n]) and k < len(s.log[m]) and s.log[n][k] == s.log[m][k]
        for n in range(c.servers)
        for m in range(c.servers)
        for k in range(c.longest)
        if s.role[n] == Role.LEADS and s.term[m] <= s.term[n] and k < s.committed[m]
    )


@sometimes("W-1")
def CommittedByTwo(c: Config, s: State) -> bool:
    """Two servers know an entry to be committed, and one of them leads."""
    return any(
        n != m and s.role[n] == Role.LEADS and s.committed[n] > 0 and s.committed[m] > 0
        for n in range(c.servers)
        for m in range(c.servers)
    )


MODEL = ProtocolModel(State, Config, scopes={"two-entries": {"longest": 2}})
