"""The pages about single commands, followed as they stand; minutes, so nearly all of it with `-m slow`.

cli.md and tutorial.md have tests of their own. Not followed: spark.md, whose commands are for clusters (one
with a local master is in cli.md), and the installation in README.md, which is how the tests are run.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.followed import Block, blocks, environment, follow
from support.followed_inside import follow_inside
from support.places import ROOT

PAGES = ("ci", "traces", "report", "sweep", "liveness", "controller-total")
# What a page takes for granted, and after it the page goes on where a block of another kind is used.
BEFORE = {"report": "elrcheck gate --add two --scope two-brokers"}
AFTER = {
    "ci": (
        "mkdir tests; echo 'def test_ours(): pass' > tests/test_ours.py; pytest -q > out; tail -1 out | grep -q passed"
    ),
    "sweep": "elrcheck sweep --scope two-brokers-quiet --grid grid.toml -o swept.md  # exit 1: code_3_9",
}


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def blocks_of(name: str) -> list[Block]:
    """Of ci.md without what is quoted."""
    selected = blocks(page(name))
    if name == "ci":
        selected = [Block(block.commands) for block in selected]
    more = (f"```sh\n{line}\n```\n" for line in (BEFORE.get(name, ""), AFTER.get(name, "")))
    before, after = (blocks(text) for text in more)
    return [*before, *selected, *after]


@pytest.mark.slow
def test_traces(tmp_path: Path) -> None:
    page_blocks = blocks_of("traces")
    assert sum(len(block.quoted) for block in page_blocks) > 12
    follow_inside(page_blocks, tmp_path)


@pytest.mark.slow
def test_own_models(tmp_path: Path) -> None:
    follow(blocks_of("own-models"), tmp_path, environment(tmp_path))


@pytest.mark.slow
def test_changing_kafka(tmp_path: Path) -> None:
    follow(blocks_of("changing-kafka"), tmp_path, environment(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, tmp_path: Path) -> None:
    toml = re.findall(r"^```toml\n(.*?)^```$", page(name), re.M | re.S)
    if name == "sweep":
        (tmp_path / "grid.toml").write_text(toml[0])
    if name == "ci":
        (tmp_path / "pyproject.toml").write_text(toml[2])
    page_blocks = blocks_of(name)
    assert any(block.commands for block in page_blocks)
    follow(page_blocks, tmp_path, environment(tmp_path), timeout=1800)
