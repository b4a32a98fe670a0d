"""Axes of a grid: a key and its values, such as ``min_isr=1..3`` or ``variant=code_*,legacy``.

A key is ``variant``, ``scope`` or a field of the configuration, as for ``--set``. Values are stored as strings in the
notation of ``--set``; `plain_value` converts one for a report.
"""

from __future__ import annotations

import fnmatch
import re
from enum import Enum

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.roundtrip import Record
from elrcheck.base.typed.configuration import config_fields, parse_value, setting_text
from elrcheck.declared.declared_model import DeclaredModel
from elrcheck.results.trace_view import Scalar

LONGEST_RANGE = 1000


class Axis(Record, frozen=True):
    """One axis: a key and its distinct values, in the given order."""

    key: str
    values: tuple[str, ...]


def keys(model: DeclaredModel) -> tuple[str, ...]:
    """Return the keys of all possible axes."""
    return ("variant", "scope", *config_fields(model.config))


def parse_axis(model: DeclaredModel, text: str) -> Axis:
    """Return the axis of ``KEY=VALUES``; raise UsageFault for an invalid part."""
    where = f"--sweep {text}"
    key, equals, values = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise UsageFault(
            "sweep-bad-form",
            "expected KEY=VALUES",
            where=where,
            help="such as min_isr=1..3 or variant=kip_full,code_4_0",
        )
    reject_unknown_key(model, key, where)
    return Axis(key, parse_values(model, key, values, where))


def reject_unknown_key(model: DeclaredModel, key: str, where: str) -> None:
    """Raise UsageFault with a suggestion unless the key is valid for an axis."""
    allowed = keys(model)
    if key not in allowed:
        raise UsageFault("unknown-knob", f"unknown setting `{key}`", where=where, help=did_you_mean(key, allowed))


def parse_values(model: DeclaredModel, key: str, text: str, where: str) -> tuple[str, ...]:
    """Return the values of a list of values, ranges ``a..b`` and, for names, patterns; none may occur twice."""
    parsed: list[str] = []
    for word in (part.strip() for part in text.split(",")):
        if not word:
            raise UsageFault("sweep-bad-value", f"`{key}`: a value is missing", where=where)
        for value in _one(model, key, word, where):
            if value in parsed:
                raise UsageFault("sweep-bad-value", f"`{key}`: {value} is given twice", where=where)
            parsed.append(value)
    return tuple(parsed)


def plain_value(model: DeclaredModel, key: str, value: str) -> Scalar:
    """Return a value as a boolean, a number or a name."""
    if key in ("variant", "scope"):
        return value
    parsed: Scalar = parse_value(config_fields(model.config)[key], value)
    return parsed.name if isinstance(parsed, Enum) else parsed


def _one(model: DeclaredModel, key: str, word: str, where: str) -> tuple[str, ...]:
    """Return the values denoted by one word of a list."""
    names = names_of(model, key)
    if names and any(ch in word for ch in "*?["):
        matching = tuple(name for name in names if fnmatch.fnmatchcase(name.lower(), word.lower()))
        if not matching:
            raise UsageFault(
                "sweep-bad-value", f"`{key}`: nothing matches `{word}`", where=where, help="known: " + ", ".join(names)
            )
        return matching
    if key in ("variant", "scope"):
        _reject_unknown_name(model, key, word, where)
        return (word,)
    kind = config_fields(model.config)[key]
    bounds = re.fullmatch(r"([0-9]{1,9})\.\.([0-9]{1,9})", word)
    if kind is int and bounds:
        first, last = int(bounds[1]), int(bounds[2])
        if first > last:
            raise UsageFault(
                "sweep-bad-value",
                f"`{key}`: the range {word} is empty",
                where=where,
                help=f"did you mean {last}..{first}?",
            )
        if last - first >= LONGEST_RANGE:
            raise UsageFault(
                "sweep-bad-value", f"`{key}`: the range {word} is longer than {LONGEST_RANGE}", where=where
            )
        return tuple(str(number) for number in range(first, last + 1))
    try:
        value = parse_value(kind, word)
    except ValueError as fault:
        more = " (or a range such as 1..3)" if kind is int else ""
        raise UsageFault("sweep-bad-value", f"`{key}`: {fault}{more}, not `{word}`", where=where) from fault
    return (setting_text(value),)


def names_of(model: DeclaredModel, key: str) -> tuple[str, ...]:
    """Return the names that a key accepts, for patterns and completion; empty for a number."""
    if key == "variant":
        return model.variant_names
    if key == "scope":
        return model.scope_names
    kind = config_fields(model.config)[key]
    if kind is bool:
        return ("false", "true")
    return tuple(kind.__members__) if issubclass(kind, Enum) else ()


def _reject_unknown_name(model: DeclaredModel, key: str, word: str, where: str) -> None:
    try:
        if key == "variant":
            model.variant(word)
        else:
            model.scope(word)
    except UsageFault as fault:
        fault.where = fault.where or where
        raise
