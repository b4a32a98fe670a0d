"""Proofs with log directories that fail and are lost: faults planted in these actions are refuted."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from dataclasses import replace

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.explorer.search.reference import search
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.model.choices import LostDirectory, RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.prove import run_prove
from support.planted_rules import planted_rule, refuted

SMALL = Config(
    broker_count=2,
    log_slots=1,
    directory_failures=1,
    directory_losses=1,
    unclean_recovery_strategy=RecoveryStrategy.DISABLED,
)

# action -> (expression, what a fault makes of it, the lemma that breaks)
FAULTS = {
    "FailDirectory": ("s.lossy | ({b} if len(broker.log) > 0 else EMPTY)", "s.lossy", "ContendersComplete"),
    "LoseDirectory": ("s.lossy | ({b} if len(broker.log) > 0 else EMPTY)", "s.lossy", "ContendersComplete"),
    "ReportFailedDirectory": ("decided.controller.partition", "s.partition", "ControllerRecord"),
    "ReportNewDirectory": ("decided.controller.partition", "s.partition", "ControllerRecord"),
}


@pytest.mark.slow
def test_faults_of_directories_are_refuted(proof_model: Model) -> None:
    right = Prover(Transitions(proof_model, SMALL), lemmas_of(proof_model), None)
    with ExitStack() as stack:
        changed = proof_model
        for action, (before, after, _) in FAULTS.items():
            changed, original, plain = planted_rule(changed, action, before, after)
            stack.enter_context(planted(original, plain))
        wrong = Prover(Transitions(changed, SMALL), lemmas_of(changed), None)
        for action, (_, _, goal) in FAULTS.items():
            assert refuted(wrong, action, goal), action
            assert not refuted(right, action, goal), action


@pytest.mark.slow
def test_a_clean_file_without_the_directory_is_refuted(proof_model: Model) -> None:
    """The rule of the releases, F-52: a registration vouches for a log that was in a dropped directory."""
    released = replace(SMALL, lost_directory=LostDirectory.IGNORED)
    prover = Prover(Transitions(proof_model, released), lemmas_of(proof_model), None)
    assert refuted(prover, "Register", "ContendersComplete")
    prover = Prover(Transitions(proof_model, SMALL), lemmas_of(proof_model), None)
    assert not refuted(prover, "Register", "ContendersComplete")


def test_lemmas_hold_where_directories_are_lost(proof_model: Model) -> None:
    """On every reachable state of one broker, whose directory fails, or is dropped or replaced."""
    lemmas = tuple(dataclasses.replace(fn, kind="always", ident=fn.name) for fn in proof_model.lemmas)
    config = replace(
        SMALL, broker_count=1, min_isr=1, records=1, acks_one=0, fences=0, shrinks=0, crashes=0, clean_stops=2
    )
    result = search(dataclasses.replace(proof_model, always=lemmas, sometimes=()), config)
    assert result.first == {}
    assert result.distinct > 300


@pytest.mark.slow  # three brokers: 33 instances
def test_failures_and_losses_of_directories_are_proved() -> None:
    report = run_prove(ProveRequest(Selection("kip_full", "three-brokers", ("log_slots=1",))), Silent())
    assert report.verdict == "proved"
    assert set(FAULTS) <= {cell.action for cell in report.cells}
