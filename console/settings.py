"""Defaults for command line options from ``elrcheck.toml`` or ``[tool.elrcheck]``.

::

    variant = "code_4_1"          # default for every command that has --variant

    [check]                       # one table per command; its keys are the long options
    scope = "three-brokers"
    time-budget = "90s"

    [export.spec]
    out = "spec"

Precedence: option, environment, file, default. Exactly one file is used; parent folders are not searched. Keys and
types come from the click commands, and an unknown key or a value of another type is an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import click

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import Node, format_value
from elrcheck.console.option_values import WorkerCount

_NEVER_CONFIGURED = frozenset({"config", "help", "version"})


@dataclass(frozen=True)
class OptionDefaults:
    """click's nested `default_map`, and its file (None if no file was used)."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None


def load_settings(path: Path | None, folder: Path, group: click.Group) -> OptionDefaults:
    """Return the defaults of one settings file: `path`, else the first one in `folder`, else none."""
    table = _find(path, folder)
    if table is None:
        return OptionDefaults()
    defaults: dict[str, Any] = {}
    _read(table, group, defaults)
    return OptionDefaults(defaults, table.source.name)


def models_of_gate(folder: Path) -> list[Path]:
    """Return the models that the settings in a folder let a gate run: `model` of [gate], or of every command."""
    table = _find(None, folder)
    if table is None:
        return []
    own = table.get("gate", {})
    value = (own if "model" in own else table).get("model").value
    names = value if isinstance(value, list) else [value]  # of several models, or of one
    return [folder / name for name in names if isinstance(name, str)]


def _find(path: Path | None, folder: Path) -> Node | None:
    """Return the table of settings: a whole file, or [tool.elrcheck] of pyproject.toml; None without one."""
    own = folder / "elrcheck.toml"
    project = folder / "pyproject.toml"
    if path is None and own.is_file():
        return read_toml(own)
    if path is None and not project.is_file():
        return None
    document = read_toml(path or project)
    if path is not None and path.name != "pyproject.toml":
        return document
    tools = document.get("tool", {})
    if isinstance(tools.value, dict) and "elrcheck" in tools:
        return tools["elrcheck"].object((), None)
    if path is None:
        return None
    raise UsageFault("config-no-table", "there is no table [tool.elrcheck]", where=document.source.name)


def _read(table: Node, command: click.Command, defaults: dict[str, Any]) -> None:
    """Add the defaults of a command; for a group also those of its commands, shared or in tables of their own."""
    own = _options(command)
    commands = command.commands if isinstance(command, click.Group) else {}
    top = table.value if isinstance(table.value, dict) else {}
    tables = {key for key in commands if isinstance(top.get(key), dict)}
    shared = _shared(commands) if set(top) - {*own, *tables} else {}
    table.object((), (*own, *shared, *commands))
    for key, node in table.fields():  # shared first, so that a command's own table wins
        if key in own:
            defaults[_name(own[key])] = _convert(node, own[key])
        elif key in shared and key not in tables:  # `model` is an option and a command
            for place, option in shared[key]:
                _below(defaults, place)[_name(option)] = _convert(node, option, one=True)
    for key, node in table.fields():
        if key in commands and key not in {*shared, *tables}:
            node.bad("this is a command, so it must be a table")
        if key in tables:
            _read(node, commands[key], defaults.setdefault(key, {}))


def _options(command: click.Command) -> dict[str, click.Option]:
    """Return long option, without its dashes -> the option."""
    return {
        flag.removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option) and option.name not in _NEVER_CONFIGURED
        for flag in option.opts
        if flag.startswith("--")
    }


def _shared(commands: Mapping[str, click.Command]) -> dict[str, list[tuple[tuple[str, ...], click.Option]]]:
    """Return long option -> the path of each command that has it, and the option there."""
    shared: dict[str, list[tuple[tuple[str, ...], click.Option]]] = {}
    for name, command in commands.items():
        for key, option in _options(command).items():
            shared.setdefault(key, []).append(((name,), option))
        if isinstance(command, click.Group):
            for key, places in _shared(command.commands).items():
                shared.setdefault(key, []).extend(((name, *path), option) for path, option in places)
    return shared


class _TomlKind(NamedTuple):
    """The TOML types that an option takes, and their name in a message."""

    types: tuple[type, ...]
    name: str


def _kind(option: click.Option) -> _TomlKind:
    """Return the TOML types of an option: text, unless it is a switch or a number."""
    match option.type:
        case _ if option.is_flag and not option.count:
            return _TomlKind((bool,), "true or false")
        case click.types.IntParamType():
            return _TomlKind((int,), "a whole number")
        case click.types.FloatParamType():
            return _TomlKind((int, float), "a number")
        case WorkerCount():
            return _TomlKind((int, str), f"a number or a text ({option.metavar})")
        case click.Choice(choices=choices):
            # Users write `fingerprint = 64`.
            numbers = (int,) if any(choice.isdecimal() for choice in choices) else ()
            return _TomlKind((*numbers, str), f"{', '.join(choices[:-1])} or {choices[-1]}")
    return _TomlKind((str,), "a text" + (f" ({option.metavar})" if option.metavar else ""))


def _convert(node: Node, option: click.Option, one: bool = False) -> Any:
    """Return the value of an option; raise UsageFault if the option does not accept it.

    one: a repeatable option accepts a single value without a list, since `model = "lock.py"` is also for commands
    that take it once.
    """
    kind = _kind(option)
    if not option.multiple:
        return _one(node, option, kind)
    if one and not isinstance(node.value, list):
        return [_one(node, option, kind)]
    if not isinstance(node.value, list):
        node.bad(f"expected a list, each {kind.name}, not {format_value(node.value, node.source.OBJECT)}")
    return [_one(part, option, kind) for part in node.items()]


def _one(node: Node, option: click.Option, kind: _TomlKind) -> Any:
    value = node.value
    if type(value) not in kind.types:  # a bool is not a number
        node.expected(kind.name)
    if isinstance(value, str) and "\0" in value:
        node.bad("no option can hold a NUL")
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        node.expected("a finite number")
    try:
        option.type.convert(str(value), option, None)
    except click.BadParameter as fault:
        node.bad(fault.message.rstrip("."))
    numeric = isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
    return value if numeric else str(value)


def _name(option: click.Option) -> str:
    assert option.name is not None
    return option.name


def _below(defaults: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for part in path:
        defaults = defaults.setdefault(part, {})
    return defaults
