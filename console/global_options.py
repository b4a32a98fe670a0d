"""The options of all verbs, accepted before a verb and after it: `elrcheck check -q` is `elrcheck -q check`.

A verb accepts them as hidden options, without setting, environment variable or help. If one is given twice, the one
after the verb decides; -v and -q add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click

from elrcheck.console.shell import Shell

Callback = Callable[[click.Context, click.Parameter, Any], Any]


def global_options(late: bool = False) -> list[click.Option]:
    """Return the options of all verbs. late: those that a verb accepts, hidden and without defaults."""

    def option(names: str, callback: Callback, help: str, default: Any = None, **more: Any) -> click.Option:
        flags = names.split(" ")
        if late:
            hidden_name = f"all_{flags[0].partition('/')[0].strip('-')}"
            more |= {"hidden": True, "expose_value": False, "allow_from_autoenv": False}
            more |= {} if "count" in more else {"default": None}  # a flag would be off by default
            return click.Option([hidden_name, *flags], callback=callback, **more)
        default_shown = {} if default is None else {"default": default, "show_default": isinstance(default, str)}
        return click.Option(flags, callback=callback, help=help, **more, **default_shown)

    file, colors = click.Path(path_type=Path), click.Choice(("auto", "always", "never"))
    config_help = "Option defaults; if omitted, elrcheck.toml or [tool.elrcheck] in pyproject.toml."
    return [
        option("--config", _use_settings, config_help, metavar="FILE", type=file, is_eager=True, expose_value=False),
        option("--color", _set("color"), "When to colour the output.", "auto", type=colors),
        option("--quiet -q", _add_detail(-1), "Print only findings and the verdict.", count=True),
        option("--verbose -v", _add_detail(1), "Print more detail.", count=True),
        option("--progress/--no-progress", _set("progress"), "Show progress on stderr.", True),
    ]


@cache
def late_options(taken: frozenset[str]) -> tuple[click.Option, ...]:
    """Return the options of all verbs, as a verb accepts them, except those whose names it has itself."""
    options = global_options(late=True)
    return tuple(option for option in options if not taken & {*option.opts, *option.secondary_opts})


def _use_settings(ctx: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
    """Load defaults from the settings file before click parses other options; after a verb only for --config."""
    if ctx.resilient_parsing or (path is None and ctx.parent is not None):
        return path
    from elrcheck.console.settings import load_settings

    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    defaults: Any = load_settings(path, Path(), root.command).defaults
    for name in ctx.command_path.split(" ")[1:]:
        defaults = defaults.get(name, {})
    ctx.default_map = dict(defaults)
    return path


def _set(field: str) -> Callback:
    """Return a callback that sets a field of the shell, unless the option is omitted."""

    def change(ctx: click.Context, _: click.Parameter, value: Any) -> Any:
        if value is not None:
            ctx.obj = replace(ctx.obj or Shell(), **{field: value})
        return value

    return change


def _add_detail(sign: int) -> Callback:
    """Return a callback that raises or lowers the detail of the output."""

    def change(ctx: click.Context, _: click.Parameter, times: int) -> int:
        shell = ctx.obj or Shell()
        ctx.obj = replace(shell, detail=shell.detail + sign * times)
        return times

    return change
