"""`elrcheck what-if`: decide one event as the controller would, by the model's own rules.

`answer` takes the decoded JSON of one question and returns the JSON of its answer::

    {"variant": "code_4_1", "min_isr": 2,
     "brokers": {"1": {"fenced": false, "in_controlled_shutdown": false, "epoch": 101}, ...},
     "partition": {"replicas": [1, 2, 3], "isr": [1, 2], "elr": [], ..., "leader": 1, ...},
     "op": {"type": "fence", "broker": 1}}
 -> {"error": "NONE", "partition": {...}, "brokers": {...}}

The operations and their fields are in `what_if_operations`. Every knob of `Config` may be set
by name; others have the variant's value, and the default variant is `kip_full`. A malformed question raises a
`UsageFault` that names the path of the field; an event that the controller would refuse is an answer, with
Kafka's name of the error.

Only `op` and the replicas of the partition are required. By default the brokers are those of the replicas, registered
and unfenced, the ISR is all replicas, its first member leads, and AlterPartition comes from that leader with current
epochs. `template` is a whole question.

Order of lists: the ISR keeps the given order, or the request's order if the operation proposes an ISR; any
other list keeps its order as long as its members stay the same, and is ascending otherwise.
`last_known_leader`, a field only in the KIP, is part of the answer if it was given or names a broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elrcheck.base.strict import JsonSource, Node
from elrcheck.kafka.what_if.question import (
    CODES,
    WhatIfQuestion,
    brokers_json,
    partition_json,
    question_keys,
    read_request,
)
from elrcheck.kafka.what_if.what_if_operations import OPERATIONS, OperationOutcome, find_operation


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Return the controller's answer, and the partition and the brokers after it."""
    return reply(Node(question, JsonSource("", CODES, root="")))


def reply(question: Node) -> dict[str, Any]:
    """Return the `answer` to a question that knows where it was read."""
    return _answer_json(*_decide(question))


def both_sides(question: Node) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the partition and the brokers before the event, with the defaults of the question; and the answer."""
    request, outcome = _decide(question)
    before = request.partition
    as_read = {
        "partition": None if before is None else partition_json(request.ids, before, request.lists),
        "brokers": brokers_json(request, request.registration),
    }
    return as_read, _answer_json(request, outcome)


def _decide(question: Node) -> tuple[WhatIfQuestion, OperationOutcome]:
    """Parse the question and decide it."""
    question.object(("op",), question_keys())
    operation = find_operation(question["op"])
    fields = question["op"].object(("type", *operation.required), operation.optional)
    request = read_request(question, needs_partition=operation.needs_partition)
    return request, operation.apply(request, fields)


def _answer_json(request: WhatIfQuestion, outcome: OperationOutcome) -> dict[str, Any]:
    after, before = outcome.partition, request.partition
    unchanged = after is None or after == before
    orders = request.lists if unchanged else {**request.lists, **outcome.orders}
    return {
        "error": outcome.error,
        "partition": None if after is None else partition_json(request.ids, after, orders),
        "brokers": brokers_json(request, outcome.registration),
    }


REPLICAS = (1, 2, 3)
FIELDS: Mapping[str, Any] = {
    "broker": 1,
    "clean": False,
    "new_isr": [[1, 101], [2, 102]],
    "replicas": list(REPLICAS),
    "target": [2, 3],
    "election_type": "PREFERRED",
    "level": "topic",
    "value": 1,
}
"""Field of an operation -> a value that makes sense for the partition below."""


def template(name: str, variant: str) -> dict[str, Any]:
    """Return a question about this operation with every field that has no default, and those of the partition."""
    return {
        "variant": variant,
        "min_isr": 2,
        "brokers": {str(b): {"fenced": False, "in_controlled_shutdown": False, "epoch": 100 + b} for b in REPLICAS},
        "partition": {
            "replicas": list(REPLICAS),
            "isr": list(REPLICAS),
            "elr": [],
            "last_known_elr": [],
            "adding": [],
            "removing": [],
            "leader": REPLICAS[0],
            "leader_epoch": 0,
            "partition_epoch": 0,
            "leader_recovery_state": "RECOVERED",
        },
        "op": {"type": name, **{field: FIELDS[field] for field in OPERATIONS[name].required}},
    }
