"""Lemmas about the metadata log, and about what each broker has read of it, if brokers may lag behind.

A proof puts no limit on the log (`Induction.any_length`): a lemma speaks of one record, or of two.
"""

from __future__ import annotations

from elrcheck.invariants.lemmas.lemmas_logs import registered_epoch
from elrcheck.invariants.lemmas.lemmas_views import applied, granted
from elrcheck.lang.runtime import implies, lemma
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.state import State, Status

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
