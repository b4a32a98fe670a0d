"""A difference as a person reads it: what was registered, what happened, both answers, how to ask again."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from elrcheck.kafka.conformance.compare import BuilderDisagreement, Disagreement, StepDisagreement
from elrcheck.kafka.conformance.projections import text_of
from elrcheck.kafka.controller_steps import (
    AlterPartition,
    Balance,
    Configure,
    Elect,
    ElectUncleanly,
    Expire,
    Fence,
    KafkaBroker,
    Member,
    Reassign,
    Register,
    Setup,
    ShutDown,
    Step,
    Unfence,
)
from elrcheck.kafka.partition_questions import BuilderQuestion, KafkaPartition
from elrcheck.results.conform_report import ExampleReport, FieldPair


def example_of(found: Disagreement, command: str, variant: str) -> ExampleReport:
    """A difference for the report."""
    pairs = tuple(FieldPair(d.field, d.kafka, d.model) for d in found.differences)
    if isinstance(found, BuilderDisagreement):
        q = found.question
        return ExampleReport(
            (), builder_lines(q), partition_text(q.partition), pairs, False, command, _builder_json(variant, q)
        )
    fresh = found.setup.partition is not None and found.setup.partition.partition_epoch == 0
    return ExampleReport(
        setup_lines(found.setup),
        tuple(step_text(step) for step in found.steps),
        partition_text(found.before),
        pairs,
        fresh,
        command,
        _step_json(variant, found),
    )


# ---------------------------------------------------------------------------- text


def partition_text(p: KafkaPartition) -> str:
    """A partition on one line; lists that are empty are left out, but for the ISR."""
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


def setup_lines(setup: Setup) -> tuple[str, ...]:
    """What is registered and configured at the start."""
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


def _broker_text(broker: KafkaBroker) -> str:
    if not broker.registered:
        return "unregistered"
    if broker.in_controlled_shutdown:
        return "in controlled shutdown"
    return "fenced" if broker.fenced else "active"


def step_text(step: Step) -> str:
    """An event with its arguments, those with their usual values left out."""
    if isinstance(step, AlterPartition):
        return _alter_text(step)
    if isinstance(step, Reassign):
        return "cancel the reassignment" if step.replicas is None else f"Reassign {text_of(step.replicas)}"
    told = [
        f"{field.name}={getattr(step, field.name)}"
        for field in msgspec.structs.fields(step)
        if field.name != "broker" and getattr(step, field.name) != field.default
    ]
    broker = getattr(step, "broker", None)
    return " ".join([type(step).__name__, *([] if broker is None else [f"broker {broker}"]), *told])


def _alter_text(step: AlterPartition) -> str:
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
    """The targets of the builder, those that are not set left out."""
    told = [f"election {q.election}", f"acceptable leaders {text_of(q.acceptable)}", f"min ISR {q.min_isr}"]
    told.append("ELR on" if q.elr else "ELR off")
    for name in ("isr", "replicas", "adding", "removing", "recovery"):
        value = getattr(q, f"target_{name}")
        if value is not None:
            told.append(f"target {name} {text_of(value)}")
    if q.unclean_shutdown is not None:
        told.append(f"after an unclean shutdown {text_of(q.unclean_shutdown)}")
    return tuple(told)


# ---------------------------------------------------------------------------- questions to what-if


def _partition_json(p: KafkaPartition) -> dict[str, Any]:
    lists = ("replicas", "isr", "elr", "last_known_elr", "adding", "removing")
    return {
        **{name: list(getattr(p, name)) for name in lists},
        "leader": p.leader,
        "leader_epoch": p.leader_epoch,
        "partition_epoch": p.partition_epoch,
        "leader_recovery_state": p.recovery,
    }


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


def _step_json(variant: str, found: StepDisagreement) -> str | None:
    op = _operation(found)
    if op is None or not all(broker.registered for broker in found.known):
        return None
    settings = found.now.controller.settings
    zero = found.now.config.partition_zero_replicas
    level = op.get("level")
    own = settings.topic_min_isr
    least = settings.cluster_min_isr if own is None or level == "cluster" else own
    return json.dumps(
        {
            "variant": variant,
            "min_isr": least,
            "elr_enabled": settings.elr_enabled,
            "unclean_leader_election_enable": found.now.config.unclean_leader_election_enable,
            **({"partition_zero_replicas": zero} if zero else {}),
            "brokers": {
                str(broker.id): {
                    "fenced": broker.fenced,
                    "in_controlled_shutdown": broker.in_controlled_shutdown,
                    "epoch": broker.epoch,
                }
                for broker in found.known
            },
            "partition": _partition_json(found.before),
            "op": op,
        }
    )


def _operation(found: StepDisagreement) -> dict[str, Any] | None:
    """The event as an operation of what-if; None where it has none."""
    match found.step:
        case Fence(b) | Expire(b):
            return {"type": "fence", "broker": b}
        case Unfence(b):
            return {"type": "unfence", "broker": b}
        case ShutDown(b):
            return {"type": "controlled_shutdown", "broker": b}
        case Register(b, previous):
            return {"type": "register", "broker": b, "clean": previous == "last"}
        case Elect(kind):
            return {"type": "elect_leaders", "election_type": kind}
        case Balance():
            return {"type": "balance_preferred"}
        case ElectUncleanly():
            return {"type": "maybe_elect_unclean"}
        case Reassign(None):
            return {"type": "cancel_reassignment"}
        case Reassign(wanted):
            return {"type": "reassign", "target": list(wanted or ())}
        case Configure(level, value, "min.insync.replicas") if value is not None:
            return {"type": "set_min_isr", "level": level, "value": int(value)}
        case AlterPartition() as step:
            return _alter_json(found, step)
    return None


def _alter_json(found: StepDisagreement, step: AlterPartition) -> dict[str, Any]:
    epochs = {broker.id: broker.epoch for broker in found.known}

    def epoch(member: Member) -> int:
        return -1 if member.epoch is None else epochs[member.broker] + member.epoch

    return {
        "type": "alter_partition",
        "sender": step.sender,
        "sender_broker_epoch": epochs[step.sender] + step.sender_epoch,
        "leader_epoch": found.before.leader_epoch + step.leader_epoch,
        "partition_epoch": found.before.partition_epoch + step.partition_epoch,
        "new_isr": [[member.broker, epoch(member)] for member in step.isr],
        "leader_recovery_state": step.recovery,
    }
