"""A change of a rule, made from its text."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from elrcheck.lang.changed.variations import Variation, _places, _swapped
from elrcheck.lang.source import Source


def edited(function: Callable[..., Any], before: str, after: str) -> Variation:
    """Make a change from its text: the expression `before`, as `ast.unparse` has it, becomes `after`.

    Raises ValueError unless the function has this expression exactly once.
    """
    source = Source(function)
    for number, node in enumerate(ast.walk(source.tree)):
        node.place = number  # type: ignore[attr-defined]
    text = ast.unparse(ast.parse(before, mode="eval"))
    matches = [
        node for node in _places(source.tree, frozenset()) if isinstance(node, ast.expr) and ast.unparse(node) == text
    ]
    if len(matches) != 1:
        raise ValueError(f"{function.__name__} has {len(matches)} times `{before}`")
    tree = _swapped(source.tree, matches[0], ast.parse(after, mode="eval").body)
    name = f"{function.__name__}: {before} -> {after}"
    return Variation(function.__name__, name, "condition", source.line_of(matches[0]), before, after, tree)
