"""The remembering evaluator: which state variables a call reads, and when it is the same call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.behind_guards import RememberingEvaluator
from elrcheck.model.config import Config


@dataclass
class Case:
    model: Model
    evaluator: RememberingEvaluator
    state: dict[str, Any]


@pytest.fixture
def case() -> Case:
    config, model = Config(), load_checked_model()
    evaluator = RememberingEvaluator(model.fns, config, ConcreteAlgebra())
    state = evaluator.structure.lift(model.init.source(config), model.state_ty)
    return Case(model, evaluator, state)


def test_reads_are_those_of_all_called_operators(case: Case) -> None:
    """enough_copies reads brokers and settings, and through stored_by also lossy and the partition."""
    reads = case.evaluator.reads(case.model.fns["enough_copies"])
    assert reads == ((0, "broker"), (0, "lossy"), (0, "partition"), (0, "settings"))


def test_reads_keep_the_two_states_apart(case: Case) -> None:
    """acked_now(c, s, t, b, k) looks at the broker before and after, at the settings only after the step."""
    reads = case.evaluator.reads(case.model.fns["acked_now"])
    assert reads == ((0, "broker"), (1, "broker"), (1, "settings"))


def test_a_call_is_evaluated_anew_if_what_it_reads_is_another_value(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = case.model.fns["enough_copies"]
    arguments = {"leader": 0, "k": 0}
    evaluated = 0
    block = case.evaluator._block

    def counted(*args: Any) -> Any:
        nonlocal evaluated
        evaluated += 1
        return block(*args)

    monkeypatch.setattr(case.evaluator, "_block", counted)
    first = case.evaluator.call(copies, (case.state,), arguments)
    assert (first, evaluated > 0) == (False, True), "nobody has stored a record yet"
    evaluated = 0
    elsewhere = {**case.state, "recovery": dict(case.state["recovery"])}
    assert case.evaluator.call(copies, (elsewhere,), arguments) is False
    assert evaluated == 0, "it does not read the recovery"
    lossy = {**case.state, "lossy": case.evaluator.alg.s_const(range(3), 3)}
    assert case.evaluator.call(copies, (lossy,), arguments) is False
    assert evaluated > 0, "it reads which brokers lost data"
