"""The proof: every obligation is discharged, none vacuously, and planted faults are refuted."""

from __future__ import annotations

import dataclasses
import io
from dataclasses import replace
from typing import Any

import pytest
import z3

from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.explorer.search.reference import search
from elrcheck.invariants.lemmas.lemmas_losses import LEMMAS, seen_after, seen_at_first
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.state import Acks
from elrcheck.proof.hypotheses import condition_of, lemmas_of
from elrcheck.proof.obligations import TYPES, Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.covered import coverage, skipped
from elrcheck.proving.prove import InductionProof, run_prove
from elrcheck.proving.step_failure import step_failure
from elrcheck.report.formats import blocks
from elrcheck.report.terminal import Page, open_console
from support.planted_knobs import FAULTS
from support.planted_rules import planted_rule

SMALL = Config(log_slots=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED)

TINY = replace(SMALL, broker_count=2, kills=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scope", "brokers"),
    [("two-brokers", 2), ("three-brokers", 3), ("three-brokers", 4)],  # four need LaggingInQuorum and JoinersCaughtUp
)
def test_kip_full_is_proved(proof_model: Model, scope: str, brokers: int) -> None:
    """Unbounded epochs: no cell is open, and properties without lemmas or on budgets are left out."""
    selection = Selection("kip_full", scope, ("log_slots=1", f"broker_count={brokers}"))
    report = run_prove(ProveRequest(selection, fresh=True), Silent())
    assert report.verdict == "proved"
    assert {cell.verdict for cell in report.cells} == {"proved"}
    assert [s.id for s in report.skipped if s.id not in ("action", "arguments")] == [
        "P-12",
        "P-29",
        "P-31",
        "P-33",
        "P-34",
    ]
    outside = {s.name for s in report.skipped if s.id == "action"}
    assert {"Reassign", "ElectUnclean", "FinishRecovery"} <= outside
    assert [one.name for one in report.initiation] == [TYPES, *(lemma.name for lemma in lemmas_of(proof_model))]
    actions = {cell.action for cell in report.cells}
    assert len(actions) == 29
    also = {
        "Kill",
        "StartControlledShutdown",
        "GrantShutdown",
        "Unregister",
        "AssignDirectories",
        "ElectPreferred",
        "ChangeFeature",
        "ChangeMinIsr",
        "DeleteMinIsr",
        "ChangeBrokerMinIsr",
        "ApplyMetadataFirst",
        "FailDirectory",
        "LoseDirectory",
        "ReportFailedDirectory",
        "ReportNewDirectory",
    }
    assert also <= actions
    assert not actions & outside
    steps = ("P-7", "P-9", "P-14", "P-16", "P-21", "P-24", "P-25", "P-26", "P-27", "P-28", "P-35", "P-36", "P-37")
    assert set(steps) <= {cell.lemma for cell in report.cells}
    assert len(report.implication) == 21
    conditions = {one.id: one.condition for one in report.implication if one.condition}
    backed = "some broker that backed the newest committed record has never lost records"
    assert conditions == {"P-8": backed}
    assert {cell.action for cell in report.cells if cell.lemma == "Types"} == actions
    covered = report.coverage
    assert covered is not None
    assert (covered.properties, covered.actions) == (21 + 13, 29)
    assert covered.all_actions == 29 + len(outside)
    assert [one.rpartition("(")[2] for one in covered.assumed] == ["E-1)", "F-26)", "F-53)"]
    assert (covered.replicas, covered.log_slots) == (tuple(range(brokers)), 1)
    assert {one.name: (one.value, one.variant) for one in covered.settings} == {
        "unclean_recovery_strategy": ("DISABLED", "BALANCED"),
        "metadata": ("LATEST", "LATEST"),
    }
    text = io.StringIO()
    Page(open_console(text)).show(blocks(report))
    printed = text.getvalue()
    claim = f"34 of {covered.all_properties} properties, 29 of {covered.all_actions} actions, 3 assumptions"
    assert printed.splitlines()[-1].startswith(f"PROVED  kip_full: {claim}")
    assert "logs of up to 1 record" in printed and "INCONCLUSIVE" not in printed


@pytest.mark.slow
def test_no_cell_is_vacuous(proof_model: Model) -> None:
    """Every action instance is possible from some state with all lemmas."""
    prover = Prover(Transitions(proof_model, SMALL), proof_model.lemmas, None)
    impossible = [(i.action, i.args) for i in prover.ts.instances if prover.check(prover.open_step(i)) != z3.sat]
    assert impossible == []


