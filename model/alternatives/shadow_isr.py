"""A shadow ISR and a phase of synchronisation: an alternative to ELR that KIP-966 rejected (E-10).

The last member of the ISR stays in it, whatever happens to it, and leads when it is back. If it
stopped uncleanly, it is RECOVERING: before it serves it copies what it lost from a member of the
shadow ISR, which is kept by the rule of the ELR (`partition.update_elr`) but never elected from.

Abstraction: the leader knows at once whether it is RECOVERING and who is in the shadow.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.lang.types import Replica, RSet
from elrcheck.model.broker.isr_proposals import proposal
from elrcheck.model.config import Config
from elrcheck.model.state import Stage, State, Status, is_prefix, leads, syncing


@op
def reachable_shadow(s: State) -> RSet:
    """Running members of the shadow."""
    return frozenset(b for b in s.partition.elr if s.broker[b].status == Status.RUNNING)


@action(
    message=Message("f", "leader"),
    fairness=Fair("the leader synchronises (KIP-966, rejected shadow ISR); added"),
)
def CopyFromShadow(c: Config, s: State, leader: Replica, f: Replica) -> State:
    """A leader that may have lost data copies the next record of a follower in the shadow."""
    require(c.shadow_isr, "there is a shadow ISR")
    me = s.broker[leader]
    you = s.broker[f]
    require(leads(s, leader) and syncing(c, s, leader), "l synchronises")
    require(f in reachable_shadow(s), "f is in the shadow and runs")
    require(is_prefix(me.log, you.log) and len(me.log) < len(you.log), "f has more")
    longer = replace(me, log=me.log + (you.log[len(me.log)],))  # noqa: RUF005
    return replace(s, broker=put(s.broker, leader, longer))


@action(fairness=Fair("the leader has synchronised (KIP-966, rejected shadow ISR); added"))
def EndSynchronisation(c: Config, s: State, leader: Replica) -> State:
    """The leader has what somebody in the shadow has, and reports that it has recovered.

    With nobody to ask it waits, unless it is allowed to go on without.
    """
    require(c.shadow_isr, "there is a shadow ISR")
    me = s.broker[leader]
    require(leads(s, leader) and syncing(c, s, leader), "l synchronises")
    require(me.alter.stage == Stage.IDLE, "l has nothing in flight")
    copied = any(is_prefix(s.broker[f].log, me.log) for f in reachable_shadow(s))
    skipped = reachable_shadow(s) == EMPTY and c.sync_may_be_skipped
    require(copied or skipped, "nothing is left to copy")
    return replace(s, broker=put(s.broker, leader, replace(me, alter=proposal(c, s, leader, me.view.isr))))
