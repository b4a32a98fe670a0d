"""What a proof is about: steps that never fire, assumptions that exclude too much, faults of the terms."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import z3

from elrcheck.base.errors import ExitCode
from elrcheck.base.progress import Silent
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proof import transition
from elrcheck.proof.certificate import CertifiedGoal
from elrcheck.proof.hypotheses import lemmas_of, must_be_possible
from elrcheck.proof.obligations import TYPES, Prover
from elrcheck.proof.second_solver import Z3
from elrcheck.proof.smt_text import SmtText
from elrcheck.proof.transition import SymbolicStep, Transitions
from elrcheck.proving.possible_steps import what_is_possible
from elrcheck.proving.prove import InductionProof
from elrcheck.report.documents.proof_document import prove_blocks
from elrcheck.report.terminal import Page, open_console
from elrcheck.results.prove_report import PossibleReport, ProveReport
from elrcheck.traces.replay import ReplayError
from support.planted_rules import planted_rule

TINY = Config(
    log_slots=1,
    unclean_recovery_strategy=RecoveryStrategy.DISABLED,
    broker_count=2,
    kills=1,
    feature_changes=1,
    min_isr_changes=1,
)
ALONE = replace(TINY, broker_count=1, min_isr=1, feature_changes=0, min_isr_changes=0)


def possible_report(model: Model, config: Config = TINY) -> PossibleReport:
    prover = Prover(Transitions(model, config, any_order=True), lemmas_of(model), 60.0)
    return what_is_possible(prover, Silent())


def proved(model: Model) -> ProveReport:
    return InductionProof(model, ALONE, [], 60.0, Silent()).run("kip_full")


def printed(report: ProveReport) -> str:
    text = io.StringIO()
    Page(open_console(text)).show(prove_blocks(report))
    return text.getvalue()


@pytest.mark.slow
def test_nothing_is_excluded(proof_model: Model) -> None:
    report = possible_report(proof_model)
    assert report.impossible == ()
    assert report.asked == 27 + 10, "instances, and what is allowed of this configuration"
    assert report.replayed > report.asked, "each step, and its renamings"


@pytest.mark.slow
def test_a_step_that_never_fires_is_not_proved(proof_model: Model) -> None:
    """Its guard contradicts the lemmas, so that all obligations about it hold."""
    changed, original, plain = planted_rule(
        proof_model, "Kill", "broker.status != Status.OFFLINE", "broker.high_watermark > len(broker.log)"
    )
    with planted(original, plain):
        report = proved(changed)
    assert {cell.verdict for cell in report.cells} == {"proved"}
    assert (report.verdict, report.exit_code) == ("inconclusive", ExitCode.INCONCLUSIVE)
    assert report.possible is not None
    assert [one.statement for one in report.possible.impossible] == ["Kill(b=0) can never fire where the lemmas hold"]
    text = printed(report)
    assert "INCONCLUSIVE  Kill(b=0) can never fire where the lemmas hold" in text
    assert "1 step that must be possible cannot be shown to be" in text


@pytest.mark.slow
@pytest.mark.parametrize(("action", "guard"), [("Fetch", "f != leader"), ("Kill", "broker.status != Status.OFFLINE")])
def test_an_action_without_any_choice_left(proof_model: Model, action: str, guard: str) -> None:
    """Its guard is false by itself: the terms leave no choice of arguments, and no setting says so."""
    changed, original, plain = planted_rule(proof_model, action, guard, "s.partition != s.partition")
    with planted(original, plain):
        report = possible_report(changed)
    assert [one.name for one in report.impossible] == [action]
    assert "whatever the configuration" in report.impossible[0].statement


def test_an_excluded_action_with_a_reason(proof_model: Model) -> None:
    """No budget for kills, and one broker alone, which fetches from no other."""
    assert possible_report(proof_model, replace(ALONE, kills=0)).impossible == ()


# fault -> (function, expression, what it becomes, the predicates that notice it)
TOO_MUCH = {
    "A1 ELR is never switched on": (
        "SwitchedOnWithLeader",
        "s.partition.leader is None",
        "True",
        ["ChangeFeature(enabled=true)", "SwitchedOn"],
    ),
    "A2 nobody registers while ELR is off": (
        "LastReplicaStopsCleanly",
        "uncleanly(s, b)",
        "True or uncleanly(s, b)",
        ["RegistersCleanly"],
    ),
    "A2 nor with other members": (
        "LastReplicaStopsCleanly",
        "s.partition.isr == frozenset({b})",
        "b in c.brokers",
        ["RegistersAmongOthers"],
    ),
    "A3 no ISR is granted": (
        "ReadBeforeGrant",
        "granted_now(s, t, b) and not enough(c, s, s.broker[b].alter.isr)"
        " and takes_for_enough(c, s, b, s.broker[b].alter.isr)",
        "granted_now(s, t, b)",
        ["GrantedEnough", "GrantedLess"],
    ),
    "A3 none that the leader takes for enough": (
        "ReadBeforeGrant",
        "not enough(c, s, s.broker[b].alter.isr)",
        "True",
        ["GrantedEnough"],
    ),
    "A3 nor a smaller one": (
        "ReadBeforeGrant",
        "takes_for_enough(c, s, b, s.broker[b].alter.isr)",
        "True",
        ["GrantedLess"],
    ),
    "S1 every crash is a loss": (
        "Crash",
        "{b} if keep < len(broker.log) else EMPTY",
        "frozenset({b})",
        ["CrashWithoutLoss"],
    ),
    "S3 the condition of P-8 is false after a commit": (
        "FewLosses",
        "not seen.backers <= seen.lost",
        "not seen.backers <= seen.lost and len(s.committed) == 0",
        ["BackedCommit"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", TOO_MUCH)
def test_what_excludes_too_much_is_noticed(proof_model: Model, fault: str) -> None:
    function, before, after, noticed = TOO_MUCH[fault]
    changed, original, plain = planted_rule(proof_model, function, before, after)
    with planted(original, plain):
        report = possible_report(changed)
    assert [one.name for one in report.impossible] == noticed
    assert all(one.verdict == "never" and one.source for one in report.impossible)


@pytest.mark.slow
def test_each_assumption_names_steps_that_it_allows(proof_model: Model) -> None:
    transitions = Transitions(proof_model, TINY, assumed=("complete-winners",))
    named = [(fn, assumption) for fn, assumption in must_be_possible(proof_model, transitions.assumptions)]
    assert {fn.name for fn in transitions.assumptions} == {by.name for _, by in named if by is not None}
    assert {fn.name for fn, _ in named if fn.is_step} == {step.__name__ for step in proof_model.induction.actions}


def test_an_undecided_step_is_not_proved(proof_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prover, "check", lambda *_: z3.unknown)
    report = possible_report(proof_model, ALONE)
    assert len(report.impossible) == report.asked
    assert {one.verdict for one in report.impossible} == {"unknown"}


# ------------------------------------------------------------------------- faults of the terms


def without_effect(transitions: Transitions, instance: SymbolicStep) -> SymbolicStep:
    """The step as a stutter, for the solver alone."""
    now = dict(zip(map(str, flat(transitions.next_scalars)), flat(transitions.scalars), strict=True))
    becomes = tuple((name, now.get(str(name), term)) for name, term in instance.becomes)
    return replace(instance, after=transitions.now, becomes=becomes)


def flat(scalars: list[Any]) -> list[Any]:
    return [term for scalar in scalars for term in (scalar if isinstance(scalar, list) else [scalar])]


def stronger_guard(transitions: Transitions, instance: SymbolicStep) -> SymbolicStep:
    """The solver's step needs what the rule does not ask for."""
    more = transitions.holds(transitions.model.fns["led"], transitions.now)
    less = z3.And(instance.guard, z3.Not(more))
    return replace(instance, guard=less, enabled=z3.And(instance.enabled, more))


