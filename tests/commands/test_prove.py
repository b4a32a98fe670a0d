"""The proof: every obligation is discharged, none vacuously, and planted faults are refuted."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Any

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import ProveRequest, Selection
from elrcheck.commands.prove import Proof, run_prove
from elrcheck.explorer.search.reference import search
from elrcheck.invariants.modules import load_proof_model
from elrcheck.invariants.proof.obligations import Prover
from elrcheck.invariants.proof.transition import Transitions
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.choices import AlterReject, CleanCheck, HwmGate, RecoveryStrategy
from elrcheck.model.config import Config

SMALL = Config(log_slots=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED)

# fault -> (knobs, action that breaks, lemma it breaks)
FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "strict gate off": ({"strict_hwm": False}, "Produce", "WatermarkCommitted"),
    "gate on the maximal ISR": ({"hwm_gate": HwmGate.MAXIMAL}, "Fetch", "ContendersComplete"),
    "no maximal ISR": ({"maximal_isr": False}, "Fetch", "ContendersComplete"),
    "unclean broker kept": ({"clean_check": CleanCheck.ALWAYS_CLEAN}, "Register", "ContendersComplete"),
    "broker epochs unchecked": ({"alter_checks_epochs": False}, "ControllerAlters", "ContendersComplete"),
    "join by watermark only": ({"join_requires_epoch_start": False}, "ExpandIsr", "ContendersComplete"),
    "rollback on stale answer": ({"alter_reject": AlterReject.ROLLBACK}, "LeaderLearns", "QuorumCovers"),
}


@pytest.fixture(scope="module")
def model() -> Model:
    return load_proof_model()


def test_kip_full_is_proved() -> None:
    """R = 3, unbounded epochs: no cell is open, and properties without lemmas or on budgets are left out."""
    selection = Selection("kip_full", "three-brokers", ("log_slots=1",))
    report = run_prove(ProveRequest(selection), Silent())
    assert report.verdict == "proved"
    assert {cell.verdict for cell in report.cells} == {"proved"}
    assert [s.id for s in report.skipped if s.id != "action"] == [
        "P-8", "P-9", "P-15", "P-16", "P-24", "P-26", "P-28", "P-29", "P-30", "P-31",
        "P-33", "P-34", "P-36", "P-37",
    ]  # fmt: skip
    outside = {s.name for s in report.skipped if s.id == "action"}
    assert {"Reassign", "ChangeMinIsr", "FinishRecovery"} <= outside
    assert len(report.initiation) == 30
    actions = {cell.action for cell in report.cells}
    assert len(actions) == 20
    also = {"Kill", "StartControlledShutdown", "GrantShutdown", "Unregister", "AssignDirectories"}
    assert also | {"ElectPreferred"} <= actions
    assert not actions & outside
    assert {"P-7", "P-14", "P-21", "P-25", "P-27"} <= {cell.lemma for cell in report.cells}
    assert len(report.implication) == 19


def test_no_cell_is_vacuous(model: Model) -> None:
    """Every action instance is possible from some state with all lemmas."""
    prover = Prover(Transitions(model, SMALL), model.lemmas, None)
    impossible = [(i.action, i.args) for i in prover.ts.instances if not prover.possible(i)]
    assert impossible == []


def test_lemmas_hold_on_reachable_states(model: Model) -> None:
    """What is proved is true: the search finds no reachable state without one of the lemmas."""
    as_properties = dataclasses.replace(
        model, always=tuple(_as_property(fn) for fn in model.lemmas), sometimes=()
    )
    config = Config(broker_count=2, log_slots=1, records=1, acks_one=0, fences=0, shrinks=0)
    result = search(as_properties, config)
    assert result.distinct == 1218
    assert result.first == {}


def _as_property(fn: Any) -> Any:
    return dataclasses.replace(fn, kind="always", ident=fn.name)


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_refuted(model: Model, fault: str) -> None:
    """A counterexample to induction that the plain model replays."""
    knobs, action, lemma = FAULTS[fault]
    config = dataclasses.replace(SMALL, **knobs)
    prover = Prover(Transitions(model, config), model.lemmas, None)
    plain = PlainModel(model, config)
    fn = next(f for f in model.lemmas if f.name == lemma)
    refuted = []
    for instance in prover.ts.instances:
        if instance.action == action:
            done = prover.consecution(prover.open_step(instance), instance, fn)
            if done is not None and done.verdict == "refuted":
                refuted.append(done)
                assert plain.step(done.before, Label(action, instance.args)) == done.after
                assert all(plain.holds(other, done.before) for other in model.lemmas)
                assert not plain.holds(fn, done.after)
    assert refuted, f"{fault}: {action} keeps {lemma}"


def test_unfaulted_cells_are_proved(model: Model) -> None:
    """The same cells without the fault, so that the test above can fail for the right reason."""
    prover = Prover(Transitions(model, SMALL), model.lemmas, None)
    wanted = {(action, lemma) for _, action, lemma in FAULTS.values()}
    fns = {fn.name: fn for fn in model.lemmas}
    for instance in prover.ts.instances:
        for action, lemma in wanted:
            if instance.action == action:
                done = prover.consecution(prover.open_step(instance), instance, fns[lemma])
                assert done is None or done.verdict == "proved", (action, lemma)


def test_timeout_is_inconclusive(model: Model) -> None:
    """An obligation the solver gives up on is unknown, and the proof inconclusive, never proved."""
    proof = Proof(model, replace(SMALL, broker_count=1, min_isr=1), [], 0.000001, Silent())
    report = proof.run("kip_full")
    assert report.verdict == "inconclusive"
    assert any(cell.verdict == "unknown" and cell.reason for cell in report.cells)


@pytest.mark.slow  # test_kip_full_is_proved takes all processors, too
def test_two_processes_prove_what_one_proves(model: Model) -> None:
    """The same cells with the same verdicts and counterexamples, with a fault that breaks some of them."""
    config = dataclasses.replace(SMALL, broker_count=2, strict_hwm=False)
    proof = Proof(model, config, [], 60.0, Silent())
    one, two = proof.run("kip_full"), proof.run("kip_full", 2)
    assert [(c.action, c.lemma, c.verdict) for c in one.cells] == [
        (c.action, c.lemma, c.verdict) for c in two.cells
    ]
    assert one.verdict == two.verdict == "refuted"
    broken = [cell for cell in two.cells if cell.verdict == "refuted"]
    assert all(cell.failure is not None and cell.failure.replayed for cell in broken)
