"""Operations of `what-if` that operators request: ElectLeaders, reassignment, min.insync.replicas."""

from __future__ import annotations

import enum
from dataclasses import replace

from elrcheck.base.strict import Node
from elrcheck.commands.what_if.outcome_json import NONE, Operation, Outcome, controller_of, subject
from elrcheck.commands.what_if.question import Request
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


def _elect_leaders(request: Request, op: Node) -> Outcome:
    """One partition of an ElectLeaders request. A longest-log type that is granted elects nobody yet."""
    kind = op["election_type"].member(ElectionType)
    given = op.get("desired_leader")
    desired = None if given.value is None else request.ids.optional(given)
    if kind == ElectionType.DESIGNATION:
        return _decided(request, designate(request.config, controller_of(request), desired))
    if desired is not None:
        given.fail(f"{kind.name} takes no desired leader")
    if kind in RECOVERIES:
        error = longest_log_error(request.config, controller_of(request), RECOVERIES[kind])
        return Outcome(error.name, subject(request), request.registration)
    rule = elect_preferred if kind == ElectionType.PREFERRED else elect_unclean
    return _decided(request, rule(request.config, controller_of(request)))


def _reassign(request: Request, op: Node) -> Outcome:
    wanted = request.ids.distinct(op["target"])
    return _decided(request, reassign(request.config, controller_of(request), wanted))


def _cancel_reassignment(request: Request, op: Node) -> Outcome:
    return _decided(request, cancel_reassignment(request.config, controller_of(request)))


def _set_min_isr(request: Request, op: Node) -> Outcome:
    """The value is written at one level; `min_isr` of the question is what this level had before."""
    name = op["level"].value
    level = next((level for level in MinIsrLevel if level.value == str(name).lower()), None)
    if level is None:
        levels = ", ".join(level.value for level in MinIsrLevel)
        op["level"].fail(f"`{name}` is no level", f"levels: {levels}")
    value = op["value"].integer()
    b = op.maybe("broker", request.ids.inside, 0)
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
