"""Checks in the source of a model that it treats the members of its symmetric sorts alike.

The initial states, the bound, the actions, the properties that a search decides, and the functions that they call may
not tell members apart. Lemmas and liveness may: a search up to renaming reads neither.

A renaming maps the members of each sort. A function treats members alike if it returns the renamed value for renamed
arguments. Nearly all constructs of the language do; `tells_apart` names those that may not: a member as a constant, one
of the configuration, a list of all members, arithmetic and order of members, and the first or least of several.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from elrcheck.lang import expr
from elrcheck.lang.domains import size_of
from elrcheck.lang.expr import Expression
from elrcheck.lang.ir import Fn, block_expressions, reachable
from elrcheck.lang.runtime import Map, ModelConfig
from elrcheck.lang.source import ModelError, error_at
from elrcheck.lang.tree import children, types_inside
from elrcheck.lang.types import Ty

Renaming: TypeAlias = Mapping[str, Sequence[int]]
"""By sort: member m becomes the entry at m. Members of other sorts stay."""

MOST = 5040
"""The maximum number of renamings of a search, those of seven members; it tries every one for each step."""


def renamed(value: Any, ty: Ty, to: Renaming) -> Any:
    """Return a plain value with its members renamed everywhere."""
    match ty.kind:
        case "member":
            return to[ty.name][value] if ty.name in to else value
        case "opt":
            return None if value is None else renamed(value, ty.elem, to)
        case "set":
            return frozenset(renamed(x, ty.elem, to) for x in value)
        case "seq":
            return tuple(renamed(x, ty.elem, to) for x in value)
        case "vec" if ty.is_map:
            moved = {renamed(k, ty.keys, to): renamed(x, ty.elem, to) for k, x in value.items()}
            return Map({k: moved[k] for k, _ in value.items()})
        case "vec":
            entries = [renamed(x, ty.elem, to) for x in value]
            names = to.get(ty.keys.name, range(len(entries)))
            return tuple(entry for _, entry in sorted(zip(names, entries, strict=True), key=lambda pair: pair[0]))
        case "record" if ty.is_pair:
            return tuple(renamed(x, part, to) for x, part in zip(value, ty.parts, strict=True))
        case "record" | "state":
            return replace(value, **{f: renamed(getattr(value, f), t, to) for f, t in ty.fields.items()})
        case _:
            return value


def all_renamings(sorts: Mapping[str, Ty], config: ModelConfig) -> Iterator[Renaming]:
    """Yield every renaming of the members of several sorts."""
    orders = (itertools.permutations(range(size_of(ty, config))) for ty in sorts.values())
    for several in itertools.product(*orders):
        yield dict(zip(sorts, several, strict=True))


def count_renamings(sorts: Mapping[str, Ty], config: ModelConfig) -> int:
    return math.prod(math.factorial(size_of(ty, config)) for ty in sorts.values())


def tells_apart(node: Expression, is_member: Callable[[Ty], bool]) -> str:
    """Describe how a construct may tell members apart; empty if it does not. is_member: of a type, maybe optional."""
    match node:
        case expr.SortList():
            return "lists the members in the order of their numbers" if is_member(node.ty.elem) else ""
        case expr.ConfigField():
            inside = any(is_member(part) for part, _, _ in types_inside(node.ty))
            return "takes members from the configuration" if inside else ""
        case expr.Constant():
            return f"names the member {node.value} by its number" if is_member(node.ty) else ""
        case expr.Compare() | expr.Arithmetic():
            several = is_member(node.left.ty) or is_member(node.right.ty)
            return "compares members, or counts with them" if several else ""
        case expr.Equal():
            return "compares a member with a number" if is_member(node.left.ty) != is_member(node.right.ty) else ""
        case expr.VectorGet() | expr.VectorPut():
            by_number = is_member(node.vector.ty.keys) and not is_member(node.index.ty)
            return "finds the entry of a member by a number" if by_number else ""
        case expr.First():
            return "takes the first" if node.over != "seq" and is_member(node.variable.ty) else ""
        case expr.Extreme():
            return "takes the least or the greatest" if is_member(node.ty) else ""
    return ""


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
