"""Writes a manual page for elrcheck and for each verb into a folder: `python .ci/man_pages.py FOLDER`.

The pages are made from the help of the command line, so they say what it says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from elrcheck.base.version import __version__
from elrcheck.cli import cli
from elrcheck.console.help import command_help


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield a command and all below it, each with its context."""
    yield command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, click.Context(below, info_name=name, parent=context))


def page(command: click.Command, context: click.Context) -> str:
    """Return the manual page of a command."""
    path = context.command_path
    title = path.replace(" ", "-")
    lines = [f'.TH "{title.upper()}" "1" "" "elrcheck {__version__}" "elrcheck manual"']
    lines += [".SH NAME", rf"{_plain(title)} \- {_plain(command.get_short_help_str(200))}"]
    lines += [".SH SYNOPSIS", f".B {_plain(path)}", _plain(" ".join(command.collect_usage_pieces(context)))]
    lines += [".SH DESCRIPTION", *_paragraphs(command.help or "")]
    options = [record for one in command.get_params(context) if (record := one.get_help_record(context))]
    if options:
        lines.append(".SH OPTIONS")
    for flags, about in options:
        lines += [".TP", f".B {_plain(flags)}", _plain(about)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            lines += [".TP", f".BR {title}-{name} (1)", _plain(below.get_short_help_str(200))]
    if about := command_help().get(path.removeprefix("elrcheck ")):
        lines += [".SH EXAMPLES", ".nf", *map(_plain, about.examples), ".fi"]
    if command.epilog:
        lines += [".SH EXIT STATUS", *_paragraphs(command.epilog)]
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.replace("\b", "").split("\n\n"):
        yield ".PP"
        yield _plain(" ".join(paragraph.split()))


def _plain(text: str) -> str:
    """Return text that roff prints as it is."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for command, context in commands(cli, click.Context(cli, info_name="elrcheck")):
        name = context.command_path.replace(" ", "-")
        (folder / f"{name}.1").write_text(page(command, context), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
