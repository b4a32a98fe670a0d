"""Changes of rules, and hazards, put to the proof by induction: refuted, or outside of what it covers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from elrcheck.commands.mutate.rule_bench import MutantTask, RuleBench
from elrcheck.commands.mutate.rule_proof import ProofBench
from elrcheck.lang.changed.variations import Variation
from elrcheck.model.choices import CleanCheck

TINY = (("broker_count=2", "log_slots=1"),)


@pytest.fixture(scope="module")
def bench() -> ProofBench:
    return ProofBench(sizes=TINY)


def change(bench: ProofBench, function: str, start: str) -> Variation:
    return next(one for one in bench.mutants.of(function) if one.name.startswith(f"{function}: {start}"))


def test_a_change_that_a_property_catches_is_refuted(bench: ProofBench) -> None:
    """Unregister takes a broker out that runs; the counterexample to induction is replayed."""
    found = bench.judge(change(bench, "Unregister", "require(s.broker[b].status == Status.OFFLINE"))
    assert (found.answer, found.action, found.brokers) == ("refuted", "Unregister", 2)
    assert found.goal


def test_a_change_of_what_the_proof_leaves_out_is_outside(bench: ProofBench) -> None:
    """No step of the proof has a shadow of the ISR, so its terms are the same."""
    found = bench.judge(change(bench, "update_shadow_isr", ""))
    assert (found.answer, found.action) == ("outside", "")


@pytest.mark.slow
def test_a_hazard_is_refuted_and_the_rules_themselves_are_not(bench: ProofBench) -> None:
    assert bench.judge_knobs({}).answer == "outside"
    found = bench.judge_knobs({"clean_check": CleanCheck.ALWAYS_CLEAN})
    assert (found.answer, found.action) == ("refuted", "Register")


@pytest.mark.slow
def test_the_survey_asks_the_proof_about_what_a_property_catches() -> None:
    rules = RuleBench()
    name = next(
        one.name for one in rules.mutants.of("Unregister") if "Status.OFFLINE, 'b is down')" in one.name
    )
    case = "pairs/elect+unregister/fence"
    task = MutantTask("Unregister", name, (case,), (), (), 60.0, controller=False, answers=False, proof=True)
    answer = rules.judge(task)
    assert answer.verdict == "found" and answer.proof == "refuted" and not answer.hole
    assert answer.open is not None and answer.open.startswith("Unregister x ")


def test_proof_needs_rules(invoke: Callable[..., tuple[int, str, str]]) -> None:
    assert invoke("mutate", "--proof")[0] == 2
