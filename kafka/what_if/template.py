"""A whole question of `what-if`, to begin from: a healthy partition, and an operation with its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elrcheck.kafka.what_if.what_if_operations import OPERATIONS

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
