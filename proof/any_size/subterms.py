"""The terms of which a formula consists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3


def subterms(term: Any, inside_quantifiers: bool = True) -> Iterator[Any]:
    """Yield a term and every term in it, each once; those inside quantifiers unless they are left out."""
    seen: set[int] = set()
    todo = [term]
    while todo:
        part = todo.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        yield part
        if not z3.is_quantifier(part):
            todo.extend(part.children())
        elif inside_quantifiers:
            todo.append(part.body())


def opened(quantifier: Any, depth: int = 0) -> tuple[list[Any], Any]:
    """Return constants for the variables of a quantifier, and its body about them. depth: of quantifiers around it."""
    own = [z3.Const(f"own!{depth}.{k}", quantifier.var_sort(k)) for k in range(quantifier.num_vars())]
    return own, z3.substitute_vars(quantifier.body(), *reversed(own))


def is_universal(term: Any) -> bool:
    return bool(z3.is_quantifier(term) and term.is_forall())


def is_choice(term: Any) -> bool:
    """Return whether a formula is a choice between two formulas."""
    return bool(z3.is_app_of(term, z3.Z3_OP_ITE) and z3.is_bool(term))
