"""Differences planted into the model, one changed knob each, that a comparison with Kafka or a proof must find."""

from __future__ import annotations

from typing import Any

from elrcheck.model.choices import AlterReject, CleanCheck, HwmGate, Truncation

PLANTED = (
    "clean_check=ALWAYS_UNCLEAN",
    "clean_check=ALWAYS_CLEAN",
    "last_known_leader=NEVER",
    "last_known_leader=ANY",
    "elr_intersect_replicas=true",
    "elr_minus_isr=false",
    "recheck_elr_after_election=true",
    "downgrade_ignores_elr=true",
    "reassign_gate=ADDING",
    "cancel_gate=true",
    "cancel_forces_first_replica=false",
    "min_isr_change=NEVER",
    "dirs_wipe_elr=false",
    "last_known_in_every_election=false",
    "retarget_overwrites=true",
    "alter_checks_fenced=false",
    "alter_checks_epochs=false",
    "keep_min_isr=true",
    "bump_leader_epoch_on_isr_shrink=true",
    "recovery_state_supported=false",
    "unregister_prunes_elr=true",
)

# fault -> (knobs, action that breaks, lemma it breaks)
FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "strict gate off": ({"strict_hwm": False}, "Produce", "WatermarkCommitted"),
    "gate on the maximal ISR": ({"hwm_gate": HwmGate.MAXIMAL}, "Fetch", "ContendersComplete"),
    "no maximal ISR": ({"maximal_isr": False}, "Fetch", "ContendersComplete"),
    "cut to the watermark": ({"truncation": Truncation.HIGH_WATERMARK}, "Fetch", "WatermarkCommitted"),
    "unclean broker kept": ({"clean_check": CleanCheck.ALWAYS_CLEAN}, "Register", "ContendersComplete"),
    "broker epochs unchecked": ({"alter_checks_epochs": False}, "ControllerAlters", "ContendersComplete"),
    "join by watermark only": ({"join_requires_epoch_start": False}, "ExpandIsr", "ContendersComplete"),
    "rollback on stale answer": ({"alter_reject": AlterReject.ROLLBACK}, "LeaderLearns", "QuorumCovers"),
}