@pytest.mark.slow
def test_the_history_of_losses_is_needed(proof_model: Model) -> None:
    """P-8 is false without its condition, and one more loss than min ISR allows breaks P-30."""
    prover = Prover(Transitions(proof_model, TINY), lemmas_of(proof_model), None)
    properties = {fn.ident: fn for fn in proof_model.always}
    assert condition_of(proof_model, properties["P-8"], TINY) is not None
    assert prover.implication(properties["P-8"]).verdict == "proved"
    outright = dataclasses.replace(properties["P-8"], ident="P-8 without its condition")
    assert prover.implication(outright).verdict == "refuted"
    assert prover.implication(properties["P-30"]).verdict == "proved"
    without = Prover(Transitions(proof_model, TINY), proof_model.lemmas, None)
    assert without.implication(properties["P-30"]).verdict == "refuted"


@pytest.mark.slow
def test_lemmas_about_the_history_hold_on_reachable_states(proof_model: Model) -> None:
    """Two brokers of which either may lose its log: every state with every history that leads to it."""
    config = Config(
        broker_count=2,
        log_slots=1,
        records=1,
        acks_one=0,
        fences=0,
        shrinks=0,
        crashes=1,
        unclean_recovery_strategy=RecoveryStrategy.DISABLED,
    )
    plain = PlainModel(proof_model, config)
    first = (plain.initial(), seen_at_first(config))
    reached, todo, lost = {first}, [first], set()
    while todo:
        state, seen = todo.pop()
        lost.add(seen.lost)
        assert all(lemma(config, state, seen) for lemma in LEMMAS)
        for _, after in plain.successors(state):
            successor = (after, seen_after(config, state, after, seen))
            if successor not in reached and plain.within(after):
                reached.add(successor)
                todo.append(successor)
    assert {frozenset({0}), frozenset({1})} <= lost


@pytest.mark.slow
def test_lemmas_hold_on_reachable_states(proof_model: Model) -> None:
    """What is proved is true: the search finds no reachable state without one of the lemmas."""
    as_properties = dataclasses.replace(
        proof_model, always=tuple(_as_property(fn) for fn in proof_model.lemmas), sometimes=()
    )
    config = Config(broker_count=2, log_slots=1, records=1, acks_one=0, fences=0, shrinks=0)
    result = search(as_properties, config)
    assert result.distinct == 1218
    assert result.first == {}


def _as_property(fn: Any) -> Any:
    return dataclasses.replace(fn, kind="always", ident=fn.name)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_refuted(proof_model: Model, fault: str) -> None:
    """A counterexample to induction that the plain model replays."""
    knobs, action, lemma = FAULTS[fault]
    config = dataclasses.replace(SMALL, **knobs)
    prover = Prover(Transitions(proof_model, config), proof_model.lemmas, None)
    plain = PlainModel(proof_model, config)
    fn = next(f for f in proof_model.lemmas if f.name == lemma)
    refuted = []
    for instance in prover.ts.instances:
        if instance.action == action:
            done = prover.consecution(prover.open_step(instance), instance, fn)
            if done is not None and done.verdict == "refuted":
                refuted.append(done)
                assert plain.step(done.before, Label(action, instance.args)) == done.after
                assert all(plain.holds(other, done.before) for other in proof_model.lemmas)
                assert not plain.holds(fn, done.after)
                break
    assert refuted, f"{fault}: {action} keeps {lemma}"


def test_unfaulted_cells_are_proved(proof_model: Model) -> None:
    """The same cells without the fault, so that the test above can fail for the right reason."""
    prover = Prover(Transitions(proof_model, SMALL), proof_model.lemmas, None)
    faulted = {(action, lemma) for _, action, lemma in FAULTS.values()}
    fns = {fn.name: fn for fn in proof_model.lemmas}
    for instance in prover.ts.instances:
        for action, lemma in faulted:
            if instance.action == action:
                done = prover.consecution(prover.open_step(instance), instance, fns[lemma])
                assert done is None or done.verdict == "proved", (action, lemma)


