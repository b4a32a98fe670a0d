"""The model's side of a comparison: a question put to Kafka's classes, answered by the rules of the model.

Broker ids are the same numbers on both sides: a question has the brokers 0 to n-1. No rule is written here;
an event of Kafka's becomes one of the model, which `decide` decides, and the builder's question a `Target`.

This file itself answers events that the model does not have: a configuration that it reads from `Config`, a failed
directory without a replica.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from elrcheck.kafka import controller_steps as steps
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step
from elrcheck.kafka.partition_questions import NO_LEADER, BuilderQuestion, Ids, KafkaPartition
from elrcheck.lang.runtime import EMPTY
from elrcheck.model.change_record import Election, Target
from elrcheck.model.config import Config
from elrcheck.model.control_plane import controller_event as events
from elrcheck.model.control_plane.controller_event import ControlState, Decided, Event
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.control_plane.partition import change
from elrcheck.model.kafka_error import Error
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Directory, Partition, Recovery, Registration, Settings

T = TypeVar("T")
STRANGER_EPOCH = 7919
"""The distance of the registered epoch from that in the clean-shutdown file of another registration."""


class NotRepresentable(Exception):
    """The model cannot represent something in the question, so there is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The state of the model's controller, and the configuration under which it decides.

    directories: for each replica the number of its log directory, which is not in the model but decides whether a
    report of a directory is news; None while unknown. configured, online: for each broker the directories that it
    registered with, and those of them that have not failed since.
    """

    config: Config
    controller: Controller
    directories: Ids | None = None
    configured: tuple[Ids, ...] = ()
    online: tuple[Ids, ...] = ()


# ---------------------------------------------------------------------------- Kafka's terms


def partition_of(registered: KafkaPartition) -> Partition:
    """Return a PartitionRegistration as the model holds it: lists of members are sets, -1 is not a leader."""
    none = registered.last_known_elr == (NO_LEADER,)
    if NO_LEADER in registered.isr or (NO_LEADER in registered.last_known_elr and not none):
        raise NotRepresentable("-1 as a member")
    return Partition(
        replicas=registered.replicas,
        adding=frozenset(registered.adding),
        removing=frozenset(registered.removing),
        isr=frozenset(registered.isr),
        elr=frozenset(registered.elr),
        last_known_elr=EMPTY if none else frozenset(registered.last_known_elr),
        last_known_leader=None,
        leader=None if registered.leader == NO_LEADER else registered.leader,
        leader_epoch=registered.leader_epoch,
        partition_epoch=registered.partition_epoch,
        recovery=Recovery[registered.recovery],
        last_known_none=none,
    )


def registration_of(broker: KafkaBroker) -> Registration:
    """Return a BrokerRegistration; broker epochs are one higher in the model, where 0 means unknown."""
    return Registration(
        registered=broker.registered,
        fenced=broker.fenced or not broker.registered,
        in_controlled_shutdown=broker.in_controlled_shutdown and broker.registered,
        shutdown_offset=0,
        epoch=broker.epoch + 1,
    )


def configured(config: Config, brokers: int, unclean: bool, zero: int = 0) -> Config:
    """Return the variant's configuration for this many brokers and this unclean.leader.election.enable.

    zero: the replicas of the topic's partition 0, if the question is about another one.
    """
    return _configurations(_SameConfig(config), brokers, unclean, zero)


class _SameConfig:
    """A configuration compared by identity: hashing its many knobs takes longer than answering."""

    __slots__ = ("config",)

    def __init__(self, config: Config) -> None:
        self.config = config

    def __hash__(self) -> int:
        return id(self.config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameConfig) and other.config is self.config


@lru_cache(maxsize=4096)
def _configurations(same: _SameConfig, brokers: int, unclean: bool, zero: int) -> Config:
    return replace(
        same.config,
        broker_count=brokers,
        spare_brokers=0,
        unclean_leader_election_enable=unclean,
        partition_zero_replicas=zero or same.config.partition_zero_replicas,
    )


def situation_of(config: Config, setup: Setup) -> Situation:
    """Return the situation of the model's controller for a setup."""
    ids = tuple(broker.id for broker in setup.brokers)
    assert ids == tuple(range(len(ids))), "the brokers of a question are numbered from 0"
    own = dict(setup.broker_min_isr)
    settings = Settings(
        topic_min_isr=setup.topic_min_isr,
        cluster_min_isr=1 if setup.cluster_min_isr is None else setup.cluster_min_isr,
        broker_min_isr=tuple(own.get(b) for b in ids),
        elr_enabled=setup.elr,
    )
    assert setup.partition is not None
    unclean = bool(setup.cluster_unclean if setup.topic_unclean is None else setup.topic_unclean)
    controller = Controller(
        settings=settings,
        partition=partition_of(setup.partition),
        registration=tuple(registration_of(broker) for broker in setup.brokers),
    )
    directories = setup.partition.directories
    return Situation(
        configured(config, len(ids), unclean, 0 if setup.sibling is None else len(setup.sibling.replicas)),
        controller,
        (0,) * len(setup.partition.replicas) if directories is None else directories,
        tuple(broker.directories for broker in setup.brokers),
        tuple(broker.directories for broker in setup.brokers),
    )


