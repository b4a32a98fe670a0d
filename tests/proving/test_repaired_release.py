"""Kafka 4.3 with the patches of its findings: what the variant repairs, and the cell that fails without each patch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from elrcheck.base.requests import ProofAssumption, Selection
from elrcheck.catalogue.evidence.attributed import repair_of
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.catalogue.proof_settings import widened
from elrcheck.declared.select import resolve
from elrcheck.laboratory.evidence.hunted import repairs_of
from elrcheck.lang.load import Model
from elrcheck.model.choices import ResponseRecords
from elrcheck.model.config import Config
from elrcheck.model.variants import variant_named
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from support.planted_rules import refuted

ASSUMED: tuple[ProofAssumption, ...] = ("complete-winners",)
RELEASED, REPAIRED = "code_4_3", "repaired_4_3"
ELR_STAYS = ("feature_changes=0",)
TWO_RECORDS = "log_slots=2"

# finding -> (rules of its patch, settings beside those of the claim, action, lemma that it breaks as released)
WITHOUT: dict[str, tuple[tuple[str, ...], tuple[str, ...], str, str]] = {
    "F-21": (("unregister_prunes_elr",), ELR_STAYS, "Unregister", "ControllerRecord"),
    "F-24": (("min_isr_propagation",), ELR_STAYS, "ApplyMetadata", "EnoughByOldValue"),
    "F-25": (("min_isr_change",), (), "ChangeMinIsr", "ControllerRecord"),
    "F-28": (("downgrade_ignores_elr",), (), "Register", "ContendersComplete"),
    "F-51": (("reelection",), ELR_STAYS, "ApplyMetadata", "AckWithinLog"),
    "F-52": (("lost_directory",), ELR_STAYS, "Register", "ContendersComplete"),
    "F-56": (("feature_on_clears_elr",), (), "ChangeFeature", "ContendersComplete"),
    "F-58": (("known_record_ends_proposal",), ELR_STAYS, "ApplyMetadataFirst", "OvertakenIsStale"),
    "F-63": (("response_records",), (*ELR_STAYS, "late_fetches=1", TWO_RECORDS), "ReadForLateFetch", "ResponseMatches"),
    "F-65": (("before_registration",), (*ELR_STAYS, "early_starts=1"), "ApplyEarly", "ContendersComplete"),
    "F-69": (("epoch_file",), (*ELR_STAYS, "late_flushes=1"), "Fetch", "ContendersComplete"),
    "F-66": (("heartbeat_in_one_snapshot",), ELR_STAYS, "UnfenceWithoutDirectory", "ControllerRecord"),
}


def rules_of(variant: str) -> Config:
    named = variant_named(variant)
    assert named is not None
    return Config(**named.knobs)


def test_the_variant_has_the_patches_and_nothing_else() -> None:
    """Of every finding that changes a rule of 4.3; what F-59 repairs makes no difference since 4.1.1."""
    repairs = {repair.finding: repair.knobs for repair in repairs_of(RELEASED)}
    repairs |= {ident: repair_of(find_finding(ident)) for ident in ("F-65", "F-66")}
    assert repairs.pop("F-59") == {"lkl_stores_none": False}
    knobs: dict[str, Any] = {name: value for values in repairs.values() for name, value in values.items()}
    knobs["elr_index_goes_stale"] = False  # F-64, which another model shows
    knobs["response_records"] = ResponseRecords.ADMITTED  # F-63, which no search shows
    assert replace(rules_of(RELEASED), **knobs) == rules_of(REPAIRED)


@pytest.mark.slow
@pytest.mark.parametrize("finding", WITHOUT)
def test_without_a_patch_its_cell_is_refuted(proof_model: Model, finding: str) -> None:
    names, more, action, lemma = WITHOUT[finding]
    selected = resolve(Selection(REPAIRED, "two-brokers", more if TWO_RECORDS in more else ("log_slots=1", *more)))
    patched = widened(selected.config, selected.overrides, ASSUMED)
    released = replace(patched, **{name: getattr(rules_of(RELEASED), name) for name in names})

    def fails(config: Config) -> bool:
        transitions = Transitions(proof_model, config, any_order=True, assumed=ASSUMED)
        transitions.instances = [one for one in transitions.instances if one.action == action]
        if not transitions.instances:  # an action that the patch takes away
            return False
        return refuted(Prover(transitions, lemmas_of(proof_model), None), action, lemma)

    assert (fails(released), fails(patched)) == (True, False)


@pytest.mark.slow
def test_the_patch_of_f53_takes_an_assumption_away(proof_model: Model) -> None:
    """While ELR stays on, nothing is assumed of a raised min ISR, and a lemma says why; without the patch it is."""
    selected = resolve(Selection(REPAIRED, "two-brokers", ("log_slots=1", *ELR_STAYS)))
    patched = widened(selected.config, selected.overrides, ASSUMED)
    released = replace(patched, min_isr_change_bumps_partition_epoch=False)
    assumed = [Transitions(proof_model, config, assumed=ASSUMED).assumed for config in (released, patched)]
    assert assumed == [{"ReadBeforeGrant", "CompleteWinners"}, {"CompleteWinners"}]
