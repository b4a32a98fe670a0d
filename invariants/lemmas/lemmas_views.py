"""Lemmas about processes, the controller's record, brokers' views of it, and AlterPartition in flight."""

from __future__ import annotations

from elrcheck.invariants.membership import offline
from elrcheck.invariants.operations import last_known
from elrcheck.invariants.properties import eligible
from elrcheck.lang.runtime import EMPTY, implies, lemma, op
from elrcheck.model.choices import LklStorage
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.min_isr import effective_min_isr, leader_min_isr
from elrcheck.model.replicas import Replica, RSet
from elrcheck.model.replication_control import is_active, may_lead
from elrcheck.model.state import Directory, LogDir, Stage, State, Status, hosts

# ---------------------------------------------------------------------------- controller


@op
def enough(c: Config, s: State, isr: RSet) -> bool:
    return len(isr) >= effective_min_isr(s.settings, s.partition.replicas)


@op
def takes_for_enough(c: Config, s: State, leader: Replica, isr: RSet) -> bool:
    """An ISR has min ISR members according to the value that the leader has read, which may be stale."""
    return len(isr) >= leader_min_isr(c, s.settings, s.broker[leader], leader)


@lemma
def ControllerRecord(c: Config, s: State) -> bool:
    """ISR and ELR satisfy the rules of KIP-966; while ELR is off, the last member stays without a leader."""
    return (
        s.partition.isr & s.partition.elr == EMPTY
        and implies(enough(c, s, s.partition.isr), s.partition.elr == EMPTY)
        and (
            all(is_active(s.registration[b]) for b in s.partition.isr)
            or (s.partition.leader is None and not s.settings.elr_enabled and len(s.partition.isr) <= 1)
        )
        and implies(
            s.partition.leader is not None,
            s.partition.leader in s.partition.isr and s.partition.leader in may_lead(c, s.registration),
        )
        and implies(
            s.partition.leader is None,
            s.partition.isr & may_lead(c, s.registration) == EMPTY
            and implies(
                s.partition.isr & offline(c, s) == EMPTY, eligible(c, s) & may_lead(c, s.registration) == EMPTY
            ),
        )
        and all(s.registration[b].registered for b in s.partition.elr)
    )


@lemma
def LastKnown(c: Config, s: State) -> bool:
    """LastKnownELR is disjoint from ISR and ELR; a last known leader is stored only without a leader.

    The code, which stores it in LastKnownELR, keeps it where a leader is elected while ELR is off (P-37).
    """
    p = s.partition
    separate = c.lkl_storage == LklStorage.SEPARATE
    disjoint = p.last_known_elr & (p.isr | p.elr) == EMPTY
    return implies(separate, disjoint) and implies(
        p.leader is not None and (separate or c.feature_changes == 0), last_known(c, p) == EMPTY
    )


# ---------------------------------------------------------------------------- processes


@lemma
def Directories(c: Config, s: State) -> bool:
    """Without lost log directories, every broker has the directory of its replica, and the controller knows this.

    A lost directory contains no records, and the broker does not run while it is replaced or dropped.
    """
    lost = c.directory_losses > 0 or c.directory_failures > 0 or not c.directories_assigned
    return all(
        (lost or (s.registration[b].directory == Directory.ONLINE and s.broker[b].log_dir == LogDir.PRESENT))
        and implies(c.directories_assigned, s.registration[b].directory != Directory.UNASSIGNED)
        and implies(
            s.broker[b].log_dir == LogDir.FAILED
            or s.broker[b].log_dir == LogDir.REPLACED
            or s.broker[b].log_dir == LogDir.DROPPED,
            len(s.broker[b].log) == 0 and s.broker[b].high_watermark == 0,
        )
        and implies(
            s.broker[b].log_dir == LogDir.REPLACED or s.broker[b].log_dir == LogDir.DROPPED,
            s.broker[b].status != Status.RUNNING,
        )
        for b in c.brokers
    )


