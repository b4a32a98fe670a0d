"""Lemmas about what operators change while a partition is in use, and what the proof assumes of that.

Min ISR in force may become less, and greater again. What is promised of committed records is then stored, one
promise for each value (`model.broker.ghosts`). The lemmas here bound the number of promises.

`ASSUMPTIONS` are the steps that a proof leaves out because the properties are false with them. Each is about
one step, names the finding or scenario that shows the loss, and excludes nothing in a configuration without
such changes.
"""

from __future__ import annotations

from elrcheck.invariants.membership import registered_anew, uncleanly
from elrcheck.lang.runtime import implies, lemma, op
from elrcheck.model.broker.ghosts import min_isr_in_force, min_isr_may_vary
from elrcheck.model.config import Config
from elrcheck.model.state import State

# ---------------------------------------------------------------------------- promises


@lemma
def PromisesInOrder(c: Config, s: State) -> bool:
    """Each promise is about more records, and a greater min ISR, than the one before; so they are few.

    Min ISR is never more than there are brokers, which bounds their number.
    """
    return all(
        p.min_isr >= 1 and p.min_isr <= c.broker_count and p.length >= 1 and p.length <= len(s.committed)
        for p in s.promised
    ) and all(
        all(
            s.promised[i].min_isr < s.promised[k].min_isr and s.promised[i].length < s.promised[k].length
            for i in range(k)
        )
        for k in range(len(s.promised))
    )


@lemma
def NewestPromised(c: Config, s: State) -> bool:
    """If min ISR may change, some promise is about every committed record, up to the newest."""
    return implies(
        min_isr_may_vary(c) and len(s.committed) > 0, any(p.length == len(s.committed) for p in s.promised)
    )


@lemma
def UndoneInOrder(c: Config, s: State) -> bool:
    """What a lagging leader missed are values below the one in force, each greater than the one before."""
    return all(
        u.min_isr >= 1
        and u.min_isr < min_isr_in_force(s.settings, s.partition.replicas)
        and u.at <= s.partition.partition_epoch
        for u in s.undone
    ) and all(all(s.undone[i].min_isr < s.undone[k].min_isr for i in range(k)) for k in range(len(s.undone)))


# ---------------------------------------------------------------------------- assumptions


@op
def LastReplicaStopsCleanly(c: Config, s: State, t: State) -> bool:
    """while ELR is off, the last ISR member does not register after an unclean shutdown (E-1)"""
    return not (
        c.feature_changes > 0
        and not s.settings.elr_enabled
        and any(
            registered_anew(s, t, b) and uncleanly(s, b) and s.partition.isr == frozenset({b})
            for b in c.brokers
        )
    )


@op
def SwitchedOnWithLeader(c: Config, s: State, t: State) -> bool:
    """ELR is not switched on while the partition has no leader (F-26)"""
    return not (not s.settings.elr_enabled and t.settings.elr_enabled and s.partition.leader is None)


ASSUMPTIONS = (LastReplicaStopsCleanly, SwitchedOnWithLeader)
