"""Operations of `what-if` that operators request: ElectLeaders, reassignment, min.insync.replicas."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.base.strict import Node
from elrcheck.commands.what_if.decisions import elect_leaders, move, write_min_isr
from elrcheck.commands.what_if.outcome_json import (
    Operation,
    Outcome,
    controller_of,
    outcome,
    subject,
)
from elrcheck.commands.what_if.question import Request
from elrcheck.model.control_plane.controller_event import ElectionType, MinIsrLevel
from elrcheck.model.state import Error


def _elect_leaders(request: Request, op: Node) -> Outcome:
    kind = op["election_type"].member(ElectionType)
    given = op.get("desired_leader")
    desired = None if given.value is None else request.ids.optional(given)
    if desired is not None and kind != ElectionType.DESIGNATION:
        given.fail(f"{kind.name} takes no desired leader")
    return outcome(elect_leaders(request.config, controller_of(request), kind, desired))


def _reassign(request: Request, op: Node) -> Outcome:
    """The controller itself refuses a target with a broker that is not registered, as Kafka's does."""
    if any(broker.integer() not in request.ids for broker in op["target"].items()):
        refused = Error.INVALID_REPLICA_ASSIGNMENT.name
        return Outcome(refused, subject(request), request.registration)
    return outcome(move(request.config, controller_of(request), request.ids.distinct(op["target"])))


def _cancel_reassignment(request: Request, op: Node) -> Outcome:
    return outcome(move(request.config, controller_of(request), None))


def _set_min_isr(request: Request, op: Node) -> Outcome:
    """The value is written at one level; `min_isr` of the question is what this level had before."""
    name = op["level"].value
    level = next((level for level in MinIsrLevel if level.value == str(name).lower()), None)
    if level is None:
        levels = ", ".join(level.value for level in MinIsrLevel)
        op["level"].fail(f"`{name}` is no level", f"levels: {levels}")
    value = op["value"].integer()
    b = op.maybe("broker", request.ids.inside, 0)
    before = controller_of(request)
    if level != MinIsrLevel.TOPIC:
        before = replace(before, settings=replace(before.settings, topic_min_isr=None))
    return outcome(write_min_isr(request.config, before, level, value, b))


OPERATOR_OPERATIONS: tuple[Operation, ...] = (
    Operation("elect_leaders", _elect_leaders, ("election_type",), ("desired_leader",)),
    Operation("reassign", _reassign, ("target",)),
    Operation("cancel_reassignment", _cancel_reassignment),
    Operation("set_min_isr", _set_min_isr, ("level", "value"), ("broker",)),
)
