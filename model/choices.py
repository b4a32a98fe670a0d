"""The values of knobs: the kinds of each rule that releases, the KIP or a rejected alternative have.

The text below a knob in `elrcheck.model.config` says where it matters; the values here say what each choice means.
"""

from __future__ import annotations

import enum


class CleanCheck(enum.Enum):
    """The sign by which the controller decides that a registration follows an orderly shutdown (C-25)."""

    EPOCH = "the broker epoch in the clean-shutdown file equals the registered one"
    ALWAYS_UNCLEAN = "the file is not looked at: every restart counts as unclean (F-3)"
    ALWAYS_CLEAN = "the file is not looked at: every restart counts as clean (F-3, dangerous half)"


class CandidateChoice(enum.Enum):
    """The choice of an election among several candidates, when the current leader is not one of them."""

    ORDER = "the first in the order of the replica list (PartitionChangeBuilder.electAnyLeader)"
    ANY = "any of them: KIP-966 only says that the controller elects one"


class LastKnownLeader(enum.Enum):
    """Election of the last known leader when ISR and ELR are empty (C-5)."""

    NEVER = "wait, as the KIP's Balanced strategy does"
    ANY = "elect it even while it is fenced (KAFKA-19522, F-1)"
    ACTIVE = "elect it once it is unfenced"


class LklStorage(enum.Enum):
    """The place of the last known leader (C-1, C-2)."""

    SEPARATE = "in a field of its own, LastKnownELR being a real set"
    OVERLOAD = "as the only member of LastKnownELR, which is not tracked as a set"


class LklRule(enum.Enum):
    """The times at which the code stores and forgets the last known leader (PartitionChangeBuilder)."""

    EMPTIED = "stored when the ISR becomes empty, forgotten as soon as there is a leader (to 4.1.0)"
    LEADERLESS = "stored when a record takes the leader away, forgotten when one names a leader (from 4.1.1)"


class Reregistration(enum.Enum):
    """The effect of a new incarnation on its partitions while ELR is off (C-26)."""

    FENCE = "it leaves the ISR like a fenced broker"
    IGNORE = "nothing: the controller relies on the earlier fencing"


class HwmGate(enum.Enum):
    """The ISR that the strict min-ISR rule counts (F-40)."""

    COMMITTED = "the committed ISR"
    MAXIMAL = "the maximal ISR: committed and proposed members"


class ReassignGate(enum.Enum):
    """The condition on which an ongoing reassignment completes (C-21)."""

    KIP = "all adding replicas in the final ISR, and that ISR not below min ISR"
    ADDING = "all adding replicas in the final ISR (before KAFKA-15665)"
    ALL_TARGETS = "all target replicas in the final ISR (KAFKA-15665)"
    TRUNK_2025 = "all adding replicas, and all targets if the list gets shorter (KAFKA-19975)"


class MinIsrChange(enum.Enum):
    """The changes of min.insync.replicas that clear the ELR (C-13)."""

    KIP = "when the ISR has the new number of members"
    ALWAYS = "whenever the value is written (4.0, 4.1)"
    NEVER = "never (F-19, KAFKA-16540)"


class Propagation(enum.Enum):
    """The way in which a broker learns what the controller wrote."""

    LATEST = "it applies the newest record, whatever came before it"
    LOG = "it may stop at any record between the one it has and the newest"


class MinIsrPropagation(enum.Enum):
    """The way in which a leader learns a new min.insync.replicas (C-16)."""

    ATOMIC = "with the state of the partition that was written beside it, in the order of the log"
    TOPICS_FIRST = "after the state of the partition that it reads in the same publish (F-24)"
    LOG = "in a step of its own, before or after the ISR that came with it (F-24)"


class RecoveryStrategy(enum.Enum):
    """unclean.recovery.strategy: what follows when neither ISR nor ELR has a replica to elect (KIP-966)."""

    DISABLED = "there is no recovery manager"
    NONE = "wait for an operator"
    BALANCED = "recover once the whole LastKnownELR is back; a fenced ELR is waited for"
    AGGRESSIVE = "recover at once, from whoever answers"


