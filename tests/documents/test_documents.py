"""What the documents say can be typed and opened: every command line parses, every link leads somewhere."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from elrcheck.base.common_options import KINDS
from elrcheck.base.errors import ElrError
from elrcheck.base.requests import Selection
from elrcheck.catalogue.lookup import entries, term
from elrcheck.cli import cli
from elrcheck.commands.new_model import write_new
from elrcheck.declared.select import resolve
from elrcheck.invariants import modules
from elrcheck.report.formats import FORMATS
from support.command_lines import DOCUMENTS, ROOT, Simple, quoted_calls, simple_commands
from support.followed import FENCE
from support.followed_inside import load_model_once

# What stands for something in a document, and something that it stands for.
PLACEHOLDERS = {"COMMAND": "check", "KIND": "variants", "NAME": "P-1", "ACTION": "Fence", "KEY=VALUE": "min_isr=1"}
# Of what the reader adds to the model; its own tests follow it.
ADDS_NAMES = ("extending", "changing-kafka")


@pytest.fixture
def parsed(no_settings: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, dict[str, Any]]]:
    """What click gives to a command, instead of running it: path of the command, its parameters."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    write_new("lock", tmp_path)
    calls: list[tuple[str, dict[str, Any]]] = []

    def instead() -> None:
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            calls.append((context.command_path, dict(context.params)))

    for command in every_command(cli):
        if command is not cli:
            monkeypatch.setattr(command, "callback", lambda **_: instead())
    return calls


