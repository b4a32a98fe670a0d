"""The return of the last ISR member with a shadow ISR: see `elrcheck.model.alternatives.shadow_isr`.

Abstraction: the leader knows at once whether it is RECOVERING, and the members of the shadow ISR.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Fair, Message
from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.model.alternatives.shadow_isr import synchronises
from elrcheck.model.broker.isr_proposals import proposal
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.state import Stage, State, Status, leads


@op
def reachable_shadow(s: State) -> RSet:
    """The running members of the shadow ISR."""
    return frozenset(b for b in s.partition.elr if s.broker[b].status == Status.RUNNING)


@action(message=Message("f", "leader"), fairness=Fair("the leader synchronises (KIP-966, rejected shadow ISR); added"))
def CopyFromShadow(c: Config, s: State, leader: Replica, f: Replica) -> State:
    """A leader that may have lost data copies the next record of a member of the shadow ISR (E-10)."""
    require(c.shadow_isr, "there is a shadow ISR")
    leading = s.broker[leader]
    shadow = s.broker[f]
    require(leads(s, leader) and synchronises(c, s, leader), "leader synchronises")
    require(f in reachable_shadow(s), "f is in the shadow ISR and runs")
    require(is_prefix(leading.log, shadow.log) and len(leading.log) < len(shadow.log), "f has more records")
    longer = replace(leading, log=leading.log + (shadow.log[len(leading.log)],))  # noqa: RUF005
    return replace(s, broker=put(s.broker, leader, longer))


@action(fairness=Fair("the leader has synchronised (KIP-966, rejected shadow ISR); added"))
def EndSynchronisation(c: Config, s: State, leader: Replica) -> State:
    """The leader has all records of some shadow member and reports that it has recovered (E-10).

    It waits if it cannot reach any shadow member, unless it may skip the synchronisation.
    """
    require(c.shadow_isr, "there is a shadow ISR")
    leading = s.broker[leader]
    require(leads(s, leader) and synchronises(c, s, leader), "leader synchronises")
    require(leading.alter.stage == Stage.IDLE, "leader has no AlterPartition in flight")
    copied = any(is_prefix(s.broker[f].log, leading.log) for f in reachable_shadow(s))
    skipped = reachable_shadow(s) == EMPTY and c.sync_may_be_skipped
    require(copied or skipped, "leader has nothing more to copy")
    proposed = proposal(c, s, leader, leading.view.isr)
    return replace(s, broker=put(s.broker, leader, replace(leading, alter=proposed)))
