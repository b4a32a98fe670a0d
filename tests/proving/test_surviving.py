"""`prove --surviving`: the largest set of lemmas that is preserved, what it proves; the table of variants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from elrcheck.base.progress import Silent
from elrcheck.laboratory.evidence.proved_variants import ProvedVariant, breaches, packaged_proofs
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.model.choices import CleanCheck, RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.properties_left import Survivors
from elrcheck.proving.prove import InductionProof

TINY = Config(
    broker_count=2,
    log_slots=1,
    kills=1,
    unclean_recovery_strategy=RecoveryStrategy.DISABLED,
    clean_check=CleanCheck.ALWAYS_CLEAN,
)
"""A broker that lost its log stays in the ISR."""
ONE = replace(TINY, broker_count=1, min_isr=1)


def not_preserved(transitions: Transitions, lemmas: Sequence[Fn]) -> set[str]:
    """Which of these lemmas some step does not preserve, if only these are assumed."""
    prover = Prover(transitions, lemmas, 60.0)
    lost = {fn.name for fn in lemmas if prover.initiation(fn).verdict != "proved"}
    for instance in transitions.instances:
        solver = prover.open_step(instance)
        for fn in lemmas:
            done = prover.consecution(solver, instance, fn)
            if done is not None and done.verdict != "proved":
                lost.add(fn.name)
    return lost


def judged(model: Model, config: Config, lemmas: Sequence[Fn]) -> None:
    """What is left is preserved, and with any dropped lemma it is not: the largest set is unique."""
    transitions = Transitions(model, config, any_order=True)
    survivors = Survivors(Prover(transitions, lemmas, 60.0))
    survivors.find()
    surviving = [fn for fn in lemmas if fn.name in survivors.names]
    gone = [fn for fn in lemmas if fn.name not in survivors.names]
    assert surviving and gone and not survivors.void
    assert {one.lemma for one in survivors.dropped} == {fn.name for fn in gone}
    assert not_preserved(transitions, surviving) == set()
    for fn in gone:
        assert fn.name in not_preserved(transitions, [*surviving, fn])
    assert not_preserved(transitions, [*surviving, *gone])


def test_what_is_left_is_preserved_and_nothing_more_is(proof_model: Model) -> None:
    """Some lemmas of `kip_full`, of which not all are preserved without the others."""
    named = {"ViewEpochs", "ViewCurrent", "ViewsAgree", "LogEpochs", "NewEpochUnused", "LogsMatch"}
    judged(proof_model, ONE, [fn for fn in proof_model.lemmas if fn.name in named])


@pytest.mark.slow
def test_the_same_of_all_lemmas_with_a_fault(proof_model: Model) -> None:
    judged(proof_model, TINY, lemmas_of(proof_model))


@pytest.mark.slow
def test_a_property_of_the_rest_is_proved(proof_model: Model) -> None:
    """Properties that need no dropped lemma are proved; those that the fault breaks are not."""
    properties = [fn for fn in proof_model.always if fn.ident in ("P-2", "P-14", "P-17", "P-21")]
    proof = InductionProof(proof_model, TINY, properties, 60.0, Silent())
    assert proof.run("kip_full").verdict == "refuted"
    left = proof.surviving()
    assert {one.id: one.proved for one in left.properties} == {"P-2": False, "P-14": False, "P-17": True, "P-21": True}
    assert {one.lemma for one in left.dropped} & {"ContendersComplete"} and not left.void
    whole = InductionProof(proof_model, replace(TINY, clean_check=CleanCheck.EPOCH), properties, 60.0, Silent())
    assert whole.run("kip_full").verdict == "proved"
    assert whole.surviving().dropped == () and all(one.proved for one in whole.surviving().properties)


def test_what_the_solver_cannot_decide_is_dropped(proof_model: Model) -> None:
    """An obligation that no time is left for counts as one that is not preserved."""
    proof = InductionProof(
        proof_model, ONE, [fn for fn in proof_model.always if fn.ident == "P-17"], 0.000001, Silent()
    )
    left = proof.surviving()
    assert any(one.unknown for one in (*left.dropped, *left.void))
    assert [one.proved for one in left.properties] == [False]


@pytest.mark.slow
def test_the_command_says_what_is_left(invoke: Callable[..., tuple[int, str, str]]) -> None:
    sets = ("broker_count=1", "min_isr=1", "log_slots=1", "clean_check=ALWAYS_CLEAN")
    arguments = ["prove", "--scope", "two-brokers", "--workers", "1", "-p", "P-2", "-p", "P-17", "--surviving"]
    code, out, _ = invoke(*arguments, *(part for one in sets for part in ("--set", one)))
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert code == 1
    assert any(line.startswith("proved") and "P-17" in line for line in lines)
    assert any(line.startswith("open") and "P-2" in line for line in lines)
    assert invoke("prove", "--surviving", "--controller")[0] == 2


# ------------------------------------------------------------------------------ the table of variants


def contradictions(proofs: Sequence[ProvedVariant]) -> list[str]:
    """Properties that are proved although a run which the proof covers breaks them.

    One that is proved under a condition may break where the condition does not hold.
    """
    in_walks = [(proof, name, "in walks") for proof in proofs for name in proof.broken]
    by_findings = [
        (proof, name, f"by {breach.finding}")
        for proof in proofs
        for breach in breaches(proof)
        for name in breach.properties
        if not breach.outside
    ]
    return [
        f"{proof.variant}: {name} {how}"
        for proof, name, how in in_walks + by_findings
        if proof.standing(name) == "proved"
    ]


@pytest.mark.slow
def test_nothing_proved_is_broken_by_a_run_that_the_proof_covers() -> None:
    proofs = packaged_proofs()
    assert contradictions(proofs) == []
    whole = next(one for one in proofs if one.variant == "kip_full")
    assert not whole.open and not whole.dropped and len(whole.proved) >= 34
    # The check sees a contradiction where there is one.
    lying = structs.replace(whole, broken={"P-1": 3})
    assert contradictions([lying]) == ["kip_full: P-1 in walks"]


def test_findings_are_inside_or_outside_of_a_proof() -> None:
    """F-53 changes min.insync.replicas, which no proof covers, and breaks the rules of `kip_full`."""
    whole = next(one for one in packaged_proofs() if one.variant == "kip_full")
    by_finding = {one.finding: one for one in breaches(whole)}
    assert "min_isr_changes=1" in by_finding["F-53"].outside
    assert "F-56" not in by_finding  # its search changes a rule of the variant
