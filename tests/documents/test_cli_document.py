"""docs/cli.md, run as it stands: every block of every section, in order, with the exit codes it announces.

The sections of `QUICK` are followed each time, inside this process; all of them, for many minutes and as a
reader types them, with `-m slow`. The beginning and the counterexample of README.md are here too.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from support.followed import blocks, commands, environment, follow, sections
from support.followed_inside import follow_inside
from support.places import ROOT

DOCUMENT = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
SECTIONS = sections(DOCUMENT)
WITH_BLOCKS = [title for title, text in SECTIONS.items() if title and blocks(text)]
QUICK = ("trace", "explain", "replay", "what-if", "list, show, doctor", "runs", "config")
NEEDS_JAVA = {"check", "sweep", "export and tlc"}


def needs_run(title: str) -> bool:
    return re.search(r"\brun/", SECTIONS[title]) is not None


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the block at the beginning leaves."""
    folder = tmp_path_factory.mktemp("begun")
    follow_inside(blocks(SECTIONS[""]), folder)
    return folder


@pytest.mark.parametrize("title", QUICK)
def test_sample(title: str, begun: Path, tmp_path: Path) -> None:
    if needs_run(title):
        shutil.copytree(begun / "run", tmp_path / "run")
    follow_inside(blocks(SECTIONS[title]), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("title", WITH_BLOCKS)
def test_section(title: str, tmp_path: Path) -> None:
    if title in NEEDS_JAVA and shutil.which("java", path=os.environ["PATH"]) is None:
        pytest.skip("needs Java")
    first = blocks(SECTIONS[""]) if needs_run(title) else []
    (tmp_path / "tests").symlink_to(ROOT / "tests", target_is_directory=True)
    follow([*first, *blocks(SECTIONS[title])], tmp_path, environment(tmp_path), timeout=1800)


def test_every_section_of_a_command_has_a_block() -> None:
    assert set(SECTIONS) - set(WITH_BLOCKS) == {""}


def test_how_commands_and_their_codes_are_read() -> None:
    body = (
        "elrcheck check     # all of it\n"
        "echo '{\"a\":\n 1}' | elrcheck what-if   # exit 2\n"
        "\n"
        "elrcheck list \\\n  variants\n"
        "cat > f <<'END'\n# exit 9\nEND\n"
        "elrcheck simulate  # exit 3, or 1: chance\n"
        "elrcheck tlc       # exit 0: confirmed, or exit 4: no Java\n"
    )
    lines_and_codes = [(len(c.text.splitlines()), sorted(c.codes)) for c in commands(body)]
    assert lines_and_codes == [(1, [0]), (2, [2]), (3, [0]), (3, [0]), (1, [1, 3]), (1, [0, 4])]
    with pytest.raises(ValueError, match="no end"):
        list(commands("echo 'a\n"))


@pytest.mark.slow
def test_a_wrong_code_or_a_line_that_is_not_printed_fails(tmp_path: Path) -> None:
    env = environment(tmp_path)
    for text, says in (
        ("```sh\ntrue\n(exit 3)   # exit 2\n```\n", r"exit 3, not \[2\]"),
        ("```sh\necho one\n```\n```text\ntwo\n```\n", "not printed"),
        ("```sh\necho one; echo two\n```\n```text\ntwo\none\n```\n", "not printed"),
    ):
        with pytest.raises(AssertionError, match=says):
            follow(blocks(text), tmp_path, env)
    right = "```sh\nx=1\ntest $x = 1\necho one;  echo t  wo\n```\n```text\n..\nt wo\n```\n"
    follow(blocks(right), tmp_path, env)


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_two_commands_set_a_newcomer_up(tmp_path: Path) -> None:
    """The first line installs; the second is followed in an environment that has it."""
    first = blocks(README)[0]
    install, command = first.commands
    assert "pip install ." in install.text and len(first.quoted) > 8
    follow([replace(first, commands=(command,))], tmp_path, environment(tmp_path))


def test_the_counterexample_of_the_readme_is_what_the_tool_prints(tmp_path: Path) -> None:
    first = next(block for block in blocks(README) if "--variant legacy" in block.commands[0].text)
    assert len(first.quoted) > 8
    quoted = re.search(r"`(elrcheck trace show \S+ --as mermaid)`", README)
    assert quoted
    *_, printed = follow_inside([first, *blocks(f"```sh\n{quoted[1]}\n```\n")], tmp_path)
    (picture,) = re.findall(r"```mermaid\n(.*?)```", README, re.S)
    assert printed == picture