# ---------------------------------------------------------------------------- the builder


def built(config: Config, question: BuilderQuestion) -> Partition:
    """Return the partition after the change builder; unchanged if it writes no record."""
    p = partition_of(question.partition)
    before = question.partition

    def members(chosen: Ids | None, otherwise: frozenset[int]) -> frozenset[int]:
        return otherwise if chosen is None else frozenset(chosen)

    brokers = 1 + max((*before.replicas, *before.elr, *before.last_known_elr, *question.acceptable), default=0)
    brokers = max(brokers, *(1 + max(ids, default=0) for ids in (question.target_replicas or (),)))
    return change(
        configured(config, brokers, config.unclean_leader_election_enable),
        p,
        Target(
            replicas=before.replicas if question.target_replicas is None else question.target_replicas,
            adding=members(question.target_adding, p.adding),
            removing=members(question.target_removing, p.removing),
            isr=members(question.target_isr, p.isr),
            election=Election[question.election],
            acceptable=frozenset(question.acceptable),
            unclean=EMPTY if question.unclean_shutdown is None else frozenset(question.unclean_shutdown),
            recovery=p.recovery if question.target_recovery is None else Recovery[question.target_recovery],
            min_isr=question.min_isr,
            elr_enabled=question.elr,
        ),
    )


# ---------------------------------------------------------------------------- the controller


def decide_step(now: Situation, step: Step) -> tuple[str, Situation]:
    """Return the error with which the model's controller answers an event, and the situation afterwards."""
    match step:
        case steps.Register():
            return _register(now, step)
        case steps.Heartbeat():
            return _beat(now, step)
        case steps.Configure():
            return _configure(now, step)
        case steps.AssignDirectory(b, directory):
            return _assign_directory(now, b, directory)
    decided = decide(now.config, now.controller, _event(now.controller, step))
    return decided.error.name, _after(now, decided)


def _event(s: Controller, step: Step) -> Event:
    """Return the event of the model for a step that depends on nothing beside the controller."""
    match step:
        case steps.Fence(b) | steps.Expire(b):
            return events.FenceEvent(b)
        case steps.Unfence(b):
            return events.UnfenceEvent(b)
        case steps.ShutDown(b):
            return events.StartShutdownEvent(b)
        case steps.Unregister(b):
            return events.UnregisterEvent(b)
        case steps.AlterPartition():
            return _request(s, step)
        case steps.Elect(kind):
            return events.ElectLeadersEvent(events.ElectionType[kind], None)
        case steps.Balance():
            return events.BalanceEvent()
        case steps.ElectUncleanly():
            return events.PeriodicElectionEvent()
        case steps.Reassign(None):
            return events.CancelReassignmentEvent()
        case steps.Reassign(replicas):
            assert replicas is not None
            return events.ReassignEvent(replicas)
        case steps.SwitchElr(on):
            return events.FeatureEvent(on)
        case _:
            raise NotRepresentable(type(step).__name__)


def _after(now: Situation, decided: Decided) -> Situation:
    """Return the situation after an event: a new replica is in no directory yet, or in its broker's only one."""
    s = decided.controller
    if s.partition.replicas == now.controller.partition.replicas:
        return replace(now, controller=s)
    staying = frozenset(now.controller.partition.replicas) & frozenset(s.partition.replicas)
    registration = tuple(
        r if b in staying else replace(r, directory=Directory.ONLINE) for b, r in enumerate(s.registration)
    )
    return replace(now, controller=replace(s, registration=registration), directories=None)


def _recorded(now: Situation, b: int) -> int | None:
    """Return the number of the recorded directory of b's replica; None if it has no replica."""
    replicas = now.controller.partition.replicas
    if b not in replicas:
        return None
    if now.directories is None:
        raise NotRepresentable("a directory that nothing assigned")
    return now.directories[replicas.index(b)]


def _register(now: Situation, step: steps.Register) -> tuple[str, Situation]:
    """Register a broker with the directories that it has now (KIP-858)."""
    c, s, b = now.config, now.controller, step.broker
    epoch = s.registration[b].epoch
    file = {"last": epoch, "none": 0, "other": epoch + STRANGER_EPOCH}[step.previous]
    brought = now.configured[b] if step.directories is None else step.directories
    if brought == now.online[b]:
        brings = s.registration[b].directory != Directory.OFFLINE
    else:
        recorded = _recorded(now, b)
        brings = recorded is None or recorded < 0 or recorded in brought
    decided = decide(c, s, events.RegisterEvent(b, file, brings))
    after = _after(now, decided)
    if decided.error != Error.NONE:
        return decided.error.name, after
    return decided.error.name, replace(
        after, configured=_with(now.configured, b, brought), online=_with(now.online, b, brought)
    )