@pytest.mark.parametrize("fault", [without_effect, stronger_guard])
def test_terms_that_are_not_the_rules(
    proof_model: Model, fault: Callable[[Transitions, SymbolicStep], SymbolicStep]
) -> None:
    """G4: a crash that changes nothing, for the solver alone; all obligations of it would be proved."""
    transitions = Transitions(proof_model, ALONE, any_order=True)
    transitions.instances = [fault(transitions, one) if one.action == "Crash" else one for one in transitions.instances]
    with pytest.raises(ReplayError, match="Crash"):
        what_is_possible(Prover(transitions, lemmas_of(proof_model), 60.0), Silent())


@pytest.mark.slow
def test_a_rule_that_names_a_broker_is_no_renaming(proof_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """G6: everything counts as equivariant. The proof finds out; a certificate asks about each broker."""
    faulty = "s.spent.kills - 1 if b == 1 else s.spent.kills + 1"
    changed, original, plain = planted_rule(proof_model, "Kill", "s.spent.kills + 1", faulty)
    monkeypatch.setattr(transition.Equivariance, "holds", lambda *_: True)
    with planted(original, plain):
        transitions = Transitions(changed, TINY, any_order=True)
        transitions.instances = [one for one in transitions.instances if one.action == "Kill"]
        assert [one.args for one in transitions.instances] == [(0,)]
        prover = Prover(transitions, lemmas_of(changed), 60.0)
        with pytest.raises(ReplayError, match="renamed"):
            what_is_possible(prover, Silent())
        text, answers = SmtText(prover, ()), []
        for _, one in transitions.every_choice():
            assert isinstance(one, SymbolicStep)
            solver = Z3(60.0)
            *assumed, push, goal, question, _ = text.consecution(one, [CertifiedGoal(name=TYPES)]).splitlines()
            solver.read((*text.premises().splitlines(), *assumed))
            answers.append(solver.ask((push, goal, question)).verdict)
    assert answers == ["unsat", "sat"]


def test_the_types_after_a_step_are_one_substitution(proof_model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each scalar took most of the time of a proof with stored answers. Part by part it is the same."""
    prover = Prover(Transitions(proof_model, TINY, any_order=True), lemmas_of(proof_model), 60.0)
    instance = next(one for one in prover.ts.instances if one.action == "Fetch")
    parts = [z3.substitute(part, *instance.becomes) for _, part in prover.typed]
    assert len(parts) > 50
    substitute, calls = z3.substitute, []
    monkeypatch.setattr(z3, "substitute", lambda term, *pairs: calls.append(term) or substitute(term, *pairs))
    within = prover.formula(instance, TYPES).children()
    assert len(calls) == 1
    assert all(one.eq(part) for one, part in zip(within, parts, strict=True))
