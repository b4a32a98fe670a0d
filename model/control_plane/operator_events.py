"""Changes by operators at runtime, as actions; the rules are in `operator_settings.py`."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.lang.marks import Unfair
from elrcheck.lang.runtime import action, op, require
from elrcheck.model.broker.ghosts import min_isr_in_force, promised_less, undone_after
from elrcheck.model.config import Config
from elrcheck.model.control_plane.commit import logged, partition_changed
from elrcheck.model.control_plane.controller_event import DirectoriesEvent, FeatureEvent, MinIsrEvent, MinIsrLevel
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import Replica
from elrcheck.model.replication_control import Controller, controller_of
from elrcheck.model.state import MinIsr, State


@op
def min_isr_written(c: Config, s: State, controller: Controller) -> State:
    """The state after a write or deletion of min.insync.replicas of the topic or the cluster."""
    settings = controller.settings
    after = controller.partition
    return replace(
        partition_changed(c, s, after),
        settings=settings,
        registration=controller.registration,
        promised=promised_less(c, s.promised, s.committed, min_isr_in_force(settings, after.replicas)),
        undone=undone_after(c, s, min_isr_in_force(settings, after.replicas)),
        metadata=logged(c, s.metadata, settings, s.partition, after),
        spent=replace(s.spent, min_isr_changes=s.spent.min_isr_changes + 1),
    )


@action(fairness=Unfair("a request of an operator"), event=("MIN_ISR_TOPIC", "MIN_ISR_CLUSTER"), what_if="set_min_isr")
def ChangeMinIsr(c: Config, s: State, level: MinIsrLevel, value: MinIsr) -> State:
    """An operator sets min.insync.replicas of the topic or the cluster (IncrementalAlterConfigs).

    A cluster's value may be set to itself: Kafka clears the ELR even then since 4.0 (F-25).
    """
    require(c.min_isr_changes > 0, "the scope has changes of min ISR")
    require(level != MinIsrLevel.BROKER, "level is the topic or the cluster")
    require(level == MinIsrLevel.CLUSTER or s.settings.topic_min_isr != value, "the value is new")
    decided = decide(c, controller_of(s), MinIsrEvent(level=level, broker=0, value=value))
    require(decided.error == Error.NONE, "the value is valid")
    return min_isr_written(c, s, decided.controller)


@action(
    fairness=Unfair("a request of an operator"),
    event="MIN_ISR_DELETED",
    because="no what-if operation: a question has one min ISR, and does not say what the cluster has",
)
def DeleteMinIsr(c: Config, s: State) -> State:
    """An operator deletes the topic's min.insync.replicas (IncrementalAlterConfigs, DELETE).

    The cluster's value applies from then on. The step is omitted if both are equal: it would have the effect of setting
    the cluster's value to itself.
    """
    require(c.min_isr_changes > 0, "the scope has changes of min ISR")
    require(s.settings.topic_min_isr is not None, "the topic has a value")
    require(s.settings.topic_min_isr != s.settings.cluster_min_isr, "the cluster has another value")
    deletion = MinIsrEvent(level=MinIsrLevel.TOPIC, broker=0, value=None)
    decided = decide(c, controller_of(s), deletion)
    return min_isr_written(c, s, decided.controller)


@action(fairness=Unfair("a request of an operator"), event="MIN_ISR_BROKER", what_if="set_min_isr")
def ChangeBrokerMinIsr(c: Config, s: State, b: Replica, value: MinIsr) -> State:
    """An operator sets min.insync.replicas of one broker, which is valid only without ELR (KAFKA-16540)."""
    require(c.min_isr_changes > 0, "the scope has changes of min ISR")
    request = MinIsrEvent(level=MinIsrLevel.BROKER, broker=b, value=value)
    decided = decide(c, controller_of(s), request)
    require(decided.error == Error.NONE, "the value is valid")
    require(s.settings.broker_min_isr[b] != value, "the value is new")
    return replace(
        s, settings=decided.controller.settings, spent=replace(s.spent, min_isr_changes=s.spent.min_isr_changes + 1)
    )


@action(fairness=Unfair("a request of an operator"))
def ChangeUncleanElection(c: Config, s: State) -> State:
    """An operator changes unclean.leader.election.enable of the topic (IncrementalAlterConfigs).

    ConfigurationControlManager writes a ConfigRecord only, and no partition changes. Each later event reads the new
    value (uncleanLeaderElectionEnabledForTopic), and so does the periodic task electUnclean.
    """
    require(c.unclean_changes > 0, "the scope has changes of unclean.leader.election.enable")
    switched = 1 if s.settings.unclean_switched == 0 else 0
    return replace(
        s,
        settings=replace(s.settings, unclean_switched=switched),
        spent=replace(s.spent, unclean_changes=s.spent.unclean_changes + 1),
    )


@action(
    fairness=Unfair("a request of an operator"),
    event=("FEATURE_ON", "FEATURE_OFF"),
    because="no what-if operation: a question sets elr_enabled itself, and the partition does not change",
)
def ChangeFeature(c: Config, s: State, enabled: bool) -> State:
    """An operator enables or disables ELR (FeatureControlManager). A stored ELR remains until the next change."""
    require(c.feature_changes > 0, "the scope has feature changes")
    require(s.settings.elr_enabled != enabled, "the feature changes")
    decided = decide(c, controller_of(s), FeatureEvent(enabled=enabled))
    settings = decided.controller.settings
    changed = partition_changed(c, s, decided.controller.partition)
    return replace(
        changed,
        settings=settings,
        promised=promised_less(c, changed.promised, s.committed, min_isr_in_force(settings, s.partition.replicas)),
        undone=undone_after(c, s, min_isr_in_force(settings, s.partition.replicas)),
        spent=replace(s.spent, feature_changes=s.spent.feature_changes + 1),
    )


@action(fairness=Unfair("a broker reports once"), event="ASSIGN_DIRECTORIES", what_if="assign_directories")
def AssignDirectories(c: Config, s: State) -> State:
    """A broker reports the log directory of its replica (AssignReplicasToDirs, KIP-858)."""
    require(c.directory_changes > 0, "the scope has changes of directories")
    decided = decide(c, controller_of(s), DirectoriesEvent(moved=True))
    require(decided.error == Error.NONE, "the controller does not fault")
    return replace(
        partition_changed(c, s, decided.controller.partition),
        spent=replace(s.spent, directory_changes=s.spent.directory_changes + 1),
    )
