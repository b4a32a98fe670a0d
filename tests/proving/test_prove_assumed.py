"""Proofs under an assumption on steps: it is said, it is needed, and it hides no fault of what it admits."""

from __future__ import annotations

import io
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import CertificateRequest, ProveRequest
from elrcheck.base.requests import ProofAssumption, Selection
from elrcheck.catalogue.proof_settings import proof_settings
from elrcheck.invariants.lemmas.lemmas_recovery import ASSUMPTIONS
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proof.certificate import read_manifest
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import TYPES, Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.check_certificate import run_check_certificate
from elrcheck.proving.prove import run_prove
from elrcheck.report.documents.proof_document import prove_sheet
from elrcheck.report.formats import blocks
from elrcheck.report.terminal import Page, open_console
from support.edits import replaced
from support.planted_rules import planted_rule

ONE = Selection("kip_full", "two-brokers", ("log_slots=1", "broker_count=1", "min_isr=1"))
KIP = Config(
    broker_count=2, log_slots=1, unclean_recovery_strategy=RecoveryStrategy.AGGRESSIVE, unclean_elections=1, failovers=1
)
CODE = replace(KIP, unclean_recovery_strategy=RecoveryStrategy.DISABLED, unclean_leader_election_enable=True)
NAMES = ("complete-winners",)


def refuted(prover: Prover, action: str, *goals: str) -> set[str]:
    """The goals that some step of the action breaks; the plain model agrees."""
    broken = set()
    instances = [one for one in prover.ts.instances if one.action == action]
    assert instances
    for goal in goals:
        for instance in instances:
            solver = prover.open_step(instance)
            if goal == TYPES:
                done: Any = prover.types(solver, instance)
            else:
                done = prover.consecution(solver, instance, prover.goals[goal])
            if done is not None and done.verdict == "refuted":
                broken.add(goal)
                plain = PlainModel(prover.ts.model, prover.ts.config)
                after = plain.step(done.before, Label(action, instance.args))
                assert done.broken or after == done.after
                break
    return broken


def test_every_name_is_an_assumption() -> None:
    assert set(get_args(ProofAssumption)) == set(ASSUMPTIONS) == set(proof_settings().assumed)
    assert get_args(ProofAssumption) == NAMES


@pytest.mark.slow
def test_the_headline_and_the_certificate_say_what_is_assumed(tmp_path: Path) -> None:
    """One broker; unclean elections and recoveries are covered, and the claim names its condition."""
    folder = tmp_path / "certificate"
    report = run_prove(ProveRequest(ONE, workers=1, certificate=folder, assumed=NAMES), Silent())  # type: ignore[arg-type]
    assert report.verdict == "proved"
    assert {"FinishRecovery", "DesignateLeader", "ElectUnclean"} <= {cell.action for cell in report.cells}
    (assumption,) = report.assumptions
    assert assumption.name == "complete-winners" and "lemmas_recovery.py" in str(assumption.source)
    claim = f"under the assumption that {assumption.statement}"
    text = io.StringIO()
    Page(open_console(text)).show(blocks(report))
    assert claim in " ".join(text.getvalue().split())
    assert claim in prove_sheet(report).summary
    assert read_manifest(folder).assumptions == NAMES
    checked = run_check_certificate(CertificateRequest(folder, workers=1), Silent())
    assert (checked.verdict, checked.assumptions) == ("fits", NAMES)


