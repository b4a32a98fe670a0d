"""Events of operators and timers: deleting and creating topics, min.insync.replicas, the feature, elections.

Sources: ReplicationControlManager (createTopics, deleteTopics, maybeBalancePartitionLeaders,
maybeElectUncleanLeaders), ConfigurationControlManager (createClearElrRecordsAsNeeded), FeatureControlManager.
"""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.runtime import EMPTY, action, op, put, require
from elrcheck.model.change_record import unclean_election_allowed
from elrcheck.model.control_plane.controller_event import (
    BalanceEvent,
    CreatePartitionEvent,
    Decided,
    FeatureEvent,
    MinIsrEvent,
    MinIsrLevel,
    PeriodicElectionEvent,
)
from elrcheck.model.control_plane.creation import no_partition
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.kafka_error import Error
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import (
    ControllerState,
    EventRecords,
    Fault,
    Part,
    PartControl,
    Topic,
    TopicControl,
)
from elrcheck.model.partitions.images import (
    assignment,
    committed,
    controller_alone,
    controller_at,
    image_after,
    no_topic,
    runs,
)
from elrcheck.model.partitions.indexes import indexes_after, indexes_cleared, indexes_deleted, recomputed
from elrcheck.model.replicas import Vec
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Directory, MinIsr, Registration, Settings

# ---------------------------------------------------------------------------- topics


@op
def creation(c: ControllerConfig, settings: Settings, registration: Vec[Registration], p: Part) -> Decided:
    before = Controller(
        settings=settings, partition=no_partition(assignment(c, p)), registration=registration, favoured=None
    )
    return decide(c, before, CreatePartitionEvent(replicas=assignment(c, p)))


@op
def created_image(c: ControllerConfig, decided: Decided) -> PartControl:
    """A new partition, with each replica in the log directory of its broker."""
    directory = Directory.ONLINE if c.directories_assigned else Directory.UNASSIGNED
    return PartControl(partition=decided.controller.partition, directory=tuple(directory for b in c.brokers))


@op
def created(c: ControllerConfig, settings: Settings, registration: Vec[Registration]) -> TopicControl:
    return TopicControl(
        exists=True,
        min_isr=c.min_isr if c.topic_has_min_isr else None,
        parts=tuple(created_image(c, creation(c, settings, registration, p)) for p in range(c.partitions)),
    )


@action
def DeleteTopic(c: ControllerConfig, s: ControllerState, t: Topic) -> ControllerState:
    """An operator deletes a topic with its configuration (replay of RemoveTopicRecord)."""
    require(c.deletions > 0, "the scope has deletions")
    require(runs(s), "the controller has not resigned")
    require(s.topics[t].exists, "the topic exists")
    return replace(
        s,
        topics=put(s.topics, t, no_topic(c)),
        indexes=indexes_deleted(c, s, t),
        spent=replace(s.spent, deletions=s.spent.deletions + 1),
    )


@action
def CreateTopic(c: ControllerConfig, s: ControllerState, t: Topic) -> ControllerState:
    """An operator recreates a topic, which gets another id (createTopics)."""
    require(c.deletions > 0, "the scope has deletions")
    require(runs(s), "the controller has not resigned")
    require(not s.topics[t].exists, "the topic does not exist")
    require(
        all(creation(c, s.settings, s.registration, p).error == Error.NONE for p in range(c.partitions)),
        "the controller accepts the assignment",
    )
    topics = put(s.topics, t, created(c, s.settings, s.registration))
    return replace(s, topics=topics, indexes=indexes_after(c, s, topics))


# ---------------------------------------------------------------------------- settings


@op
def written(
    c: ControllerConfig, s: ControllerState, t: Topic, level: MinIsrLevel, value: MinIsr | None
) -> TopicControl:
    """The topic after a write of min.insync.replicas at a level."""
    event = MinIsrEvent(level=level, broker=0, value=value)
    decided = tuple(decide(c, controller_at(c, s, t, p), event) for p in range(c.partitions))
    return replace(
        s.topics[t],
        min_isr=decided[0].controller.settings.topic_min_isr,
        parts=tuple(image_after(c, decided[p]) for p in range(c.partitions)),
    )


@action
def WriteTopicMinIsr(c: ControllerConfig, s: ControllerState, t: Topic, value: MinIsr | None) -> ControllerState:
    """An operator sets or deletes min.insync.replicas of a topic (IncrementalAlterConfigs)."""
    require(c.min_isr_changes > 0, "the scope has changes of min ISR")
    require(runs(s), "the controller has not resigned")
    require(s.topics[t].exists, "the topic exists")
    require(s.topics[t].min_isr != value, "the value is new")
    event = MinIsrEvent(level=MinIsrLevel.TOPIC, broker=0, value=value)
    require(decide(c, controller_at(c, s, t, 0), event).error == Error.NONE, "the value is valid")
    topics = put(s.topics, t, written(c, s, t, MinIsrLevel.TOPIC, value))
    return replace(
        s,
        topics=topics,
        indexes=indexes_cleared(c, s, topics),
        spent=replace(s.spent, min_isr_changes=s.spent.min_isr_changes + 1),
    )


