"""Lemmas about the metadata log, and about what each broker has read of it, if brokers may lag behind.

A proof puts no limit on the log (`Induction.any_length`): a lemma speaks of one record, or of two.
"""

from __future__ import annotations

from elrcheck.invariants.lemmas.lemmas_logs import contenders, fresh, registered_epoch
from elrcheck.invariants.lemmas.lemmas_views import applied, granted
from elrcheck.lang.runtime import implies, lemma, op
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.replicas import Replica
from elrcheck.model.state import Offset, State, Status, hosts, leads

# ---------------------------------------------------------------------------- the log


@lemma
def MetadataLog(c: Config, s: State) -> bool:
    """The metadata log has a record for each partition epoch, the newest of which is the controller's."""
    return c.metadata == Propagation.LATEST or (
        len(s.metadata) == s.partition.partition_epoch
        and all(
            s.metadata[k].leader_epoch >= 1
            and s.metadata[k].leader_epoch <= s.partition.leader_epoch
            and implies(
                s.metadata[k].leader_epoch == s.partition.leader_epoch, s.metadata[k].leader == s.partition.leader
            )
            and (
                s.metadata[k].leader is None
                or (s.metadata[k].leader in s.metadata[k].isr and s.metadata[k].leader in s.metadata[k].replicas)
            )
            and s.metadata[k].isr <= s.metadata[k].replicas
            and (c.min_isr_changes == 0 or s.metadata[k].min_isr >= 1)
            and implies(c.reassignments == 0, s.metadata[k].replicas == frozenset(s.partition.replicas))
            and implies(
                k + 1 == s.partition.partition_epoch,
                s.metadata[k].leader_epoch == s.partition.leader_epoch
                and s.metadata[k].isr == s.partition.isr
                and s.metadata[k].replicas == frozenset(s.partition.replicas),
            )
            for k in range(len(s.metadata))
        )
    )


@lemma
def RecordsInOrder(c: Config, s: State) -> bool:
    """Leader epochs do not decrease along the log, and each has one leader."""
    return all(
        all(
            implies(i < k, s.metadata[i].leader_epoch <= s.metadata[k].leader_epoch)
            and implies(
                s.metadata[i].leader_epoch == s.metadata[k].leader_epoch, s.metadata[i].leader == s.metadata[k].leader
            )
            for i in range(len(s.metadata))
        )
        for k in range(len(s.metadata))
    )


