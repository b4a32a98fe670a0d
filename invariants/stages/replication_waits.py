"""Stages of the waits of a producer for its response (V-4), for the high watermark (V-9) and for the ISR (V-10).

Without disturbances the ISR changes a limited number of times: each such step lowers a measure, and may lead back into
any stage. While no measure changes, leader, ISR, epochs and processes stay the same, and followers catch up.
"""

from __future__ import annotations

from elrcheck.invariants.lemmas.lemmas_logs import acked, fresh
from elrcheck.invariants.liveness import ReplicaRejoinsIsr, WatermarkReachesEnd, WriteIsAnswered, gone
from elrcheck.invariants.properties import leads_now
from elrcheck.invariants.stages.process_waits import (
    OF_LEADER,
    has_view,
    is_down,
    is_in_flight,
    is_sent,
    may_apply,
    may_register,
    owes_min_isr,
    starts_in_session,
)
from elrcheck.lang.induction import Operator, WaitStage
from elrcheck.lang.runtime import EMPTY, implies, op
from elrcheck.model.broker.isr_proposals import ExpandIsr, LeaderLearns
from elrcheck.model.broker.lifecycle import Start
from elrcheck.model.broker.metadata import ApplyMetadata, ApplyMinIsr
from elrcheck.model.broker.replica import Fetch
from elrcheck.model.config import Config
from elrcheck.model.control_plane.broker_events import ControllerAlters, Fence, Register, Unfence
from elrcheck.model.control_plane.directory_events import ReportFailedDirectory
from elrcheck.model.min_isr import known_min_isr
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import is_active
from elrcheck.model.state import Directory, Log, LogDir, Offset, Stage, State, Status, hosts, leads

# ---------------------------------------------------------------------------- lemmas


@op
def members_are_registered(c: Config, s: State) -> bool:
    """A leader knows its ISR members by their current broker epochs, if at all: who registers anew leaves the ISR."""
    return all(
        implies(
            leads_now(s, leader) and s.partition.leader == leader and f in s.partition.isr and f != leader,
            s.broker[leader].peers[f].broker_epoch == 0 or fresh(s, leader, f),
        )
        for leader in c.brokers
        for f in c.brokers
    )


@op
def starts_within_log(c: Config, s: State) -> bool:
    """The epoch of a leader starts within its log."""
    return all(s.broker[b].epoch_start <= len(s.broker[b].log) for b in c.brokers if leads(s, b))


# ---------------------------------------------------------------------------- what comes to an end by itself


@op
def chores_of(s: State, b: Replica) -> int:
    """The steps of b, and of the controller about b, after which no event of b changes the partition.

    A process that shuts down is fenced at the end, every other one runs and is unfenced; the controller knows its
    directory.
    """
    broker = s.broker[b]
    r = s.registration[b]
    runs = broker.status == Status.RUNNING
    last = 1 if (r.fenced != r.in_controlled_shutdown if runs else not r.fenced) else 0
    process = 4 if broker.status == Status.OFFLINE else 2 if broker.status == Status.STARTING else 0
    unreported = (
        r.directory == Directory.ONLINE if broker.log_dir == LogDir.FAILED else broker.log_dir != LogDir.PRESENT
    )
    return process + last + (1 if unreported else 0)


@op
def chores(c: Config, s: State) -> int:
    return sum(chores_of(s, b) for b in c.brokers)


@op
def request_is_current(s: State, b: Replica) -> bool:
    """b is the leader, and its AlterPartition, if it is sent again, has the partition epoch of the record."""
    x = s.broker[b].alter
    current = x.overtaken == 0 and x.partition_epoch == s.partition.partition_epoch
    return s.partition.leader == b and is_in_flight(s, b) and current


@op
def shrinks(c: Config, s: State) -> int:
    """1 if a request that may be granted removes an ISR member."""
    return sum(1 for b in c.brokers if request_is_current(s, b) and not s.partition.isr <= s.broker[b].alter.isr)


@op
def outsiders(s: State) -> int:
    """The number of replicas outside the ISR."""
    return len(frozenset(s.partition.replicas) - s.partition.isr)


@op
def unread(c: Config, s: State) -> int:
    """The records of the partition and values of min.insync.replicas that brokers have not read, the newest of each."""
    records = sum(1 for b in c.brokers if s.broker[b].view.partition_epoch < s.partition.partition_epoch)
    return records + sum(1 for b in c.brokers if s.broker[b].min_isr != known_min_isr(c, s.settings, b))


MEASURES: tuple[Operator, ...] = (chores, shrinks, outsiders, unread)

# ---------------------------------------------------------------------------- all processes run


@op
def becomes_active(s: State, x: Replica) -> bool:
    """x runs, has applied its registration, and the controller has yet to unfence it."""
    return has_view(s, x) and s.registration[x].fenced and not s.registration[x].in_controlled_shutdown


