"""A model with one edited rule, for tests of what a proof finds."""

from __future__ import annotations

from typing import Any

from elrcheck.lang.changed.altered import affected, altered
from elrcheck.lang.changed.variations import edited
from elrcheck.lang.load import Model


def planted_rule(model: Model, action: str, before: str, after: str) -> tuple[Model, Any, Any]:
    """The model with an edited action; the original, and the function to plant for the plain reading."""
    original = next(fn for fn in model.actions if fn.name == action).source
    change = edited(original, before, after)
    changed, plain = altered(model, action, change.tree, affected(model, action))
    return changed, original, plain


# fault that leaves a type -> (action, expression, what it becomes, the part that leaves its type)
