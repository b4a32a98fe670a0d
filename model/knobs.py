"""The fields of `Config` as a catalogue: section, type, default, allowed values and their meaning.

Nothing is written twice: the text of a field is the comment above it in `model/config.py`, or else
the docstring of its enum; `# ---- name` starts a section. Budgets are the fields that `Spent` counts.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import io
import tokenize
from dataclasses import dataclass
from typing import Any, get_type_hints

from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config
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

    def describe(self) -> dict[str, Any]:
        """Everything about the knob, in JSON's types."""
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
    """Every field of `Config`, in source order."""
    comments = _comments()
    hints = get_type_hints(Config)
    budgets = {f.name for f in dataclasses.fields(Spent)}
    made = []
    for part in dataclasses.fields(Config):
        kind = hints[part.name]
        section, comment = comments[part.name]
        made.append(
            Knob(
                name=part.name,
                section=section,
                doc=comment or inspect.getdoc(kind) or "",
                type={bool: "bool", int: "number"}.get(kind, "choice"),
                default=plain(part.default),
                allowed=_allowed(kind),
                is_budget=part.name in budgets,
            )
        )
    return tuple(made)


def plain(value: Any) -> Plain:
    """The value of a field as a report shows it: an enum member by name."""
    shown: Plain = value.name if isinstance(value, enum.Enum) else value
    return shown


def summary(doc: str) -> str:
    """The first line of a text."""
    return doc.strip().partition("\n")[0]


def _allowed(kind: type) -> dict[str, str]:
    if kind is bool:
        return {"true": "", "false": ""}
    if issubclass(kind, enum.Enum):
        return {name: str(member.value) for name, member in kind.__members__.items()}
    return {}


def _comments() -> dict[str, tuple[str, str]]:
    """Field -> (section, comment lines directly above it), read from the source of `Config`."""
    names = {f.name for f in dataclasses.fields(Config)}
    found: dict[str, tuple[str, str]] = {}
    section, above = "", list[str]()
    for token in tokenize.generate_tokens(io.StringIO(inspect.getsource(Config)).readline):
        if token.type == tokenize.COMMENT and token.line.strip() == token.string:
            text = token.string.removeprefix("#").strip()
            if text.startswith("----"):
                section, above = text.strip("- "), []
            else:
                above.append(text)
        elif token.type == tokenize.NL and not token.line.strip():
            above = []
        elif token.type == tokenize.NEWLINE:
            name = token.line.partition(":")[0].strip()
            if name in names:
                found.setdefault(name, (section, "\n".join(above)))
            above = []
    return found
