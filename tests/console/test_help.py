"""What `--help` says: options in groups and all of them, examples that can be typed, schemas that exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from elrcheck.catalogue.configured import find_variant
from elrcheck.cli import cli
from elrcheck.console.help import GROUPS, MANY, command_help
from elrcheck.console.shell import run
from elrcheck.console.verbs.search_verbs import FORMS
from elrcheck.report.formats import EVERY, FORMATS
from support.places import ROOT


def leaves(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command below a group that does something itself."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, *path, name)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield (*path, name), command


LEAVES = dict(leaves(cli))
NAMES = [" ".join(path) for path in LEAVES]


def parsed(argv: list[str]) -> tuple[str, dict[str, object]]:
    """The command that would run, and its parameters; fails as the command line does."""
    context = cli.make_context("elrcheck", argv)
    while isinstance(context.command, click.Group):
        rest = [*context._protected_args, *context.args]
        if not rest:
            break
        name, command, rest = context.command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)
    return context.command_path.partition(" ")[2], context.params


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_typed_as_they_stand(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = command_help()[name].examples
    assert 1 <= len(examples) <= 3
    for line in examples:
        words = shlex.split(line.replace('eval "$(', "").replace(')"', ""))
        typed = words[words.index("elrcheck") + 1 :]
        typed = typed[: min([typed.index(mark) for mark in "|<" if mark in typed], default=len(typed))]
        path, params = parsed(typed)
        assert path == name or (name, path) == ("show", "config") or path.startswith(f"{name} ")
        if params.get("variant") is not None:
            find_variant(str(params["variant"]))


def test_no_example_is_for_a_command_that_is_gone() -> None:
    assert set(command_help()) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help_has_every_option_once_and_the_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, [*name.split(), "--help"]) == 0
    printed = capsys.readouterr().out
    options = [p for p in LEAVES[tuple(name.split())].params if isinstance(p, click.Option)]
    listed = re.split(r"^(?:Options|Model):$", printed, maxsplit=1, flags=re.M)[1]
    for option in options:
        assert len(re.findall(rf"^  (?:-\w, )?{option.opts[0]}(?![\w-])", listed, re.M)) == 1, option.opts
    for line in command_help()[name].examples:
        assert line in printed
    has_json = any(isinstance(p.type, click.Choice) and "json" in p.type.choices and p.name == "form" for p in options)
    assert ("Programs read --format json" in printed) == has_json
    if len(options) >= MANY:
        titles = [line.rstrip(":") for line in printed.splitlines() if line.rstrip(":") in GROUPS]
        assert titles == [title for title in GROUPS if title in titles] and len(titles) > 1


def test_the_groups_of_check() -> None:
    with click.Context(cli, info_name="elrcheck") as context:
        text = cli.commands["check"].get_help(click.Context(cli.commands["check"], context, "check"))
    sections = re.split(r"^(\w[\w ]*):$", text, flags=re.M)
    groups = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert "--max-depth" in groups["Limits"] and "--spark-conf" in groups["Engine"]
    assert "--resume" in groups["Run folder"] and "--fail-on" in groups["Properties"]
    assert "--format" in groups["Output"] and "--help" in groups["Output"]
    assert "Options" not in groups, "every option of check has a group"


def test_schemas_exist() -> None:
    for name, about in command_help().items():
        schema = ROOT / "docs" / "schemas" / f"elrcheck.{about.schema}-1.schema.json"
        assert about.schema is None or schema.is_file(), name


def test_the_formats_listed_are_those_that_can_be_asked_for() -> None:
    offered = {*EVERY, *FORMS}
    for command in LEAVES.values():
        for option in command.params:
            if option.name in ("form", "notation", "graph_format") and isinstance(option.type, click.Choice):
                offered |= {str(choice) for choice in option.type.choices}
    assert offered == set(FORMATS)


def test_the_bare_command_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Like --help; a group of verbs without a verb did not run."""
    assert run(cli, []) == 0
    bare = capsys.readouterr()
    assert run(cli, ["--help"]) == 0
    assert (bare.out, bare.err) == (capsys.readouterr().out, "")
    assert "Ask about your cluster:" in bare.out and "Look things up:" in bare.out
    assert run(cli, ["export"]) == 2
    assert capsys.readouterr().out == ""
