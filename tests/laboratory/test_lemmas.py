"""The lemmas: which are needed, and that they hold in what searches reach."""

from __future__ import annotations

import dataclasses

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import Limits
from elrcheck.catalogue.proof_settings import outside
from elrcheck.laboratory.evidence.lemma_search import lemma_cases, search_lemmas, with_lemmas
from elrcheck.lang.load import Model
from elrcheck.model.choices import CleanCheck, RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proving.prove import InductionProof

ONE = Config(broker_count=1, min_isr=1, log_slots=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED)
SMALL = Config(broker_count=2, log_slots=1, records=1, acks_one=0, fences=1, shrinks=0, crashes=0)


@pytest.mark.slow
def test_a_lemma_is_needed_if_something_is_open_without_it(proof_model: Model) -> None:
    """One broker needs few lemmas. Without one that is said to be needed, the named obligation is open."""
    proof = InductionProof(proof_model, ONE, proof_model.always, 60.0, Silent())
    assert proof.run("kip_full").verdict == "proved"
    needs = {one.lemma: one for one in proof.needs()}
    assert set(needs) == {fn.name for fn in proof.prover.lemmas}
    assert needs["Processes"].needed and needs["WatermarkCommitted"].needed
    assert not needs["LogsMatch"].needed  # there is no second log
    for name in ("Processes", "LogsMatch"):
        fewer = tuple(fn for fn in proof_model.lemmas if fn.name != name)
        without = InductionProof(
            dataclasses.replace(proof_model, lemmas=fewer), ONE, proof_model.always, 60.0, Silent()
        )
        report = without.run("kip_full")
        assert report.verdict == ("refuted" if needs[name].needed else "proved")
        if needs[name].needed and needs[name].action:
            idents = {fn.name: fn.ident or fn.name for fn in (*proof_model.lemmas, *proof_model.always)}
            goal = idents.get(needs[name].goal, needs[name].goal)
            broken = [(cell.action, cell.lemma) for cell in report.cells if cell.verdict != "proved"]
            assert (needs[name].action, goal) in broken


# ------------------------------------------------------------------------------ reachable states


@pytest.mark.parametrize("more", [{"crashes": 1, "fences": 0}, {"fences": 1, "elections": 1}], ids=str)
def test_lemmas_hold_in_what_a_search_reaches(proof_model: Model, more: dict[str, int]) -> None:
    result = search_lemmas(with_lemmas(proof_model), "small", dataclasses.replace(SMALL, **more))
    assert result.complete and result.distinct > 500 and result.lemmas == len(proof_model.lemmas)
    assert result.broken == {}


def test_a_search_sees_a_lemma_that_is_false(proof_model: Model) -> None:
    config = dataclasses.replace(SMALL, fences=0, crashes=1, clean_check=CleanCheck.ALWAYS_CLEAN)
    assert "ContendersComplete" in search_lemmas(with_lemmas(proof_model), "fault", config).broken


def test_the_suite_has_configurations_that_a_proof_covers() -> None:
    cases = list(lemma_cases())
    covered = [case for case, left_out in cases if not left_out]
    assert len(covered) > 40
    assert outside(dataclasses.replace(Config(), crashes=3, fences=2, elections=1, broker_count=2)) == ()
    assert outside(dataclasses.replace(Config(), reassignments=1, strict_hwm=False)) == ("reassignments", "strict_hwm")


@pytest.mark.slow
def test_lemmas_hold_in_every_covered_configuration_of_the_suite(proof_model: Model) -> None:
    """Every configuration within the claim with at most 300,000 states."""
    lemmas = with_lemmas(proof_model)
    limits = Limits(max_states=300_000)
    for case, left_out in lemma_cases():
        if not left_out:
            assert search_lemmas(lemmas, case.name, case.selected.config, limits).broken == {}, case.name
