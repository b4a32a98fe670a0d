"""A state that a recipe predicts: whether a partition has it, and in words."""

from __future__ import annotations

from collections.abc import Mapping

from elrcheck.catalogue.recipe_notation.recipe_actions import Seen
from elrcheck.kafka.cluster.cluster_clients import NO_LEADER, PartitionState


def fits(state: PartitionState, seen: Seen) -> bool:
    """Whether a partition is as expected; only the order of replicas counts."""
    pairs = ((seen.isr, state.isr), (seen.elr, state.elr), (seen.last_known_elr, state.last_known_elr))
    return (
        (seen.leader is None or state.leader in seen.leader)
        and (seen.replicas is None or state.replicas == seen.replicas)
        and (seen.isr_size is None or len(state.isr) == seen.isr_size)
        and all(expected is None or set(expected) == set(found) for expected, found in pairs)
    )


def wanted(seen: Seen) -> str:
    """An expectation in words."""
    names: Mapping[str, object] = {
        "leader": None if seen.leader is None else " or ".join(_name(one) for one in seen.leader),
        "replicas": seen.replicas,
        "isr": seen.isr,
        "elr": seen.elr,
        "lastKnownElr": seen.last_known_elr,
        "members of the isr": seen.isr_size,
    }
    shown = {key: list(v) if isinstance(v, tuple) else v for key, v in names.items() if v is not None}
    return " ".join(f"{key}={value}" for key, value in shown.items())


def _name(leader: int) -> str:
    return "none" if leader == NO_LEADER else str(leader)
