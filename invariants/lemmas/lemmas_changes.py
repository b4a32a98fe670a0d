"""Lemmas about changes by operators during operation, and the assumptions of the proof about them.

The effective min ISR may decrease and increase again. The state then stores the promises about committed records, one
for each value (`model.broker.ghosts`). The lemmas here bound the number of promises.

`ASSUMPTIONS` exclude steps after which the properties are false. Each is about one step, names the finding or scenario
with the loss, and excludes nothing in a configuration without such changes. An assumption that excluded too much would
make a proof vacuous, so each lists steps that it must allow.
"""

from __future__ import annotations

from elrcheck.invariants.lemmas.lemmas_views import counts, enough, granted, takes_for_enough
from elrcheck.invariants.membership import granted_now, registered_anew, uncleanly
from elrcheck.invariants.properties import eligible, leads_now
from elrcheck.lang.runtime import EMPTY, implies, lemma, op
from elrcheck.model.broker.ghosts import min_isr_in_force, min_isr_may_vary
from elrcheck.model.config import Config
from elrcheck.model.min_isr import known_min_isr
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Settings, Stage, State, Status

# ---------------------------------------------------------------------------- values


@op
def own_min_isr_valid(settings: Settings, b: Replica) -> bool:
    own = settings.broker_min_isr[b]
    return own is None or (own >= 1 and not settings.elr_enabled)


@lemma
def MinIsrValid(c: Config, s: State) -> bool:
    """No min ISR is below 1, neither a configured one nor one that a broker has read.

    While ELR is on no broker has a value of its own, so all count with the same one (KAFKA-16540).
    """
    return (
        s.settings.cluster_min_isr >= 1
        and (s.settings.topic_min_isr is None or s.settings.topic_min_isr >= 1)
        and all(own_min_isr_valid(s.settings, b) for b in c.brokers)
        and (c.min_isr_changes == 0 or all(s.broker[b].min_isr >= 1 for b in c.brokers))
    )


@op
def values_have_records(c: Config) -> bool:
    """A partition record accompanies each new value of min ISR (F-53), except when ELR is enabled, which deletes the
    brokers' own values.
    """
    return c.min_isr_change_bumps_partition_epoch and c.feature_changes == 0


@lemma
def ValueWithRecord(c: Config, s: State) -> bool:
    """If a partition record accompanies each value of min ISR, a broker with the newest record has the newest value."""
    return all(
        implies(
            c.min_isr_changes > 0
            and values_have_records(c)
            and s.settings.elr_enabled
            and s.broker[b].status == Status.RUNNING
            and (
                s.broker[b].view.partition_epoch == s.partition.partition_epoch
                or (granted(s, b) and s.broker[b].alter.partition_epoch == s.partition.partition_epoch)
            ),
            s.broker[b].min_isr == known_min_isr(c, s.settings, b),
        )
        for b in c.brokers
    )


@lemma
def EnoughByOldValue(c: Config, s: State) -> bool:
    """The ELR in use is empty while the controller's ISR has min ISR members by the leader's value, which may be stale.

    The leader knows that ISR from a record or a response.
    """
    return all(
        implies(
            leads_now(s, b)
            and (
                (
                    s.broker[b].view.partition_epoch == s.partition.partition_epoch
                    and takes_for_enough(c, s, b, s.broker[b].view.isr)
                )
                or (
                    granted(s, b)
                    and s.broker[b].alter.partition_epoch == s.partition.partition_epoch
                    and takes_for_enough(c, s, b, s.broker[b].alter.isr)
                )
            ),
            eligible(c, s) == EMPTY,
        )
        for b in c.brokers
    )


# ---------------------------------------------------------------------------- reassignments


@lemma
def ReplicasListed(c: Config, s: State) -> bool:
    """The replica list has no duplicates and contains ISR, ELR, adding and removing replicas."""
    p = s.partition
    replicas = frozenset(p.replicas)
    return (
        len(p.replicas) >= 1
        and all(all(p.replicas[i] != p.replicas[k] for i in range(k)) for k in range(len(p.replicas)))
        and p.isr | p.elr | p.last_known_elr | p.adding | p.removing <= replicas
        and p.adding & p.removing == EMPTY
        and replicas - p.removing != EMPTY
        and replicas - p.adding != EMPTY
    )


@lemma
def ViewReplicas(c: Config, s: State) -> bool:
    """Within a leader epoch replicas are only added; proposals and follower state of a leader concern replicas only."""
    return all(
        implies(
            s.broker[b].view.leader_epoch == s.partition.leader_epoch,
            s.broker[b].view.replicas <= frozenset(s.partition.replicas),
        )
        and implies(
            s.broker[b].view.partition_epoch == s.partition.partition_epoch
            or (granted(s, b) and s.broker[b].alter.partition_epoch == s.partition.partition_epoch),
            s.broker[b].view.replicas == frozenset(s.partition.replicas),
        )
        and s.broker[b].view.isr <= s.broker[b].view.replicas
        and implies(s.broker[b].view.leader == b and counts(s, b), s.broker[b].alter.isr <= s.broker[b].view.replicas)
        and implies(
            s.broker[b].alter.stage == Stage.SENT and s.broker[b].alter.partition_epoch == s.partition.partition_epoch,
            s.broker[b].alter.isr <= frozenset(s.partition.replicas),
        )
        and all(
            implies(s.broker[b].peers[f].log_end_offset is not None, f in s.broker[b].view.replicas) for f in c.brokers
        )
        for b in c.brokers
    )


