"""Kafka's controller with several topics and partitions, as a declared model.

`elrcheck check --model elrcheck.catalogue.kafka_controller` searches it. It has the variants of the partition; in
those of releases both of the controller's indexes go stale.
"""

from __future__ import annotations

from elrcheck.invariants import partitions
from elrcheck.lang.load import ProtocolModel
from elrcheck.model.partitions import MODULES
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import ControllerState
from elrcheck.model.variants import VARIANTS

DIRECTORIES = "heartbeat_in_one_snapshot"
"""The knob that only variants with the releases' log directories (KIP-858) set."""

MODEL = ProtocolModel(
    ControllerState,
    ControllerConfig,
    modules=(*MODULES, *partitions.MODULES),
    variants={
        variant.name: {**variant.knobs, "directory_index_goes_stale": DIRECTORIES in variant.knobs}
        for variant in VARIANTS
    },
    aliases={alias: variant.name for variant in VARIANTS for alias in variant.aliases},
    scopes={
        "two-topics": {"topics": 2, "partitions": 1},
        "three": {"broker_count": 3, "fences": 2},
        "directories": {"topics": 2, "partitions": 1, "crashes": 0, "fences": 2, "directory_failures": 1},
        "shutdowns": {"shutdowns": 1, "unregistrations": 1, "elections": 1, "min_isr_changes": 0, "deletions": 0},
        "cuts": {"cuts": 1, "shutdowns": 1, "unregistrations": 1, "min_isr_changes": 0, "deletions": 0},
        "uncommitted": {"loses_uncommitted": True, "snapshots": 1},
        "answers": {"loses_uncommitted": True, "clean_stops": 1, "shutdowns": 1, "min_isr_changes": 0, "deletions": 0},
        "features": {"fences": 2, "feature_changes": 1, "snapshots": 1, "crashes": 0, "deletions": 0},
    },
)
