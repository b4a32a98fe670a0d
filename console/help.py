"""The pages of `--help`: options in groups, examples, the JSON schema, exit codes. A test parses every example."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.option import Group
from elrcheck.console.global_options import late_options

GROUPS = tuple(title for title in get_args(Group) if title)
"""Headings over options, in order; options without one are specific to their verb and come first."""
MANY = 12
"""Commands with at least this many options show them in groups."""


@dataclass(frozen=True)
class CommandHelp:
    """The help of a command that its options do not show, a table of `help.toml`.

    examples: lines for a shell. schema: the name of the JSON schema of its report, None for a command without one.
    """

    examples: tuple[str, ...]
    schema: str | None = None


@functools.cache
def command_help() -> Mapping[str, CommandHelp]:
    """Return command -> its help, such as that of `trace show`; the table is read once.

    Not by `read_record`, whose import would take longer than the page; a test compares the table with the commands.
    """
    import tomllib

    tables = tomllib.loads((Path(__file__).parent / "help.toml").read_text("utf-8"))
    return {command: CommandHelp(tuple(table["examples"]), table.get("schema")) for command, table in tables.items()}


class CommandPage(click.Command):
    """A command whose help groups the options and shows examples.

    The environment variable of an option is named after the option (ELRCHECK_CHECK_FORMAT for `check --format`), not,
    as click does, after the function's parameter.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for param in self.params:
            if isinstance(param, click.Option) and param.envvar is None and ctx.auto_envvar_prefix:
                flag = max(param.opts, key=len).lstrip("-").replace("-", "_").upper()
                param.envvar = f"{ctx.auto_envvar_prefix}_{flag}"
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own parameters, --help, and the options of all verbs."""
        own = super().get_params(ctx)
        return [*own, *late_options(frozenset(name for param in own for name in param.opts))]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[str, str]]] = {"": [], **{title: [] for title in GROUPS}}
        help_option = self.get_help_option(ctx)
        for param in self.get_params(ctx):
            group = "Output" if param is help_option else getattr(param, "group", "")
            if (row := param.get_help_record(ctx)) is not None:
                rows[group].append(row)
        if sum(map(len, rows.values())) < MANY:
            super().format_options(ctx, formatter)
            return
        for title, section in rows.items():
            if section:
                with formatter.section(title or "Options"):
                    formatter.write_dl(section)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(ctx, formatter)
        super().format_epilog(ctx, formatter)


def write_examples(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the examples, and where the JSON output is described."""
    path = ctx.command_path.partition(" ")[2]
    if not path:  # the page of all commands
        return
    about = command_help().get(path, CommandHelp(()))
    if about.examples:
        with formatter.section("Examples"):
            formatter.write_text("\b\n" + "\n".join(about.examples))
    if any(param.name == "form" and "json" in _choices(param) for param in ctx.command.params):
        file = f"docs/schemas/elrcheck.{about.schema}-1.schema.json of the package"
        described = f", described in {file}" if about.schema else ""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"Programs read --format json{described}.")


def _choices(param: click.Parameter) -> Sequence[str]:
    return [str(choice) for choice in param.type.choices] if isinstance(param.type, click.Choice) else []


class Commands(click.Group):
    """A group that lists its commands in declaration order, under headings, and suggests a command for a typo."""

    command_class = CommandPage

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.headings: dict[str, list[str]] = {}

    def add_to(self, heading: str, command: click.Command) -> None:
        """Add a command, which the help lists under this heading."""
        self.add_command(command)
        assert command.name is not None
        self.headings.setdefault(heading, []).append(command.name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their whole summaries."""
        widest = max(map(len, self.commands), default=0)
        for heading, names in (self.headings or {"Commands": list(self.commands)}).items():
            with formatter.section(heading):
                summaries = ((name, self.commands[name].get_short_help_str(200)) for name in names)
                formatter.write_dl([(name.ljust(widest), summary) for name, summary in summaries])

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            raise UsageFault(
                "usage-unknown-command",
                f"no such command: {ctx.command_path} {name}",
                help=did_you_mean(name, self.commands),
            )
        return super().resolve_command(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(ctx, formatter)
        super().format_epilog(ctx, formatter)
