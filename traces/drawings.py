"""A state of any model, drawn by its declared fields, or as the default model declares if the model is a copy of that.

By the fields: one with a value for each member of a sort is a column of the table of that sort, or several if the
values are records; every other field is a fact. A copy of the default model has the same fields in other classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from elrcheck.declared.declared_model import declared
from elrcheck.declared.state_picture import Drawing, DrawnState
from elrcheck.lang.changed.translated import same_fields, translated
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label
from elrcheck.lang.types import Ty, record_fields
from elrcheck.results.trace_view import DrawnFields, DrawnMember, DrawnSort, Fact
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


def drawing_of_copy(model: Model, config: Any) -> Drawing | None:
    """Return the drawing of the default model for a copy of it; None for a model with another state."""
    default = declared(None)
    needed = {part.name for part in fields(default.config)}
    if not needed <= {part.name for part in fields(config)}:
        return None
    original, settings = default.whole(), record_fields(default.config)
    own = record_fields(type(config))
    alike = all(same_fields(own[name], settings[name]) for name in needed)
    if not alike or not same_fields(model.state_ty, original.state_ty):
        return None
    values = {name: translated(getattr(config, name), settings[name]) for name in needed}
    drawing = default.drawing(default.config(**values))
    return None if drawing is None else TranslatedDrawing(drawing, original, model)


class TranslatedDrawing(Drawing):
    """Draws a state of a copy as the equal state of the original."""

    def __init__(self, drawing: Drawing, original: Model, copy: Model) -> None:
        self.drawing, self.original, self.copy = drawing, original, copy

    def drawn(self, state: Any, before: Any) -> DrawnState:
        """See `Drawing.drawn`."""
        return self.drawing.drawn(self._state(state), self._state(before))

    def sentence(self, before: Any, after: Any, label: Label) -> str:
        """See `Drawing.sentence`; "" for an action that the original lacks, or that has other parameters there."""
        original, copied = (each.actions_by_name.get(label.action) for each in (self.original, self.copy))
        if original is None or copied is None or len(original.params) != len(copied.params):
            return ""
        pairs = list(zip(copied.params, original.params, strict=True))
        if not all(mine[0] == other[0] and same_fields(mine[1], other[1]) for mine, other in pairs):
            return ""
        args = tuple(translated(arg, ty) for arg, (_, ty) in zip(label.args, original.params, strict=True))
        return self.drawing.sentence(self._state(before), self._state(after), Label(label.action, args))

    def _state(self, state: Any) -> Any:
        return translated(state, self.original.state_ty)
