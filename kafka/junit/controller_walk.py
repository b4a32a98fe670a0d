"""The controller's part of a trace: the cluster at its start, and each step as a call of Kafka's controller.

A step of the model is an event of the controller or a step among brokers. An event becomes the `Step` that `conform`
puts to Kafka's classes; other steps become comments. Every event is also decided by itself
(`model_side.decide_step`), under the configuration of the trace and, if there is one, under a repaired rule: the first
difference is where a repair would show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from elrcheck.base.errors import UsageFault
from elrcheck.kafka import controller_steps as steps
from elrcheck.kafka.conformance.model_side import NotRepresentable, Situation, decide_step, situation_of
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step
from elrcheck.kafka.partition_questions import NO_LEADER, KafkaPartition
from elrcheck.lang.plain import Label
from elrcheck.model.broker.log_directories import brings_directory, presented_epoch
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller import shutdown_was_clean
from elrcheck.model.state import Partition, State
from elrcheck.traces.behaviour import Behaviour

FIRST_EPOCH = 100
"""Kafka's broker epochs here, one above the model's first."""
UNRELEASED = ("DesignateLeader", "FinishRecovery")
"""Events of the controller that no release of Kafka has."""


@dataclass(frozen=True)
class WalkStep:
    """One step of the trace, with the states around it.

    call: of the controller; None for a step of brokers, or a request that changes nothing. error: its answer.
    repaired: the partition afterwards where the rule at fault is repaired, if that is known; repaired_error: the
    answer there.
    """

    label: Label
    before: State
    after: State
    call: Step | None = None
    error: str = "NONE"
    repaired: Partition | None = None
    repaired_error: str | None = None


@dataclass(frozen=True)
class ControllerWalk:
    """A trace as the controller sees it.

    parting: the index of the first step after which a repaired rule has another partition; None if there is
    no repaired rule, or none that the controller follows. released: releases of Kafka do what the configuration
    says, step by step.
    """

    config: Config
    setup: Setup
    first: State
    steps: tuple[WalkStep, ...]
    parting: int | None = None
    released: bool = True

    @property
    def last(self) -> State:
        """The state at the end."""
        return self.steps[-1].after

    @property
    def calls(self) -> tuple[int, ...]:
        """The indices of the steps that call the controller."""
        return tuple(index for index, step in enumerate(self.steps) if step.call is not None)


def walk_of(
    config: Config, trace: Behaviour[Label], repaired: Config | None = None, released: bool = True
) -> ControllerWalk:
    """Read a trace that the model follows; a UsageFault names a step for which Kafka's controller has no call."""
    if trace.closes:
        message = "an infinite trace has no JUnit test"
        raise UsageFault("junit-trace", message, help="only one that waits for ever in its last state has a test")
    first = trace.states[0]
    setup = setup_of(config, first)
    now = situation_of(config, setup)
    now_repaired = None if repaired is None else situation_of(repaired, setup)
    walked: list[WalkStep] = []
    parting = None
    for index, (label, before, after) in enumerate(zip(trace.labels, trace.states, trace.states[1:], strict=False)):
        call = _call(config, now, label, before)
        if call is None:
            walked.append(WalkStep(label, before, after))
            continue
        step = f"step {index + 1}, {label.action}"
        error, now = _decide(now, call, step)
        _reject_other_decision(now, after, step)
        repaired_error = None
        if now_repaired is not None:
            repaired_error, now_repaired = _decide_repaired(now_repaired, call, before.partition)
        partition = None if now_repaired is None else now_repaired.controller.partition
        if partition is not None and parting is None and _shape(partition) != _shape(after.partition):
            parting = index
        refused = error != "NONE" and after.partition == before.partition
        walked.append(WalkStep(label, before, after, None if refused else call, error, partition, repaired_error))
    walk = ControllerWalk(config, setup, first, tuple(walked), parting, released)
    if not walk.calls:
        message = "the trace has no step of the controller"
        raise UsageFault("junit-trace", message, help="the brokers' own steps have no counterpart in its classes")
    return walk


# ---------------------------------------------------------------------------- the start


def setup_of(config: Config, first: State) -> Setup:
    """Return the registrations and configuration of the first state."""
    p, settings = first.partition, first.settings
    zero = tuple(config.brokers)[: config.partition_zero_replicas]
    return Setup(
        brokers=tuple(
            KafkaBroker(b, FIRST_EPOCH + r.epoch - 1, r.registered, r.fenced) for b, r in enumerate(first.registration)
        ),
        partition=KafkaPartition(
            replicas=p.replicas,
            isr=ordered(p.isr, p.replicas),
            elr=ordered(p.elr, p.replicas),
            leader=NO_LEADER if p.leader is None else p.leader,
            leader_epoch=p.leader_epoch,
            partition_epoch=p.partition_epoch,
        ),
        elr=settings.elr_enabled,
        topic_min_isr=settings.topic_min_isr,
        cluster_min_isr=settings.cluster_min_isr,
        topic_unclean=True if config.unclean_leader_election_enable else None,
        sibling=KafkaPartition(zero, zero, leader=zero[0], leader_epoch=1, partition_epoch=1) if zero else None,
    )