@op
def reports_failure(s: State, x: Replica) -> bool:
    """x runs, and the controller does not know that the directory of its replica has failed."""
    failed = s.broker[x].log_dir == LogDir.FAILED and s.registration[x].directory == Directory.ONLINE
    return s.broker[x].status == Status.RUNNING and failed


@op
def reads_record(s: State, x: Replica) -> bool:
    """x runs, and has not read the newest record of the partition."""
    return may_apply(s, x) and s.broker[x].view.partition_epoch < s.partition.partition_epoch


@op
def applies_min_isr(s: State, x: Replica) -> bool:
    return owes_min_isr(s, x)


@op
def registers_again(s: State, x: Replica) -> bool:
    return may_register(s, x)


@op
def outlives_session(s: State, x: Replica) -> bool:
    return starts_in_session(s, x)


@op
def starts_again(s: State, x: Replica) -> bool:
    return is_down(s, x)


OF_X = {"b": "x"}
SETTLING = (
    WaitStage(becomes_active, Unfence, OF_X),
    WaitStage(reports_failure, ReportFailedDirectory, OF_X),
    WaitStage(reads_record, ApplyMetadata, OF_X),
    WaitStage(applies_min_isr, ApplyMinIsr, OF_X),
    WaitStage(registers_again, Register, OF_X),
    WaitStage(outlives_session, Fence, OF_X),
    WaitStage(starts_again, Start, OF_X),
)
"""The last stages in the list of each wait here, for every broker x that may come back."""

# ---------------------------------------------------------------------------- replication


@op
def leads_newest(s: State, leader: Replica) -> bool:
    """leader leads, and has the newest record of the partition."""
    newest = s.broker[leader].view.partition_epoch == s.partition.partition_epoch
    return s.partition.leader == leader and leads(s, leader) and newest


@op
def follows_newest(s: State, f: Replica) -> bool:
    """f runs, can use its replica and has the newest record of the partition."""
    broker = s.broker[f]
    newest = broker.view.partition_epoch == s.partition.partition_epoch
    return broker.status == Status.RUNNING and hosts(broker) and newest


@op
def will_be_granted(c: Config, s: State, leader: Replica) -> bool:
    """The controller will grant the request of a leader that has the newest record."""
    x = s.broker[leader].alter
    return (
        leads_newest(s, leader)
        and x.stage == Stage.SENT
        and request_is_current(s, leader)
        and all(
            is_active(s.registration[f]) and (x.member_epochs[f] == 0 or x.member_epochs[f] == s.registration[f].epoch)
            for f in x.isr
        )
    )


@op
def will_be_granted_to(c: Config, s: State, b: Replica) -> bool:
    return will_be_granted(c, s, b)


@op
def agree(a: Log, b: Log, k: Offset) -> bool:
    """Log b has the record of log a at offset k, and all before it."""
    return k < len(b) and all(a[i] == b[i] for i in range(len(a)) if i <= k)


@op
def unlike(a: Log, b: Log) -> int:
    """The number of records of either log that are not in the other, at the same offset and after the same records."""
    return sum(1 for k in range(len(a)) if not agree(a, b, k)) + sum(1 for k in range(len(b)) if not agree(b, a, k))


@op
def has_all(s: State, leader: Replica, f: Replica) -> bool:
    """The leader knows that the registered process of f has its whole log."""
    return fresh(s, leader, f) and acked(s, leader, f) == len(s.broker[leader].log)


@op
def lag(s: State, leader: Replica, f: Replica) -> int:
    """The steps until the leader knows that f has its whole log."""
    return unlike(s.broker[leader].log, s.broker[f].log) + (0 if has_all(s, leader, f) else 1)


# ---------------------------------------------------------------------------- a replica rejoins the ISR


@op
def fetches(s: State, b: Replica, leader: Replica) -> bool:
    """b fetches from the leader, and both have the newest record."""
    return leads_newest(s, leader) and follows_newest(s, b) and b != leader and is_active(s.registration[b])


@op
def waits_for_answer(s: State, b: Replica, leader: Replica) -> bool:
    """b has caught up, and another request is in flight."""
    return fetches(s, b, leader) and has_all(s, leader, b) and is_in_flight(s, leader)


@op
def may_be_proposed(s: State, b: Replica, leader: Replica) -> bool:
    """b has caught up, and no request is in flight."""
    return fetches(s, b, leader) and has_all(s, leader, b) and s.broker[leader].alter.stage == Stage.IDLE


@op
def is_sent_by(s: State, leader: Replica) -> bool:
    return is_sent(s, leader)


@op
def lag_behind_leader(c: Config, s: State, b: Replica) -> int:
    return sum(lag(s, leader, b) for leader in c.brokers if s.partition.leader == leader)


