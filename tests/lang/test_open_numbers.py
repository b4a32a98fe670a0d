"""What rules make of an open number is what they make of each of its values."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from elrcheck.lang.load import Model
from elrcheck.lang.lowering.dag import Dag
from elrcheck.lang.lowering.dag_algebra import DagAlgebra
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.nodes import DagNode, evaluate
from elrcheck.lang.lowering.open_numbers import OpenEvaluator, parameters
from elrcheck.lang.runtime import config
from elrcheck.lang.types import BOOL, INT
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.model.replicas import RSet, Universe

WIDEST = Config(
    broker_count=2,
    metadata=Propagation.LOG,
    elr_index_goes_stale=True,
    known_record_ends_proposal=True,
    tracks_acks=True,
    records=2,
    crashes=2,
    shrinks=1,
    min_isr_changes=2,
    reassignments=1,
    feature_changes=1,
    late_answers=2,
    late_fetches=2,
)
LEAST = {
    "min_isr": 1,
    "records": 0,
    "crashes": 0,
    "shrinks": 0,
    "min_isr_changes": 0,
    "reassignments": 0,
    "feature_changes": 0,
    "late_answers": 0,
    "late_fetches": 1,
}
DERIVED = sorted(name for name, member in vars(Config).items() if isinstance(member, property) and name != "brokers")


def evaluator(model: Model, widest: Any, least: Mapping[str, int]) -> tuple[OpenEvaluator, list[str]]:
    opened, dag = parameters(widest, least, model.sizes), Dag()
    terms = {p.name: dag.var(k, p.lo, p.hi) for k, p in enumerate(opened)}
    return OpenEvaluator(model.fns, widest, DagAlgebra(dag), terms), list(terms)


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_number_is_an_expression_over_the_open_ones(checked_model: Model, name: str) -> None:
    reading, names = evaluator(checked_model, WIDEST, LEAST)
    value = reading.setting(name, INT)
    ranges = [range(p.lo, p.hi + 1) for p in parameters(WIDEST, LEAST, frozenset())]
    for values in itertools.islice(itertools.product(*ranges), 0, None, 7):
        expected = getattr(replace(WIDEST, **dict(zip(names, values, strict=True))), name)
        assert (evaluate(value, values) if isinstance(value, DagNode) else value) == expected, values


def test_what_no_comparison_decides_needs_no_choice(checked_model: Model) -> None:
    reading, _ = evaluator(checked_model, WIDEST, LEAST)
    assert reading.setting("broker_count", INT) == 2
    assert reading.setting("crashes", INT).op == "var"
    assert reading.setting("promise_slots", INT).op == "ite"


@config
class Odd:
    broker_count: int = 2
    most: int = 3

    @property
    def brokers(self) -> RSet:
        return Universe(range(self.broker_count))

    @property
    def triangle(self) -> int:
        return sum(range(self.most + 1))

    @property
    def rest(self) -> int:
        return 5 - self.most * self.most if self.most else 9

    @property
    def many(self) -> bool:
        return self.most != 1


def test_python_may_do_with_an_open_number_what_it_likes(checked_model: Model) -> None:
    """A loop over it takes one run for each value."""
    reading, _ = evaluator(checked_model, Odd(), {"most": 0})
    for name, expected in (("triangle", (0, 1, 3, 6)), ("rest", (9, 4, 1, -4)), ("many", (1, 0, 1, 1))):
        value = reading.setting(name, BOOL if name == "many" else INT)
        assert tuple(evaluate(value, (most,)) for most in range(4)) == expected


@pytest.mark.parametrize(
    ("least", "message"),
    [
        ({"broker_count": 1}, "broker_count cannot stay open"),
        ({"elr_enabled": 0}, "elr_enabled cannot stay open"),
        ({"disturbances": 0}, "disturbances cannot stay open"),
        ({"crashes": 3}, "crashes is to be at least 3, but 2 is the greatest value"),
    ],
)
def test_only_numbers_that_rules_read_stay_open(least: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parameters(WIDEST, least, frozenset({"broker_count"}))


def test_a_program_is_closed_by_its_initial_state(checked_model: Model) -> None:
    widest = Config(broker_count=2, log_slots=1, records=1, min_isr=2, crashes=1, fences=0)
    opened = lower(checked_model, widest, (), {"min_isr": 1, "crashes": 0, "fences": 0})
    assert [p.name for p in opened.parameters] == ["min_isr", "crashes"]
    assert [opened.program.leaves[k].path for k in opened.program.parameters] == ["config.min_isr", "config.crashes"]
    one = opened.at({"min_isr": 1, "crashes": 0})
    assert one.config == replace(widest, min_isr=1, crashes=0)
    assert one.program.instances is opened.program.instances
    (row,) = one.program.init
    assert row[-2:] == (1, 0)
    assert one.decode(row) == checked_model.init.source(one.config)
    assert opened.program.init[0][-2:] == (2, 1)


def test_values_outside_the_ranges_are_refused(checked_model: Model) -> None:
    widest = Config(broker_count=2, log_slots=1, records=1, crashes=1)
    opened = lower(checked_model, widest, (), {"crashes": 0})
    for wrong in ({"crashes": 2}, {"crashes": -1}, {"fences": 0}, {"nothing": 1}):
        with pytest.raises(ValueError, match="cannot be"):
            opened.at(wrong)
    assert opened.at({"fences": 1}).config == widest
