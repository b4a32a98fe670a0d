"""Settings and variants that several configurations of `coverage_suite` share."""

from __future__ import annotations

from typing import Any

from elrcheck.model.choices import MinIsrPropagation, Propagation
from elrcheck.model.variants import variant_named

QUIET = {"records": 0, "response_loss": False, "fetch_loss": False}
LEADERLESS = {"crashes": 2, "fences": 1, **QUIET}
MOVING = {"crashes": 0, "fences": 1, "reassignments": 1, **QUIET}
THREE = {"broker_count": 3, **MOVING}
BY_HAND = {**LEADERLESS, "elections": 1, "unclean_elections": 1}
LAGGING_MIN_ISR = {"min_isr_propagation": MinIsrPropagation.LOG, "min_isr_changes": 1}
MIN_ISR_DUE = {"min_isr_propagation": MinIsrPropagation.TOPICS_FIRST, "min_isr_changes": 1}
SHADOW = {"elr_enabled": False, "downgrade_ignores_elr": False, "shadow_isr": True, "fences": 1}
LOG = {"metadata": Propagation.LOG}
SKIPPING = {"skips_no_news": True, "forgets": True, "crashes": 0, **QUIET}
SETTINGS = {"min_isr_changes": 2, "feature_changes": 1, "fences": 1, **QUIET}


def variant(name: str) -> dict[str, Any]:
    configured = variant_named(name)
    assert configured is not None
    return configured.knobs
