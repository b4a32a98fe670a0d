"""The tutorial, followed literally in an empty folder: every command, its exit code, what it prints."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from support.followed import Block, blocks, environment, follow
from support.places import ROOT

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
SKIPPED = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "build", "env", "*.egg-info")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder in which the reader has cloned the repository, and nothing else."""
    shutil.copytree(ROOT, tmp_path / "elrcheck", ignore=SKIPPED)
    return tmp_path


def read() -> tuple[Block, list[Block]]:
    install, *others = blocks(TUTORIAL)
    assert any("pip install" in command.text for command in install.commands)
    return install, others


def test_it_ends_with_a_rule_changed_and_a_red_gate() -> None:
    """Quick, so that the text cannot lose its point: what is followed below is about this."""
    _, others = read()
    last = [command for block in others for command in block.commands if "gate" in command.text]
    assert [set(command.codes) for command in last] == [{0}, {0}, {1}]
    assert "conjunct  same_incarnation" in TUTORIAL and "witness   b=1" in TUTORIAL


def test_followed_with_this_environment(folder: Path) -> None:
    """All but the installation, with nothing compiled before."""
    _, others = read()
    cache = {"ELRCHECK_CACHE_DIR": str(folder / ".cache")}
    follow(others, folder, environment(folder, cache), timeout=600)
    ended = (folder / "run" / "P-1.trace.json").exists()
    assert ended


@pytest.mark.slow
def test_followed_from_nothing(folder: Path) -> None:
    """With the installation, in an environment of its own and within the ten minutes it promises."""
    if shutil.which("python3.11") is None:
        pytest.skip("the tutorial says python3.11")
    install, others = read()
    own = environment(folder, {"ELRCHECK_CACHE_DIR": str(folder / ".cache")})
    ours = str(Path(sys.executable).parent)
    own["PATH"] = os.pathsep.join(part for part in own["PATH"].split(os.pathsep) if part != ours)
    own.pop("VIRTUAL_ENV", None)
    follow([install, *others], folder, own, timeout=600)
    assert (folder / "env" / "bin" / "elrcheck").exists()
