"""Defaults for command line options from ``elrcheck.toml`` or ``[tool.elrcheck]``.

::

    variant = "code_4_1"          # default for every command that has --variant

    [check]                       # one table per command; its keys are the long options
    scope = "three-brokers"
    time-budget = "90s"

    [export.spec]
    out = "spec"

Precedence: option, environment, file, default.  Keys and types come from the click commands themselves, so
a new option is configurable at once, and an unknown key or a value of another type is always an error.
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
class Settings:
    """click's nested `default_map`, and the file it came from (None when no file was used)."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None


def load_settings(chosen: Path | None, folder: Path, group: click.Group) -> Settings:
    """Reads one settings file: `chosen`, else the first one in `folder`; empty Settings without a file."""
    found = _find(chosen, folder)
    if found is None:
        return Settings()
    return Settings(_read_group(found, group), found.source.name)


def _find(chosen: Path | None, folder: Path) -> Node | None:
    """The table of settings: a whole file, or a part of pyproject.toml."""
    own = folder / "elrcheck.toml"
    project = folder / "pyproject.toml"
    if chosen is None and own.is_file():
        return read_toml(own)
    source = chosen if chosen is not None else project
    if chosen is None and not project.is_file():
        return None
    document = read_toml(source)
    if chosen is not None and source.name != "pyproject.toml":
        return document
    tools = document.get("tool", {})
    if isinstance(tools.value, dict) and "elrcheck" in tools:
        return tools["elrcheck"].object((), None)
    if chosen is None:
        return None
    raise UsageFault("config-no-table", "there is no table [tool.elrcheck]", where=document.source.name)


def _read_group(table: Node, group: click.Group) -> dict[str, Any]:
    """The defaults below one group: its own options, those all its commands share, and its commands."""
    own = _options(group)
    shared = _shared(group)
    table.object((), (*own, *shared, *group.commands))
    defaults: dict[str, Any] = {}
    for key, node in table.fields():  # shared first, so that a command's own table wins
        if key in own:
            defaults[_name(own[key])] = _convert(node, own[key])
        elif key in shared and key not in group.commands:
            for place, option in shared[key]:
                converted = _convert(node, option)
                _below(defaults, place)[_name(option)] = converted
    for key, node in table.fields():
        if key in group.commands:
            if not isinstance(node.value, dict):
                node.bad("this is a command, so it must be a table")
            command = group.commands[key]
            target = _below(defaults, (key,))
            if isinstance(command, click.Group):
                _merge(target, _read_group(node, command))
            else:
                target.update(_read_command(node, command))
    return defaults


def _read_command(table: Node, command: click.Command) -> dict[str, Any]:
    options = _options(command)
    return {_name(options[key]): _convert(node, options[key]) for key, node in table.object((), options).fields()}


def _options(command: click.Command) -> dict[str, click.Option]:
    """Maps each long option name, without dashes, to its option."""
    return {
        flag.removeprefix("--"): option
        for option in command.params
        if isinstance(option, click.Option)
        for flag in (*option.opts, *option.secondary_opts)
        if flag.startswith("--") and flag in option.opts and option.name not in _NEVER_CONFIGURED
    }


def _shared(group: click.Group) -> dict[str, list[tuple[tuple[str, ...], click.Option]]]:
    """Maps an option name to every command of the group that has it, as paths of command names."""
    found: dict[str, list[tuple[tuple[str, ...], click.Option]]] = {}
    for name, command in group.commands.items():
        for key, option in _options(command).items():
            found.setdefault(key, []).append(((name,), option))
        if isinstance(command, click.Group):
            for key, places in _shared(command).items():
                found.setdefault(key, []).extend(((name, *path), option) for path, option in places)
    return found


class _Kind(NamedTuple):
    """The types of TOML that an option takes, and how a message calls them."""

    types: tuple[type, ...]
    name: str


def _kind(option: click.Option) -> _Kind:
    """What an option may be set to, by its declared type: text unless it is a switch or a number."""
    match option.type:
        case _ if option.is_flag and not option.count:
            return _Kind((bool,), "true or false")
        case click.types.IntParamType():
            return _Kind((int,), "a whole number")
        case click.types.FloatParamType():
            return _Kind((int, float), "a number")
        case WorkerCount():
            return _Kind((int, str), f"a number or a text ({option.metavar})")
        case click.Choice(choices=choices):
            # `fingerprint = 64` is how anybody writes it.
            numbers = (int,) if any(choice.isdecimal() for choice in choices) else ()
            return _Kind((*numbers, str), f"{', '.join(choices[:-1])} or {choices[-1]}")
    return _Kind((str,), "a text" + (f" ({option.metavar})" if option.metavar else ""))


def _convert(node: Node, option: click.Option) -> Any:
    """The value, checked by the option's declared type and then by the option itself."""
    kind = _kind(option)
    if not option.multiple:
        return _one(node, option, kind)
    if not isinstance(node.value, list):
        node.bad(f"expected a list, each {kind.name}, not {format_value(node.value, node.source.OBJECT)}")
    return [_one(part, option, kind) for part in node.items()]


def _one(node: Node, option: click.Option, kind: _Kind) -> Any:
    value = node.value
    if type(value) not in kind.types:  # a bool is no number
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
        node.bad(fault.message)
    numeric = isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
    return value if numeric else str(value)


def _name(option: click.Option) -> str:
    assert option.name is not None
    return option.name


def _below(defaults: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for part in path:
        defaults = defaults.setdefault(part, {})
    return defaults


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