def every_command(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        for below in command.commands.values():
            yield from every_command(below)


def parse(arguments: tuple[str, ...], mention: bool) -> str | None:
    """Lets click resolve a command line; why it does not, if so."""
    words = [PLACEHOLDERS.get(word, word) for word in arguments]
    name_only = mention and all(re.fullmatch(r"[a-z-]+", word) and word[0] != "-" for word in words)
    try:
        with cli.make_context("elrcheck", words) as context:
            cli.invoke(context)
    except click.exceptions.Exit:
        return None
    except (click.MissingParameter, click.exceptions.NoArgsIsHelpError) as fault:
        return None if name_only else fault.format_message()
    except click.ClickException as fault:
        return fault.format_message()
    except ElrError as fault:
        return fault.render()
    return None


@functools.cache
def names(kind: str) -> frozenset[str]:
    """Ids and names of one kind of the catalogue."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modules, "load_model", load_model_once)
        return frozenset(str(one[key]) for one in entries(kind) for key in ("id", "name") if key in one)


def wrong_values(path: str, params: Mapping[str, Any]) -> Iterator[str]:
    """Names that no variant, scope, setting, property, rule, hazard or entry of the catalogue has."""
    try:
        if {"variant", "scope", "overrides"} <= set(params):
            patch = params.get("patch")
            base = ROOT / patch if patch is not None and (ROOT / patch).is_file() else None
            resolve(Selection(params["variant"], params["scope"], params["overrides"], params.get("model"), base))
    except ElrError as fault:
        yield fault.render()
    named = path != "elrcheck show" or any(params["name"] in names(kind) for kind in KINDS)
    if not named and term(params["name"]) is None:
        yield f"nothing is called {params['name']}"
    of_rules = params.get("controller") and path != "elrcheck mutate"
    rules = ("rules",) if of_rules else ("properties", "witnesses")
    for option, kinds in (("properties", rules), ("hazards", ("hazards",)), ("actions", ("actions",))):
        for word in params.get(option) or ():
            exact = word if option != "hazards" else f"{word}*"  # F-3 is F-3a and F-3b
            if not any(fnmatch.fnmatchcase(name, exact) for kind in kinds for name in names(kind)):
                yield f"no {' or '.join(kinds)} are called {word}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_command_line_is_understood(path: Path, parsed: list[tuple[str, dict[str, Any]]]) -> None:
    wrong: list[str] = []
    for call in quoted_calls(path.read_text(encoding="utf-8")):
        parsed.clear()
        faults = [parse(call.arguments, call.mention)]
        if parsed and parsed[0][0] == "elrcheck config":
            inner = parsed.pop()[1]
            faults.append(parse((inner["command"], *inner["arguments"]), mention=False))
        for command, params in parsed if path.stem not in ADDS_NAMES else ():
            faults += wrong_values(command, params)
        wrong += [f"line {call.line}: {' '.join(call.arguments)}: {why}" for why in faults if why]
    assert not wrong, "\n".join(wrong)


def test_all_command_lines_are_found() -> None:
    """By hand: what the reader must not overlook."""
    text = (
        "Say `elrcheck list\nrules`, `elrcheck tlc`.\n\n"
        "```sh\necho '{\n}' | elrcheck what-if   # it's read\n"
        "PYTHONPATH=a .venv/bin/elrcheck -v \\\n  gate > out\n"
        "printf a && elrcheck check -p 'P-*' --spark-conf a=b.gz#c | jq .x\n# elrcheck no\n"
        "cat <<'END'\nelrcheck no\nEND\n```\n\n```\nelrcheck runs\nFAIL elrcheck no\n```\n"
        "\n```text\nelrcheck no\n```\n"
    )
    calls = [(call.arguments, call.mention) for call in quoted_calls(text)]
    assert calls == [
        (("what-if",), False),
        (("-v", "gate"), False),
        (("check", "-p", "P-*", "--spark-conf", "a=b.gz#c"), False),
        (("runs",), False),
        (("list", "rules"), True),
        (("tlc",), True),
    ]
    assert simple_commands("A=1 B=x elrcheck tlc 2> log; true") == (
        Simple("", ("elrcheck", "tlc", "2"), (("A", "1"), ("B", "x")), redirected=True),
        Simple(";", ("true",)),
    )
    counts = {path.name: len(list(quoted_calls(path.read_text(encoding="utf-8")))) for path in DOCUMENTS}
    assert counts["cli.md"] > 80 and counts["README.md"] > 15 and counts["F-20.md"] > 5


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("check --scpoe two-brokers", "No such option"),
        ("chekc", "no such command"),
        ("export", "spec"),
        ("list variant", "is not one of"),
        ("trace show --as mermiad", "is not one of"),
        ("show", "Missing argument"),
        ("check --fingerprint 65", "is not one of"),
    ],
)
def test_what_no_document_may_say(line: str, says: str, parsed: list[tuple[str, dict[str, Any]]]) -> None:
    assert says in str(parse(tuple(line.split()), mention=False))
    assert parsed == []


def test_names_that_no_document_may_use(parsed: list[tuple[str, dict[str, Any]]]) -> None:
    lines = (
        "check --variant kip_ful",
        "check --scope three",
        "check --set min_isrs=1",
        "check -p P-99",
        "prove --controller -p CT-99",
        "mutate --hazard F-99",
        "mutate --action Fnece",
        "show strict",
    )
    for line in lines:
        parsed.clear()
        assert parse(tuple(line.split()), mention=False) is None
        ((command, params),) = parsed
        assert list(wrong_values(command, params)), line


# ------------------------------------------------------------------------------------- links


LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)")


def anchors(document: str) -> set[str]:
    """What GitHub names the headings of a document."""
    counts: dict[str, int] = {}
    names = set()
    for title in re.findall(r"^#{1,6} +(.+?)\s*$", FENCE.sub("", document), re.M):
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        names.add(f"{name}-{counts[name]}" if name in counts else name)
        counts[name] = counts.get(name, 0) + 1
    return names


def dead_links(path: Path, document: str) -> list[str]:
    """Relative links to a file or heading that does not exist."""
    dead = []
    for target in LINK.findall(FENCE.sub("", document)):
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = path.parent / name if name else path
        if not file.exists() or not file.resolve().is_relative_to(ROOT):
            dead.append(target)
            continue
        text = file.read_text(encoding="utf-8") if name else document
        if anchor and anchor not in anchors(text):
            dead.append(target)
    return dead


LINKED = (*DOCUMENTS, ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs" / "adr").glob("*.md")))


@pytest.mark.parametrize("path", LINKED, ids=lambda path: path.stem)
def test_every_link_leads_somewhere(path: Path) -> None:
    assert dead_links(path, path.read_text(encoding="utf-8")) == []


def test_dead_links_are_noticed() -> None:
    text = (
        "# A b: `c`\n[1](docs/cli.md#formats) [2](#a-b-c) [3](https://example.org/x) [4](docs/nothing.md)\n"
        "[5](docs/cli.md#format) [6](#a-b) [7](docs/cli.md) [8](../outside.md)\n## Two\n## Two\n[9](#two-1)\n"
    )
    links = dead_links(ROOT / "README.md", text)
    assert links == ["docs/nothing.md", "docs/cli.md#format", "#a-b", "../outside.md"]
    assert sum(len(LINK.findall(path.read_text(encoding="utf-8"))) for path in DOCUMENTS) > 40


PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|toml|yml|json))`")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_files_named_in_the_text_exist(path: Path) -> None:
    """Of the repository's own folders; other paths are the reader's."""
    named = PATH.findall(FENCE.sub("", path.read_text(encoding="utf-8")))
    ours = [name for name in named if (ROOT / name.split("/")[0]).is_dir()]
    assert [name for name in ours if not (ROOT / name).exists()] == []


def test_list_formats_names_the_commands_that_offer_each() -> None:
    offered: dict[str, set[str]] = {}
    for command in every_command(cli):
        options = {option.name: option.type for option in command.params}
        choice = options.get("form")
        if "outputs" in options and isinstance(choice, click.Choice) and command.name != "sweep":
            for form in choice.choices:
                offered.setdefault(form, set()).add("model diff" if command.name == "diff" else str(command.name))
    assert offered["text"] == offered["json"] == offered["jsonl"] and set(offered) <= set(FORMATS)
    for form in set(offered) - {"text", "json", "jsonl"}:
        named = FORMATS[form].rpartition("; ")[2].rstrip(".").split(", ")
        assert set(named) - {"sweep"} == offered[form], form
