"""The questions of `elrcheck risk`: is an acknowledged record lost, does the partition stay leaderless.

These are questions about what users lose, in terms of the properties in `properties` and `liveness`; the KIP
promises none of this, so no suite expects it to hold. LOSS-1 is the question for acks=all: P-6 and P-8
together. LOSS-2 is that for acks=1, of which no P-* speaks.
"""

from __future__ import annotations

from elrcheck.invariants.liveness import away, present
from elrcheck.invariants.properties import kept_by_replica, leads_now
from elrcheck.lang.runtime import EMPTY, always, conj, implies, op
from elrcheck.model.broker.logs import is_prefix
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import PeriodicElectionEvent
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import controller_of
from elrcheck.model.state import Acks, Broker, Directory, State


@always("LOSS-1")
def CommittedRecordKept(c: Config, s: State) -> bool:
    """Every record that consumers could read, or that was acknowledged with acks=all, is still there.

    It is lost if no replica has it, or if the broker that leads lacks it: its followers truncate to it.
    """
    return conj(
        leader_has_it=all(is_prefix(s.committed, s.broker[b].log) for b in c.brokers if leads_now(s, b)),
        some_replica_has_it=all(kept_by_replica(c, s, k) for k in range(len(s.committed))),
    )


@op
def has_acks_one(broker: Broker) -> bool:
    return any(broker.log[k].acks == Acks.ONE for k in range(len(broker.log)))


@always("LOSS-2")
def AppendedRecordKept(c: Config, s: State) -> bool:
    """The broker that leads has the record that was written with acks=1, and so acknowledged at once.

    Meant for a search in which one record is written with acks=1.
    """
    return conj(
        leader_has_it=implies(
            s.spent.acks_one > 0, all(has_acks_one(s.broker[b]) for b in c.brokers if leads_now(s, b))
        ),
        some_replica_has_it=implies(s.spent.acks_one > 0, any(has_acks_one(s.broker[b]) for b in s.partition.replicas)),
    )


@op
def back(s: State, b: Replica) -> bool:
    """b runs, is registered and unfenced, and has the directory of its replica."""
    r = s.registration[b]
    in_service = r.registered and not r.fenced and r.directory == Directory.ONLINE
    return in_service and present(s, b)


@always("STALL-1")
def LeaderOnceAllAreBack(c: Config, s: State) -> bool:
    """A partition whose replicas are all back has a leader, or gets one by the periodic unclean election.

    Without recovery manager nothing but an operator gives it one any more. A replica whose broker was
    unregistered may stay away for ever, and is not waited for, unless it may be the one with all records: a
    member of the ISR, or of those that were known last (as in V-8).
    """
    p = s.partition
    last_known = p.last_known_elr if p.last_known_elr != EMPTY else frozenset(p.replicas)
    others = all(back(s, b) or (away(s, b) and b not in p.isr) for b in p.replicas)
    everybody = others and all(back(s, b) for b in last_known)
    somebody = any(back(s, b) for b in s.partition.replicas)
    elected = decide(c, controller_of(s), PeriodicElectionEvent()).controller.partition
    led = s.partition.leader is not None or elected.leader is not None
    return conj(has_a_leader=implies(everybody and somebody, led))
