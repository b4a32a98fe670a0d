"""The options that a command would use, with their values and the sources of these."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import Record
from elrcheck.console.verb import reduced

SOURCES = {
    ParameterSource.COMMANDLINE: "command line",
    ParameterSource.ENVIRONMENT: "environment",
    ParameterSource.DEFAULT_MAP: "settings file",
}


class EffectiveOption(Record, frozen=True):
    """One option of a command. source: the origin of its value, in words."""

    name: str
    value: Any
    source: str


def effective_options(
    root: click.Context, name: str, arguments: tuple[str, ...]
) -> tuple[tuple[EffectiveOption, ...], Selection | None]:
    """Return the options of a command with their effective values, and its selection if it has one."""
    group = root.command
    assert isinstance(group, click.Group)
    _, command, _ = group.resolve_command(root, [name])
    if command is None or isinstance(command, click.Group):
        raise UsageFault("usage-unknown-command", f"`{name}` has no options of its own", help="try check")
    with command.make_context(name, list(arguments), parent=root) as inner:
        params = inner.params
        options = tuple(
            EffectiveOption(option.opts[0], _plain(params[option.name]), _source(inner, option.name))
            for option in command.params
            if isinstance(option, click.Option) and option.name in params
        )
    if not {"variant", "scope", "overrides"} <= set(params):
        return options, None
    names = ("variant", "scope", "overrides", "model", "patch")
    selection = Selection(**{name: params[name] for name in names if name in params})
    return options, reduced(selection, bool(params.get("reduce")))


def _source(ctx: click.Context, name: str) -> str:
    source = ctx.get_parameter_source(name)
    return "default" if source is None else SOURCES.get(source, "default")


def _plain(value: Any) -> Any:
    """Return the value of an option in JSON types."""
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
