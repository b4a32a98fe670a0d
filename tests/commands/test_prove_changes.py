"""Proofs with changes of the feature: what they assume is needed, and planted faults are refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from elrcheck.invariants.lemmas_changes import (
    ASSUMPTIONS,
    LastReplicaStopsCleanly,
    SwitchedOnWithLeader,
)
from elrcheck.invariants.modules import lemmas_of, load_proof_model
from elrcheck.invariants.proof.obligations import Prover
from elrcheck.invariants.proof.transition import Transitions
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.state import Acks

TWO = Config(
    broker_count=2, log_slots=1, records=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED, fences=2
)


@pytest.fixture(scope="module")
def model() -> Model:
    return load_proof_model()


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


COMMITTED = (
    ("Produce", 0, Acks.ALL),
    ("Fetch", 1, 0, False),
    ("Fetch", 1, 0, False),
)
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


def test_without_elr_the_last_replica_leads_after_it_lost_its_log(model: Model) -> None:
    """E-1: only the registration of the last ISR member is outside what is assumed."""
    broken, left = story(model, replace(TWO, feature_changes=1), *LAST_REPLICA)
    assert {"P-1", "P-2"} <= set(broken)
    assert left == [[]] * 8 + [[LastReplicaStopsCleanly.__name__], [], []]


def test_elr_switched_on_without_a_leader(model: Model) -> None:
    """F-26: a fenced ISR member while ELR is on."""
    steps = (("ChangeFeature", False), ("Fence", 1), ("Fence", 0), ("ChangeFeature", True))
    broken, left = story(model, replace(TWO, feature_changes=2), *steps)
    assert broken == ["P-18", "P-19"]
    assert left == [[], [], [], [SwitchedOnWithLeader.__name__]]


# fault -> (knobs, action, lemma that it breaks)
FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "an ELR from before the downgrade counts (F-56)": (
        {"feature_changes": 1, "feature_on_clears_elr": False}, "ChangeFeature", "ContendersComplete",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_fault_is_refuted(model: Model, fault: str) -> None:
    """The cell is refuted with the fault, and proved without it."""
    knobs, action, lemma = FAULTS[fault]
    fn = next(f for f in model.lemmas if f.name == lemma)
    usual = {name: to for name, to in knobs.items() if name.endswith("changes") or name == "late_answers"}
    for given, expected in ((usual, {"proved"}), (knobs, {"proved", "refuted"})):
        prover = Prover(Transitions(model, replace(TWO, **given)), lemmas_of(model), None)
        cells = [
            prover.consecution(prover.open_step(instance), instance, fn)
            for instance in prover.ts.instances
            if instance.action == action
        ]
        assert {cell.verdict for cell in cells if cell is not None} == expected


def test_without_changes_nothing_is_assumed(model: Model) -> None:
    """The assumptions exclude steps of configurations with changes only."""
    assert Transitions(model, TWO).assumed == set()
    assert Transitions(model, replace(TWO, elr_enabled=False)).assumed == set()
    assert Transitions(model, replace(TWO, feature_changes=1)).assumed == {
        LastReplicaStopsCleanly.__name__, SwitchedOnWithLeader.__name__,
    }  # fmt: skip


def test_no_step_of_a_feature_change_is_vacuous(model: Model) -> None:
    prover = Prover(Transitions(model, replace(TWO, feature_changes=1)), lemmas_of(model), None)
    impossible = [(i.action, i.args) for i in prover.ts.instances if not prover.possible(i)]
    assert impossible == []