@lemma
def Processes(c: Config, s: State) -> bool:
    """A running broker is its registered incarnation; a dead one retains only its log and its clean-shutdown file."""
    return all(
        s.registration[b].epoch >= 1
        and s.broker[b].clean_file <= s.registration[b].epoch
        and implies(s.broker[b].status == Status.RUNNING, s.broker[b].epoch == s.registration[b].epoch)
        and implies(s.broker[b].status == Status.RUNNING, s.registration[b].registered)
        and implies(
            s.broker[b].status == Status.RUNNING,
            s.broker[b].clean_file == 0 and (b not in s.lossy or not hosts(s.broker[b])),
        )
        and implies(
            s.broker[b].clean_file > 0
            and (s.broker[b].log_dir == LogDir.PRESENT or s.broker[b].log_dir == LogDir.MOVED),
            b not in s.lossy,
        )
        and implies(
            s.broker[b].status != Status.RUNNING,
            s.broker[b].epoch == 0
            and s.broker[b].view.leader is None
            and s.broker[b].view.leader_epoch == 0
            and s.broker[b].view.partition_epoch == 0,
        )
        for b in c.brokers
    )


# ---------------------------------------------------------------------------- views


@lemma
def ViewEpochs(c: Config, s: State) -> bool:
    """Views are past records; a broker without metadata has a blank view and is fenced."""
    return (
        s.partition.leader_epoch >= 1
        and s.partition.partition_epoch >= 1
        and all(
            s.broker[b].view.leader_epoch <= s.partition.leader_epoch
            and s.broker[b].view.partition_epoch <= s.partition.partition_epoch
            and implies(
                s.broker[b].view.partition_epoch == 0,
                s.broker[b].view.leader_epoch == 0 and s.broker[b].view.leader is None,
            )
            and implies(s.broker[b].view.partition_epoch > 0, s.broker[b].view.leader_epoch > 0)
            and implies(
                s.broker[b].status == Status.RUNNING and s.broker[b].view.partition_epoch == 0, s.registration[b].fenced
            )
            for b in c.brokers
        )
    )


@lemma
def ViewCurrent(c: Config, s: State) -> bool:
    """A view with the controller's epochs equals the controller's record."""
    return all(
        implies(
            s.broker[b].view.partition_epoch == s.partition.partition_epoch,
            s.broker[b].view.leader_epoch == s.partition.leader_epoch,
        )
        and implies(
            s.broker[b].view.leader_epoch == s.partition.leader_epoch, s.broker[b].view.leader == s.partition.leader
        )
        and implies(
            s.broker[b].view.partition_epoch == s.partition.partition_epoch and s.partition.leader == b,
            s.broker[b].view.isr == s.partition.isr,
        )
        for b in c.brokers
    )


@lemma
def ViewsAgree(c: Config, s: State) -> bool:
    """One leader for each leader epoch, one leader epoch for each partition epoch."""
    return all(
        all(
            implies(
                s.broker[a].view.leader_epoch == s.broker[b].view.leader_epoch,
                s.broker[a].view.leader == s.broker[b].view.leader,
            )
            and implies(
                s.broker[a].view.partition_epoch == s.broker[b].view.partition_epoch,
                s.broker[a].view.leader_epoch == s.broker[b].view.leader_epoch,
            )
            for b in c.brokers
        )
        for a in c.brokers
    )


# ---------------------------------------------------------------------------- AlterPartition


@op
def counts(s: State, b: Replica) -> bool:
    """b has a pending proposal, which no metadata has cancelled."""
    return s.broker[b].alter.stage != Stage.IDLE and s.broker[b].alter.overtaken == 0


@lemma
def OvertakenIsStale(c: Config, s: State) -> bool:
    """A request whose proposal metadata has cancelled is older than the controller's record: it will be rejected."""
    return all(
        implies(
            s.broker[b].alter.overtaken > 0,
            s.broker[b].alter.stage == Stage.SENT or s.broker[b].alter.stage == Stage.ANSWERED,
        )
        and implies(
            s.broker[b].alter.overtaken > 0 and s.broker[b].alter.stage == Stage.SENT,
            s.broker[b].alter.partition_epoch < s.partition.partition_epoch,
        )
        for b in c.brokers
    )


