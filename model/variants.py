"""Named variants of the protocol: the knobs in which a version differs from `kip_full`.

Source: the comparison of KIP text, documentation and code, docs/semantics.md; Kafka's source jars, from 3.9.1 to 4.3.1.
Releases with the same controller rules share a variant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from elrcheck.model.choices import (
    BeforeRegistration,
    CleanCheck,
    EpochFile,
    LastKnownLeader,
    LklRule,
    LklStorage,
    LostDirectory,
    MinIsrChange,
    MinIsrPropagation,
    ReassignGate,
    RecoveryQuorum,
    RecoveryStrategy,
    Reelection,
    Reregistration,
    ResponseRecords,
)
from elrcheck.model.config import Config, check_knobs


@dataclass(frozen=True)
class Variant:
    """A named set of knobs. knobs: Config field -> value, where it is not the default.

    kafka: the releases whose controller has the rules of the variant. aliases: its other names.
    """

    name: str
    summary: str
    knobs: dict[str, Any]
    kafka: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_knobs(f"variant {self.name}", self.knobs)


_DIRECTORIES = {
    "lost_directory": LostDirectory.IGNORED,
    "report_elects": False,
    "assigns_before_registration": True,
    "heartbeat_in_one_snapshot": True,
}
_CODE = {
    **_DIRECTORIES,
    "lkl_storage": LklStorage.OVERLOAD,
    "lkl_stores_none": True,
    "elr_intersect_replicas": False,
    "recheck_elr_after_election": False,
    "downgrade_ignores_elr": False,
    "feature_on_clears_elr": False,
    "reassign_gate": ReassignGate.ALL_TARGETS,
    "cancel_gate": False,
    "cancel_forces_first_replica": True,
    "min_isr_change": MinIsrChange.ALWAYS,
    "unregister_prunes_elr": False,
    "elr_index_goes_stale": True,
    "dirs_wipe_elr": True,
    "last_known_in_every_election": True,
    "unclean_recovery_strategy": RecoveryStrategy.DISABLED,
    "elect_leaders_v3": False,
    "retarget_overwrites": False,
    "reelection": Reelection.KEPT,
    "before_registration": BeforeRegistration.ACTS,
    "epoch_file": EpochFile.LATER,
    "known_record_ends_proposal": True,
    "min_isr_propagation": MinIsrPropagation.TOPICS_FIRST,
}
_CODE_2024_10 = {
    **_CODE,
    "clean_check": CleanCheck.ALWAYS_UNCLEAN,
    "last_known_leader": LastKnownLeader.ANY,
    "min_isr_change": MinIsrChange.NEVER,
}
_CODE_4_1_1 = {**_CODE, "last_known_leader": LastKnownLeader.ACTIVE, "lkl_rule": LklRule.LEADERLESS}
_CODE_4_3 = {**_CODE_4_1_1, "reassign_gate": ReassignGate.TRUNK_2025, "dirs_wipe_elr": False}
_PATCHES_4_3 = {
    "elr_intersect_replicas": True,  # F-20
    "unregister_prunes_elr": True,  # F-21
    "min_isr_propagation": MinIsrPropagation.ATOMIC,  # F-24
    "min_isr_change": MinIsrChange.KIP,  # F-25, whose patch clears the ELR less often, but not as seldom as the KIP
    "recheck_elr_after_election": True,  # F-27, which matters once F-25 is repaired
    "downgrade_ignores_elr": True,  # F-28
    "reelection": Reelection.RESET,  # F-51
    "lost_directory": LostDirectory.CLEAN_FILE,  # F-52
    "report_elects": True,  # F-52, of which this part has no patch
    "min_isr_change_bumps_partition_epoch": True,  # F-53
    "feature_on_clears_elr": True,  # F-56
    "known_record_ends_proposal": False,  # F-58
    "reassign_gate": ReassignGate.KIP,  # F-60
    "cancel_gate": True,  # F-61
    "elr_index_goes_stale": False,  # F-64
    "before_registration": BeforeRegistration.WAITS,  # F-65
    "heartbeat_in_one_snapshot": False,  # F-66
    "epoch_file": EpochFile.WITH_LOG,  # F-69
    "response_records": ResponseRecords.ADMITTED,  # F-63
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
    "before_registration": BeforeRegistration.ACTS,
    "known_record_ends_proposal": True,
    "min_isr_propagation": MinIsrPropagation.TOPICS_FIRST,
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
        _CODE_2024_10,
    ),
    Variant(
        "code_3_9",
        "Kafka 3.9: ELR needs an internal setting and an unstable metadata version, so it is off",
        {**_CODE_2024_10, "elr_enabled": False, "rereg_without_elr": Reregistration.IGNORE},
        kafka=("3.9.0", "3.9.1"),
    ),
    Variant(
        "code_4_0",
        "Kafka 4.0 with ELR on: clean-shutdown detection, KAFKA-19522 present",
        {**_CODE, "last_known_leader": LastKnownLeader.ANY},
        kafka=("4.0.0", "4.0.1", "4.0.2"),
    ),
    Variant(
        "code_4_1_0",
        "Kafka 4.1.0 with ELR on: KAFKA-19522 fixed",
        {**_CODE, "last_known_leader": LastKnownLeader.ACTIVE},
        kafka=("4.1.0",),
    ),
    Variant(
        "code_4_1_1",
        "Kafka 4.1.1 to 4.2 with ELR on: another rule for storing the last known leader",
        _CODE_4_1_1,
        kafka=("4.1.1", "4.1.2", "4.2.0", "4.2.1", "4.2.2"),
        aliases=("code_4_1",),
    ),
    Variant(
        "code_4_3",
        "Kafka 4.3 and 4.4 with ELR on: reassignments complete earlier, directories leave the ELR alone",
        _CODE_4_3,
        kafka=("4.3.0", "4.3.1", "4.4.0"),
    ),
    Variant(
        "repaired_4_3",
        "Kafka 4.3 with the patches of F-20, F-21, F-24, F-28, F-51 to F-53, F-56, F-58, F-60, F-61, F-63 to F-66"
        " and F-69, and the rules of KIP-966 for F-25, F-27 and reports of directories (F-52)",
        {name: value for name, value in {**_CODE_4_3, **_PATCHES_4_3}.items() if value != getattr(Config, name)},
    ),
    Variant(
        "legacy_strict",
        "3.8 and later with ELR off: the last ISR member stays, strict min ISR (3.7 but for epoch_file)",
        {**_LEGACY, "epoch_file": EpochFile.LATER},
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
        {"unclean_recovery_strategy": RecoveryStrategy.AGGRESSIVE, "recovery_quorum": RecoveryQuorum.MIN_ISR},
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


def variant_names() -> list[str]:
    """Return the names of all variants, then their aliases."""
    return [v.name for v in VARIANTS] + [alias for v in VARIANTS for alias in v.aliases]


def variant_named(name: str) -> Variant | None:
    """Return the variant with this name or alias, renamed to the alias; None for an unknown name."""
    for variant in VARIANTS:
        if name == variant.name or name in variant.aliases:
            return replace(variant, name=name)
    return None
