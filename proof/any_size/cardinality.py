"""Axioms about the sizes of finite sets, where a size is a number of which the solver knows only these axioms.

Each is true of all finite sets: only a set with two members has the size 2 or more (pair), and only the whole sort
that of the sort (full); a subset is not larger (monotone), and smaller if it is proper (strict); a set with two members
more than another has two members outside it (grows); two sets that together have more members than the sort share one
(meet). The axioms are incomplete: a proof from them holds, but a state that satisfies them need not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import z3

OF_TWO = ("monotone", "strict", "grows", "meet")
"""The axioms about two sets, by the names of `of_two`."""


@dataclass(frozen=True)
class Counted:
    """A set with its size. holds: whether a value, given by its scalars, is a member."""

    holds: Callable[..., Any]
    size: Any


def of_one(one: Counted, everything: Any, variables: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, axiom) about one set. variables: of its type; everything: the size of the type, None if unknown."""
    member = one.holds(*variables)
    yield "natural", one.size >= 0
    yield "empty", (one.size >= 1) == z3.Exists(variables, member)
    others = _others(variables)
    two = z3.And(member, one.holds(*others), _differ(variables, others))
    yield "pair", (one.size >= 2) == z3.Exists([*variables, *others], two)
    if everything is not None:
        yield "bounded", one.size <= everything
        yield "full", (one.size >= everything) == z3.ForAll(variables, member)


def of_two(one: Counted, other: Counted, everything: Any, variables: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, axiom) about an ordered pair of sets."""
    here, there = one.holds(*variables), other.holds(*variables)
    inside = z3.ForAll(variables, z3.Implies(here, there))
    yield "monotone", z3.Implies(inside, one.size <= other.size)
    others = _others(variables)
    left = z3.Exists(variables, z3.And(there, z3.Not(here)))
    second = z3.And(one.holds(*others), z3.Not(other.holds(*others)), _differ(variables, others))
    two_more = z3.Exists([*variables, *others], z3.And(here, z3.Not(there), second))
    yield "strict", z3.Implies(z3.And(inside, left), one.size < other.size)
    yield "grows", z3.Implies(one.size >= other.size + 2, two_more)
    if everything is not None:
        shared = z3.Exists(variables, z3.And(here, there))
        yield "meet", z3.Implies(one.size + other.size > everything, shared)


def _others(variables: list[Any]) -> list[Any]:
    return [z3.Const(f"{x}.other", x.sort()) for x in variables]


def _differ(some: list[Any], others: list[Any]) -> Any:
    """Return that two values differ in a scalar; SMT-LIB has no `or` of one formula."""
    differences = [x != y for x, y in zip(some, others, strict=True)]
    return z3.Or(*differences) if len(differences) > 1 else differences[0]
