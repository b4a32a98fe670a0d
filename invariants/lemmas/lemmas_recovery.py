"""Unclean elections and recoveries: lemmas about a running one, and the assumptions of a proof about a winner.

A replica elected from neither ISR nor ELR may lack committed records, and no rule of the controller can detect this:
the properties of data are then false. An assumption about the step states what the winner must have for them to be
true. A proof uses one only on request, and its report says so.
"""

from __future__ import annotations

from elrcheck.invariants.lemmas.lemmas_logs import upto
from elrcheck.invariants.lemmas.lemmas_quorums import ceiling, frozen, may_commit
from elrcheck.invariants.operations import alters
from elrcheck.invariants.properties import eligible
from elrcheck.lang.runtime import EMPTY, implies, lemma, op
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica
from elrcheck.model.state import State

# ---------------------------------------------------------------------------- lemmas


@lemma
def RecoveryWaits(c: Config, s: State) -> bool:
    """While a recovery runs there is no leader; a balanced one does not start before the ELR is empty."""
    return implies(
        s.recovery.strategy != RecoveryStrategy.DISABLED,
        s.partition.leader is None
        and implies(s.recovery.strategy == RecoveryStrategy.BALANCED, s.partition.elr == EMPTY),
    )


# ---------------------------------------------------------------------------- assumptions


@op
def keeps_all(c: Config, s: State, winner: Replica) -> bool:
    """The winner knows the leader epoch, and has all that is committed or that a leader can still commit."""
    return (
        s.broker[winner].view.leader_epoch == s.partition.leader_epoch
        and is_prefix(s.committed, s.broker[winner].log)
        and all(
            frozen(c, s, leader) != EMPTY and upto(s.broker[leader].log, s.broker[winner].log, ceiling(c, s, leader))
            for leader in c.brokers
            if leader != winner and may_commit(c, s, leader)
        )
    )


@op
def wins_from_outside(c: Config, s: State, t: State, b: Replica) -> bool:
    """The step makes b the leader, although it was in neither ISR nor ELR and no AlterPartition added it."""
    elected = t.partition.leader == b and s.partition.leader != b
    return elected and b not in s.partition.isr | eligible(c, s) and not alters(c, s, t)


@op
def CompleteWinners(c: Config, s: State, t: State) -> bool:
    """whoever wins from outside ISR and ELR knows the leader epoch and has all that is or may be committed"""
    return all(keeps_all(c, s, b) for b in c.brokers if wins_from_outside(c, s, t, b))


ASSUMPTIONS = {"complete-winners": CompleteWinners}
"""Assumptions on steps by the names that `prove --assume` knows."""


@op
def CompleteWins(c: Config, s: State, t: State) -> bool:
    """a broker from outside ISR and ELR wins while records are committed"""
    return len(s.committed) > 0 and any(wins_from_outside(c, s, t, b) for b in c.brokers)


ALLOWED = {CompleteWinners: (CompleteWins,)}
"""Steps that an assumption must still allow."""
ACTIONS = {CompleteWins: ("ElectUnclean", "FinishRecovery", "DesignateLeader")}
"""The actions that take such a step."""
