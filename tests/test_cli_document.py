"""docs/cli.md, run as it stands: every block of every section, in order, with the exit codes it announces.

The sections of `QUICK` are run each time; all of them, for many minutes, with `-m slow`.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from followed import blocks, commands, environment, follow, sections

DOCUMENT = (Path(__file__).resolve().parent.parent / "docs" / "cli.md").read_text(encoding="utf-8")
SECTIONS = sections(DOCUMENT)
WITH_BLOCKS = [title for title, text in SECTIONS.items() if title and blocks(text)]
QUICK = ("explain", "what-if", "runs")
NEEDS_JAVA = {"check", "sweep", "export and tlc"}


def run_section(title: str, folder: Path) -> None:
    first = blocks(SECTIONS[""]) if re.search(r"\brun/", SECTIONS[title]) else []
    follow([*first, *blocks(SECTIONS[title])], folder, environment(folder), timeout=1800)


@pytest.mark.parametrize("title", QUICK)
@pytest.mark.slow
def test_sample(title: str, tmp_path: Path) -> None:
    run_section(title, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("title", [title for title in WITH_BLOCKS if title not in QUICK])
def test_section(title: str, tmp_path: Path) -> None:
    if title in NEEDS_JAVA and shutil.which("java", path=os.environ["PATH"]) is None:
        pytest.skip("needs Java")
    run_section(title, tmp_path)


@pytest.mark.slow
def test_every_section_of_a_command_has_a_block() -> None:
    assert set(SECTIONS) - set(WITH_BLOCKS) == {""}


@pytest.mark.slow
def test_how_commands_and_their_codes_are_read() -> None:
    body = (
        "elrcheck check     # all of it\n"
        "echo '{\"a\":\n 1}' | elrcheck what-if   # exit 2\n"
        "\n"
        "elrcheck list \\\n  variants\n"
        "cat > f <<'END'\n# exit 9\nEND\n"
        "elrcheck simulate  # exit 3, or 1: chance\n"
    )
    found = [(len(c.text.splitlines()), sorted(c.codes)) for c in commands(body)]
    assert found == [(1, [0]), (2, [2]), (3, [0]), (3, [0]), (1, [1, 3])]
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


README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_counterexample_of_the_readme_is_what_the_tool_prints(tmp_path: Path) -> None:
    first = blocks(README)[0]
    assert "--variant legacy" in first.commands[0].text and first.quoted
    (picture,) = re.findall(r"```mermaid\n(.*?)```", README, re.S)
    drawn = "```sh\nelrcheck trace show .elrcheck/runs/legacy*/P-1.trace.json --as mermaid\n```\n"
    follow([first, *blocks(f"{drawn}```text\n{picture}```\n")], tmp_path, environment(tmp_path))
