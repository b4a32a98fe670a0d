"""Proofs with reassignments: faults of their rules are refuted, and nothing is open without them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planted_rules import planted_rule, refuted

from elrcheck.base.progress import Silent
from elrcheck.base.requests import ProveRequest, Selection
from elrcheck.commands.prove.prove import run_prove
from elrcheck.invariants.lemmas_changes import ASSUMPTIONS, StillAdding
from elrcheck.invariants.modules import condition_of, lemmas_of, load_proof_model
from elrcheck.invariants.proof.obligations import Prover
from elrcheck.invariants.proof.transition import Transitions
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.state import Acks

TWO = Config(
    broker_count=2, log_slots=1, reassignments=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED
)
ALONE = (
    "min_isr_changes=0", "feature_changes=0", "late_answers=0", "directory_failures=0", "directory_losses=0",
)  # fmt: skip


@pytest.fixture(scope="module")
def model() -> Model:
    return load_proof_model()


def test_faults_of_reassignments_are_refuted(model: Model) -> None:
    """F-20: an eligible broker that is no replica; and a removal of a replica within a leader epoch."""
    right = Prover(Transitions(model, TWO), lemmas_of(model), None)
    wrong = Prover(Transitions(model, replace(TWO, elr_intersect_replicas=False)), lemmas_of(model), None)
    assert refuted(wrong, "Reassign", "ReplicasListed")
    assert not refuted(right, "Reassign", "ReplicasListed")
    changed, original, plain = planted_rule(
        model,
        "Reassign",
        "partition_changed(c, s, decision.partition)",
        "partition_changed(c, s, replace(decision.partition, leader_epoch=s.partition.leader_epoch))",
    )
    with planted(original, plain):
        wrong = Prover(Transitions(changed, TWO), lemmas_of(changed), None)
        assert refuted(wrong, "Reassign", "ViewReplicas")
    assert not refuted(right, "Reassign", "ViewReplicas")


def test_a_deleted_log_counts_as_lost(model: Model) -> None:
    """With reassignments P-30 is proved under the condition of P-8; without, outright."""
    properties = {fn.ident: fn for fn in model.always}
    without = replace(TWO, reassignments=0)
    assert condition_of(model, properties["P-30"], TWO) == condition_of(model, properties["P-8"], without)
    assert condition_of(model, properties["P-30"], without) is None


def test_what_is_assumed_of_new_targets_is_needed(model: Model) -> None:
    """P-25, one copy of an acknowledged record: the leader counts a replica removed and added again."""
    config = replace(TWO, broker_count=3, records=1, shrinks=1, reassignments=3)
    plain = PlainModel(model, config)
    acknowledged = next(fn for fn in model.always if fn.ident == "P-25")
    state, left, broken = plain.initial(), [], []
    for action, *args in (
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
    ):
        after = plain.step(state, Label(action, tuple(args)))
        assert all(fn(config, state, after) for fn in ASSUMPTIONS if fn is not StillAdding)
        left.append(not StillAdding(config, state, after))
        broken.append(not acknowledged.source(config, state, after))
        state = after
    assert plain.within(state)
    assert left == [False] * 8 + [True, False, False]
    assert broken == [False] * 10 + [True]
    assert [len(broker.log) for broker in state.broker] == [1, 0, 0]


@pytest.mark.slow  # three brokers
def test_reassignments_are_proved() -> None:
    settings = ("log_slots=1", "reassignments=1", *ALONE)
    report = run_prove(ProveRequest(Selection("kip_full", "three-brokers", settings)), Silent())
    assert report.verdict == "proved"
    assert {"Reassign", "CancelReassignment"} <= {cell.action for cell in report.cells}
    assert {one.id for one in report.implication if one.condition} == {"P-8", "P-30"}
