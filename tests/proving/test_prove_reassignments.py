"""Proofs with reassignments: faults of their rules are refuted, and nothing is open without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.invariants.acknowledgements import acked_now
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import put
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.state import Acks, State
from elrcheck.proof.hypotheses import condition_of, lemmas_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.prove import run_prove
from support.planted_rules import planted_rule, refuted

TWO = Config(broker_count=2, log_slots=1, reassignments=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED)
ALONE = ("min_isr_changes=0", "feature_changes=0", "late_answers=0", "directory_failures=0", "directory_losses=0")


@pytest.mark.slow
def test_faults_of_reassignments_are_refuted(proof_model: Model) -> None:
    """F-20: an eligible broker that is not a replica; and a removal of a replica within a leader epoch."""
    right = Prover(Transitions(proof_model, TWO), lemmas_of(proof_model), None)
    wrong = Prover(Transitions(proof_model, replace(TWO, elr_intersect_replicas=False)), lemmas_of(proof_model), None)
    assert refuted(wrong, "Reassign", "ReplicasListed")
    assert not refuted(right, "Reassign", "ReplicasListed")
    changed, original, plain = planted_rule(
        proof_model,
        "Reassign",
        "decided.controller.partition",
        "replace(decided.controller.partition, leader_epoch=s.partition.leader_epoch)",
    )
    with planted(original, plain):
        wrong = Prover(Transitions(changed, TWO), lemmas_of(changed), None)
        assert refuted(wrong, "Reassign", "ViewReplicas")
    assert not refuted(right, "Reassign", "ViewReplicas")


def test_a_deleted_log_counts_as_lost(proof_model: Model) -> None:
    """With reassignments P-30 is proved under the condition of P-8; without, outright."""
    properties = {fn.ident: fn for fn in proof_model.always}
    without = replace(TWO, reassignments=0)
    assert condition_of(proof_model, properties["P-30"], TWO) == condition_of(proof_model, properties["P-8"], without)
    assert condition_of(proof_model, properties["P-30"], without) is None


REMOVED_AND_ADDED = (
    ("Produce", 0, Acks.ALL),
    ("Fetch", 1, 0, False),
    ("Fetch", 1, 0, False),
    ("ShrinkIsr", 0, frozenset({2})),
    ("ControllerAlters", 0),
    ("Reassign", frozenset({0})),
    ("ApplyMetadata", 1),
    ("Reassign", frozenset({0, 1})),
    ("Reassign", frozenset({0, 1, 2})),
    ("ApplyMetadata", 1),
    ("LeaderLearns", 0),
)
"""The leader, which lags, counts a replica that was removed and added again; nobody is adding it any more."""
STILL_ADDED = tuple(step for step in REMOVED_AND_ADDED if step[0] not in ("Reassign", "ApplyMetadata"))


def before_the_answer(model: Model, config: Config, *steps: tuple[Any, ...]) -> State:
    """The state after all of the steps but the last."""
    plain = PlainModel(model, config)
    state = plain.initial()
    for action, *args in steps[:-1]:
        state = plain.step(state, Label(action, tuple(args)))
    return state


def acknowledged(model: Model, config: Config, state: State) -> tuple[bool, bool]:
    """Whether 0 acknowledges its record as it reads the answer, and whether P-25 allows that."""
    durable = next(fn for fn in model.always if fn.ident == "P-25")
    after = PlainModel(model, config).step(state, Label("LeaderLearns", (0,)))
    return acked_now(config, state, after, 0, 0), bool(durable.source(config, state, after))


def test_a_replica_that_was_removed_had_stored_the_record(proof_model: Model) -> None:
    """P-25 with one copy left: 1 had stored the record, before it was told to delete its log."""
    config = replace(TWO, broker_count=3, records=1, shrinks=1, reassignments=3)
    state = before_the_answer(proof_model, config, *REMOVED_AND_ADDED)
    assert [len(broker.log) for broker in state.broker] == [1, 0, 0]
    assert state.partition.replicas == (0, 1, 2) and state.partition.adding == frozenset({2})
    assert state.broker[1].view.replicas == frozenset({0, 1, 2})
    assert acknowledged(proof_model, config, state) == (True, True)


def test_a_replica_that_stayed_has_to_hold_the_record(proof_model: Model) -> None:
    """P-25 is false if 1 lacks what it acknowledged without a removal, or if the leader could know."""
    config = replace(TWO, broker_count=3, records=1, shrinks=1, reassignments=3)
    state = before_the_answer(proof_model, config, *STILL_ADDED)
    assert acknowledged(proof_model, config, state) == (True, True)
    cut = replace(state, broker=put(state.broker, 1, replace(state.broker[1], log=())))
    assert acknowledged(proof_model, config, cut) == (True, False)
    removed = before_the_answer(proof_model, config, *REMOVED_AND_ADDED)
    back = replace(removed, partition=replace(removed.partition, isr=frozenset({0, 1})))
    assert acknowledged(proof_model, config, back) == (True, False)
    assert acknowledged(proof_model, replace(config, reassignments=0), removed) == (True, False)


@pytest.mark.slow  # three brokers
def test_reassignments_are_proved() -> None:
    settings = ("log_slots=1", "reassignments=1", *ALONE)
    report = run_prove(ProveRequest(Selection("kip_full", "three-brokers", settings)), Silent())
    assert report.verdict == "proved"
    assert {"Reassign", "CancelReassignment"} <= {cell.action for cell in report.cells}
    assert report.coverage is not None and report.coverage.assumed == ()
    assert {one.id for one in report.implication if one.condition} == {"P-8", "P-30"}