def _beat(now: Situation, step: steps.Heartbeat) -> tuple[str, Situation]:
    """Take a heartbeat, which may change the broker's state and name directories that have failed."""
    b = step.broker
    becomes = _next_state(now, step)
    new = tuple(number for number in now.online[b] if number in step.offline)
    left = tuple(number for number in now.online[b] if number not in step.offline)
    hit = bool(new) and _recorded(now, b) in new
    event = events.DirectoryFailedEvent(b, becomes) if hit else _state_event(becomes, b)
    decided = Decided(Error.NONE, now.controller) if event is None else decide(now.config, now.controller, event)
    after = _after(now, decided)
    if decided.error != Error.NONE:
        return decided.error.name, after
    return decided.error.name, replace(after, online=_with(now.online, b, left))


def _state_event(becomes: ControlState, b: int) -> Event | None:
    match becomes:
        case ControlState.FENCED:
            return events.FenceEvent(b)
        case ControlState.UNFENCED:
            return events.UnfenceEvent(b)
        case ControlState.CONTROLLED_SHUTDOWN:
            return events.StartShutdownEvent(b)
    return None


def _next_state(now: Situation, step: steps.Heartbeat) -> ControlState:
    """BrokerHeartbeatManager.calculateNextBrokerState, as far as the model has it."""
    r = now.controller.registration[step.broker]
    if not r.registered or r.in_controlled_shutdown:
        raise NotRepresentable("a heartbeat of a broker that is not registered, or shutting down")
    if r.fenced:
        if step.want_shut_down:
            raise NotRepresentable("a fenced broker that shuts down")
        return ControlState.UNFENCED if step.caught_up and not step.want_fence else ControlState.UNCHANGED
    if step.want_fence:
        return ControlState.FENCED
    if not step.want_shut_down:
        return ControlState.UNCHANGED
    if now.controller.partition.leader == step.broker:
        return ControlState.CONTROLLED_SHUTDOWN
    if now.config.partition_zero_replicas > 0:
        raise NotRepresentable("whether a broker leads another partition")
    return ControlState.FENCED


def _with(values: tuple[T, ...], at: int, value: T) -> tuple[T, ...]:
    return (*values[:at], value, *values[at + 1 :])


def _request(s: Controller, step: steps.AlterPartition) -> events.AlterPartitionEvent:
    p = s.partition
    epochs: list[int] = [0] * len(s.registration)
    for member in step.isr:
        if member.epoch is not None:
            epochs[member.broker] = s.registration[member.broker].epoch + member.epoch
    return events.AlterPartitionEvent(
        sender=step.sender,
        sender_epoch=s.registration[step.sender].epoch + step.sender_epoch,
        leader_epoch=p.leader_epoch + step.leader_epoch,
        partition_epoch=p.partition_epoch + step.partition_epoch,
        isr=frozenset(member.broker for member in step.isr),
        member_epochs=tuple(epochs),
        recovery=Recovery[step.recovery],
    )


def _configure(now: Situation, step: steps.Configure) -> tuple[str, Situation]:
    if step.key == "unclean.leader.election.enable":
        if step.level != "topic" or step.value is None:
            raise NotRepresentable("unclean.leader.election.enable of anything but the topic")
        unclean = step.value == "true"
        brokers, zero = len(now.controller.registration), now.config.partition_zero_replicas
        return Error.NONE.name, replace(now, config=configured(now.config, brokers, unclean, zero))
    if step.value is None and step.level != "topic" and not now.controller.settings.elr_enabled:
        raise NotRepresentable("a cluster or a broker whose min.insync.replicas was deleted")
    value = None if step.value is None else int(step.value)
    event = events.MinIsrEvent(events.MinIsrLevel(step.level), step.broker or 0, value)
    decided = decide(now.config, now.controller, event)
    return decided.error.name, replace(now, controller=decided.controller)


def _assign_directory(now: Situation, b: int, directory: int) -> tuple[str, Situation]:
    """Take a report of a directory, which may be the recorded one (handleAssignReplicasToDirs)."""
    replicas = now.controller.partition.replicas
    if now.directories is None:
        raise NotRepresentable("a directory that nothing assigned")
    if b not in replicas:
        raise NotRepresentable("a directory of a broker that holds no replica")
    if directory not in now.online[b]:
        raise NotRepresentable("a directory that has failed")
    place = replicas.index(b)
    moved = now.directories[place] != directory
    failed = now.controller.registration[b].directory == Directory.OFFLINE
    event = events.DirectoryMovedEvent(b) if failed else events.DirectoriesEvent(moved)
    after = decide(now.config, now.controller, event)
    situation = _after(now, after)
    if situation.directories is not None:
        situation = replace(situation, directories=_with(now.directories, place, directory))
    return after.error.name, situation
