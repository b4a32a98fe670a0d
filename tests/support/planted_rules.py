"""A model with one edited rule, for tests of what a proof finds."""

from __future__ import annotations

from typing import Any

from elrcheck.lang.changed.altered import affected, altered
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.proof.obligations import Prover
from support.edited_rules import edited


def planted_rule(model: Model, action: str, before: str, after: str) -> tuple[Model, Any, Any]:
    """The model with an edited function; the original, and the function to plant for the plain reading."""
    original = model.fns[action].source
    change = edited(original, before, after)
    changed, plain = altered(model, action, change.tree, affected(model, action))
    return changed, original, plain


# fault that leaves a type -> (action, expression, what it becomes, the part that leaves its type)


def refuted(prover: Prover, action: str, goal: str) -> bool:
    """Whether some step of the action breaks the goal; the plain model agrees."""
    instances = [one for one in prover.ts.instances if one.action == action]
    assert instances
    for instance in instances:
        done = prover.consecution(prover.open_step(instance), instance, prover.goals[goal])
        if done is not None and done.verdict == "refuted":
            plain = PlainModel(prover.ts.model, prover.ts.config)
            assert plain.step(done.before, Label(action, done.args or instance.args)) == done.after
            return True
    return False
