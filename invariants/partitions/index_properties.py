"""Properties of the controller with several partitions, M-1 to M-8: its indexes, the result of an event, and answers.

W-1 to W-4 are witnesses.
"""

from __future__ import annotations

from elrcheck.lang.runtime import EMPTY, always, conj, implies, op, sometimes
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import ControllerState, Fault
from elrcheck.model.partitions.indexes import recomputed
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import is_active
from elrcheck.model.state import Directory

# ---------------------------------------------------------------------------- several partitions


@op
def leads_any(c: ControllerConfig, s: ControllerState, b: Replica) -> bool:
    return any(s.topics[t].parts[p].partition.leader == b for t in range(c.topics) for p in range(c.partitions))


@always("M-1")
def IndexesAreRecomputed(c: ControllerConfig, s: ControllerState) -> bool:
    """Each index of the controller equals its recomputation from all partitions."""
    right = recomputed(c, s.topics)
    return conj(
        isrs=s.indexes.isrs == right.isrs,
        leaderless=s.indexes.leaderless == right.leaderless,
        elrs=s.indexes.elrs == right.elrs,
        directories=s.indexes.directories == right.directories,
        imbalanced=s.indexes.imbalanced == right.imbalanced,
        deleted_isrs=s.indexes.deleted_isrs == EMPTY,
        deleted_elrs=s.indexes.deleted_elrs == EMPTY,
        deleted_directories=s.indexes.deleted_directories == EMPTY,
    )


@always("M-2")
def ControllerGoesOn(c: ControllerConfig, s: ControllerState) -> bool:
    """No event makes the controller resign."""
    return conj(
        fenced=s.fault != Fault.FENCING,
        unfenced=s.fault != Fault.UNFENCING,
        registered=s.fault != Fault.REGISTRATION,
        stopped=s.fault != Fault.SHUTDOWN,
        unregistered=s.fault != Fault.UNREGISTRATION,
        directory_failed=s.fault != Fault.FAILED_DIRECTORY,
        elected=s.fault != Fault.ELECTION,
    )


@always("M-3")
def FencedLeadsNothing(c: ControllerConfig, s: ControllerState) -> bool:
    """An inactive broker leads no partition of any topic."""
    return conj(leads_nothing=all(is_active(s.registration[b]) or not leads_any(c, s, b) for b in c.brokers))


@always("M-4")
def LeaderLostWithItsBroker(c: ControllerConfig, s: ControllerState, t: ControllerState) -> bool:
    """A partition loses its leader only when that broker stops or restarts, or its log directory fails.

    A failover may lose the election of a leader that no broker has seen.
    """
    return conj(
        keeps_leader=all(
            implies(
                s.topics[u].exists
                and t.topics[u].exists
                and s.topics[u].parts[p].partition.leader is not None
                and t.topics[u].parts[p].partition.leader is None
                and not (c.loses_uncommitted and t.topics == s.stable.topics),
                any(
                    s.topics[u].parts[p].partition.leader == b
                    and (
                        not is_active(t.registration[b])
                        or t.registration[b].epoch != s.registration[b].epoch
                        or t.topics[u].parts[p].directory[b] == Directory.OFFLINE
                    )
                    for b in c.brokers
                ),
            )
            for u in range(c.topics)
            for p in range(c.partitions)
        )
    )


@always("M-5")
def DeletedStaysDeleted(c: ControllerConfig, s: ControllerState) -> bool:
    """The partitions of a deleted topic have no members and no leader."""
    return conj(
        empty=all(
            s.topics[t].exists
            or (
                s.topics[t].parts[p].partition.isr | s.topics[t].parts[p].partition.elr == EMPTY
                and s.topics[t].parts[p].partition.leader is None
            )
            for t in range(c.topics)
            for p in range(c.partitions)
        )
    )


# ---------------------------------------------------------------------------- answers and failovers


@always("M-6")
def OneProcessPerEpoch(c: ControllerConfig, s: ControllerState) -> bool:
    """No two processes of a broker are told the same broker epoch, although a lost registration frees its offset."""
    return conj(
        later=all(
            implies(s.processes[b].epoch > 0, s.processes[b].epoch > s.processes[b].earlier_epoch) for b in c.brokers
        )
    )


@always("M-7")
def AnswersStayTrue(c: ControllerConfig, s: ControllerState) -> bool:
    """No failover takes back the broker epoch that a process was told."""
    return conj(
        committed=all(s.stable.registration[b].epoch >= s.processes[b].epoch for b in c.brokers),
        written=all(s.registration[b].epoch >= s.processes[b].epoch for b in c.brokers),
    )


@always("M-8")
def StoppedLeadsNothing(c: ControllerConfig, s: ControllerState) -> bool:
    """A broker that was told to stop is fenced and leads nothing, in the image of every controller."""
    return conj(
        fenced=all(
            implies(s.processes[b].may_stop, s.registration[b].fenced and s.stable.registration[b].fenced)
            for b in c.brokers
        ),
        leads_nothing=all(
            implies(
                s.processes[b].may_stop,
                not leads_any(c, s, b)
                and all(
                    s.stable.topics[t].parts[p].partition.leader != b
                    for t in range(c.topics)
                    for p in range(c.partitions)
                ),
            )
            for b in c.brokers
        ),
    )


# ---------------------------------------------------------------------------- witnesses


@op
def leaderless(c: ControllerConfig, s: ControllerState) -> int:
    return sum(
        1
        for t in range(c.topics)
        for p in range(c.partitions)
        if s.topics[t].exists and s.topics[t].parts[p].partition.leader is None
    )


@sometimes("W-1")
def TwoWithoutLeader(c: ControllerConfig, s: ControllerState) -> bool:
    """Two partitions have no leader."""
    return leaderless(c, s) >= 2


@sometimes("W-2")
def TwoElectedAtOnce(c: ControllerConfig, s: ControllerState, t: ControllerState) -> bool:
    """One step elects leaders in two leaderless partitions."""
    return conj(two=leaderless(c, s) >= leaderless(c, t) + 2, none_deleted=s.spent.deletions == t.spent.deletions)


@sometimes("W-3")
def EligibleInTwo(c: ControllerConfig, s: ControllerState) -> bool:
    """One broker is in the ELR of two partitions."""
    return any(
        sum(1 for t in range(c.topics) for p in range(c.partitions) if b in s.topics[t].parts[p].partition.elr) >= 2
        for b in c.brokers
    )


@sometimes("W-4")
def CreatedAgain(c: ControllerConfig, s: ControllerState, t: ControllerState) -> bool:
    """An operator recreates a topic."""
    return any(not s.topics[u].exists and t.topics[u].exists for u in range(c.topics))
