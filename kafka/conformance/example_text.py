"""Formats a difference for a reader: the start, the events, both answers, and the question to `what-if`."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from elrcheck.kafka import controller_steps as steps
from elrcheck.kafka.broker_steps import Beginning, BrokerAnswer, BrokerEvent, Registered, Together
from elrcheck.kafka.conformance.broker_part import BrokerDisagreement, beginnings
from elrcheck.kafka.conformance.follower_part import FollowerDisagreement
from elrcheck.kafka.conformance.index_part import IndexDisagreement
from elrcheck.kafka.conformance.kafka_part import Disagreement
from elrcheck.kafka.conformance.known_classes import BuilderDisagreement, StepDisagreement, text_of
from elrcheck.kafka.partition_questions import BuilderQuestion, KafkaPartition
from elrcheck.results.conform_report import ExampleReport, FieldPair


def example_of(disagreement: Disagreement, command: str, variant: str) -> ExampleReport:
    """Return a difference for the report. command: repeats the comparison."""
    if isinstance(disagreement, BuilderDisagreement):
        question = disagreement.question
        return ExampleReport(
            setup=(),
            events=builder_lines(question),
            before=partition_text(question.partition),
            fields=disagreement.differences,
            from_new_topic=False,
            command=command,
            what_if=_builder_json(variant, question),
        )
    if isinstance(disagreement, BrokerDisagreement):
        return _broker_example(disagreement, command)
    if isinstance(disagreement, IndexDisagreement):
        return _index_example(disagreement, command)
    if isinstance(disagreement, FollowerDisagreement):
        return _follower_example(disagreement, command)
    assert isinstance(disagreement, StepDisagreement)
    return ExampleReport(
        setup=setup_lines(disagreement.setup),
        events=tuple(step_text(step) for step in disagreement.steps),
        before=partition_text(disagreement.before),
        fields=disagreement.differences,
        from_new_topic=disagreement.from_new_topic,
        command=command,
        what_if=_step_json(variant, disagreement),
    )


def _broker_example(d: BrokerDisagreement, command: str) -> ExampleReport:
    first = d.events[0]
    if isinstance(first, Together):
        starts = beginnings(first)
        sizes = ", ".join(str(one.min_isr) for one in starts)
        text = f"{len(starts)} partitions of min ISR {sizes}, empty logs"
    else:
        assert isinstance(first, Beginning), "a walk begins with a process"
        starts, text = [first], f"min ISR {first.min_isr}, an empty log"
    setup = f"broker {starts[0].id} of epoch {starts[0].epoch}, {text}"
    return ExampleReport(
        setup=(setup,),
        events=tuple(broker_event_text(event) for event in d.events[1:]),
        before=broker_text(d.before),
        fields=tuple(FieldPair(name, str(getattr(d.kafka, name)), str(getattr(d.model, name))) for name in d.differs),
        from_new_topic=False,
        command=command,
        what_if=None,
    )


def _follower_example(d: FollowerDisagreement, command: str) -> ExampleReport:
    q = d.question
    leader = f"the leader of epoch {q.leader_epoch} has records of the epochs {text_of(q.leader)}"
    return ExampleReport(
        setup=(leader,),
        events=(f"the follower truncates after the response to {d.request}",),
        before=f"the follower has records of the epochs {text_of(q.follower)}",
        fields=(FieldPair("log end offset", str(d.kafka.log_end), str(d.model.log_end)),),
        from_new_topic=False,
        command=command,
        what_if=None,
    )


def _index_example(d: IndexDisagreement, command: str) -> ExampleReport:
    fields = [
        FieldPair(" ".join(filter(None, (e.index, e.of, e.partition))), f"held {e.held}", f"due {e.due}")
        for e in d.entries
    ]
    if d.failure is not None:
        fields.append(FieldPair("exception", d.failure, "none"))
    return ExampleReport(
        setup=setup_lines(d.setup),
        events=tuple(step_text(step) for step in d.steps),
        before="no entry of these differed",
        fields=tuple(fields),
        from_new_topic=True,
        command=command,
        what_if=None,
    )


# ---------------------------------------------------------------------------- text


def partition_text(p: KafkaPartition) -> str:
    """Return a partition on one line; empty lists are left out, apart from the ISR."""
    parts = [f"replicas {text_of(p.replicas)}", f"ISR {text_of(p.isr)}"]
    for name, members in (
        ("ELR", p.elr),
        ("lastKnownElr", p.last_known_elr),
        ("adding", p.adding),
        ("removing", p.removing),
    ):
        if members:
            parts.append(f"{name} {text_of(members)}")
    parts.append("no leader" if p.leader == -1 else f"leader {p.leader}")
    parts.append(f"leader epoch {p.leader_epoch}, partition epoch {p.partition_epoch}")
    if p.recovery != "RECOVERED":
        parts.append(p.recovery)
    return ", ".join(parts)


def setup_lines(setup: steps.Setup) -> tuple[str, ...]:
    """Return the registrations and configuration at the start, as lines."""
    lines = [] if setup.partition is None else [f"partition: {partition_text(setup.partition)}"]
    if setup.sibling is not None:
        lines.append(f"partition 0 of the topic: {partition_text(setup.sibling)}")
    lines.append("brokers: " + ", ".join(f"{broker.id} {_broker_text(broker)}" for broker in setup.brokers))
    lines.append(f"eligible.leader.replicas.version: {int(setup.elr)}")
    for level, value in (("topic", setup.topic_min_isr), ("cluster", setup.cluster_min_isr)):
        if value is not None:
            lines.append(f"min.insync.replicas of the {level}: {value}")
    if setup.topic_unclean or setup.cluster_unclean:
        lines.append("unclean.leader.election.enable: true")
    return tuple(lines)


def _broker_text(broker: steps.KafkaBroker) -> str:
    if not broker.registered:
        return "unregistered"
    if broker.in_controlled_shutdown:
        return "in controlled shutdown"
    return "fenced" if broker.fenced else "active"


def step_text(step: steps.Step) -> str:
    """Return an event with its arguments, without those that have their usual values."""
    if isinstance(step, steps.AlterPartition):
        return _alter_text(step)
    if isinstance(step, steps.Reassign):
        return "cancel the reassignment" if step.replicas is None else f"Reassign {text_of(step.replicas)}"
    if isinstance(step, steps.AboutPartition):
        return f"the next events are about {step.topic}-{step.partition}"
    broker = getattr(step, "broker", None)
    words = [type(step).__name__, *([] if broker is None else [f"broker {broker}"])]
    for field in msgspec.structs.fields(step):
        value = getattr(step, field.name)
        if field.name != "broker" and value != field.default:
            words.append(f"{field.name}={value}")
    return " ".join(words)


def _alter_text(step: steps.AlterPartition) -> str:
    parts = [f"AlterPartition of broker {step.sender}: ISR {text_of(tuple(m.broker for m in step.isr))}"]
    for name in ("sender_epoch", "leader_epoch", "partition_epoch"):
        off = getattr(step, name)
        if off:
            parts.append(f"{name.replace('_', ' ')} {off:+d}")
    for member in step.isr:
        if member.epoch != 0:
            parts.append(f"epoch of {member.broker} {'not given' if member.epoch is None else f'{member.epoch:+d}'}")
    if step.recovery != "RECOVERED":
        parts.append(step.recovery)
    return ", ".join(parts)


def builder_lines(q: BuilderQuestion) -> tuple[str, ...]:
    """Return the targets of the builder that are set."""
    lines = [f"election {q.election}", f"acceptable leaders {text_of(q.acceptable)}", f"min ISR {q.min_isr}"]
    lines.append("ELR on" if q.elr else "ELR off")
    for name in ("isr", "replicas", "adding", "removing", "recovery"):
        value = getattr(q, f"target_{name}")
        if value is not None:
            lines.append(f"target {name} {text_of(value)}")
    if q.unclean_shutdown is not None:
        lines.append(f"after an unclean shutdown {text_of(q.unclean_shutdown)}")
    return tuple(lines)


def broker_event_text(event: BrokerEvent | Together) -> str:
    """Return an event of a broker with all of its fields; of several partitions, the event of each."""
    if isinstance(event, Together):
        parts = [f"{p}: {broker_event_text(one)}" for p, one in enumerate(event.events) if one is not None]
        registered = [] if event.registered is None else [broker_event_text(Registered(event.registered))]
        return "; ".join([*registered, *parts, *([] if event.error is None else [f"Refused as a whole {event.error}"])])
    fields = ", ".join(f"{name} {_member_text(getattr(event, name))}" for name in event.__struct_fields__)
    return f"{type(event).__name__} {fields}".strip()


def _member_text(value: object) -> str:
    return text_of(value) if isinstance(value, tuple) else str(value)


def broker_text(answer: BrokerAnswer) -> str:
    """Return the state of the partition of a broker."""
    if not answer.leads:
        return f"no leader, log end {answer.log_end}, high watermark {answer.high_watermark}"
    peers = ", ".join(f"{b} at {end}" for b, end, _ in answer.peers)
    return (
        f"leads epoch {answer.leader_epoch}, partition epoch {answer.partition_epoch},"
        f" ISR {text_of(answer.isr)}, maximal {text_of(answer.maximal_isr)}, log end {answer.log_end},"
        f" high watermark {answer.high_watermark}, followers {peers or 'none'}"
    )


# ---------------------------------------------------------------------------- questions to what-if


def _partition_json(p: KafkaPartition) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(p)
    del fields["directories"]
    fields["leader_recovery_state"] = fields.pop("recovery")
    return fields


def _builder_json(variant: str, q: BuilderQuestion) -> str:
    p = q.partition
    brokers = {*p.replicas, *p.elr, *p.last_known_elr, *q.acceptable, *(q.target_replicas or ())} - {-1}
    op: dict[str, Any] = {"type": "change", "election": q.election, "acceptable_leaders": list(q.acceptable)}
    for name in ("isr", "replicas", "adding", "removing"):
        value = getattr(q, f"target_{name}")
        if value is not None:
            op[f"target_{name}"] = list(value)
    if q.target_recovery is not None:
        op["leader_recovery_state"] = q.target_recovery
    if q.unclean_shutdown is not None:
        op["unclean_shutdown_replicas"] = list(q.unclean_shutdown)
    active = {"fenced": False, "in_controlled_shutdown": False, "epoch": 100}
    return json.dumps(
        {
            "variant": variant,
            "min_isr": q.min_isr,
            "elr_enabled": q.elr,
            "brokers": {str(b): active for b in sorted(brokers)},
            "partition": _partition_json(p),
            "op": op,
        }
    )


def _step_json(variant: str, d: StepDisagreement) -> str | None:
    op = _operation(d)
    if op is None or not all(broker.registered for broker in d.brokers):
        return None
    settings = d.now.controller.settings
    zero = d.now.config.partition_zero_replicas
    level = op.get("level")
    own = settings.topic_min_isr
    least = settings.cluster_min_isr if own is None or level == "cluster" else own
    return json.dumps(
        {
            "variant": variant,
            "min_isr": least,
            "elr_enabled": settings.elr_enabled,
            "unclean_leader_election_enable": d.now.config.unclean_leader_election_enable,
            **({"partition_zero_replicas": zero} if zero else {}),
            "brokers": {
                str(broker.id): {
                    "fenced": broker.fenced,
                    "in_controlled_shutdown": broker.in_controlled_shutdown,
                    "epoch": broker.epoch,
                }
                for broker in d.brokers
            },
            "partition": _partition_json(d.before),
            "op": op,
        }
    )


def _operation(d: StepDisagreement) -> dict[str, Any] | None:
    """Return the event as an operation of what-if; None if there is no such operation."""
    match d.step:
        case steps.Fence(b) | steps.Expire(b):
            return {"type": "fence", "broker": b}
        case steps.Unfence(b):
            return {"type": "unfence", "broker": b}
        case steps.ShutDown(b):
            return {"type": "controlled_shutdown", "broker": b}
        case steps.Register(b, previous):
            return {"type": "register", "broker": b, "clean": previous == "last"}
        case steps.Elect(kind):
            return {"type": "elect_leaders", "election_type": kind}
        case steps.Balance():
            return {"type": "balance_preferred"}
        case steps.ElectUncleanly():
            return {"type": "maybe_elect_unclean"}
        case steps.Reassign(None):
            return {"type": "cancel_reassignment"}
        case steps.Reassign(replicas):
            return {"type": "reassign", "target": list(replicas or ())}
        case steps.Configure(level, value, "min.insync.replicas") if value is not None:
            return {"type": "set_min_isr", "level": level, "value": int(value)}
        case steps.AlterPartition() as step:
            return _alter_json(d, step)
    return None


def _alter_json(d: StepDisagreement, step: steps.AlterPartition) -> dict[str, Any]:
    epochs = {broker.id: broker.epoch for broker in d.brokers}

    def epoch(member: steps.Member) -> int:
        return -1 if member.epoch is None else epochs[member.broker] + member.epoch

    return {
        "type": "alter_partition",
        "sender": step.sender,
        "sender_broker_epoch": epochs[step.sender] + step.sender_epoch,
        "leader_epoch": d.before.leader_epoch + step.leader_epoch,
        "partition_epoch": d.before.partition_epoch + step.partition_epoch,
        "new_isr": [[member.broker, epoch(member)] for member in step.isr],
        "leader_recovery_state": step.recovery,
    }
