"""The values of knobs: the variants of each rule in releases, in the KIP or in a rejected alternative.

The docstring of a knob in `elrcheck.model.config` says where it matters; the values here define each choice.
"""

from __future__ import annotations

import enum


class CleanCheck(enum.Enum):
    """The condition on which a registration counts as following a clean shutdown (C-25)."""

    EPOCH = "the broker epoch in the clean-shutdown file equals the registered epoch"
    ALWAYS_UNCLEAN = "the controller ignores the file: every restart counts as unclean (F-3)"
    ALWAYS_CLEAN = "the controller ignores the file: every restart counts as clean (F-3, dangerous half)"


class CandidateChoice(enum.Enum):
    """The choice of an election among several candidates, if the current leader is not one of them."""

    ORDER = "the first in the order of the replica list (PartitionChangeBuilder.electAnyLeader)"
    ANY = "any of them: KIP-966 only says that the controller elects one"


class LastKnownLeader(enum.Enum):
    """Election of the last known leader when ISR and ELR are empty (C-5)."""

    NEVER = "wait, as the KIP's Balanced strategy does"
    ANY = "elect it even while it is fenced (KAFKA-19522, F-1)"
    ACTIVE = "elect it once it is unfenced"


class LklStorage(enum.Enum):
    """The field that stores the last known leader (C-1, C-2)."""

    SEPARATE = "a field of its own; LastKnownELR is a real set"
    OVERLOAD = "LastKnownELR, with the last known leader as its only member"


class LklRule(enum.Enum):
    """The records that store and clear the last known leader in Kafka (PartitionChangeBuilder)."""

    EMPTIED = "stored when the ISR becomes empty, cleared as soon as there is a leader (up to 4.1.0)"
    LEADERLESS = "stored when a record removes the leader, cleared when one sets a leader (since 4.1.1)"


class Reregistration(enum.Enum):
    """The effect of a new incarnation on its partitions while ELR is off (C-26)."""

    FENCE = "it leaves the ISR like a fenced broker"
    IGNORE = "none: the controller relies on the earlier fencing"


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
    ALWAYS = "every write of the value (since 4.0)"
    NEVER = "none (F-19, KAFKA-16540)"


class Propagation(enum.Enum):
    """The records of the metadata log at which a broker may stop."""

    LATEST = "the newest record only"
    LOG = "any record after the one that it has applied"


class MinIsrPropagation(enum.Enum):
    """The order in which a leader applies a new min.insync.replicas (C-16)."""

    ATOMIC = "with the partition record next to it, in the order of the log"
    TOPICS_FIRST = "after the partition records of the same publish (F-24)"
    LOG = "in a separate step, before or after the ISR that the controller wrote with it (F-24)"


class RecoveryStrategy(enum.Enum):
    """unclean.recovery.strategy: the reaction when neither ISR nor ELR has an electable replica (KIP-966)."""

    DISABLED = "there is no recovery manager"
    NONE = "wait for an operator"
    BALANCED = "recover once the whole LastKnownELR is back; wait for a fenced ELR"
    AGGRESSIVE = "recover at once, from any replica that responds"


class RecoveryQuorum(enum.Enum):
    """The replicas whose log info a recovery needs before it elects; all but KIP were rejected (E-7, E-9)."""

    KIP = "Balanced: the whole LastKnownELR; Aggressive: any replica, after a wait"
    MIN_ISR = "any min ISR replicas (F-44)"
    MAJORITY = "a majority of the replicas"
    ALL = "all replicas"


class BalancedEnd(enum.Enum):
    """The time at which a Balanced recovery elects, once the whole LastKnownELR has responded (KIP-966)."""

    ACTIVE = "when all other active replicas have responded, too: none misses unclean.recovery.timeout.ms"
    AT_ONCE = "without waiting for other replicas, whose responses may miss the timeout"


class AlterReject(enum.Enum):
    """The reaction of a leader to an AlterPartition that the controller rejects as stale (C-39, F-33)."""

    KEEP = "keep the proposal pending until newer metadata arrives"
    ROLLBACK = "drop the proposal at once"


class AcksAdmission(enum.Enum):
    """The ISR that admits an acks=all write (C-19)."""

    COMMITTED = "the committed ISR has min ISR members"
    MAXIMAL = "the maximal ISR has min ISR members"


class Truncation(enum.Enum):
    """When a follower compares its log with the leader's, and to which offset it truncates (KIP-101, KIP-279)."""

    EVERY_FETCH = "at every fetch, by the epochs of both logs"
    HIGH_WATERMARK = "when it becomes a follower, to its own high watermark (before KIP-101, F-6)"
    ONE_SHOT = "at its first fetch in an epoch, to the leader's end offset for it (before KIP-279, F-7)"
    NEW_LEADER = "until a fetch succeeds, and again only under another leader (KAFKA-7164, F-9)"
    UNTIL_EMPTY = "until a fetch returns nothing, and again after one that returns a record (F-17)"


class Reelection(enum.Enum):
    """The follower state that a leader retains if it leads a later epoch without having stepped down.

    Between the two epochs another leader may have made followers truncate (F-51).
    """

    KEPT = "all of it (Partition.makeLeader, Replica.resetReplicaState)"
    RESET = "none: it waits for a fetch of every follower in the new epoch"
    RESET_ON_GAP = "all of it, unless the new epoch is more than one above its own"


class LostDirectory(enum.Enum):
    """The effect of a registration without the log directory of the broker's replica (F-52)."""

    IGNORED = "none: a clean shutdown counts, regardless of the directories that it covered"
    REGISTRATION = "the broker leaves ISR and ELR, if the controller has recorded that directory"
    CLEAN_FILE = "the clean-shutdown file counts only if all directories that the shutdown covered are present"


class BeforeRegistration(enum.Enum):
    """The reaction of a process to metadata that it reads before it is registered (F-65)."""

    WAITS = "none: it acts on metadata only after its registration"
    FOLLOWS = "it follows another leader, and fetches with broker epoch -1, but never leads"
    ACTS = "it leads or follows according to the metadata (BrokerServer.startup, BrokerMetadataPublisher)"


class EpochFile(enum.Enum):
    """When a truncation reaches the checkpoint file of the leader epoch cache (F-69)."""

    WITH_LOG = "before the next use of the log (truncateFromEnd, up to 3.7)"
    LATER = "in a task of the scheduler, which may come too late (truncateFromEndAsyncFlush)"


class FetchFencing(enum.Enum):
    """The leader epochs in a fetch that a leader rejects (KIP-320, F-8)."""

    BOTH = "lower and higher than its own"
    ONLY_LOWER = "lower than its own"
    ONLY_HIGHER = "higher than its own"
    NONE = "none: a fetch carries no epoch"


class ResponseRecords(enum.Enum):
    """The records in the response to a fetch whose leader follows another broker by the time it sends them."""

    FILE = "what its file has by then (FileRecords.writeTo, F-63)"
    IN_ORDER = "the same, and the follower appends none of an earlier epoch than its last one: too weak (F-63)"
    ADMITTED = "what its log had when it admitted the fetch; otherwise it sends no response"
