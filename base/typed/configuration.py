"""The configuration of a model: scope files and ``--set key=value`` overrides.

An unknown key or a value that does not fit raises a `UsageFault` that names the file and the line. A *scope* is a named
set of sizes and budgets, one TOML file; tables in it only group keys.

A scope or an override may set any field of the model's frozen `Config` dataclass, so this module knows no knob by name.
A field is a bool, a natural number or an Enum; enum members are written by name, in upper or lower case.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.strict import Node, format_value

C = TypeVar("C")

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_BIG_INTEGER = 2**63


# ---------------------------------------------------------------------------- typed fields


def config_fields(config_cls: type[Any]) -> dict[str, type]:
    """Return field -> type of a frozen configuration dataclass: bool, int or an Enum class."""
    kinds: dict[str, type] = _typed(config_cls)  # type: ignore[arg-type]
    return dict(kinds)


@functools.cache
def _typed(config_cls: type[Any]) -> dict[str, type]:
    hints = get_type_hints(config_cls)
    kinds: dict[str, type] = {}
    for part in dataclasses.fields(config_cls):
        kind = hints[part.name]
        if not (isinstance(kind, type) and (kind in (bool, int) or issubclass(kind, Enum))):
            from elrcheck.lang.source import error_in_field

            message = f"a configuration holds bools, whole numbers and enums, not {getattr(kind, '__name__', kind)}"
            raise error_in_field(config_cls, part.name, message)
        kinds[part.name] = kind
    return kinds


def allowed_values(kind: type) -> str:
    """Return the values that a field of this kind accepts, in words."""
    if kind is bool:
        return "true or false"
    if issubclass(kind, Enum):
        return ", ".join(kind.__members__)
    return "a whole number, 0 or more"


def check_value(kind: type, value: object) -> Any:
    """Return a TOML value in a field's type; raise ValueError if it does not fit."""
    if kind is bool and isinstance(value, bool):
        return value
    if kind is int and isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _BIG_INTEGER:
        return value
    if issubclass(kind, Enum) and isinstance(value, str):
        for member in kind:
            if value.lower().replace("-", "_") == member.name.lower():
                return member
    raise ValueError(f"expected {allowed_values(kind)}")


def config_value(kind: type, node: Node) -> Any:
    """Return the value of a node in a field's type; raise UsageFault, with its place, if it does not fit."""
    try:
        return check_value(kind, node.value)
    except ValueError as fault:
        node.bad(f"{fault}, not {format_value(node.value, node.source.OBJECT)}")


def parse_value(kind: type, text: str) -> Any:
    """Return a value of the command line in a field's type; raise ValueError if it does not fit."""
    word = text.strip()
    if kind is bool and word.lower() in _TRUE | _FALSE:
        return word.lower() in _TRUE
    if kind is int and re.fullmatch(r"[0-9]{1,18}", word):
        return int(word)
    if issubclass(kind, Enum):
        return check_value(kind, word)
    raise ValueError(f"expected {allowed_values(kind)}")


# ---------------------------------------------------------------------------------- scopes


@dataclass(frozen=True)
class NamedScope:
    """A named set of sizes and budgets; `values` are fields of the model's Config."""

    name: str
    description: str
    values: Mapping[str, Any]
    source: str


def load_scope(file: Path | Traversable, fields: Mapping[str, type], name: str | None = None) -> NamedScope:
    """Read a scope file strictly.

    The top level may hold ``description``; every other key, at the top or inside a table of any
    name, must be one of `fields`, at most once, with a value of its type.
    """
    document = read_toml(file)
    description = document.maybe("description", Node.text, "")
    values: dict[str, Any] = {}

    def take(node: Node, key: str) -> None:
        if key in values:
            node.fail(f"`{key}` is given twice", code="config-duplicate-key")
        values[key] = config_value(fields[key], node)

    for key, node in document.fields():
        if key in fields:
            take(node, key)
        elif isinstance(node.value, dict):
            for inner, part in node.object((), fields).fields():
                take(part, inner)
        elif key != "description":
            document.reject_unknown((*fields, "description"))
    return NamedScope(name or Path(str(file)).stem, description, values, str(file))