def ordered(members: frozenset[int], replicas: Sequence[int]) -> tuple[int, ...]:
    """Return the members in the order of the replicas, then those that are no replicas."""
    return (*(b for b in replicas if b in members), *sorted(members - frozenset(replicas)))


# ---------------------------------------------------------------------------- a step


def _call(config: Config, now: Situation, label: Label, s: State) -> Step | None:
    """Return the call of the controller in this step of the trace; None for a step without one."""
    args: tuple[Any, ...] = label.args
    match label.action:
        case "Fence" | "GrantShutdown":
            return steps.Fence(args[0])
        case "Unfence":
            return steps.Unfence(args[0])
        case "Register":
            return _register(config, s, args[0])
        case "StartControlledShutdown":
            return steps.ShutDown(args[0])
        case "Unregister":
            return steps.Unregister(args[0])
        case "ControllerAlters":
            return _alter(s, args[0])
        case "Reassign":
            return steps.Reassign(tuple(sorted(args[0])))
        case "CancelReassignment":
            return steps.Reassign(None)
        case "ElectPreferred":
            return steps.Elect("PREFERRED")
        case "ElectUnclean":
            return steps.Elect("UNCLEAN")
        case "ElectUncleanPeriodically":
            return steps.ElectUncleanly()
        case "ChangeMinIsr":
            return steps.Configure(args[0].value, str(args[1]))
        case "DeleteMinIsr":
            return steps.Configure("topic", None)
        case "ChangeBrokerMinIsr":
            return steps.Configure("broker", str(args[1]), broker=args[0])
        case "ChangeFeature":
            return steps.SwitchElr(args[0])
        case "AssignDirectories":
            return _assign(now, s)
        case "ReportFailedDirectory":
            return steps.Heartbeat(args[0], want_fence=s.registration[args[0]].fenced, offline=(0,))
        case "UnfenceWithoutDirectory":
            return steps.Heartbeat(args[0], offline=(0,))
        case "ReportNewDirectory":
            return steps.AssignDirectory(args[0], 1)
        case action if action in UNRELEASED:
            raise UsageFault("junit-trace", f"{action}: no release of Kafka does this")
        case "ChangeUncleanElection":
            help = "leave out unclean_changes"
            raise UsageFault("junit-trace", f"{action}: a test sets unclean.leader.election.enable once", help=help)
        case _:
            return None


def _register(config: Config, s: State, b: int) -> steps.Register:
    broker = s.broker[b]
    clean = shutdown_was_clean(config, presented_epoch(config, broker), s.registration[b].epoch)
    return steps.Register(b, "last" if clean else "none", None if brings_directory(broker) else (1,))


def _alter(s: State, leader: int) -> steps.AlterPartition:
    request, p, registration = s.broker[leader].alter, s.partition, s.registration

    def member(b: int) -> steps.Member:
        """Return a member with its epoch; 0 means unknown to the leader."""
        epoch = request.member_epochs[b]
        return steps.Member(b, epoch - registration[b].epoch if epoch else None)

    return steps.AlterPartition(
        sender=leader,
        isr=tuple(member(b) for b in ordered(request.isr, p.replicas)),
        sender_epoch=request.member_epochs[leader] - registration[leader].epoch,
        leader_epoch=request.leader_epoch - p.leader_epoch,
        partition_epoch=request.partition_epoch - p.partition_epoch,
    )


def _assign(now: Situation, s: State) -> steps.AssignDirectory:
    """Report the other directory of an unfenced replica; the model does not say whose report it is."""
    p = s.partition
    b = next((b for b in p.replicas if not s.registration[b].fenced), p.replicas[0])
    held = 0 if now.directories is None else now.directories[p.replicas.index(b)]
    return steps.AssignDirectory(b, 1 - held)


# ---------------------------------------------------------------------------- decided again


def _decide(now: Situation, call: Step, step: str) -> tuple[str, Situation]:
    try:
        return decide_step(now, call)
    except NotRepresentable as absent:
        raise UsageFault("junit-trace", f"{step}: the model does not hold {absent}") from absent


def _reject_other_decision(now: Situation, after: State, step: str) -> None:
    if _shape(now.controller.partition) != _shape(after.partition):
        message = f"{step}: the controller alone would decide otherwise"
        help = "a trace with `choice` ANY or of another partition's election has no test"
        raise UsageFault("junit-trace", message, help=help)


def _decide_repaired(now: Situation, call: Step, in_trace: Partition) -> tuple[str | None, Situation | None]:
    """Decide the same request under a repaired rule; return None twice if the model cannot.

    in_trace: the partition from whose epochs the request counts.
    """
    if isinstance(call, steps.AlterPartition):
        p = now.controller.partition
        call = msgspec.structs.replace(
            call,
            leader_epoch=call.leader_epoch + in_trace.leader_epoch - p.leader_epoch,
            partition_epoch=call.partition_epoch + in_trace.partition_epoch - p.partition_epoch,
        )
    try:
        return decide_step(now, call)
    except NotRepresentable:
        return None, None


def _shape(p: Partition) -> tuple[object, ...]:
    return (p.replicas, p.adding, p.removing, p.isr, p.elr, p.leader)
