"""Data types for the operations of `what-if` and their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from elrcheck.base.strict import Node
from elrcheck.kafka.what_if.question import WhatIfQuestion
from elrcheck.model.control_plane.controller_event import Decided, Event
from elrcheck.model.control_plane.decide import decide
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Partition, Registration


@dataclass(frozen=True)
class OperationOutcome:
    """The result of an operation. orders: the requested order of each list that the request names."""

    error: str
    partition: Partition | None
    registration: tuple[Registration, ...]
    orders: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class WhatIfOp:
    """One `op.type` and the other fields it takes."""

    name: str
    apply: Callable[[WhatIfQuestion, Node], OperationOutcome]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    needs_partition: bool = True


def subject(request: WhatIfQuestion) -> Partition:
    """Return the partition of a question that has one."""
    assert request.partition is not None, "only an operation that makes a partition goes without"
    return request.partition


def controller_of(request: WhatIfQuestion) -> Controller:
    """Return the state from which the controller decides, for a question that has a partition."""
    return Controller(request.settings, subject(request), request.registration)


def outcome(decided: Decided, orders: Mapping[str, tuple[int, ...]] | None = None) -> OperationOutcome:
    """Return a decision as the outcome of a question."""
    after = decided.controller
    return OperationOutcome(decided.error.name, after.partition, after.registration, orders or {})


def deciding(event_of: Callable[[WhatIfQuestion, Node], Event]) -> Callable[[WhatIfQuestion, Node], OperationOutcome]:
    """Return an operation that reads its fields into an event and has the controller decide it."""

    def apply(request: WhatIfQuestion, op: Node) -> OperationOutcome:
        return outcome(decide(request.config, controller_of(request), event_of(request, op)))

    return apply
