"""TLC counts what the reference search counts, under knobs that no named variant sets.

`test_counts` does this for the variants and the compiled engine; here the other branches of the
exported module are walked, so that every knob is seen at every value it has.
"""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import Any

import pytest

from elrcheck.explorer.search.reference import search
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.load import Model
from elrcheck.model.config import (
    AcksAdmission,
    AlterReject,
    CleanCheck,
    Config,
    FetchFencing,
    HwmGate,
    LastKnownLeader,
    LklStorage,
    MinIsrPropagation,
    Propagation,
    ReassignGate,
    RecoveryQuorum,
    RecoveryStrategy,
    Reregistration,
    Truncation,
)
from elrcheck.model.variants import VARIANTS
from elrcheck.tla_export.module import write_spec
from elrcheck.tla_export.tlc_process import TlcOptions, find_tools, run_tlc

TWO: dict[str, Any] = {
    "broker_count": 2,
    "log_slots": 1,
    "records": 1,
    "acks_one": 0,
    "fences": 0,
    "shrinks": 0,
}
# What a case does not name is as in `kip_full`, with one crash.
CASES: dict[str, dict[str, Any]] = {
    "gates": {
        "hwm_gate": HwmGate.MAXIMAL,
        "acks_admission": AcksAdmission.MAXIMAL,
        "reassign_gate": ReassignGate.ALL_TARGETS,
        "alter_reject": AlterReject.ROLLBACK,
        "shrinks": 1,
        "crashes": 0,
    },
    "nothing-checked": {
        "clean_check": CleanCheck.ALWAYS_CLEAN,
        "alter_checks_fenced": False,
        "alter_checks_epochs": False,
        "maximal_isr": False,
        "join_requires_epoch_start": False,
        "last_known_leader": LastKnownLeader.ACTIVE,
        "lkl_storage": LklStorage.OVERLOAD,
    },
    "unclean": {
        "unclean_leader_election_enable": True,
        "bump_leader_epoch_on_isr_shrink": True,
        "clean_check": CleanCheck.ALWAYS_UNCLEAN,
        "recheck_elr_after_election": False,
        "elr_intersect_replicas": False,
        "response_loss": False,
        "elr_minus_isr": False,
    },
    "no-elr": {
        "elr_enabled": False,
        "strict_hwm": False,
        "downgrade_ignores_elr": False,
        "register_before_fence": False,
        "reassign_gate": ReassignGate.ADDING,
        "fetch_loss": False,
        "min_isr": 1,
    },
    "orderly": {
        "clean_stops": 1,
        "crashes": 0,
        "rereg_without_elr": Reregistration.IGNORE,
        "elr_enabled": False,
    },
    "lagging": {
        "metadata": Propagation.LOG,
        "min_isr_propagation": MinIsrPropagation.LOG,
        "registration_catch_up": False,
        "forgets": True,
        "shutdowns": 1,
        "crashes": 0,
        "fences": 0,
    },
    "skipping": {
        "metadata": Propagation.LOG,
        "skips_no_news": True,
        "forgets": True,
        "crashes": 0,
        "fences": 1,
        "shrinks": 1,
        "min_isr": 1,
    },
    "replaced": {
        "unregistrations": 1,
        "fences": 0,
        "keep_min_isr": True,
        "elr_enabled": False,
        "unregister_prunes_elr": False,
        "reassign_gate": ReassignGate.TRUNK_2025,
        "recovery_state_supported": False,
        "recovery_quorum": RecoveryQuorum.ALL,
    },
    "operators": {
        "crashes": 0,
        "min_isr_changes": 1,
        "feature_changes": 1,
        "elections": 1,
        "directory_changes": 1,
    },
    "recovering": {
        "crashes": 1,
        "kills": 1,
        "records": 0,
        "unclean_recovery_strategy": RecoveryStrategy.AGGRESSIVE,
        "recovery_quorum": RecoveryQuorum.MIN_ISR,
        "log_info_checks": False,
        "election_ends_recovery": False,
        "response_loss": False,
        "fetch_loss": False,
    },
    "recovered-by-hand": {
        "crashes": 1,
        "records": 0,
        "unclean_elections": 1,
        "failovers": 1,
        "response_loss": False,
        "fetch_loss": False,
    },
    "moving": {
        "spare_brokers": 1,
        "crashes": 0,
        "reassignments": 2,
        "cancel_gate": False,
        "min_isr": 1,
        "retarget_overwrites": False,
        "recovery_quorum": RecoveryQuorum.MAJORITY,
        "unclean_recovery_strategy": RecoveryStrategy.NONE,
        "empty_isr_without_elr": True,
    },
    "late": {
        "late_fetches": 1,
        "response_checks_epoch": False,
        "response_checks_leader": False,
        "response_checks_records": False,
        "acks_zero": 1,
        "crashes": 0,
        "fences": 1,
        "min_isr": 1,
    },
    "cut-at-watermark": {
        "truncation": Truncation.HIGH_WATERMARK,
        "waits_for_unknown": False,
        "applies_equal_epoch": False,
    },
    "one-shot": {
        "truncation": Truncation.ONE_SHOT,
        "fetch_fencing": FetchFencing.NONE,
        "leader_caches_epoch": False,
        "crashes": 0,
        "fences": 2,
        "min_isr": 1,
    },
    "new-leader": {
        "truncation": Truncation.NEW_LEADER,
        "fetch_fencing": FetchFencing.ONLY_LOWER,
        "ignores_failed_fetches": False,
        "crashes": 0,
        "fences": 2,
        "min_isr": 1,
    },
    "until-empty": {
        "truncation": Truncation.UNTIL_EMPTY,
        "fetch_fencing": FetchFencing.ONLY_HIGHER,
        "proposal_names_proof": False,
        "alter_retries": False,
    },
    "shadow": {
        "elr_enabled": False,
        "strict_hwm": False,
        "downgrade_ignores_elr": False,
        "shadow_isr": True,
        "sync_may_be_skipped": True,
        "kills": 1,
        "crashes": 0,
        "fences": 1,
        "response_loss": False,
        "fetch_loss": False,
    },
    "value-of-the-cluster": {
        "topic_has_min_isr": False,
        "elr_enabled": False,
        "min_isr_changes": 1,
        "crashes": 0,
        "fences": 1,
    },
    "one-broker": {"broker_count": 1, "log_slots": 2, "records": 2, "acks_one": 1, "clean_stops": 1},
}


