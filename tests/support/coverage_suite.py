"""Small configurations that together take every branch of the model; `test_model_coverage` asserts it.

Some start from a state that scripted steps lead to, because what they are after lies deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from elrcheck.lang.plain import Label
from elrcheck.model.choices import (
    AlterReject,
    CandidateChoice,
    LklStorage,
    MinIsrChange,
    Propagation,
    ReassignGate,
    Truncation,
)
from elrcheck.model.config import Config
from support.coverage_knobs import (
    BY_HAND,
    LAGGING_MIN_ISR,
    LEADERLESS,
    LOG,
    MOVING,
    QUIET,
    SETTINGS,
    SHADOW,
    SKIPPING,
    THREE,
    variant,
)
from support.coverage_stories import AT_ONCE, STORIES, story
from support.directory_cases import DIRECTORY_CASES
from support.early_cases import EARLY_CASES
from support.knob_cases import CASES, TWO
from support.late_flush_cases import LATE_FLUSH_CASES


@dataclass(frozen=True)
class Case:
    """A configuration, the steps before the search, and how many states are searched at most."""

    name: str
    knobs: dict[str, Any]
    after: tuple[Label, ...]
    max_states: int

    @property
    def config(self) -> Config:
        return Config(**{**TWO, **self.knobs})


# Configurations whose branches lie deeper than in the first 150 states.
DEEPER = {
    "late-answer": 1000,
    "recovering": 1000,
    "stopping": 1000,
    "one-shot": 800,
    "one-broker": 750,
    "late": 700,
    "unmarked": 600,
    "orderly": 550,
    "nothing-checked": 500,
    "until-empty": 500,
    "new-leader": 450,
    "ended-at-once": 400,
    "shadow-unregistered": 350,
    "moving-spare-2025": 350,
    "late-record-checked": 350,
    "operators": 300,
    "missed-epoch": 300,
    "late-while-restarting": 250,
}


def cases() -> Iterator[Case]:
    """What TLC counts too, then what the rest of the branches needs."""
    for name, knobs in {**CASES, **WIDER, **NARROWER}.items():
        yield Case(name, knobs, (), DEEPER.get(name, 150))
    for name, knobs in FEW.items():
        yield Case(name, knobs, (), 150)
    for name, (knobs, after) in STORIES.items():
        yield Case(name, knobs, after, DEEPER.get(name, 150))
    for name, (knobs, steps) in {**DIRECTORY_CASES, **EARLY_CASES, **LATE_FLUSH_CASES}.items():
        yield Case(name, knobs, story(*steps), 150)
    for name, (knobs, after) in AT_ONCE.items():
        yield Case(name, knobs, after, 50)


WIDER: dict[str, dict[str, Any]] = {
    "code-4.0": {**variant("code_4_0"), **BY_HAND},
    "code-4.1": {**variant("code_4_1"), **BY_HAND},
    "by-hand": BY_HAND,
    "by-hand-one-replica": {"spare_brokers": 1, "fences": 1, "unclean_elections": 1, **QUIET},
    "unmarked": {**LEADERLESS, "unclean_leader_election_enable": True, "recovery_state_supported": False},
    "periodic": {**MOVING, "spare_brokers": 1, "unclean_leader_election_enable": True},
    "stopping": {"shutdowns": 1, "unregistrations": 1, **QUIET},
    "returning": {"crashes": 0, "clean_stops": 1, "unregistrations": 1, **QUIET},
    "shadow-unregistered": {"shadow_isr": True, "unregistrations": 1, **QUIET},
    "lagging-min-isr": {**LAGGING_MIN_ISR, "crashes": 0, "fences": 1, **QUIET},
    "kept-unpruned": {
        "keep_min_isr": True,
        "fences": 1,
        "unregistrations": 1,
        "unregister_prunes_elr": False,
        "unknown_id_is_unclean": False,
        **QUIET,
    },
    **{f"min-isr-{change.name}": {**SETTINGS, "min_isr_change": change} for change in MinIsrChange},
}
NARROWER: dict[str, dict[str, Any]] = {
    "elections": {"crashes": 0, "fences": 1, "elections": 1, **QUIET},
    "lagging-after-a-crash": {"metadata": Propagation.LOG, "registration_catch_up": False, **QUIET},
    "lagging-min-isr-down": {**LAGGING_MIN_ISR, **QUIET},
    "lagging-caught-up": {"metadata": Propagation.LOG, "fences": 1, "shrinks": 1, **QUIET},
    "stopping-4.0": {**variant("code_4_0"), "clean_stops": 1, "shutdowns": 1, **QUIET},
    "cancelled": {**MOVING, "spare_brokers": 1, "cancel_gate": False, "cancel_forces_first_replica": True},
    "cancelled-unclean": {
        **MOVING,
        "spare_brokers": 1,
        "cancel_gate": False,
        "cancel_forces_first_replica": True,
        "unclean_leader_election_enable": True,
    },
    **{f"moving-{gate.name}": {**THREE, "reassign_gate": gate, "retarget_overwrites": False} for gate in ReassignGate},
    "moving-spare": {**THREE, "spare_brokers": 1, "reassignments": 2},
    "moving-spare-2025": {**MOVING, "spare_brokers": 1, "reassign_gate": ReassignGate.TRUNK_2025},
    "moving-unregistered": {**MOVING, "crashes": 1, "unregistrations": 1, "spare_brokers": 1},
    "joiners-in-the-elr": {"broker_count": 3, "min_isr": 3, "fences": 1, "elr_minus_isr": False, **QUIET},
    "shrinking": {"crashes": 0, "min_isr": 1, "shrinks": 1},
    "rolled-back": {
        "alter_reject": AlterReject.ROLLBACK,
        "bump_leader_epoch_on_isr_shrink": True,
        "shrinks": 1,
        "crashes": 0,
    },
    "emptied-without-elr": {"elr_enabled": False, "empty_isr_without_elr": True, "fences": 1, **QUIET},
    "feature-on": {"elr_enabled": False, "feature_changes": 1, "crashes": 0, "fences": 1, **QUIET},
    "feature-on-4.1": {**variant("code_4_1"), "broker_count": 1, "elr_enabled": False, "feature_changes": 1, **QUIET},
    "cluster-min-isr": {
        "topic_has_min_isr": False,
        "elr_enabled": False,
        "min_isr_changes": 1,
        "crashes": 0,
        "fences": 1,
        **QUIET,
    },
    "cut-without-a-leader": {"truncation": Truncation.HIGH_WATERMARK, "crashes": 0, "fences": 2, **QUIET},
    "shadow-orderly": {**SHADOW, "crashes": 0, "clean_stops": 1, **QUIET},
    "late-and-moved": {**MOVING, "late_fetches": 1},
    "directories": {"directory_changes": 1, "dirs_wipe_elr": True, "fences": 1, **QUIET},
    "overloaded": {"lkl_storage": LklStorage.OVERLOAD, "min_isr": 1, "fences": 1, **QUIET},
    "leading-while-stopping": {
        **variant("code_4_0"),
        "broker_count": 1,
        "shutdowns": 1,
        "directory_changes": 1,
        "unclean_elections": 1,
        **QUIET,
    },
}
FEW: dict[str, dict[str, Any]] = {
    "skipping": {**SKIPPING, "min_isr": 1, "shrinks": 1, "bump_leader_epoch_on_isr_shrink": True},
    "any-of-the-replicas": {"choice": CandidateChoice.ANY, "spare_brokers": 1, **QUIET},
    "skipping-moved": {**SKIPPING, "spare_brokers": 1, "reassignments": 1},
    "skipping-shutdowns": {**SKIPPING, "shutdowns": 1},
    "skipping-equal-epochs": {**SKIPPING, "fences": 1, "applies_equal_epoch": False},
    "skipping-min-isr": {**SKIPPING, **LOG, "fences": 1, "min_isr_changes": 1},
    "late-answer-to-nobody": {"late_answers": 1, **QUIET},
    "impatient": {"crashes": 0, "clean_stops": 1, "shutdowns": 1, "shutdown_timeouts": 1, **QUIET},
    "forgetting-early": {**SKIPPING, **LOG, "crashes": 1, "registration_catch_up": False},
}
