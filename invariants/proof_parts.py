"""What the proof of Kafka's partition adds to its lemmas: history, assumptions, conditions, and why waits end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from elrcheck.invariants.lemmas import lemmas_changes, lemmas_losses, lemmas_recovery, lemmas_responses, lemmas_unread
from elrcheck.invariants.reductions.representatives import REDUCTIONS
from elrcheck.invariants.stages import process_waits, replication_waits
from elrcheck.lang.induction import Induction, Operator
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config


def _conditions(config: Config) -> Mapping[str, Operator]:
    more = lemmas_losses.WITH_REASSIGNMENTS if config.reassignments > 0 else {}
    return {**lemmas_losses.CONDITIONS, **more}


LOG_SLOTS = 2
"""Log slots of a proof, unless `--set log_slots` overrides it; scopes keep logs short for searching."""
ELR_SETTINGS: Mapping[str, object] = {"feature_changes": 1, "min_isr_changes": 1}
SETTINGS: Mapping[str, object] = {
    "unclean_recovery_strategy": RecoveryStrategy.DISABLED,
    "response_loss": True,
    "fetch_loss": True,
    "kills": 1,
    "shutdowns": 1,
    "shutdown_timeouts": 1,
    "unregistrations": 1,
    "directory_changes": 1,
    "directory_failures": 1,
    "directory_losses": 1,
    "elections": 1,
    "acks_zero": 1,
    "late_answers": 1,
    **ELR_SETTINGS,
}
"""The settings of a proof: a budget above 0 enables its action, without any limit."""


def _settings(config: Config) -> Mapping[str, object]:
    """Return the settings of a proof for a configuration.

    Only a variant that starts with ELR on has changes of the feature and of min ISR. Changes of min ISR are left out
    where the controller's index of ELR members goes stale, because only a budget bounds how stale.
    """
    wide = {"log_slots": max(config.log_slots, LOG_SLOTS), **SETTINGS}
    stale = ("min_isr_changes",) if config.elr_index_goes_stale else ()
    left_out = stale if config.elr_enabled else ELR_SETTINGS
    return {name: value for name, value in wide.items() if name not in left_out}


INDUCTION = Induction(
    history=replace(
        lemmas_losses.HISTORY, lemmas=(*lemmas_losses.LEMMAS, *lemmas_responses.LEMMAS, *lemmas_unread.LEMMAS)
    ),
    assumptions=lemmas_changes.ASSUMPTIONS,
    named=lemmas_recovery.ASSUMPTIONS,
    allowed={**lemmas_changes.ALLOWED, **lemmas_recovery.ALLOWED},
    possible=lemmas_losses.POSSIBLE,
    actions={**lemmas_changes.ACTIONS, **lemmas_recovery.ACTIONS, **lemmas_losses.ACTIONS},
    conditions=_conditions,
    settings=_settings,
    arbitrary={"min_isr": 1},
    waits={**process_waits.WAITS, **replication_waits.WAITS},
    wait_measures=dict.fromkeys(replication_waits.WAITS, replication_waits.MEASURES),
    any_length=("metadata_slots",),
    wait_lemmas=(*process_waits.LEMMAS, *replication_waits.LEMMAS),
    reductions=REDUCTIONS,
)