@lemma
def ViewIsRecord(c: Config, s: State) -> bool:
    """The view of a broker is a record of the log."""
    return all(
        all(
            implies(
                s.broker[b].view.partition_epoch == k + 1,
                s.broker[b].view.leader == s.metadata[k].leader
                and s.broker[b].view.leader_epoch == s.metadata[k].leader_epoch
                and s.broker[b].view.replicas == s.metadata[k].replicas
                and implies(s.broker[b].view.leader == b, s.broker[b].view.isr == s.metadata[k].isr),
            )
            and implies(
                s.broker[b].view.partition_epoch <= k + 1, s.broker[b].view.leader_epoch <= s.metadata[k].leader_epoch
            )
            and implies(
                s.broker[b].view.partition_epoch > k, s.broker[b].view.leader_epoch >= s.metadata[k].leader_epoch
            )
            and implies(
                s.broker[b].view.leader_epoch == s.metadata[k].leader_epoch,
                s.broker[b].view.leader == s.metadata[k].leader,
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def ViewOfReplicas(c: Config, s: State) -> bool:
    """Without reassignments, every broker with metadata has read the same replicas."""
    return all(
        c.metadata == Propagation.LATEST
        or c.reassignments > 0
        or s.broker[b].view.partition_epoch == 0
        or s.broker[b].view.replicas == frozenset(s.partition.replicas)
        for b in c.brokers
    )


@op
def may_read(c: Config, s: State, b: Replica, k: Offset) -> bool:
    """b may still apply record k of the log."""
    return (
        s.broker[b].status == Status.RUNNING
        and k + 1 > s.broker[b].view.partition_epoch
        and (k + 1 >= s.broker[b].registered_at or not c.registration_catch_up)
    )


@lemma
def ReplicasAdded(c: Config, s: State) -> bool:
    """Within a leader epoch records only add replicas; a removal begins another one."""
    return all(
        all(
            implies(
                i < k and s.metadata[i].leader_epoch == s.metadata[k].leader_epoch,
                s.metadata[i].replicas <= s.metadata[k].replicas,
            )
            for i in range(len(s.metadata))
        )
        and implies(
            s.metadata[k].leader_epoch == s.partition.leader_epoch,
            s.metadata[k].replicas <= frozenset(s.partition.replicas),
        )
        and all(
            implies(
                s.broker[b].view.leader_epoch == s.metadata[k].leader_epoch
                and s.broker[b].view.partition_epoch <= k + 1,
                s.broker[b].view.replicas <= s.metadata[k].replicas,
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def MembersStay(c: Config, s: State) -> bool:
    """No member, and no future leader before it leads, reads a record without it: that would delete its log.

    A broker that has been added again fetches, and so joins, only once it has read up to then.
    """
    return (
        c.metadata == Propagation.LATEST
        or c.reassignments == 0
        or (
            all(
                all(
                    implies(may_read(c, s, b, k), b in s.metadata[k].replicas)
                    for b in contenders(c, s) | ((s.partition.isr | s.partition.elr) - s.lossy)
                )
                and all(
                    all(
                        implies(
                            i < k and s.metadata[k].leader == b and hosts(s.broker[b]) and may_read(c, s, b, i),
                            b in s.metadata[i].replicas,
                        )
                        for b in c.brokers
                    )
                    for i in range(len(s.metadata))
                )
                for k in range(len(s.metadata))
            )
            and all(
                all(
                    implies(
                        fresh(s, leader, f)
                        and s.broker[f].status == Status.RUNNING
                        and s.broker[f].view.leader_epoch == s.broker[leader].view.leader_epoch,
                        f in s.broker[f].view.replicas,
                    )
                    for f in c.brokers
                )
                for leader in c.brokers
                if leads(s, leader)
            )
        )
    )


@lemma
def RegisteredAt(c: Config, s: State) -> bool:
    """A running broker has registered at a record, and has applied none before it."""
    return c.metadata == Propagation.LATEST or all(
        implies(
            s.broker[b].status == Status.RUNNING,
            s.broker[b].registered_at >= 1
            and s.broker[b].registered_at <= s.partition.partition_epoch
            and registered_epoch(s, b) <= s.partition.leader_epoch
            and (s.broker[b].view.partition_epoch == 0 or s.broker[b].view.partition_epoch >= s.broker[b].registered_at)
            and implies(
                s.broker[b].view.partition_epoch == 0,
                registered_epoch(s, b) >= 1
                and all(
                    implies(k + 1 >= s.broker[b].registered_at, s.metadata[k].leader_epoch >= registered_epoch(s, b))
                    and implies(
                        k + 1 <= s.broker[b].registered_at, s.metadata[k].leader_epoch <= registered_epoch(s, b)
                    )
                    for k in range(len(s.metadata))
                ),
            )
            and all(
                s.broker[b].view.partition_epoch > 0 or s.broker[b].log[j].epoch <= registered_epoch(s, b)
                for j in range(len(s.broker[b].log))
            ),
        )
        for b in c.brokers
    )


@lemma
def ShutdownRecorded(c: Config, s: State) -> bool:
    """No record from the beginning of b's shutdown on names b as leader (KIP-841)."""
    return all(
        all(
            implies(
                s.registration[b].in_controlled_shutdown and k + 1 >= s.registration[b].shutdown_offset,
                s.metadata[k].leader != b,
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )


@lemma
def AnswerInLog(c: Config, s: State) -> bool:
    """A granted proposal is a record of the log; so is each later one of its epoch, until the leader reads it."""
    return all(
        all(
            implies(
                applied(s, b),
                implies(
                    s.broker[b].alter.partition_epoch == k + 1,
                    s.metadata[k].leader_epoch == s.broker[b].alter.leader_epoch
                    and s.metadata[k].isr == s.broker[b].alter.isr
                    and implies(granted(s, b), s.metadata[k].replicas == s.broker[b].view.replicas),
                )
                and implies(
                    s.broker[b].alter.partition_epoch <= k + 1,
                    s.broker[b].alter.leader_epoch <= s.metadata[k].leader_epoch,
                )
                and implies(
                    s.broker[b].alter.partition_epoch > k, s.broker[b].alter.leader_epoch >= s.metadata[k].leader_epoch
                ),
            )
            for b in c.brokers
        )
        for k in range(len(s.metadata))
    )