# ---------------------------------------------------------------------------- promises


@lemma
def PromisesInOrder(c: Config, s: State) -> bool:
    """Each promise covers more records than the previous one, with a greater min ISR.

    Min ISR is at most the number of brokers, which bounds the number of promises.
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
    """If min ISR may change, some promise covers every committed record, including the newest."""
    return implies(min_isr_may_vary(c) and len(s.committed) > 0, any(p.length == len(s.committed) for p in s.promised))


@lemma
def UndoneInOrder(c: Config, s: State) -> bool:
    """The values of min ISR since the view of a lagging leader are below the current one, in ascending order."""
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
        and any(registered_anew(s, t, b) and uncleanly(s, b) and s.partition.isr == frozenset({b}) for b in c.brokers)
    )


@op
def SwitchedOnWithLeader(c: Config, s: State, t: State) -> bool:
    """ELR is not switched on while the partition has no leader (F-26)"""
    return not (not s.settings.elr_enabled and t.settings.elr_enabled and s.partition.leader is None)


@op
def ReadBeforeGrant(c: Config, s: State, t: State) -> bool:
    """a leader that has not read a raised min ISR is granted no ISR that only it takes for enough (F-53)"""
    return not (
        c.min_isr_changes > 0
        and not values_have_records(c)
        and s.settings.elr_enabled
        and any(
            granted_now(s, t, b)
            and not enough(c, s, s.broker[b].alter.isr)
            and takes_for_enough(c, s, b, s.broker[b].alter.isr)
            for b in c.brokers
        )
    )


ASSUMPTIONS = (LastReplicaStopsCleanly, SwitchedOnWithLeader, ReadBeforeGrant)

# ---------------------------------------------------------------------------- what they must allow


@op
def RegistersCleanly(c: Config, s: State, t: State) -> bool:
    """while ELR is off, the last ISR member registers after a clean shutdown"""
    return not s.settings.elr_enabled and any(
        registered_anew(s, t, b) and not uncleanly(s, b) and s.partition.isr == frozenset({b}) for b in c.brokers
    )


@op
def RegistersAmongOthers(c: Config, s: State, t: State) -> bool:
    """while ELR is off, an ISR member registers after an unclean shutdown, and another member is left"""
    return not s.settings.elr_enabled and any(
        registered_anew(s, t, b) and uncleanly(s, b) and b in s.partition.isr and s.partition.isr != frozenset({b})
        for b in c.brokers
    )


@op
def RegistersWhileOn(c: Config, s: State, t: State) -> bool:
    """while ELR is on, the last ISR member registers after an unclean shutdown"""
    return s.settings.elr_enabled and any(
        registered_anew(s, t, b) and uncleanly(s, b) and s.partition.isr == frozenset({b}) for b in c.brokers
    )


@op
def SwitchedOn(c: Config, s: State, t: State) -> bool:
    """ELR is switched on while the partition has a leader"""
    return not s.settings.elr_enabled and t.settings.elr_enabled and s.partition.leader is not None


@op
def SwitchedOff(c: Config, s: State, t: State) -> bool:
    """ELR is switched off while the partition has no leader"""
    return s.settings.elr_enabled and not t.settings.elr_enabled and s.partition.leader is None


@op
def GrantedEnough(c: Config, s: State, t: State) -> bool:
    """while ELR is on, a leader is granted an ISR of min ISR members, also by the value that it has read"""
    return s.settings.elr_enabled and any(
        granted_now(s, t, b)
        and enough(c, s, s.broker[b].alter.isr)
        and takes_for_enough(c, s, b, s.broker[b].alter.isr)
        for b in c.brokers
    )


@op
def GrantedLess(c: Config, s: State, t: State) -> bool:
    """while ELR is on, a leader is granted an ISR that it, too, takes for less than min ISR"""
    return s.settings.elr_enabled and any(
        granted_now(s, t, b)
        and not enough(c, s, s.broker[b].alter.isr)
        and not takes_for_enough(c, s, b, s.broker[b].alter.isr)
        for b in c.brokers
    )


ALLOWED = {
    LastReplicaStopsCleanly: (RegistersCleanly, RegistersAmongOthers, RegistersWhileOn),
    SwitchedOnWithLeader: (SwitchedOn, SwitchedOff),
    ReadBeforeGrant: (GrantedEnough, GrantedLess),
}
"""Steps that each assumption must allow if the rules do; this detects an assumption that excludes too much."""
ACTIONS = {
    **dict.fromkeys((RegistersCleanly, RegistersAmongOthers, RegistersWhileOn), ("Register",)),
    **dict.fromkeys((SwitchedOn, SwitchedOff), ("ChangeFeature",)),
    **dict.fromkeys((GrantedEnough, GrantedLess), ("ControllerAlters",)),
}
"""The actions that take these steps."""
