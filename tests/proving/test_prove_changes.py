"""Proofs with changes by operators: what they assume is needed, and planted faults are refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import z3

from elrcheck.invariants.lemmas.lemmas_changes import (
    ASSUMPTIONS,
    LastReplicaStopsCleanly,
    ReadBeforeGrant,
    SwitchedOnWithLeader,
)
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.choices import MinIsrChange, RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import MinIsrLevel
from elrcheck.model.state import Acks
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from support.planted_rules import planted_rule

TWO = Config(broker_count=2, log_slots=1, records=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED, fences=2)

CHANGES = replace(TWO, feature_changes=1, min_isr_changes=1, late_answers=1)


def story(model: Model, config: Config, *steps: tuple[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The properties of states that are false at the end, and for each step the assumptions it is not in."""
    plain = PlainModel(model, config)
    state, left = plain.initial(), []
    for action, *args in steps:
        after = plain.step(state, Label(action, tuple(args)))
        left.append([fn.__name__ for fn in ASSUMPTIONS if not fn(config, state, after)])
        state = after
    assert plain.within(state)
    return [fn.ident for fn in model.always if not fn.is_step and not plain.holds(fn, state)], left


COMMITTED = (("Produce", 0, Acks.ALL), ("Fetch", 1, 0, False), ("Fetch", 1, 0, False))
LAST_REPLICA = (
    *COMMITTED,
    ("ChangeFeature", False),
    ("Fence", 1),
    ("Crash", 0, 0),
    ("Fence", 0),
    ("Start", 0),
    ("Register", 0),
    ("ApplyMetadata", 0),
    ("Unfence", 0),
)


def test_without_elr_the_last_replica_leads_after_it_lost_its_log(proof_model: Model) -> None:
    """E-1: only the registration of the last ISR member is outside what is assumed."""
    broken, left = story(proof_model, replace(TWO, feature_changes=1), *LAST_REPLICA)
    assert {"P-1", "P-2"} <= set(broken)
    assert left == [[]] * 8 + [[LastReplicaStopsCleanly.__name__], [], []]


def test_elr_switched_on_without_a_leader(proof_model: Model) -> None:
    """F-26: a fenced ISR member while ELR is on."""
    steps = (("ChangeFeature", False), ("Fence", 1), ("Fence", 0), ("ChangeFeature", True))
    broken, left = story(proof_model, replace(TWO, feature_changes=2), *steps)
    assert broken == ["P-18", "P-19"]
    assert left == [[], [], [], [SwitchedOnWithLeader.__name__]]


def test_an_isr_granted_by_a_value_that_the_leader_has_not_read(proof_model: Model) -> None:
    """F-53: min ISR is raised while the request is under way; the leader commits with two of three."""
    config = replace(TWO, broker_count=3, shrinks=1, min_isr_changes=1)
    broken, left = story(
        proof_model,
        config,
        ("Produce", 0, Acks.ALL),
        ("ShrinkIsr", 0, frozenset({2})),
        ("ChangeMinIsr", MinIsrLevel.TOPIC, 3),
        ("ControllerAlters", 0),
        ("LeaderLearns", 0),
        ("Fetch", 1, 0, False),
        ("Fetch", 1, 0, False),
    )
    assert {"P-2", "P-3", "P-13"} <= set(broken)
    assert left == [[], [], [], [ReadBeforeGrant.__name__], [], [], []]


@pytest.fixture(scope="module")
def sound(proof_model: Model) -> Prover:
    return Prover(Transitions(proof_model, CHANGES), lemmas_of(proof_model), None)


def refuted(prover: Prover, action: str, lemma: str) -> bool:
    """Whether some step of the action breaks the lemma; every other cell is proved."""
    cells = [
        prover.consecution(prover.open_step(instance), instance, prover.goals[lemma])
        for instance in prover.ts.instances
        if instance.action == action
    ]
    verdicts = {cell.verdict for cell in cells if cell is not None}
    assert verdicts <= {"proved", "refuted"}
    return "refuted" in verdicts