@action
def WriteClusterMinIsr(c: ControllerConfig, s: ControllerState, value: MinIsr) -> ControllerState:
    """An operator sets min.insync.replicas of the cluster, possibly to itself."""
    require(c.min_isr_changes > 0, "the scope has changes of min ISR")
    require(runs(s), "the controller has not resigned")
    decided = decide(c, controller_alone(c, s), MinIsrEvent(level=MinIsrLevel.CLUSTER, broker=0, value=value))
    require(decided.error == Error.NONE, "the value is valid")
    topics = tuple(
        written(c, s, t, MinIsrLevel.CLUSTER, value) if s.topics[t].exists else s.topics[t] for t in range(c.topics)
    )
    return replace(
        s,
        settings=decided.controller.settings,
        topics=topics,
        indexes=indexes_cleared(c, s, topics),
        spent=replace(s.spent, min_isr_changes=s.spent.min_isr_changes + 1),
    )


@action
def SwitchElr(c: ControllerConfig, s: ControllerState, enabled: bool) -> ControllerState:
    """An operator enables or disables the feature eligible.leader.replicas.version (updateFeatures)."""
    require(c.feature_changes > 0, "the scope has feature changes")
    require(runs(s), "the controller has not resigned")
    require(s.settings.elr_enabled != enabled, "the feature changes")
    event = FeatureEvent(enabled=enabled)
    everywhere = frozenset((t, p) for t in range(c.topics) for p in range(c.partitions) if s.topics[t].exists)
    decided = tuple(
        tuple(decide(c, controller_at(c, s, t, p), event) for p in range(c.partitions)) for t in range(c.topics)
    )
    spent = replace(s.spent, feature_changes=s.spent.feature_changes + 1)
    batch = EventRecords(places=everywhere, decided=decided, registration=s.registration, unknown=False)
    changed = committed(c, s, batch, Fault.NONE, spent)
    return replace(changed, settings=decide(c, controller_alone(c, s), event).controller.settings)


# ---------------------------------------------------------------------------- timers


@action
def BalanceLeaders(c: ControllerConfig, s: ControllerState) -> ControllerState:
    """The leader balancer runs a preferred election for each partition in its index (maybeBalancePartitionLeaders)."""
    require(c.elections > 0, "the scope has elections")
    require(runs(s), "the controller has not resigned")
    require(s.indexes.imbalanced != EMPTY, "some first replica does not lead its partition")
    decided = tuple(
        tuple(decide(c, controller_at(c, s, t, p), BalanceEvent()) for p in range(c.partitions))
        for t in range(c.topics)
    )
    spent = replace(s.spent, elections=s.spent.elections + 1)
    batch = EventRecords(places=s.indexes.imbalanced, decided=decided, registration=s.registration, unknown=False)
    return committed(c, s, batch, Fault.ELECTION, spent)


@action
def ElectUncleanly(c: ControllerConfig, s: ControllerState) -> ControllerState:
    """The timer of unclean elections elects in every leaderless partition (maybeElectUncleanLeaders)."""
    require(unclean_election_allowed(c, s.settings), "the topics allow unclean elections")
    require(runs(s), "the controller has not resigned")
    require(s.indexes.leaderless != EMPTY, "a partition has no leader")
    decided = tuple(
        tuple(decide(c, controller_at(c, s, t, p), PeriodicElectionEvent()) for p in range(c.partitions))
        for t in range(c.topics)
    )
    batch = EventRecords(places=s.indexes.leaderless, decided=decided, registration=s.registration, unknown=False)
    return committed(c, s, batch, Fault.ELECTION, s.spent)


# ---------------------------------------------------------------------------- another controller


@action
def LoadSnapshot(c: ControllerConfig, s: ControllerState) -> ControllerState:
    """Another controller takes over, which has started from a snapshot of the current topics.

    A controller that has replayed all records since the registrations has the indexes of the previous one.
    """
    require(c.snapshots > 0, "the scope has controllers that start from a snapshot")
    require(s.indexes != recomputed(c, s.topics), "the indexes differ")
    return replace(
        s, indexes=recomputed(c, s.topics), fault=Fault.NONE, spent=replace(s.spent, snapshots=s.spent.snapshots + 1)
    )
