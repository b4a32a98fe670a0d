"""Defaults for command line options from ``elrcheck.toml`` or ``[tool.elrcheck]``.

::

    variant = "code_4_1"          # default for every command that has --variant

    [check]                       # one table per command; its keys are the long options
    scope = "three-brokers"
    time-budget = "90s"

    [export.spec]
    out = "spec"

Precedence: option, environment, file, default.  Keys and types come from the click commands themselves, so
a new option is configurable at once and an unknown key is always an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.catalogue.configuration import Document, read_toml

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
    document, table, path = found
    return Settings(_read_group(document, table, path, group), document.name)


def _find(
    chosen: Path | None, folder: Path
) -> tuple[Document, Mapping[str, Any], tuple[str, ...]] | None:
    """Returns the document, its table of settings, and the path of that table."""
    own = folder / "elrcheck.toml"
    project = folder / "pyproject.toml"
    if chosen is None and own.is_file():
        document = read_toml(own)
        return document, document.data, ()
    source = chosen if chosen is not None else project
    if chosen is None and not project.is_file():
        return None
    document = read_toml(source)
    if chosen is not None and source.name != "pyproject.toml":
        return document, document.data, ()
    tools = document.data.get("tool", {})
    table = tools.get("elrcheck") if isinstance(tools, dict) else None
    if table is None:
        if chosen is None:
            return None
        raise UsageFault("config-no-table", "there is no table [tool.elrcheck]", where=document.name)
    if not isinstance(table, dict):
        raise _bad(document, ("tool", "elrcheck"), "expected a table")
    return document, table, ("tool", "elrcheck")


def _read_group(
    document: Document, table: Mapping[str, Any], path: tuple[str, ...], group: click.Group
) -> dict[str, Any]:
    """Reads the defaults of a group: its own options, those its commands share, and a table per command."""
    own = _options(group)
    shared = _shared(group)
    defaults: dict[str, Any] = {}
    for key, value in table.items():  # shared first, so that a command's own table wins
        if key in own:
            defaults[_name(own[key])] = _convert(document, (*path, key), own[key], value)
        elif key in shared and key not in group.commands:
            for place, option in shared[key]:
                converted = _convert(document, (*path, key), option, value)
                _below(defaults, place)[_name(option)] = converted
    for key, value in table.items():
        if key in group.commands:
            here = (*path, key)
            if not isinstance(value, dict):
                raise _bad(document, here, "this is a command, so it must be a table")
            command = group.commands[key]
            target = _below(defaults, (key,))
            if isinstance(command, click.Group):
                _merge(target, _read_group(document, value, here, command))
            else:
                target.update(_read_command(document, value, here, command))
        elif key not in own and key not in shared:
            raise _unknown(document, (*path, key), (*own, *shared, *group.commands))
    return defaults


def _read_command(
    document: Document, table: Mapping[str, Any], path: tuple[str, ...], command: click.Command
) -> dict[str, Any]:
    options = _options(command)
    defaults: dict[str, Any] = {}
    for key, value in table.items():
        if key not in options:
            raise _unknown(document, (*path, key), options)
        defaults[_name(options[key])] = _convert(document, (*path, key), options[key], value)
    return defaults


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


def _convert(document: Document, path: tuple[str, ...], option: click.Option, value: object) -> Any:
    """Checks the value with the option's own type; errors name the line of the file."""
    values = value if option.multiple else [value]
    if not isinstance(values, list):
        raise _bad(document, path, "expected a list")
    for part in values:
        if isinstance(part, str) and "\0" in part:
            raise _bad(document, path, "an option cannot contain a NUL character")
        if isinstance(part, (dict, list)):
            raise _bad(document, path, f"expected {'a list of values' if option.multiple else 'one value'}")
        is_switch = option.is_flag and not option.count
        if is_switch != isinstance(part, bool):
            raise _bad(document, path, f"expected {'true or false' if is_switch else 'a number or a string'}")
        if not is_switch:
            try:
                option.type.convert(str(part), option, None)
            except click.BadParameter as fault:
                raise _bad(document, path, fault.message) from fault
    return [str(part) for part in values] if option.multiple else value


def _bad(document: Document, path: tuple[str, ...], why: str) -> UsageFault:
    return UsageFault("config-bad-value", f"`{path[-1]}`: {why}", where=document.where(*path))


def _unknown(document: Document, path: tuple[str, ...], known: Any) -> UsageFault:
    inside = f" in [{'.'.join(path[:-1])}]" if len(path) > 1 else ""
    return UsageFault(
        "config-unknown-key",
        f"unknown key `{path[-1]}`{inside}",
        where=document.where(*path),
        help=did_you_mean(path[-1], known),
    )


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