REJOINING = (
    WaitStage(will_be_granted, ControllerAlters),
    WaitStage(may_be_proposed, ExpandIsr, {"f": "b"}),
    WaitStage(waits_for_answer, LeaderLearns, enables=(WaitStage(is_sent_by, ControllerAlters),)),
    WaitStage(fetches, Fetch, {"f": "b", "lost": False}, measure=lag_behind_leader),
    *SETTLING,
)

# ---------------------------------------------------------------------------- the watermark of a leader


@op
def counts_for(s: State, b: Replica, x: Replica) -> bool:
    """The watermark of b waits for x: b itself, an ISR member, or any follower of a leader without other members."""
    alone = s.partition.isr == frozenset({b})
    return x in s.partition.isr or (alone and x in frozenset(s.partition.replicas) and not gone(s, x))


@op
def leader_reads_min_isr(c: Config, s: State, b: Replica) -> bool:
    return may_apply(s, b) and s.broker[b].min_isr != known_min_isr(c, s.settings, b)


@op
def members_follow(c: Config, s: State, b: Replica) -> bool:
    """b and all that its watermark waits for have read the newest record, and b the newest min.insync.replicas."""
    newest = all(follows_newest(s, x) for x in c.brokers if counts_for(s, b, x))
    return leads_newest(s, b) and newest and s.broker[b].min_isr == known_min_isr(c, s.settings, b)


@op
def awaits_answer_with_members(c: Config, s: State, b: Replica) -> bool:
    return members_follow(c, s, b) and is_in_flight(s, b)


@op
def member_fetches(c: Config, s: State, b: Replica, x: Replica) -> bool:
    """x fetches while b has no request in flight; if b lacks the end of a member's log, x is such a member."""
    others = frozenset(f for f in c.brokers if f != b and f in s.partition.isr and not has_all(s, b, f))
    idle = members_follow(c, s, b) and s.broker[b].alter.stage == Stage.IDLE
    return idle and counts_for(s, b, x) and x != b and (x in others or others == EMPTY)


@op
def lag_of_members(c: Config, s: State, b: Replica) -> int:
    return sum(lag(s, b, x) for x in c.brokers if x != b and counts_for(s, b, x))


ADVANCING = (
    WaitStage(will_be_granted_to, ControllerAlters, OF_LEADER),
    WaitStage(member_fetches, Fetch, {"f": "x", "leader": "b", "lost": False}, measure=lag_of_members),
    WaitStage(
        awaits_answer_with_members, LeaderLearns, OF_LEADER, enables=(WaitStage(is_sent, ControllerAlters, OF_LEADER),)
    ),
    WaitStage(leader_reads_min_isr, ApplyMetadata),
    *SETTLING,
)

# ---------------------------------------------------------------------------- the response to a producer


@op
def all_follow(s: State, b: Replica) -> bool:
    """b leads, all replicas are unfenced, and all of them have read the newest record."""
    return leads_newest(s, b) and all(
        follows_newest(s, x) and is_active(s.registration[x]) for x in s.partition.replicas
    )


@op
def may_be_added(s: State, b: Replica, x: Replica) -> bool:
    """x has caught up outside the ISR, and b has no request in flight."""
    idle = all_follow(s, b) and s.broker[b].alter.stage == Stage.IDLE
    return idle and x in frozenset(s.partition.replicas) - s.partition.isr and has_all(s, b, x)


@op
def replica_fetches(c: Config, s: State, b: Replica, x: Replica) -> bool:
    """x fetches while b has no request in flight; if b lacks the end of a log, that of x."""
    lacking = any(f != b and not has_all(s, b, f) for f in s.partition.replicas)
    idle = all_follow(s, b) and s.broker[b].alter.stage == Stage.IDLE
    return idle and x in frozenset(s.partition.replicas) and x != b and not (lacking and has_all(s, b, x))


@op
def awaits_answer_with_all(s: State, b: Replica) -> bool:
    return all_follow(s, b) and is_in_flight(s, b)


@op
def lag_of_replicas(s: State, b: Replica) -> int:
    return sum(lag(s, b, x) for x in frozenset(s.partition.replicas) if x != b)


ANSWERING = (
    WaitStage(will_be_granted_to, ControllerAlters, OF_LEADER),
    WaitStage(may_be_added, ExpandIsr, {"leader": "b", "f": "x"}),
    WaitStage(replica_fetches, Fetch, {"f": "x", "leader": "b", "lost": False}, measure=lag_of_replicas),
    WaitStage(
        awaits_answer_with_all, LeaderLearns, OF_LEADER, enables=(WaitStage(is_sent, ControllerAlters, OF_LEADER),)
    ),
    *SETTLING,
)

LEMMAS: tuple[Operator, ...] = (members_are_registered, starts_within_log)
WAITS = {WriteIsAnswered: ANSWERING, WatermarkReachesEnd: ADVANCING, ReplicaRejoinsIsr: REJOINING}
