"""Changes of rules, and hazards, put to the proof by induction: refuted, or outside of what it covers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from elrcheck.catalogue.hazard import Hazard
from elrcheck.kafka.mutation.hazard_run import select_hazards, sides
from elrcheck.kafka.mutation.rule_proof import HazardProofs, ProofBench
from elrcheck.laboratory.rule_bench import MutantTask, RuleBench
from elrcheck.lang.changed.variations import Variation
from elrcheck.model.choices import CleanCheck

TINY = (("broker_count=2", "log_slots=1"),)


@pytest.fixture(scope="module")
def bench() -> ProofBench:
    return ProofBench(sizes=TINY)


def change(bench: ProofBench, function: str, start: str) -> Variation:
    return next(one for one in bench.mutants.of(function) if one.name.startswith(f"{function}: {start}"))


@pytest.mark.slow
def test_a_change_that_a_property_catches_is_refuted(bench: ProofBench) -> None:
    """Unregister takes a broker out that runs; the counterexample to induction is replayed."""
    judgement = bench.judge(change(bench, "Unregister", "require(not alive or c.live_unregistrations > 0"))
    assert (judgement.answer, judgement.action, judgement.brokers) == ("refuted", "Unregister", 2)
    assert judgement.goal


@pytest.mark.slow
def test_a_change_of_what_the_proof_leaves_out_is_outside(bench: ProofBench) -> None:
    """No step of the proof has a shadow of the ISR, so its terms are the same."""
    judgement = bench.judge(change(bench, "update_shadow_isr", ""))
    assert (judgement.answer, judgement.action) == ("outside", "")


@pytest.fixture(scope="module")
def hazards() -> HazardProofs:
    return HazardProofs(sizes=TINY)


@pytest.mark.slow
def test_a_hazard_is_refuted_and_the_rules_themselves_are_not(hazards: HazardProofs) -> None:
    """A change of nothing, within what the proof covers, would be a hole if a search found something."""
    same = Hazard("F-0", "", "", settings={"crashes": 1})
    judgement = hazards.judge(same, sides(same).base)
    assert (judgement.by_proof.answer, judgement.hole) == ("outside", True)
    hazard = Hazard("F-0", "", "", settings={"crashes": 1}, knobs={"clean_check": CleanCheck.ALWAYS_CLEAN})
    judgement = hazards.judge(hazard, sides(hazard).base)
    assert (judgement.by_proof.answer, judgement.by_proof.action, judgement.hole) == ("refuted", "Register", False)


@pytest.mark.slow
def test_what_no_proof_covers_is_named(hazards: HazardProofs) -> None:
    (logged,) = select_hazards(["F-15"])
    judgement = hazards.judge(logged, sides(logged).base)
    assert "metadata" in judgement.beyond and not judgement.hole


@pytest.mark.slow
def test_the_survey_asks_the_proof_about_what_a_property_catches() -> None:
    rules = RuleBench()
    name = next(one.name for one in rules.mutants.of("ExpandIsr") if "require(may_join(" in one.name)
    case = "pairs/elect+unregister/crash"
    task = MutantTask("ExpandIsr", name, (case,), (), (), 60.0, controller=False, answers=False, proof=True)
    answer = rules.judge(task)
    assert answer.verdict == "found" and answer.proof == "refuted" and not answer.hole
    assert answer.open is not None and answer.open.startswith("ExpandIsr x ")


def test_no_guard_is_put_to_the_proof(invoke: Callable[..., tuple[int, str, str]]) -> None:
    assert invoke("mutate", "--guards", "--proof")[0] == 2
