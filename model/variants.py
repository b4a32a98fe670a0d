"""Named variants of the protocol: what a version does, as the knobs that differ from `kip_full`.

Source: the comparison of KIP text, documentation and code, docs/semantics.md; code facts are of the
October 2024 source, 4.0 and 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from elrcheck.model.config import (
    CleanCheck,
    LastKnownLeader,
    LklStorage,
    LostDirectory,
    MinIsrChange,
    ReassignGate,
    RecoveryQuorum,
    RecoveryStrategy,
    Reelection,
    Reregistration,
    check_knobs,
)


@dataclass(frozen=True)
class Variant:
    """A named set of knobs. knobs: Config field -> value, where it is not the default."""

    name: str
    summary: str
    knobs: dict[str, Any]

    def __post_init__(self) -> None:
        check_knobs(f"variant {self.name}", self.knobs)


_DIRECTORIES = {
    "lost_directory": LostDirectory.IGNORED,
    "report_elects": False,
    "assigns_before_registration": True,
}
_CODE = {
    **_DIRECTORIES,
    "lkl_storage": LklStorage.OVERLOAD,
    "elr_intersect_replicas": False,
    "recheck_elr_after_election": False,
    "downgrade_ignores_elr": False,
    "reassign_gate": ReassignGate.ALL_TARGETS,
    "cancel_gate": False,
    "cancel_forces_first_replica": True,
    "min_isr_change": MinIsrChange.ALWAYS,
    "unregister_prunes_elr": False,
    "dirs_wipe_elr": True,
    "last_known_in_every_election": True,
    "unclean_recovery_strategy": RecoveryStrategy.DISABLED,
    "elect_leaders_v3": False,
    "retarget_overwrites": False,
    "reelection": Reelection.KEPT,
}
_LEGACY = {
    **_DIRECTORIES,
    "elr_enabled": False,
    "lkl_storage": LklStorage.OVERLOAD,
    "rereg_without_elr": Reregistration.IGNORE,
    "register_before_fence": False,
    "reassign_gate": ReassignGate.ADDING,
    "cancel_gate": False,
    "cancel_forces_first_replica": True,
    "min_isr_change": MinIsrChange.NEVER,
    "unclean_recovery_strategy": RecoveryStrategy.DISABLED,
    "elect_leaders_v3": False,
    "retarget_overwrites": False,
    "reelection": Reelection.KEPT,
}

VARIANTS: tuple[Variant, ...] = (
    Variant("kip_full", "KIP-966 as intended: strict min ISR, ELR, clean-shutdown detection", {}),
    Variant(
        "kip_phase1",
        "the KIP without its recovery manager: the last known leader leads when ISR and ELR are empty",
        {
            "last_known_leader": LastKnownLeader.ACTIVE,
            "unclean_recovery_strategy": RecoveryStrategy.DISABLED,
            "elect_leaders_v3": False,
        },
    ),
    Variant(
        "code_2024_10",
        "the source of October 2024: every restart counts as unclean, KAFKA-19522 present",
        {
            **_CODE,
            "clean_check": CleanCheck.ALWAYS_UNCLEAN,
            "last_known_leader": LastKnownLeader.ANY,
            "min_isr_change": MinIsrChange.NEVER,
        },
    ),
    Variant(
        "code_4_0",
        "Kafka 4.0 with ELR on: clean-shutdown detection, KAFKA-19522 present",
        {**_CODE, "last_known_leader": LastKnownLeader.ANY},
    ),
    Variant(
        "code_4_1",
        "Kafka 4.1 with ELR on: KAFKA-19522 fixed",
        {**_CODE, "last_known_leader": LastKnownLeader.ACTIVE},
    ),
    Variant(
        "legacy_strict",
        "3.7 and later with ELR off: the last ISR member stays, strict min ISR",
        dict(_LEGACY),
    ),
    Variant(
        "legacy",
        "3.6 and earlier: the last ISR member stays, the high watermark ignores min ISR",
        {**_LEGACY, "strict_hwm": False},
    ),
    Variant(
        "rejected_soft_min_isr",
        "KIP-966, rejected: only an unclean broker leaves an ISR of min ISR members",
        {"keep_min_isr": True},
    ),
    Variant(
        "rejected_n_answers",
        "KIP-966, rejected: a recovery elects after min ISR answers, whoever gives them",
        {
            "unclean_recovery_strategy": RecoveryStrategy.AGGRESSIVE,
            "recovery_quorum": RecoveryQuorum.MIN_ISR,
        },
    ),
    Variant(
        "rejected_empty_isr",
        "KIP-966, rejected: no ELR, the ISR may become empty, a majority of logs is inspected",
        {
            "elr_enabled": False,
            "empty_isr_without_elr": True,
            "unclean_recovery_strategy": RecoveryStrategy.AGGRESSIVE,
            "recovery_quorum": RecoveryQuorum.MAJORITY,
        },
    ),
    Variant(
        "rejected_shadow_isr",
        "KIP-966, rejected: the last member stays and copies what it lost from a shadow of the ISR",
        {**_LEGACY, "strict_hwm": False, "shadow_isr": True, "downgrade_ignores_elr": False},
    ),
)
