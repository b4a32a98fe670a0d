"""Checks in the source of a model that it treats the members of its symmetric sorts alike.

The initial states, the bound, the actions, the properties that a search decides, and the functions that they call may
not tell members apart. Lemmas and liveness may: a search up to renaming reads neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Fn, block_expressions, reachable
from elrcheck.lang.source import ModelError, error_at
from elrcheck.lang.symmetry.renamed_values import tells_apart
from elrcheck.lang.tree import children
from elrcheck.lang.types import Ty


def demand_symmetric(fns: Mapping[str, Fn], roots: Sequence[Fn]) -> None:
    """Raise ModelError, with the place, if one of the functions, or one that they call, tells members apart."""
    for fn in reachable(fns, roots).values():
        for node, line in _placed(fn):
            fault = _fault(node)
            if fault is not None:
                raise _refusal(fn, line, *fault)


def _placed(fn: Fn) -> Iterator[tuple[Expression, int]]:
    """Yield the nodes of a function, each with its line or that of the innermost node around it with a line."""
    todo = [(node, fn.line) for node in block_expressions(fn.body)]
    seen = set[int]()
    while todo:
        node, outside = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            line = node.line or outside
            yield node, line
            todo += [(child, line) for child in children(node)]


def _fault(node: Expression) -> tuple[str, Ty] | None:
    """Return how a node tells members of a symmetric sort apart, and the sort; None if it does not."""
    sorts: list[Ty] = []

    def is_member(ty: Ty) -> bool:
        sorts.extend([ty.present] if ty.present.symmetric else [])
        return ty.present.symmetric

    why = tells_apart(node, is_member)
    return (why, sorts[0]) if why and sorts else None


def _refusal(fn: Fn, line: int, why: str, sort: Ty) -> ModelError:
    return error_at(
        fn.file,
        line,
        f"{fn.name} {why}, but the sort {sort} is declared symmetric",
        "ask about all or any members, let an action choose one, or leave out symmetric=True",
    )