# fault -> (knobs, action, lemma that it breaks)
FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "an ELR from before the downgrade counts (F-56)": (
        {"feature_on_clears_elr": False},
        "ChangeFeature",
        "ContendersComplete",
    ),
    "a lowered min ISR leaves the ELR (F-19)": (
        {"min_isr_change": MinIsrChange.NEVER},
        "ChangeMinIsr",
        "ControllerRecord",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_refuted(proof_model: Model, sound: Prover, fault: str) -> None:
    """The cell is refuted with the fault, and proved without it."""
    knobs, action, lemma = FAULTS[fault]
    faulty = Prover(Transitions(proof_model, replace(CHANGES, **knobs)), lemmas_of(proof_model), None)
    assert (refuted(sound, action, lemma), refuted(faulty, action, lemma)) == (False, True)


# fault -> (action, function that is edited, expression, what it becomes, lemma that the action breaks)
RULES = {
    "a min ISR of 0": (
        "DeleteMinIsr",
        "min_isr_decided",
        "with_min_isr(controller.settings, event.level, event.broker, event.value)",
        "replace(controller.settings, topic_min_isr=None, cluster_min_isr=0)",
        "MinIsrValid",
    ),
    "a value of a broker while ELR is on": (
        "ChangeBrokerMinIsr",
        "min_isr_decided",
        "min_isr_error(controller.settings, event.level, event.value)",
        "Error.NONE",
        "MinIsrValid",
    ),
    "metadata read first leaves the proposal": (
        "ApplyMetadataFirst",
        "ApplyMetadataFirst",
        "replace(broker.alter, overtaken=1)",
        "broker.alter",
        "RequestShape",
    ),
    "the feature makes members of the ISR eligible": (
        "ChangeFeature",
        "feature_decided",
        "feature_switched(c, controller.partition, event.enabled)",
        "replace(controller.partition, elr=controller.partition.isr)",
        "ControllerRecord",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", RULES)
def test_an_edited_action_is_refuted(proof_model: Model, sound: Prover, fault: str) -> None:
    """A fault in the rule of each change; the same cell of its action is proved without it."""
    action, function, before, after, lemma = RULES[fault]
    changed, original, plain = planted_rule(proof_model, function, before, after)
    with planted(original, plain):
        faulty = Prover(Transitions(changed, CHANGES), lemmas_of(changed), None)
        assert refuted(faulty, action, lemma)
    assert not refuted(sound, action, lemma)


@pytest.mark.slow
def test_acknowledged_records_are_proved_to_be_kept(proof_model: Model) -> None:
    """P-33 and P-34 say something where acknowledged records are remembered, and follow from the lemmas."""
    prover = Prover(Transitions(proof_model, replace(TWO, tracks_acks=True)), lemmas_of(proof_model), None)
    properties = [fn for fn in proof_model.always if fn.ident in ("P-33", "P-34")]
    assert [prover.is_trivial(fn) for fn in properties] == [False, False]
    assert [prover.implication(fn).verdict for fn in properties] == ["proved", "proved"]
    fn = next(f for f in proof_model.lemmas if f.name == "AckedCommitted")
    for instance in prover.ts.instances:
        solver = prover.open_step(instance)
        cells = (prover.consecution(solver, instance, fn), prover.types(solver, instance))
        assert {cell.verdict for cell in cells if cell is not None} == {"proved"}, instance.action


@pytest.mark.slow
def test_without_changes_nothing_is_assumed(proof_model: Model) -> None:
    """The assumptions exclude steps of configurations with changes only."""
    assert Transitions(proof_model, TWO).assumed == set()
    assert Transitions(proof_model, replace(TWO, elr_enabled=False)).assumed == set()
    assert Transitions(proof_model, replace(TWO, feature_changes=1)).assumed == {
        LastReplicaStopsCleanly.__name__,
        SwitchedOnWithLeader.__name__,
    }


@pytest.mark.slow
def test_no_step_of_a_change_is_vacuous(sound: Prover) -> None:
    assert sound.ts.assumed == {fn.__name__ for fn in ASSUMPTIONS}
    impossible = [(i.action, i.args) for i in sound.ts.instances if sound.check(sound.open_step(i)) != z3.sat]
    assert impossible == []
