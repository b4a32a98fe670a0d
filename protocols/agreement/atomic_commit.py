"""Atomic commitment by a coordinator: it asks all participants for their votes and broadcasts what it decides.

In the variant `non-blocking` a participant forwards the decision to all others before it follows it.

Source: ACP_SB.tla and ACP_NB.tla of the TLA+ Examples (acp), after O. Babaoglu and S. Toueg, "Non-Blocking Atomic
Commitment", 1993. With three participants: 54,944 distinct states, 218,352 generated, diameter 21. The variant with two
participants: 4,284 distinct states, diameter 19. TLC generates 23,988 on the published module, which counts the steps
of one participant once for each other one, and 13,944 on this one.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import EMPTY, action, always, config, init, op, put, require, sometimes, state
from elrcheck.lang.types import Per, sort

Participant = Annotated[int, sort("Participant", "participants")]


class Vote(enum.Enum):
    """A vote, as the coordinator knows it."""

    WAITING = "waiting"
    YES = "yes"
    NO = "no"


class Decision(enum.Enum):
    """A decision; of a broadcast, NONE means that it was not sent to the participant."""

    NONE = "none"
    COMMIT = "commit"
    ABORT = "abort"


@config
class Config:
    """forwards: participants forward the decision, and commit or abort without the coordinator."""

    participants: int = 3
    forwards: bool = False


Decisions = Annotated[tuple[Decision, ...], Per(Participant)]


@state
class State:
    """dead, sent: the participants that have died, and that have sent their vote. forward: the decision that each has
    forwarded to every other one, and, in its own place, received.

    requested: the participants that the coordinator has asked. votes: those it has received. broadcast: the decision
    that it has sent to each participant.
    """

    yes: frozenset[Participant]
    dead: frozenset[Participant]
    sent: frozenset[Participant]
    decision: Decisions
    forward: Annotated[tuple[Decisions, ...], Per(Participant)]
    coordinator_dead: bool
    requested: frozenset[Participant]
    votes: Annotated[tuple[Vote, ...], Per(Participant)]
    broadcast: Decisions
    decided: Decision


@init
def Init(c: Config, yes: frozenset[Participant]) -> State:
    return State(
        yes=yes,
        dead=EMPTY,
        sent=EMPTY,
        decision=tuple(Decision.NONE for p in range(c.participants)),
        forward=tuple(tuple(Decision.NONE for q in range(c.participants)) for p in range(c.participants)),
        coordinator_dead=False,
        requested=EMPTY,
        votes=tuple(Vote.WAITING for p in range(c.participants)),
        broadcast=tuple(Decision.NONE for p in range(c.participants)),
        decided=Decision.NONE,
    )


@op
def collecting(c: Config, s: State) -> bool:
    """The coordinator has asked all, and waits for votes."""
    return not s.coordinator_dead and s.decided == Decision.NONE and s.requested == frozenset(range(c.participants))


@action
def Request(c: Config, s: State, p: Participant) -> State:
    """The coordinator asks a participant for its vote."""
    require(not s.coordinator_dead, "the coordinator is alive")
    require(p not in s.requested, "it has not asked p")
    return replace(s, requested=s.requested | {p})


@action
def GetVote(c: Config, s: State, p: Participant) -> State:
    """The coordinator receives a vote."""
    require(collecting(c, s), "the coordinator waits for votes")
    require(s.votes[p] == Vote.WAITING and p in s.sent, "the vote of p is on its way")
    return replace(s, votes=put(s.votes, p, Vote.YES if p in s.yes else Vote.NO))


@action
def DetectFault(c: Config, s: State, p: Participant) -> State:
    """The coordinator learns that a participant has died without a vote, and aborts."""
    require(collecting(c, s), "the coordinator waits for votes")
    require(s.votes[p] == Vote.WAITING and p in s.dead and p not in s.sent, "p has died without a vote")
    return replace(s, decided=Decision.ABORT)


@action
def Decide(c: Config, s: State, no: Participant | None) -> State:
    """The coordinator has all votes and decides: to abort if one of them is a no."""
    require(not s.coordinator_dead and s.decided == Decision.NONE, "the coordinator has not decided")
    require(all(s.votes[p] != Vote.WAITING for p in range(c.participants)), "it has all votes")
    if no is None:
        require(all(s.votes[p] == Vote.YES for p in range(c.participants)), "all votes are yes")
        return replace(s, decided=Decision.COMMIT)
    require(s.votes[no] == Vote.NO, "a vote is no")
    return replace(s, decided=Decision.ABORT)


@action
def Broadcast(c: Config, s: State, p: Participant) -> State:
    """The coordinator sends its decision to a participant."""
    require(not s.coordinator_dead and s.decided != Decision.NONE, "the coordinator has decided")
    require(s.broadcast[p] == Decision.NONE, "it has not told p")
    return replace(s, broadcast=put(s.broadcast, p, s.decided))


@action
def CoordinatorDies(c: Config, s: State) -> State:
    """The coordinator dies."""
    require(not s.coordinator_dead, "the coordinator is alive")
    return replace(s, coordinator_dead=True)


@action
def SendVote(c: Config, s: State, p: Participant) -> State:
    """A participant that was asked sends its vote, once or more often."""
    require(p not in s.dead, "p is alive")
    require(p in s.requested, "p was asked")
    return replace(s, sent=s.sent | {p})


@action
def AbortOnVote(c: Config, s: State, p: Participant) -> State:
    """A participant that has voted no aborts."""
    require(p not in s.dead and s.decision[p] == Decision.NONE, "p is alive and undecided")
    require(p in s.sent and p not in s.yes, "p has voted no")
    return replace(s, decision=put(s.decision, p, Decision.ABORT))


@action
def AbortOnTimeout(c: Config, s: State, p: Participant) -> State:
    """A participant that the coordinator has not asked before it died aborts."""
    require(p not in s.dead and s.decision[p] == Decision.NONE, "p is alive and undecided")
    require(s.coordinator_dead and p not in s.requested, "the coordinator has died without a request to p")
    return replace(s, decision=put(s.decision, p, Decision.ABORT))


@action
def Forward(c: Config, s: State, p: Participant, q: Participant) -> State:
    """A participant that has received the decision forwards it to another one."""
    require(p != q and p not in s.dead, "p is alive")
    require(s.forward[p][p] != Decision.NONE, "p was told the decision")
    require(s.forward[p][q] == Decision.NONE, "p has not told q")
    return replace(s, forward=put(s.forward, p, put(s.forward[p], q, s.forward[p][p])))


@action
def HearFromAnother(c: Config, s: State, p: Participant, q: Participant) -> State:
    """A participant learns the decision from another one."""
    require(p != q and p not in s.dead, "p is alive")
    require(s.forward[p][p] == Decision.NONE, "p was not told the decision")
    require(s.forward[q][p] != Decision.NONE, "q has told p")
    return replace(s, forward=put(s.forward, p, put(s.forward[p], p, s.forward[q][p])))


@action
def HearFromCoordinator(c: Config, s: State, p: Participant) -> State:
    """A participant learns the decision from the coordinator, to forward it."""
    require(c.forwards, "participants forward the decision")
    require(p not in s.dead, "p is alive")
    require(s.forward[p][p] == Decision.NONE, "p was not told the decision")
    require(s.broadcast[p] != Decision.NONE, "the coordinator has told p")
    return replace(s, forward=put(s.forward, p, put(s.forward[p], p, s.broadcast[p])))


@action
def Follow(c: Config, s: State, p: Participant) -> State:
    """A participant follows the decision that it has received, and, if they forward it, has forwarded to all."""
    require(p not in s.dead, "p is alive")
    if c.forwards:
        require(all(s.forward[p][q] != Decision.NONE for q in range(c.participants)), "p has told all")
        return replace(s, decision=put(s.decision, p, s.forward[p][p]))
    require(s.decision[p] == Decision.NONE, "p is undecided")
    require(s.broadcast[p] != Decision.NONE, "the coordinator has told p")
    return replace(s, decision=put(s.decision, p, s.broadcast[p]))


@action
def AbortWithoutCoordinator(c: Config, s: State, p: Participant) -> State:
    """The coordinator has died, and no live participant can have received a decision."""
    require(c.forwards, "participants forward the decision")
    require(p not in s.dead and s.decision[p] == Decision.NONE, "p is alive and undecided")
    require(s.coordinator_dead, "the coordinator has died")
    require(
        all(q in s.dead or s.broadcast[q] == Decision.NONE for q in range(c.participants)),
        "it has not told a live participant",
    )
    untold = all(s.forward[d][q] == Decision.NONE for d in s.dead for q in range(c.participants) if q not in s.dead)
    require(untold, "no dead participant has told a live one")
    return replace(s, decision=put(s.decision, p, Decision.ABORT))


@action
def Die(c: Config, s: State, p: Participant) -> State:
    """A participant dies."""
    require(p not in s.dead, "p is alive")
    return replace(s, dead=s.dead | {p})


@always("P-1")
def Agreement(c: Config, s: State) -> bool:
    """No participant commits while another aborts."""
    committed = any(s.decision[p] == Decision.COMMIT for p in range(c.participants))
    return not committed or all(s.decision[p] != Decision.ABORT for p in range(c.participants))


@always("P-2")
def CommitNeedsAllVotes(c: Config, s: State) -> bool:
    """A participant commits only if all vote yes."""
    committed = any(s.decision[p] == Decision.COMMIT for p in range(c.participants))
    return not committed or s.yes == frozenset(range(c.participants))


@sometimes("W-1")
def Blocked(c: Config, s: State) -> bool:
    """The coordinator has died after it asked all, and a participant that votes yes can neither commit nor abort.

    If participants forward the decision, such a one aborts or hears from another.
    """
    all_asked = not c.forwards and s.coordinator_dead and s.requested == frozenset(range(c.participants))
    return all_asked and any(
        p in s.yes and s.decision[p] == Decision.NONE and s.broadcast[p] == Decision.NONE
        for p in range(c.participants)
        if p not in s.dead
    )


@sometimes("W-2")
def CommitsWithoutCoordinator(c: Config, s: State) -> bool:
    """A participant commits to which the coordinator sent no decision before it died, since another one told it."""
    return s.coordinator_dead and any(
        s.decision[p] == Decision.COMMIT and s.broadcast[p] == Decision.NONE for p in range(c.participants)
    )


MODEL = ProtocolModel(State, Config, variants={"non-blocking": {"forwards": True}})
