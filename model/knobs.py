"""The fields of `Config` as a catalogue: section, type, default, allowed values and their meaning.

The text of a field is the string below it in `model/config.py`, or else the docstring of its enum; its section
begins at a field of `SECTIONS`. Budgets are the fields that `Spent` counts.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
from dataclasses import dataclass
from typing import Any, get_type_hints

from elrcheck.lang.source import field_texts
from elrcheck.model.budgets import Spent
from elrcheck.model.config import SECTIONS, Config
from elrcheck.model.variants import VARIANTS

Plain = bool | int | str


@dataclass(frozen=True)
class Knob:
    """One field of `Config`. allowed: value -> meaning, for a bool or an enum; empty for a number."""

    name: str
    section: str
    doc: str
    type: str
    default: Plain
    allowed: dict[str, str]
    is_budget: bool

    @property
    def is_rule(self) -> bool:
        """Whether it changes a rule, and bounds neither sizes nor a search."""
        return not self.is_budget and self.section != "sizes"

    def describe(self) -> dict[str, Any]:
        """Return everything about the knob in JSON's types."""
        elsewhere = {v.name: plain(v.knobs[self.name]) for v in VARIANTS if self.name in v.knobs}
        return {
            "name": self.name,
            "summary": summary(self.doc),
            "doc": self.doc,
            "section": self.section,
            "type": self.type,
            "default": self.default,
            "allowed": self.allowed or "a whole number, 0 or more",
            "variants": elsewhere,
        }


def knobs() -> tuple[Knob, ...]:
    """Return every field of `Config`, in source order."""
    texts, hints = field_texts(Config), get_type_hints(Config)
    budgets = {field.name for field in dataclasses.fields(Spent)}
    section = ""
    every = []
    for field in dataclasses.fields(Config):
        section = SECTIONS.get(field.name, section)
        kind = hints[field.name]
        every.append(
            Knob(
                name=field.name,
                section=section,
                doc=texts.get(field.name) or inspect.getdoc(kind) or "",
                type={bool: "bool", int: "number"}.get(kind, "choice"),
                default=plain(field.default),
                allowed=_allowed(kind),
                is_budget=field.name in budgets,
            )
        )
    return tuple(every)


def plain(value: Any) -> Plain:
    """Return the value of a field for a report: the name of an enum member."""
    scalar: Plain = value.name if isinstance(value, enum.Enum) else value
    return scalar


def summary(doc: str) -> str:
    """Return the first line of a text."""
    return doc.strip().partition("\n")[0]


def _allowed(kind: type) -> dict[str, str]:
    if kind is bool:
        return {"true": "", "false": ""}
    if issubclass(kind, enum.Enum):
        return {name: str(member.value) for name, member in kind.__members__.items()}
    return {}
