"""The outcomes that `elrcheck risk` searches for: an acknowledged record is lost, or the partition stays leaderless.

They concern users, in terms of the operators in `properties` and `liveness`; the KIP does not promise them, so no suite
expects them to hold. LOSS-1 is about acks=all: P-6 and P-8 together. LOSS-2 is about acks=1, which no P-* covers.
"""

from __future__ import annotations

from elrcheck.invariants.liveness import away, present
from elrcheck.invariants.properties import leads_now, stored_on_replica
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

    It is lost if no replica has it, or if the leader lacks it: the followers then truncate it.
    """
    return conj(
        leader_has_it=all(is_prefix(s.committed, s.broker[b].log) for b in c.brokers if leads_now(s, b)),
        some_replica_has_it=all(stored_on_replica(c, s, k) for k in range(len(s.committed))),
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

    Without a recovery manager only an operator can elect one afterwards. A replica on an unregistered broker may stay
    away forever and does not count, unless it may be the only complete one: a member of the ISR or of LastKnownELR (as
    in V-8).
    """
    p = s.partition
    last_known = p.last_known_elr if p.last_known_elr != EMPTY else frozenset(p.replicas)
    others = all(back(s, b) or (away(s, b) and b not in p.isr) for b in p.replicas)
    all_back = others and all(back(s, b) for b in last_known)
    one_back = any(back(s, b) for b in s.partition.replicas)
    elected = decide(c, controller_of(s), PeriodicElectionEvent()).controller.partition
    led = s.partition.leader is not None or elected.leader is not None
    return conj(has_a_leader=implies(all_back and one_back, led))
