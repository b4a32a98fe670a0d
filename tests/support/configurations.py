"""Configurations under which the engines are compared, and which actions each of them has.

A feature is a set of knobs beside the sizes. Together they give every action, every value of every
protocol knob and every budget to the comparison; `test_differential` asserts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from elrcheck.model.choices import (
    AcksAdmission,
    AlterReject,
    BalancedEnd,
    BeforeRegistration,
    CandidateChoice,
    CleanCheck,
    EpochFile,
    FetchFencing,
    HwmGate,
    LostDirectory,
    MinIsrPropagation,
    Propagation,
    ReassignGate,
    RecoveryQuorum,
    RecoveryStrategy,
    Reelection,
    ResponseRecords,
    Truncation,
)
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS

SIZES: dict[str, Any] = {"broker_count": 3, "log_slots": 2, "records": 2, "clean_stops": 1}

# Several budgets at once: between them these few have every action, so CI compares the engines on them.
COMBINED: dict[str, dict[str, Any]] = {
    "operator": {
        "elections": 1,
        "unclean_elections": 1,
        "reassignments": 1,
        "min_isr_changes": 1,
        "feature_changes": 1,
        "directory_changes": 1,
        "tracks_acks": True,
        "directory_failures": 1,
        "directory_losses": 1,
        "directory_returns": 1,
        "heartbeat_in_one_snapshot": True,
    },
    "broker": {
        "shutdowns": 1,
        "shutdown_timeouts": 1,
        "kills": 1,
        "unregistrations": 1,
        "live_unregistrations": 1,
        "unclean_changes": 1,
        "failovers": 1,
        "late_fetches": 1,
        "late_answers": 1,
        "early_starts": 1,
        "early_writes": 1,
        "before_registration": BeforeRegistration.ACTS,
        "late_flushes": 1,
        "epoch_file": EpochFile.LATER,
        "old_checkpoints": 1,
        "shadow_isr": True,
        "unclean_leader_election_enable": True,
        "choice": CandidateChoice.ANY,
        "acks_zero": 1,
    },
    "metadata log": {
        "metadata": Propagation.LOG,
        "min_isr_propagation": MinIsrPropagation.LOG,
        "min_isr_changes": 1,
        "broker_count": 2,
    },
}
# One at a time: what each adds to the default configuration.
SINGLE: dict[str, dict[str, Any]] = {
    "default": {},
    "controlled shutdown": {"shutdowns": 1},
    "kill": {"kills": 1},
    "unregistration": {"unregistrations": 1},
    "unregistration of a live broker": {"unregistrations": 1, "live_unregistrations": 1},
    "failover": {"failovers": 1},
    "late fetch": {"late_fetches": 1},
    "late answer": {"late_answers": 1, "known_record_ends_proposal": True},
    "before registration": {"early_starts": 1, "early_writes": 1, "before_registration": BeforeRegistration.ACTS},
    "old checkpoint": {"old_checkpoints": 1},
    "late flush": {"late_flushes": 1, "epoch_file": EpochFile.LATER},
    "older record": {"metadata": Propagation.LOG},
    "min ISR on its own": {"min_isr_propagation": MinIsrPropagation.LOG, "min_isr_changes": 1},
    "min ISR after topics": {"min_isr_propagation": MinIsrPropagation.TOPICS_FIRST, "min_isr_changes": 1},
    "preferred election": {"elections": 1},
    "unclean election": {"unclean_elections": 1},
    "periodic unclean election": {"unclean_leader_election_enable": True},
    "unclean election allowed later": {"unclean_changes": 1},
    "reassignment": {"reassignments": 1, "spare_brokers": 1},
    "min ISR change": {"min_isr_changes": 1},
    "feature change": {"feature_changes": 1},
    "directories": {"directory_changes": 1},
    "lost directories": {"directory_failures": 1, "directory_losses": 1, "heartbeat_in_one_snapshot": True},
    "directory that comes back": {"directory_failures": 1, "directory_losses": 1, "directory_returns": 1},
    "aggressive recovery": {"unclean_recovery_strategy": RecoveryStrategy.AGGRESSIVE},
    "no recovery": {"unclean_recovery_strategy": RecoveryStrategy.NONE},
    "shadow ISR": {"shadow_isr": True},
    "any candidate": {"choice": CandidateChoice.ANY, "unclean_leader_election_enable": True},
    "reductions": {"skips_no_news": True, "forgets": True},
}
# Protocol knobs that no variant and no feature above turns, a few in each.
ALTERNATIVES: dict[str, dict[str, Any]] = {
    "truncation to the high watermark": {
        "truncation": Truncation.HIGH_WATERMARK,
        "fetch_fencing": FetchFencing.ONLY_LOWER,
        "response_checks_epoch": False,
        "response_records": ResponseRecords.ADMITTED,
        "late_fetches": 1,
    },
    "one-shot truncation": {
        "truncation": Truncation.ONE_SHOT,
        "fetch_fencing": FetchFencing.ONLY_HIGHER,
        "response_checks_leader": False,
        "response_records": ResponseRecords.IN_ORDER,
        "late_fetches": 1,
    },
    "truncation until another leader": {
        "truncation": Truncation.NEW_LEADER,
        "fetch_fencing": FetchFencing.NONE,
        "response_checks_records": False,
        "late_fetches": 1,
    },
    "truncation until an empty fetch": {
        "truncation": Truncation.UNTIL_EMPTY,
        "applies_equal_epoch": False,
        "registration_catch_up": False,
        "fetch_loss": False,
    },
    "leader: high watermark": {
        "hwm_gate": HwmGate.MAXIMAL,
        "maximal_isr": False,
        "join_requires_epoch_start": False,
        "waits_for_unknown": False,
        "acks_admission": AcksAdmission.MAXIMAL,
        "reelection": Reelection.RESET_ON_GAP,
    },
    "leader: proposals": {
        "late_answers": 1,
        "answer_needs_proposal": False,
        "alter_reject": AlterReject.ROLLBACK,
        "alter_retries": False,
        "proposal_names_proof": False,
        "leader_caches_epoch": False,
        "ignores_failed_fetches": False,
        "response_loss": False,
    },
    "controller: AlterPartition": {
        **COMBINED["operator"],
        "alter_checks_fenced": False,
        "alter_checks_epochs": False,
        "alter_answer_carries_min_isr": True,
        "min_isr_change_bumps_partition_epoch": True,
        "elr_minus_isr": False,
        "bump_leader_epoch_on_isr_shrink": True,
        "recovery_state_supported": False,
        "topic_has_min_isr": False,
        "strangers_fail": False,
        "unknown_id_is_unclean": False,
        "partition_zero_replicas": 1,
    },
    "controller: recovery": {
        **COMBINED["operator"],
        "clean_check": CleanCheck.ALWAYS_CLEAN,
        "recovery_quorum": RecoveryQuorum.ALL,
        "balanced_end": BalancedEnd.AT_ONCE,
        "unclean_election_clears_last_known": True,
        "log_info_checks": False,
        "election_ends_recovery": False,
        "reassign_gate": ReassignGate.TRUNK_2025,
    },
    "directories without proof": {
        "directory_losses": 1,
        "directories_assigned": False,
        "lost_directory": LostDirectory.CLEAN_FILE,
        "assigns_before_registration": True,
        "report_elects": False,
    },
    "follows before registration": {
        "early_starts": 1,
        "before_registration": BeforeRegistration.FOLLOWS,
        "leader_caches_epoch": False,
    },
    "synchronisation skipped": {"shadow_isr": True, "sync_may_be_skipped": True},
}
# What a variant does differently shows only when operators act.
VARIED: dict[str, dict[str, Any]] = {
    variant.name: {**COMBINED["operator"], "unregistrations": 1, **variant.knobs}
    for variant in VARIANTS
    if variant.knobs
}
FEATURES: dict[str, dict[str, Any]] = {**COMBINED, **SINGLE, **VARIED, **ALTERNATIVES}


def configuration(feature: str) -> Config:
    return Config(**{**SIZES, **FEATURES[feature]})


@dataclass(frozen=True)
class Need:
    """Why some actions can happen only under some configurations."""

    reason: str
    met: Callable[[Config], bool]
    actions: tuple[str, ...]


def _asks_for_longest_log(c: Config) -> bool:
    return c.unclean_elections > 0 and c.elect_leaders_v3


def _recovers(c: Config) -> bool:
    by_itself = (RecoveryStrategy.BALANCED, RecoveryStrategy.AGGRESSIVE)
    return c.unclean_recovery_strategy in by_itself or _asks_for_longest_log(c)


# An action that is not named here can happen under every configuration.
NEEDS: tuple[Need, ...] = (
    Need("a budget", lambda c: c.shutdowns > 0, ("StartControlledShutdown", "GrantShutdown")),
    Need("a budget", lambda c: c.kills > 0, ("Kill",)),
    Need("a budget", lambda c: c.unregistrations > 0, ("Unregister",)),
    Need("a budget", lambda c: c.elections > 0, ("ElectPreferred",)),
    Need("a budget", lambda c: c.unclean_elections > 0, ("ElectUnclean",)),
    Need("a budget", lambda c: c.reassignments > 0, ("Reassign", "CancelReassignment")),
    Need("a budget", lambda c: c.feature_changes > 0, ("ChangeFeature",)),
    Need("a budget", lambda c: c.directory_changes > 0, ("AssignDirectories",)),
    Need("a budget", lambda c: c.directory_failures > 0, ("FailDirectory", "ReportFailedDirectory")),
    Need(
        "a budget, and a heartbeat answered from one snapshot",
        lambda c: c.directory_failures > 0 and c.heartbeat_in_one_snapshot,
        ("UnfenceWithoutDirectory",),
    ),
    Need("a budget", lambda c: c.directory_losses > 0, ("LoseDirectory",)),
    Need(
        "a budget, and a directory that fails",
        lambda c: c.directory_returns > 0 and c.directory_failures > 0,
        ("ReturnDirectory",),
    ),
    Need("a budget", lambda c: c.unclean_changes > 0, ("ChangeUncleanElection",)),
    Need(
        "a budget, or a directory that the controller does not know yet",
        lambda c: c.directory_losses > 0 or not c.directories_assigned,
        ("ReportNewDirectory",),
    ),
    Need("a budget", lambda c: c.min_isr_changes > 0, ("ChangeMinIsr", "DeleteMinIsr")),
    Need("a budget", lambda c: c.late_fetches > 0, ("SendLateFetch", "LateFetchReturns", "LoseLateFetch")),
    Need(
        "a budget, and a response that is read when it is sent",
        lambda c: c.late_fetches > 0 and c.response_records != ResponseRecords.ADMITTED,
        ("ReadForLateFetch",),
    ),
    Need("a budget", lambda c: c.late_answers > 0, ("ApplyMetadataFirst",)),
    Need("a budget, and a process that acts before its registration", lambda c: c.most_early > 0, ("ApplyEarly",)),
    Need(
        "a budget, and a process that leads before its registration",
        lambda c: c.most_early > 0 and c.early_writes > 0 and c.before_registration == BeforeRegistration.ACTS,
        ("WriteEarly",),
    ),
    Need(
        "a budget, and a file that follows a truncation late",
        lambda c: c.late_flushes > 0 and c.epoch_file == EpochFile.LATER,
        ("FlushEpochs",),
    ),
    Need("a budget", lambda c: c.old_checkpoints > 0, ("OldCheckpoint",)),
    Need(
        "a budget, and ELR off: with ELR a broker has no min.insync.replicas of its own",
        lambda c: c.min_isr_changes > 0 and (c.feature_changes > 0 or not c.elr_enabled),
        ("ChangeBrokerMinIsr",),
    ),
    Need("a budget and version 3 of ElectLeaders", _asks_for_longest_log, ("DesignateLeader", "AskForLongestLog")),
    Need(
        "a strategy that recovers, or an operator who asks for the longest log",
        _recovers,
        ("StartRecovery", "SendLogInfo", "AcceptLogInfo", "RecoveryTimeout", "FinishRecovery"),
    ),
    Need(
        "a budget and a recovery that may be running",
        lambda c: c.failovers > 0 and _recovers(c),
        ("ControllerFailover",),
    ),
    Need(
        "unclean elections allowed on the topic",
        lambda c: c.unclean_leader_election_enable or c.unclean_changes > 0,
        ("ElectUncleanPeriodically",),
    ),
    Need("any candidate may win", lambda c: c.choice == CandidateChoice.ANY, ("FavourReplica",)),
    Need(
        "brokers that may stop at any metadata record", lambda c: c.metadata == Propagation.LOG, ("ApplyOlderRecord",)
    ),
    Need(
        "a min ISR that changes and is applied on its own",
        lambda c: c.min_isr_changes > 0 and c.min_isr_propagation != MinIsrPropagation.ATOMIC,
        ("ApplyMinIsr",),
    ),
    Need("a shadow ISR", lambda c: c.shadow_isr, ("CopyFromShadow", "EndSynchronisation")),
    Need("responses that may be lost", lambda c: c.response_loss, ("LoseResponse",)),
)


def available(names: Iterable[str], config: Config) -> set[str]:
    """The actions that a configuration leaves possible."""
    missing = {action for need in NEEDS if not need.met(config) for action in need.actions}
    return set(names) - missing