@pytest.mark.slow
def test_a_certificate_is_of_its_assumption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the assumption taken out of the manifest, its texts are not those of this source."""
    folder = tmp_path / "certificate"
    run_prove(ProveRequest(ONE, workers=1, certificate=folder, assumed=NAMES), Silent())  # type: ignore[arg-type]
    monkeypatch.setattr(digests, "rules", lambda: "of another source")
    assert run_check_certificate(CertificateRequest(folder, workers=1), Silent()).verdict == "fits"
    manifest = folder / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(replaced(text, '"complete-winners"', ""))
    assert run_check_certificate(CertificateRequest(folder, workers=1), Silent()).verdict == "differs"
    manifest.write_text(replaced(text, "complete-winners", "good-luck"))
    with pytest.raises(UsageFault, match="no assumption `good-luck`"):
        run_check_certificate(CertificateRequest(folder, workers=1), Silent())


CONTENDERS = ("ContendersComplete", "FollowedLeaderComplete")

# configuration -> action -> (expression, what a fault makes of it, what that breaks)
FAULTS: dict[Config, dict[str, tuple[str, str, str]]] = {
    CODE: {
        "ElectUnclean": (
            "decided.controller.partition",
            "replace(decided.controller.partition, elr=frozenset(c.brokers))",
            "ControllerRecord",
        ),
        "DesignateLeader": (
            "decided.controller.partition",
            "replace(decided.controller.partition, leader_epoch=s.partition.leader_epoch)",
            "ViewCurrent",
        ),
        "ElectUncleanPeriodically": (
            "partition_changed(c, s, decided.controller.partition)",
            "partition_changed(c, s, replace(decided.controller.partition, leader_epoch=s.partition.leader_epoch))",
            "ViewCurrent",
        ),
    },
    KIP: {
        "StartRecovery": ("may_start(c, controller_of(s), c.unclean_recovery_strategy)", "True", "RecoveryWaits"),
        "AskForLongestLog": (
            "decided.error == Error.NONE",
            "decided.error != Error.UNSUPPORTED_VERSION",
            "RecoveryWaits",
        ),
        "SendLogInfo": ("len(broker.log)", "len(broker.log) + 1", TYPES),
        "AcceptLogInfo": (
            "put(s.recovery.answers, b, replace(info, stage=InfoStage.ACCEPTED))",
            "put(s.recovery.answers, b, replace(info, log_end_offset=info.log_end_offset + 1))",
            TYPES,
        ),
        "RecoveryTimeout": (
            "replace(s, recovery=replace(s.recovery, waited=True))",
            "replace(s, partition=replace(s.partition, isr=frozenset(c.brokers)))",
            "ControllerRecord",
        ),
        "FinishRecovery": (
            "decided.controller.partition",
            "replace(decided.controller.partition, isr=answered)",
            "ContendersComplete",
        ),
        "ControllerFailover": ("s.spent.failovers + 1", "s.spent.failovers - 1", TYPES),
    },
}
BY_NAME = pytest.mark.parametrize("config", [CODE, KIP], ids=["code", "kip"])


@pytest.mark.slow
@BY_NAME
def test_without_the_assumption_it_is_refuted(proof_model: Model, config: Config) -> None:
    without = Prover(Transitions(proof_model, config), lemmas_of(proof_model), None)
    actions = [name for name in FAULTS[config] if name.startswith(("Elect", "Designate", "Finish"))]
    for action in actions:
        assert refuted(without, action, *CONTENDERS) == set(CONTENDERS), action


@pytest.mark.slow
@BY_NAME
def test_faults_are_refuted_under_the_assumption(proof_model: Model, config: Config) -> None:
    """Whoever wins is complete, and still each fault shows; without it the same step keeps the same goal."""
    prover = Prover(Transitions(proof_model, config, assumed=NAMES), lemmas_of(proof_model), None)
    with ExitStack() as stack:
        changed = proof_model
        for action, (before, after, _) in FAULTS[config].items():
            changed, original, plain = planted_rule(changed, action, before, after)
            stack.enter_context(planted(original, plain))
        faulty = Prover(Transitions(changed, config, assumed=NAMES), lemmas_of(changed), None)
        for action, (_, _, goal) in FAULTS[config].items():
            assert refuted(faulty, action, goal) == {goal}, action
            assert refuted(prover, action, goal, *CONTENDERS) == set(), action


@pytest.mark.slow  # three brokers: 35 instances
def test_unclean_elections_and_recoveries_are_proved_under_the_assumption() -> None:
    selection = Selection("kip_full", "three-brokers", ("log_slots=1",))
    report = run_prove(ProveRequest(selection, assumed=NAMES), Silent())  # type: ignore[arg-type]
    assert report.verdict == "proved"
    assert report.coverage is not None and report.coverage.actions == 30
    without = tuple(
        f"{name}={getattr(value, 'name', value)}"
        for name, value in proof_settings().assumed["complete-winners"].items()
    )
    selection = Selection("kip_full", "three-brokers", ("log_slots=1", *without))
    open_ = {
        (cell.action, cell.lemma)
        for cell in run_prove(ProveRequest(selection), Silent()).cells
        if cell.verdict == "refuted"
    }
    assert {"FinishRecovery", "DesignateLeader", "ElectUnclean"} == {action for action, _ in open_}
