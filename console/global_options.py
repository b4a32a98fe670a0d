"""The options of all verbs, accepted after a verb as well: `elrcheck check -q` is `elrcheck -q check`.

A verb takes them as hidden options that are not its own: no setting, environment variable or line of its help
stands for them. Given twice, the one after the verb decides; -v and -q add up.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click

from elrcheck.console.shell import Shell


def use_settings(ctx: click.Context, _: click.Parameter, chosen: Path | None) -> Path | None:
    """Loads the settings file before click parses any other option."""
    if not ctx.resilient_parsing and isinstance(ctx.command, click.Group):
        from elrcheck.console.settings import load_settings

        ctx.default_map = dict(load_settings(chosen, Path(), ctx.command).defaults)
    return chosen


@cache
def late_options(taken: frozenset[str]) -> tuple[click.Option, ...]:
    """The global options that a verb accepts, without those whose names it has itself."""
    offered = (
        _late("--config", callback=_settings, type=click.Path(path_type=Path), is_eager=True),
        _late("--color", callback=_color, type=click.Choice(("auto", "always", "never"))),
        _late("--quiet", "-q", callback=_quieter, count=True),
        _late("--verbose", "-v", callback=_louder, count=True),
        _late("--progress/--no-progress", callback=_progress, default=None),
    )
    return tuple(option for option in offered if not taken & {*option.opts, *option.secondary_opts})


def _late(*names: str, **more: Any) -> click.Option:
    flag = names[0].partition("/")[0].strip("-")
    names = (f"all_{flag}", *names)
    return click.Option(names, hidden=True, expose_value=False, allow_from_autoenv=False, **more)


def _settings(ctx: click.Context, _: click.Parameter, chosen: Path | None) -> None:
    """The defaults of the verb from another file; those of the root were read before its name was."""
    if chosen is None or ctx.resilient_parsing:
        return
    from elrcheck.console.settings import load_settings

    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    found: Any = load_settings(chosen, Path(), root.command).defaults
    names = ctx.command_path.split(" ")[1:]
    for name in names:
        found = found.get(name, {})
    ctx.default_map = dict(found)


def _color(ctx: click.Context, _: click.Parameter, chosen: Any) -> None:
    if chosen is not None:
        _change(ctx, color=chosen)


def _quieter(ctx: click.Context, _: click.Parameter, times: int) -> None:
    if times:
        _change(ctx, detail=ctx.obj.detail - times)


def _louder(ctx: click.Context, _: click.Parameter, times: int) -> None:
    if times:
        _change(ctx, detail=ctx.obj.detail + times)


def _progress(ctx: click.Context, _: click.Parameter, shown: bool | None) -> None:
    if shown is not None:
        _change(ctx, progress=shown)


def _change(ctx: click.Context, **changes: Any) -> None:
    if isinstance(ctx.obj, Shell):
        ctx.obj = replace(ctx.obj, **changes)