def find_scope(text: str, packaged: Traversable, fields: Mapping[str, type]) -> NamedScope:
    """Return the scope that a user named: a file if `text` looks like a path, else a packaged scope."""
    if text.endswith(".toml") or "/" in text or os.sep in text:
        return load_scope(Path(text), fields)
    if text in scope_names(packaged):
        return load_scope(packaged / f"{text}.toml", fields, text)
    raise UsageFault(
        "unknown-scope",
        f"unknown scope `{text}`",
        help=did_you_mean(text, scope_names(packaged)) + " (or the path of a TOML file)",
    )


def scope_names(packaged: Traversable) -> tuple[str, ...]:
    """Return the names of the packaged scopes, sorted."""
    if not packaged.is_dir():
        return ()
    return tuple(sorted(f.name.removesuffix(".toml") for f in packaged.iterdir() if f.name.endswith(".toml")))


# -------------------------------------------------------------------------------- overrides

KAFKA_NAMES: Mapping[str, str] = {
    "min.insync.replicas": "min_isr",
    "unclean.leader.election.enable": "unclean_leader_election_enable",
    "unclean.recovery.strategy": "unclean_recovery_strategy",
    "eligible.leader.replicas.version": "elr_enabled",
}
"""Kafka's name -> field of Config: topic settings, and the feature of the ELR (true for 1)."""
SIZES_HELP = "set `broker_count`, of which `spare_brokers` hold no replica at the start"


def setting_of(pair: str) -> str:
    """Return the field of Config that ``KEY=VALUE`` sets."""
    key = pair.partition("=")[0].strip()
    return KAFKA_NAMES.get(key, key)


def setting_text(value: object) -> str:
    """Return a value as an override takes it: a member of an Enum by its name, a bool in lower case."""
    if isinstance(value, Enum):
        return value.name
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_overrides(config_cls: type[Any], pairs: Iterable[str]) -> dict[str, Any]:
    """Return the Config fields of ``["min_isr=2", "elr=true"]`` with their values; the last of equal keys wins."""
    fields = config_fields(config_cls)
    values: dict[str, Any] = {}
    for pair in pairs:
        _, equals, text = pair.partition("=")
        key = setting_of(pair)
        where = f"--set {pair}"
        if not equals:
            raise UsageFault("override-bad-form", "expected KEY=VALUE", where=where)
        if key not in fields:
            help = SIZES_HELP if key == "replication.factor" else did_you_mean(key, fields)
            raise UsageFault("unknown-knob", f"unknown setting `{key}`", where=where, help=help)
        try:
            values[key] = parse_value(fields[key], text)
        except ValueError as fault:
            raise UsageFault("override-bad-value", f"`{key}`: {fault}, not `{text}`", where=where) from fault
    return values


def build_config(config_cls: type[C], *layers: Mapping[str, Any]) -> C:
    """Return a Config from layers of field values; later layers win, other fields keep their defaults.

    Raise UsageFault if the class rejects the values, or if a required field is missing.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        merged.update(layer)
    missing = [
        part.name
        for part in dataclasses.fields(config_cls)  # type: ignore[arg-type]
        if part.name not in merged
        and part.default is dataclasses.MISSING
        and part.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise UsageFault("config-missing-key", "no value for " + ", ".join(f"`{name}`" for name in missing))
    try:
        return config_cls(**merged)
    except ValueError as fault:
        raise UsageFault("config-invalid", str(fault)) from fault


def config_values(config: object) -> dict[str, bool | int | str]:
    """Return the fields of a Config as reports show them, enum members by name."""
    values: dict[str, bool | int | str] = {}
    for part in dataclasses.fields(config):  # type: ignore[arg-type]
        value = getattr(config, part.name)
        values[part.name] = value.name if isinstance(value, Enum) else value
    return values