OUTSIDE = {
    "below 0": ("Kill", "s.spent.kills + 1", "s.spent.kills - 1", "spent.kills"),
    "beyond the log": (
        "Produce",
        "len(leader_broker.log) < c.log_slots",
        "len(leader_broker.log) <= c.log_slots",
        "broker[0].log.length",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", OUTSIDE)
def test_a_fault_that_leaves_a_type_is_refuted(proof_model: Model, fault: str) -> None:
    """All obligations assume the types before a step, so `Types` must prove them after it."""
    action, before, after, path = OUTSIDE[fault]
    changed, original, plain = planted_rule(proof_model, action, before, after)
    with planted(original, plain):
        prover = Prover(Transitions(changed, TINY), changed.lemmas, None)
        instance = next(i for i in prover.ts.instances if i.action == action and i.args[0] == 0)
        done = prover.types(prover.open_step(instance), instance)
        assert (done.verdict, path in done.broken) == ("refuted", True)
        failure = step_failure(changed, TINY, instance, None, done)
    assert failure.replayed and failure.conjunct is not None and path in failure.conjunct


@pytest.mark.slow
def test_what_no_configuration_enables_is_said(proof_model: Model) -> None:
    """A fault in a step that the configuration excludes is not refuted: the claim must exclude the step."""
    usual = "appended(c, s.settings, leader_broker, leader, entry)"
    lifted = f"replace({usual}, high_watermark=len(leader_broker.log) + 1)"
    changed, original, plain = planted_rule(
        proof_model, "Produce", usual, f"{lifted} if acks == Acks.ZERO else {usual}"
    )
    with planted(original, plain):
        without = Transitions(changed, TINY)
        rows = {one.name: one.reason for one in skipped(changed, without, ())}
        assert "the scope has writes with acks=0" in rows["Produce(acks=ZERO)"]
        prover = Prover(Transitions(changed, replace(TINY, acks_zero=1)), changed.lemmas, None)
        instance = next(i for i in prover.ts.instances if i.args == (0, Acks.ZERO))
        lemma = next(fn for fn in changed.lemmas if fn.name == "WatermarkCommitted")
        contenders = next(fn for fn in changed.lemmas if fn.name == "ContendersComplete")
        solver = prover.open_step(instance)
        answers = [prover.consecution(solver, instance, fn) for fn in (lemma, contenders)]
    assert "refuted" in [answer.verdict for answer in answers if answer is not None]


@pytest.mark.parametrize("knobs", [{}, {"acks_zero": 1, "elections": 1, "feature_changes": 1}])
def test_every_step_is_covered_or_left_out_by_name(proof_model: Model, knobs: dict[str, Any]) -> None:
    """Every action with every choice of arguments has obligations, or its exclusion is in the report."""
    config = replace(TINY, **knobs)
    transitions = Transitions(proof_model, config)
    rows = skipped(proof_model, transitions, ())
    claimed = coverage(proof_model, transitions, 0)
    assert claimed.choices + len(transitions.excluded) == claimed.all_choices
    inside = {instance.action for instance in transitions.instances}
    assert {row.name for row in rows if row.id == "action"} == {fn.name for fn in proof_model.actions} - inside
    partly = {row.name.partition("(")[0] for row in rows if row.id == "arguments"}
    assert partly == {one.action for one in transitions.excluded} & inside
    assert all("`" in row.reason for row in rows)


def test_timeout_is_inconclusive(proof_model: Model) -> None:
    """An obligation the solver gives up on is unknown, and the proof inconclusive, never proved."""
    proof = InductionProof(proof_model, replace(SMALL, broker_count=1, min_isr=1), [], 0.000001, Silent())
    report = proof.run("kip_full")
    assert report.verdict == "inconclusive"
    assert any(cell.verdict == "unknown" and cell.reason for cell in report.cells)


@pytest.mark.slow  # test_kip_full_is_proved takes all processors, too
def test_two_processes_prove_what_one_proves(proof_model: Model) -> None:
    """The same cells with the same verdicts and counterexamples, with a fault that breaks some of them."""
    config = dataclasses.replace(SMALL, broker_count=2, strict_hwm=False)
    proof = InductionProof(proof_model, config, [], 60.0, Silent())
    one, two = proof.run("kip_full"), proof.run("kip_full", 2)
    assert [(c.action, c.lemma, c.verdict) for c in one.cells] == [(c.action, c.lemma, c.verdict) for c in two.cells]
    assert one.verdict == two.verdict == "refuted"
    broken = [cell for cell in two.cells if cell.verdict == "refuted"]
    assert all(cell.failure is not None and cell.failure.replayed for cell in broken)