@lemma
def RoleShape(c: Config, s: State) -> bool:
    """Only a leader has a committed ISR, peers and an epoch start; only it, alive or dead, has a request."""
    return all(
        implies(s.broker[b].view.leader != b, s.broker[b].view.isr == EMPTY)
        and implies(
            s.broker[b].view.leader != b or not hosts(s.broker[b]),
            s.broker[b].epoch_start == 0
            and all(
                s.broker[b].peers[f].log_end_offset is None and s.broker[b].peers[f].broker_epoch == 0
                for f in c.brokers
            )
            and implies(
                counts(s, b),
                s.broker[b].alter.stage == Stage.SENT
                and (s.broker[b].status != Status.RUNNING or s.broker[b].view.leader == b),
            ),
        )
        and implies(s.broker[b].view.leader == b, b in s.broker[b].view.isr)
        for b in c.brokers
    )


@lemma
def RequestShape(c: Config, s: State) -> bool:
    """A request carries its sender's epochs; it may still be current after its sender died."""
    return all(
        implies(
            s.broker[b].alter.stage == Stage.SENT,
            b in s.broker[b].alter.isr
            and s.broker[b].alter.leader_epoch <= s.partition.leader_epoch
            and s.broker[b].alter.partition_epoch <= s.partition.partition_epoch
            and implies(s.broker[b].alter.leader_epoch == s.partition.leader_epoch, s.partition.leader == b)
            and implies(
                s.broker[b].view.leader == b and counts(s, b),
                s.broker[b].alter.leader_epoch == s.broker[b].view.leader_epoch
                and s.broker[b].alter.partition_epoch == s.broker[b].view.partition_epoch
                and implies(
                    c.reassignments == 0 or s.broker[b].view.leader_epoch == s.partition.leader_epoch,
                    s.broker[b].alter.isr != s.broker[b].view.isr,
                ),
            )
            and implies(
                s.broker[b].alter.partition_epoch == s.partition.partition_epoch,
                s.broker[b].alter.isr != s.partition.isr,
            ),
        )
        for b in c.brokers
    )


@lemma
def NothingPending(c: Config, s: State) -> bool:
    """Without an AlterPartition its fields are blank; a rejected proposal waits for metadata that already exists."""
    return all(
        implies(
            s.broker[b].alter.stage == Stage.IDLE,
            s.broker[b].alter.isr == EMPTY and all(s.broker[b].alter.member_epochs[f] == 0 for f in c.brokers),
        )
        and implies(
            s.broker[b].alter.stage == Stage.WAITING, s.broker[b].view.partition_epoch < s.partition.partition_epoch
        )
        and implies(
            s.broker[b].alter.stage == Stage.ANSWERED
            and counts(s, b)
            and s.broker[b].alter.error != Error.NONE
            and s.broker[b].alter.error != Error.INELIGIBLE_REPLICA,
            s.broker[b].view.partition_epoch < s.partition.partition_epoch,
        )
        for b in c.brokers
    )


@op
def applied(s: State, b: Replica) -> bool:
    """The controller has applied b's proposal, and b does not know it yet."""
    x = s.broker[b].alter
    return x.stage == Stage.ANSWERED and x.error == Error.NONE and x.overtaken == 0


@op
def granted(s: State, b: Replica) -> bool:
    """The same, and it removed no replica: b knows the leader epoch of the response and accepts it."""
    return applied(s, b) and s.broker[b].alter.leader_epoch == s.broker[b].view.leader_epoch