# A quarter to a whole minute each; the others are a sample of both sides of most knobs.
LARGER = ("shadow", "new-leader", "one-shot", "late", "recovering", "value-of-the-cluster", "nothing-checked",
          "moving", "no-elr")  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Model:
    return load_checked_model()


@pytest.mark.tlc
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow if case in LARGER else ()) for case in CASES]
)
def test_tlc_counts_what_the_reference_counts(model: Model, case: str, tmp_path: Path) -> None:
    config = Config(**{**TWO, **CASES[case]})
    expected = search(model, config)
    spec = write_spec(model, config, tmp_path, "Counted")
    (tmp_path / "Counted.cfg").write_text(spec.count_cfg)
    options = TlcOptions(deadlock=False, timeout=300)
    # One worker (the default): several do not search strictly by level, and the depth they print varies.
    run = run_tlc(find_tools(), tmp_path / "Counted.tla", None, options)
    assert run.exit_code == 0, run.output_tail
    assert (run.generated, run.distinct, run.depth) == (
        expected.generated,
        expected.distinct,
        expected.diameter,
    )
    assert expected.distinct > 50, "the case goes somewhere"


def test_every_knob_is_seen_at_every_value() -> None:
    """Named variants are counted in test_counts; together with the cases here no branch is left out."""
    configs = [Config(**variant.knobs) for variant in VARIANTS]
    configs += [Config(**{**TWO, **case}) for case in CASES.values()]
    for field in dataclasses.fields(Config):
        seen = {getattr(config, field.name) for config in configs}
        if isinstance(field.default, bool):
            assert seen == {True, False}, field.name
        elif isinstance(field.default, enum.Enum):
            assert seen == set(type(field.default)), field.name
