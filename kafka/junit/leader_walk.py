"""A leader's part of a trace: the events of one broker's kafka.cluster.Partition.

A repaired rule that changes no decision of the controller may change what a leader commits. Then the trace is reduced
to the events of one broker and followed again under the repaired rule. The test fails in the step in which the trace
commits more than that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.kafka import broker_steps as events
from elrcheck.kafka.broker_steps import BrokerEvent
from elrcheck.kafka.junit.controller_walk import FIRST_EPOCH
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.broker.acknowledgement import answer_after, leads_partition
from elrcheck.model.broker.epoch_cache import last_epoch
from elrcheck.model.broker.isr_proposals import ExpandIsr
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.state import Acks, Broker, State, configured_min_isr
from elrcheck.traces.behaviour import Behaviour

APPLIES = ("ApplyMetadata", "ApplyMetadataFirst", "ApplyOlderRecord")
ACKS = {Acks.ALL: -1, Acks.ONE: 1, Acks.ZERO: 0}


@dataclass(frozen=True)
class Publication:
    """One commit has the record and a new min.insync.replicas; BrokerMetadataPublisher applies both."""

    record: events.Metadata
    min_isr: int


@dataclass(frozen=True)
class LeaderView:
    """The values that a test compares: a broker that does not lead has no ISR."""

    leader_epoch: int
    isr: tuple[int, ...]
    log_end: int
    high_watermark: int
    answers: tuple[str, ...]


@dataclass(frozen=True)
class LeaderStep:
    """A step of the trace. events: those of the broker, empty if the step happens elsewhere."""

    label: Label
    events: tuple[BrokerEvent | Publication, ...]
    view: LeaderView


@dataclass(frozen=True)
class LeaderWalk:
    """The trace up to the step in which the broker commits a record that it would not under the repaired rule."""

    leader: int
    start: tuple[BrokerEvent, ...]
    steps: tuple[LeaderStep, ...]
    repaired: LeaderView


def leader_walk_of(model: Model, config: Config, trace: Behaviour[Label], repaired: Config) -> LeaderWalk | None:
    """Return the walk of the broker at fault; None if no leader commits less under the repaired rule."""
    states = list(_followed(PlainModel(model, repaired), trace))
    for index, (state, other) in enumerate(zip(trace.states, states, strict=False)):
        for b in config.brokers:
            if state.broker[b].high_watermark > other.broker[b].high_watermark:
                if _events_of(trace.labels[:index], states, b) != _events_of(trace.labels[:index], trace.states, b):
                    return None  # the rule at fault belongs to another broker or to the controller
                return _walk(config, trace, b, index, view_of(repaired, other, b))
    return None


def _events_of(labels: Sequence[Label], states: Sequence[State], b: int) -> list[BrokerEvent | Publication]:
    steps = zip(labels, states, states[1:], strict=False)
    return [event for label, before, after in steps for event in _events(label, before, after, b)]


def view_of(c: Config, s: State, b: int) -> LeaderView:
    """Return the state of broker b, and its answer to the producer of each record: NONE acknowledges it."""
    broker = s.broker[b]
    return LeaderView(
        leader_epoch=broker.view.leader_epoch if broker.view.partition_epoch else -1,
        isr=tuple(sorted(broker.view.isr)) if leads_partition(broker, b) else (),
        log_end=len(broker.log),
        high_watermark=broker.high_watermark,
        answers=tuple(answer_after(c, s.settings, broker, b, at).name for at in range(len(broker.log))),
    )


def _followed(plain: PlainModel, trace: Behaviour[Label]) -> Iterator[State]:
    """Return the states under another configuration, up to the first step that it refuses."""
    state = trace.states[0]
    yield state
    for label in trace.labels:
        after = next((after for taken, after in plain.successors(state) if taken == label), None)
        if after is None and label.action not in APPLIES:
            return
        state = state if after is None else after  # a record that changes nothing is not a step
        yield state


def _walk(config: Config, trace: Behaviour[Label], b: int, until: int, repaired: LeaderView) -> LeaderWalk:
    first = trace.states[0]
    view, least = first.broker[b].view, configured_min_isr(first.settings)
    if first.broker[b].log:
        raise UsageFault("junit-trace", "a leader whose log is not empty at the start has no JUnit test")
    start: list[BrokerEvent] = [events.Beginning(b, _epoch(first, b), least), _registered(first, frozenset())]
    if view.partition_epoch:
        start.append(_metadata(first.broker[b]))
    steps = []
    fenced: frozenset[int] = frozenset()
    for index, label in enumerate(trace.labels[:until]):
        before, after = trace.states[index], trace.states[index + 1]
        events_of_step = list(_events(label, before, after, b))
        if label.action == "Fetch" and events_of_step:
            not_proposed = _not_proposed(config, trace, b, index)
            if not_proposed != fenced:
                events_of_step.insert(0, _registered(before, not_proposed))
                fenced = not_proposed
        if not events_of_step and _changed_by_events(before.broker[b]) != _changed_by_events(after.broker[b]):
            message = f"step {index + 1}, {label.action}: no call of kafka.cluster.Partition does this"
            raise UsageFault("junit-trace", message)
        steps.append(LeaderStep(label, tuple(events_of_step), view_of(config, after, b)))
    return LeaderWalk(b, tuple(start), tuple(steps), repaired)


# ---------------------------------------------------------------------------- a step


def _events(label: Label, before: State, after: State, b: int) -> Iterator[BrokerEvent | Publication]:
    args: tuple[Any, ...] = label.args
    match label.action:
        case action if action in APPLIES and args[0] == b:
            record = _metadata(after.broker[b])
            value = after.broker[b].due_min_isr or after.broker[b].min_isr
            yield record if value == before.broker[b].min_isr else Publication(record, value)
        case "Produce" if args[0] == b:
            yield events.Append(ACKS[args[1]])
        case "Fetch" if args[1] == b:
            follower = before.broker[args[0]]
            yield events.FollowerFetch(
                follower=args[0],
                broker_epoch=FIRST_EPOCH + follower.epoch - 1,
                offset=len(follower.log),
                leader_epoch=follower.view.leader_epoch,
                last_epoch=last_epoch(follower.log) if follower.log else -1,
            )
        case "ShrinkIsr" if args[0] == b:
            yield events.LookForLag()
        case "LeaderLearns" if args[0] == b:
            answer = before.broker[b].alter
            if answer.error == Error.NONE:
                isr = tuple(sorted(answer.isr))
                yield events.Granted(answer.leader_epoch, answer.partition_epoch, isr)
            else:
                yield events.Refused(answer.error.name)


def _metadata(broker: Broker) -> events.Metadata:
    """Return the record that gives a broker its view."""
    view = broker.view
    leader = -1 if view.leader is None else view.leader
    isr, replicas = tuple(sorted(view.isr)), tuple(sorted(view.replicas))
    return events.Metadata(leader, view.leader_epoch, view.partition_epoch, replicas, isr)


def _registered(s: State, fenced: frozenset[int]) -> events.Registered:
    return events.Registered(
        tuple((b, _epoch(s, b), "fenced" if b in fenced else "active") for b in range(len(s.registration)))
    )


def _epoch(s: State, b: int) -> int:
    return FIRST_EPOCH + s.registration[b].epoch - 1


def _not_proposed(config: Config, trace: Behaviour[Label], b: int, index: int) -> frozenset[int]:
    """Return the follower that fetches, if the leader could propose it then and does not.

    Kafka proposes a follower in the fetch that makes it eligible, unless its metadata cache has it as fenced;
    in the model the proposal is a separate step, which the trace may lack.
    """
    args: tuple[Any, ...] = trace.labels[index].args
    follower: int = args[0]
    for label in trace.labels[index + 1 :]:
        if label == Label("ExpandIsr", (b, follower)):
            return frozenset()
        if label.action == "Fetch" and label.args[:2] == (follower, b):
            break
    state = trace.states[index + 1]
    try:
        ExpandIsr(config, state, b, follower)
    except NotEnabled:
        return frozenset()
    return frozenset({follower})


def _changed_by_events(broker: Broker) -> tuple[object, ...]:
    """Return the fields that only an event changes: no proposals, which are part of a fetch, nor answers in flight."""
    return (broker.status, broker.log, broker.high_watermark, broker.view, broker.min_isr)
