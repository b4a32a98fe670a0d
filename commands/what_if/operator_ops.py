"""Operations of `what-if` that operators request: ElectLeaders, reassignment, min.insync.replicas."""

from __future__ import annotations

import enum
from dataclasses import replace

from elrcheck.base.errors import UsageFault
from elrcheck.commands.what_if.outcome_json import NONE, Operation, Outcome, subject
from elrcheck.commands.what_if.question import Request
from elrcheck.commands.what_if.question_json import Fields
from elrcheck.model.config import RecoveryStrategy
from elrcheck.model.control_plane.elections import (
    AdminDecision,
    AdminError,
    designate,
    elect_preferred,
    elect_unclean,
)
from elrcheck.model.control_plane.operator_settings import (
    MinIsrLevel,
    min_isr_changed,
    min_isr_error,
    with_min_isr,
)
from elrcheck.model.control_plane.reassignment import cancel_reassignment, reassign
from elrcheck.model.control_plane.recovery import longest_log_error


class ElectionType(enum.Enum):
    """The types of an ElectLeaders request: KIP-460, and version 3 of KIP-966."""

    PREFERRED = 0
    UNCLEAN = 1
    DESIGNATION = 2
    LONGEST_LOG_AGGRESSIVE = 3
    LONGEST_LOG_BALANCED = 4


RECOVERIES = {
    ElectionType.LONGEST_LOG_AGGRESSIVE: RecoveryStrategy.AGGRESSIVE,
    ElectionType.LONGEST_LOG_BALANCED: RecoveryStrategy.BALANCED,
}


def _decided(request: Request, decision: AdminDecision) -> Outcome:
    return Outcome(decision.error.name, decision.partition, request.registration)


def _elect_leaders(request: Request, op: Fields) -> Outcome:
    """One partition of an ElectLeaders request. A granted longest-log election elects no leader yet."""
    kind = op.member("election_type", ElectionType)
    p, registration = subject(request), request.registration
    desired = None
    if op.has("desired_leader") and op.get("desired_leader") is not None:
        desired = request.ids.optional(op.get("desired_leader"), op.at("desired_leader"))
    if kind == ElectionType.DESIGNATION:
        return _decided(request, designate(request.config, request.settings, p, registration, desired))
    if desired is not None:
        raise UsageFault(
            "what-if-bad-value", f"{kind.name} takes no desired leader", where=op.at("desired_leader")
        )
    if kind in RECOVERIES:
        error = longest_log_error(request.config, p, registration, RECOVERIES[kind])
        return Outcome(error.name, p, registration)
    rule = elect_preferred if kind == ElectionType.PREFERRED else elect_unclean
    return _decided(request, rule(request.config, request.settings, p, registration))


def _reassign(request: Request, op: Fields) -> Outcome:
    wanted = request.ids.distinct(op.get("target"), op.at("target"))
    p = subject(request)
    return _decided(request, reassign(request.config, request.settings, p, request.registration, wanted))


def _cancel_reassignment(request: Request, op: Fields) -> Outcome:
    p = subject(request)
    return _decided(request, cancel_reassignment(request.config, request.settings, p, request.registration))


def _set_min_isr(request: Request, op: Fields) -> Outcome:
    """Writes the value at one level; `min_isr` of the question is the previous value of that level."""
    name = op.get("level")
    level = next((level for level in MinIsrLevel if level.value == str(name).lower()), None)
    if level is None:
        raise UsageFault(
            "what-if-bad-value",
            f"`{name}` is not a level",
            where=op.at("level"),
            help="levels: " + ", ".join(level.value for level in MinIsrLevel),
        )
    value = op.integer("value")
    b = request.ids.inside(op.get("broker"), op.at("broker")) if op.has("broker") else 0
    p, before = subject(request), request.settings
    if level != MinIsrLevel.TOPIC:
        before = replace(before, topic_min_isr=None)
    error = min_isr_error(before, level, value)
    if error != AdminError.NONE:
        return Outcome(error.name, p, request.registration)
    after = with_min_isr(before, level, b, value)
    return Outcome(NONE, min_isr_changed(request.config, before, after, p, level), request.registration)


OPERATOR_OPERATIONS: tuple[Operation, ...] = (
    Operation("elect_leaders", _elect_leaders, ("election_type",), ("desired_leader",)),
    Operation("reassign", _reassign, ("target",)),
    Operation("cancel_reassignment", _cancel_reassignment),
    Operation("set_min_isr", _set_min_isr, ("level", "value"), ("broker",)),
)
