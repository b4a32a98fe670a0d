"""Operations of `what-if` that operators request: ElectLeaders, reassignment, min.insync.replicas."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.base.strict import Node
from elrcheck.kafka.what_if.outcome_json import OperationOutcome, WhatIfOp, controller_of, deciding, outcome, subject
from elrcheck.kafka.what_if.question import WhatIfQuestion
from elrcheck.model.control_plane import controller_event as events
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.kafka_error import Error


def _elect_leaders(request: WhatIfQuestion, op: Node) -> events.ElectLeadersEvent:
    kind = op["election_type"].member(events.ElectionType)
    leader = op.get("desired_leader")
    desired = None if leader.value is None else request.ids.optional(leader)
    if desired is not None and kind != events.ElectionType.DESIGNATION:
        leader.fail(f"{kind.name} takes no desired leader")
    return events.ElectLeadersEvent(kind, desired)


def _reassign(request: WhatIfQuestion, op: Node) -> OperationOutcome:
    """Decide a reassignment. A target with an unregistered broker is refused, as Kafka's controller does."""
    if any(broker.integer() not in request.ids for broker in op["target"].items()):
        refused = Error.INVALID_REPLICA_ASSIGNMENT.name
        return OperationOutcome(refused, subject(request), request.registration)
    event = events.ReassignEvent(request.ids.distinct(op["target"]))
    return outcome(decide(request.config, controller_of(request), event))


def _set_min_isr(request: WhatIfQuestion, op: Node) -> OperationOutcome:
    """Decide a change of min.insync.replicas at one level; `min_isr` of the question is its previous value."""
    name = op["level"].value
    level = next((level for level in events.MinIsrLevel if level.value == str(name).lower()), None)
    if level is None:
        levels = ", ".join(level.value for level in events.MinIsrLevel)
        op["level"].fail(f"`{name}` is not a level", f"levels: {levels}")
    value = op["value"].integer()
    b = op.maybe("broker", request.ids.inside, 0)
    before = controller_of(request)
    if level != events.MinIsrLevel.TOPIC:
        before = replace(before, settings=replace(before.settings, topic_min_isr=None))
    return outcome(decide(request.config, before, events.MinIsrEvent(level, b, value)))


OPERATOR_OPERATIONS: tuple[WhatIfOp, ...] = (
    WhatIfOp("elect_leaders", deciding(_elect_leaders), ("election_type",), ("desired_leader",)),
    WhatIfOp("reassign", _reassign, ("target",)),
    WhatIfOp("cancel_reassignment", deciding(lambda request, op: events.CancelReassignmentEvent())),
    WhatIfOp("set_min_isr", _set_min_isr, ("level", "value"), ("broker",)),
)
