"""The terms of which a formula consists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3


def subterms(term: Any) -> Iterator[Any]:
    """Yield a term and every term in it, each once, also those inside quantifiers."""
    seen: set[int] = set()
    todo = [term]
    while todo:
        part = todo.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        yield part
        todo.extend([part.body()] if z3.is_quantifier(part) else part.children())
