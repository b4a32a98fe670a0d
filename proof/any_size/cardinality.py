"""What is assumed of the sizes of finite sets, where a size is a number that only axioms describe.

Each axiom is true of all finite sets: the numbers of members of S and T differ by those in one and not the other
(monotone, grows), all of a sort is what has its size (full), and two sets that together have more members than
the sort share one (meet). The axioms do not say all that is true of sizes, so a proof from them holds, and a state
that satisfies them need not exist.
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
    """A set with the number of its members. holds: whether a value, as its scalars, is a member."""

    holds: Callable[..., Any]
    size: Any


def of_one(one: Counted, everything: Any, variables: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield what is true of a set of the values that variables range over; everything: how many they are, if known."""
    member = one.holds(*variables)
    yield "natural", one.size >= 0
    yield "empty", (one.size >= 1) == z3.Exists(variables, member)
    if everything is not None:
        yield "bounded", one.size <= everything
        yield "full", (one.size >= everything) == z3.ForAll(variables, member)


def of_two(one: Counted, other: Counted, everything: Any, variables: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield what is true of two sets, in this order."""
    here, there = one.holds(*variables), other.holds(*variables)
    inside = z3.ForAll(variables, z3.Implies(here, there))
    yield "monotone", z3.Implies(inside, one.size <= other.size)
    others = [z3.Const(f"{x}.other", x.sort()) for x in variables]
    left = z3.Exists(variables, z3.And(there, z3.Not(here)))
    second = z3.And(one.holds(*others), z3.Not(other.holds(*others)), z3.Or(*map(_differ, variables, others)))
    two_more = z3.Exists([*variables, *others], z3.And(here, z3.Not(there), second))
    yield "strict", z3.Implies(z3.And(inside, left), one.size < other.size)
    yield "grows", z3.Implies(one.size >= other.size + 2, two_more)
    if everything is not None:
        shared = z3.Exists(variables, z3.And(here, there))
        yield "meet", z3.Implies(one.size + other.size > everything, shared)


def _differ(x: Any, y: Any) -> Any:
    return x != y
