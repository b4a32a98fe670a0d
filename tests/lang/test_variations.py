"""Changes of functions: what is changed, what is not, and that both readings see the change."""

from __future__ import annotations

import ast

import pytest

from elrcheck.lang.changed.altered import affected, altered, every, planted
from elrcheck.lang.changed.variations import Variation, calls_of, variations
from elrcheck.lang.load import Model
from elrcheck.lang.plain import PlainModel
from elrcheck.lang.source import ModelError
from elrcheck.model.config import Config
from elrcheck.model.state import GHOSTS


def changes(model: Model, function: str) -> dict[str, Variation]:
    return {one.name: one for one in variations(every(model)[function].source, GHOSTS)}


def test_each_change_is_one_and_has_a_name_of_its_own(whole_model: Model) -> None:
    for name in ("fenced_partition", "Fence", "may_join", "elect"):
        original = every(whole_model)[name].source
        variants = list(variations(original, GHOSTS))
        assert len(variants) > 2 and len({one.name for one in variants}) == len(variants)
        assert len({ast.dump(one.tree) for one in variants}) == len(variants)
        assert all(one.name.startswith(f"{name}: ") and one.before != one.after for one in variants)


def test_kinds_of_changes(whole_model: Model) -> None:
    names = ("fenced_partition", "elect", "may_join")
    kinds = {one.kind for name in names for one in changes(whole_model, name).values()}
    assert kinds == {"comparison", "set", "constant", "condition"}


def test_ghosts_and_budgets_stay_as_they_are(whole_model: Model) -> None:
    variants = changes(whole_model, "Crash")
    assert variants and not any("spent" in one.before for one in variants.values())
    assert "Spent" not in calls_of(every(whole_model)["Crash"].source, GHOSTS)


def test_both_readings_see_the_change(whole_model: Model) -> None:
    """An operator that several actions call: they are compiled again, and plain Python has other steps."""
    one = next(v for v in changes(whole_model, "fenced_partition").values() if v.before == "b in p.isr")
    dependents = affected(whole_model, one.function)
    assert "Fence" in dependents and "Produce" not in dependents
    changed, plain = altered(whole_model, one.function, one.tree, dependents)
    config = Config(broker_count=2, min_isr=2)
    fns = every(changed)
    assert fns["Fence"] is not every(whole_model)["Fence"] and fns["Produce"] is every(whole_model)["Produce"]
    original = every(whole_model)[one.function].source
    before, after = PlainModel(whole_model, config), PlainModel(changed, config)
    steps = dict(before.successors(before.initial()))
    with planted(original, plain):
        others = dict(after.successors(after.initial()))
    assert steps.keys() == others.keys() and steps != others
    assert dict(before.successors(before.initial())) == steps  # nothing stays planted


def test_a_change_that_does_not_fit_the_types_is_refused(whole_model: Model) -> None:
    one = next(v for v in changes(whole_model, "LeaderLearns").values() if v.after.count(" <= Error.NONE"))
    with pytest.raises(ModelError):
        altered(whole_model, one.function, one.tree, affected(whole_model, one.function))


def test_a_change_of_one_function_leaves_the_model_alone(whole_model: Model) -> None:
    one = next(iter(changes(whole_model, "may_join").values()))
    functions = dict(whole_model.fns)
    altered(whole_model, one.function, one.tree, affected(whole_model, one.function))
    assert whole_model.fns == functions


def test_the_least_value_is_not_compared_in_vain(whole_model: Model) -> None:
    """Only the empty set is a subset of the empty set, and no number is less than 0."""
    variants = changes(whole_model, "reassignment_completes")
    assert not any(name.endswith("<= EMPTY") for name in variants)
    assert any(name.endswith(">= EMPTY") for name in variants)
    written = [one.after for name in ("last_epoch", "reassign") for one in changes(whole_model, name).values()]
    assert "len(new_replicas) >= 0" in written and "len(new_replicas) <= 0" not in written