class RecoveryQuorum(enum.Enum):
    """Whose log info a recovery needs before it elects; all but KIP were rejected (E-7, E-9)."""

    KIP = "Balanced: the whole LastKnownELR; Aggressive: anybody, after a wait"
    MIN_ISR = "as many replicas as min ISR, whoever they are (F-44)"
    MAJORITY = "a majority of the replicas"
    ALL = "all replicas"


class BalancedEnd(enum.Enum):
    """The time at which a Balanced recovery elects, once the whole LastKnownELR has replied (KIP-966)."""

    ACTIVE = "every other active replica has replied too: a reply never misses unclean.recovery.timeout.ms"
    AT_ONCE = "without waiting for anyone else, as if the replies of other replicas may miss the timeout"


class AlterReject(enum.Enum):
    """The reaction of a leader to an AlterPartition that is refused as stale (C-39, F-33)."""

    KEEP = "keep the proposal pending until newer metadata arrives"
    ROLLBACK = "forget the proposal at once"


class AcksAdmission(enum.Enum):
    """The ISR that admits an acks=all write (C-19)."""

    COMMITTED = "the committed ISR has min ISR members"
    MAXIMAL = "the maximal ISR has min ISR members"


class Truncation(enum.Enum):
    """The time at which a follower compares its log with the leader's, and the place of the cut (KIP-101, KIP-279)."""

    EVERY_FETCH = "at every fetch, by the epochs of both logs"
    HIGH_WATERMARK = "when it becomes a follower, to its own high watermark (before KIP-101, F-6)"
    ONE_SHOT = "at its first fetch in an epoch, to the end the leader names for it (before KIP-279, F-7)"
    NEW_LEADER = "until a fetch fits, and then not until another broker leads (KAFKA-7164, F-9)"
    UNTIL_EMPTY = "not any more once a fetch returned nothing, until one returns a record (F-17)"


class Reelection(enum.Enum):
    """The followers' log ends that a leader keeps if it leads a later epoch without having stepped down.

    Between the epochs it may have missed, another leader may have had followers truncate (F-51).
    """

    KEPT = "everything (Partition.makeLeader, Replica.resetReplicaState)"
    RESET = "nothing: it waits for a fetch of every follower in the new epoch"
    RESET_ON_GAP = "everything, unless it has missed an epoch: the new one is more than one above its own"


class LostDirectory(enum.Enum):
    """A broker registers without the log directory in which it had its replica (F-52)."""

    IGNORED = "nothing: a clean shutdown counts, whichever directories it was a shutdown of"
    REGISTRATION = "it leaves ISR and ELR, if the controller knows that the replica was in that directory"
    CLEAN_FILE = "the clean-shutdown file counts only while every directory that it was written for is there"


class BeforeRegistration(enum.Enum):
    """What a process does on the metadata that it reads before it is registered (F-65)."""

    WAITS = "nothing: it acts on metadata only once it is registered"
    FOLLOWS = "it follows another leader, and fetches with broker epoch -1, but leads nothing"
    ACTS = "what the metadata says: it leads or follows (BrokerServer.startup, BrokerMetadataPublisher)"


class EpochFile(enum.Enum):
    """The time at which the checkpoint file of the leader epoch cache follows a truncation (F-69)."""

    WITH_LOG = "before the log is used again (truncateFromEnd, up to 3.7)"
    LATER = "in a task of the scheduler, which may come too late (truncateFromEndAsyncFlush)"


class FetchFencing(enum.Enum):
    """The leader epochs in a fetch that a leader refuses (KIP-320, F-8)."""

    BOTH = "lower and higher than its own"
    ONLY_LOWER = "lower than its own"
    ONLY_HIGHER = "higher than its own"
    NONE = "none: a fetch carries no epoch"
