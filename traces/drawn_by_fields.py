"""A state of any model, drawn by its declared fields.

A field with a value for each member of a sort is a column of the table of that sort, or several if the values are
records; every other field is a fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elrcheck.declared.state_picture import Drawing
from elrcheck.lang.types import Ty
from elrcheck.results.drawn_picture import DrawnFields, DrawnMember, DrawnSort, Fact
from elrcheck.traces.describe import leaves


class FieldsDrawing(Drawing):
    """Draws states by their type."""

    def __init__(self, state: Ty) -> None:
        self.state = state

    def drawn(self, state: Any, before: Any) -> DrawnFields:
        """See `Drawing.drawn`."""
        return drawn_fields(self.state, state, before)


def drawn_fields(ty: Ty, state: Any, before: Any) -> DrawnFields:
    """Draw a state of this type, with its differences from the one before."""
    facts: list[Fact] = []
    vectors: dict[str, list[tuple[str, Ty]]] = {}
    for name, part in ty.fields.items():
        if part.kind == "vec" and not part.is_map:
            vectors.setdefault(part.keys.name, []).append((name, part))
        else:
            facts += _facts(getattr(state, name), getattr(before, name), part, name)
    return DrawnFields(tuple(facts), tuple(_sort(columns, state, before) for columns in vectors.values()))


def _facts(now: Any, was: Any, ty: Ty, name: str) -> Iterator[Fact]:
    for (path, value), (_, old) in zip(leaves(now, ty, name), leaves(was, ty, name), strict=True):
        yield Fact(path, value, value != old)


def _sort(vectors: list[tuple[str, Ty]], state: Any, before: Any) -> DrawnSort:
    """Return the table of a sort, from the fields with a value for each of its members."""
    word, (first, _) = vectors[0][1].keys.word, vectors[0]
    members = []
    for number in range(len(getattr(state, first))):
        values = [
            fact
            for name, ty in vectors
            for fact in _facts(getattr(state, name)[number], getattr(before, name)[number], ty.elem, name)
        ]
        members.append(DrawnMember(f"{word} {number}", tuple(values)))
    return DrawnSort(word, tuple(fact.name for fact in members[0].values), tuple(members))