@lemma
def AnswerIsRecord(c: Config, s: State) -> bool:
    """A successful response is a past record, newer than the view of its receiver, and of the same leader epoch unless
    a replica was removed.
    """
    return all(
        implies(
            s.broker[b].alter.stage == Stage.ANSWERED and counts(s, b),
            b in s.broker[b].alter.isr
            and (
                s.broker[b].alter.isr != s.broker[b].view.isr
                or (c.reassignments > 0 and s.broker[b].view.leader_epoch < s.partition.leader_epoch)
            )
            and s.broker[b].alter.leader_epoch >= s.broker[b].view.leader_epoch
            and (c.reassignments > 0 or s.broker[b].alter.leader_epoch == s.broker[b].view.leader_epoch),
        )
        and implies(
            s.broker[b].alter.stage == Stage.ANSWERED and counts(s, b) and not applied(s, b),
            s.broker[b].alter.leader_epoch == s.broker[b].view.leader_epoch
            and s.broker[b].alter.partition_epoch == s.broker[b].view.partition_epoch,
        )
        and implies(
            applied(s, b),
            s.broker[b].alter.partition_epoch > s.broker[b].view.partition_epoch
            and s.broker[b].alter.partition_epoch <= s.partition.partition_epoch
            and s.broker[b].alter.leader_epoch <= s.partition.leader_epoch
            and implies(
                s.broker[b].alter.partition_epoch == s.partition.partition_epoch,
                s.partition.leader_epoch == s.broker[b].alter.leader_epoch and s.partition.isr == s.broker[b].alter.isr,
            )
            and all(
                implies(
                    s.broker[a].view.partition_epoch == s.broker[b].alter.partition_epoch,
                    s.broker[a].view.leader_epoch == s.broker[b].alter.leader_epoch,
                )
                and implies(
                    applied(s, a) and s.broker[a].alter.partition_epoch == s.broker[b].alter.partition_epoch, a == b
                )
                for a in c.brokers
            ),
        )
        for b in c.brokers
    )


@lemma
def ShutdownKnown(c: Config, s: State) -> bool:
    """A broker that has read that b is shutting down does not consider b the leader; neither does b (KIP-841)."""
    return all(
        implies(
            s.registration[b].in_controlled_shutdown,
            s.registration[b].shutdown_offset <= s.partition.partition_epoch
            and implies(granted(s, b), s.broker[b].alter.partition_epoch < s.registration[b].shutdown_offset)
            and all(
                implies(
                    s.broker[f].view.partition_epoch >= s.registration[b].shutdown_offset, s.broker[f].view.leader != b
                )
                for f in c.brokers
            ),
        )
        for b in c.brokers
    )


@op
def under_way(s: State, leader: Replica) -> bool:
    """The leader's request or its response is in flight; the response may be lost and the request retried."""
    x = s.broker[leader].alter
    return (x.stage == Stage.SENT or x.stage == Stage.ANSWERED) and x.overtaken == 0


@lemma
def MemberEpochs(c: Config, s: State) -> bool:
    """The broker epochs in a leader's follower state belong to incarnations that have registered."""
    return all(
        all(
            s.broker[leader].peers[f].broker_epoch <= s.registration[f].epoch
            and implies(
                s.broker[leader].peers[f].log_end_offset is not None, s.broker[leader].peers[f].broker_epoch >= 1
            )
            and s.broker[leader].alter.member_epochs[f] <= s.registration[f].epoch
            and implies(
                under_way(s, leader) and s.broker[leader].view.leader == leader and hosts(s.broker[leader]),
                s.broker[leader].alter.member_epochs[f] == s.broker[leader].epoch
                if f == leader
                else s.broker[leader].alter.member_epochs[f] <= s.broker[leader].peers[f].broker_epoch,
            )
            and implies(
                under_way(s, leader)
                and s.broker[leader].alter.leader_epoch == s.partition.leader_epoch
                and s.broker[leader].alter.partition_epoch == s.partition.partition_epoch
                and f in s.broker[leader].alter.isr
                and f not in s.partition.isr,
                s.broker[leader].alter.member_epochs[f] >= 1,
            )
            for f in c.brokers
        )
        for leader in c.brokers
    )
