"""The two tutorials, followed literally in an empty folder: every command, its exit code, what it prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from elrcheck.commands.new_model import write_new
from support.followed import Block, blocks, environment, follow
from support.places import ROOT

PAGES = {"tutorial": "run/P-1.trace.json", "first-protocol": "mine/run/P-1.trace.json"}
"""Each page, with a trace that following it leaves."""
SKIPPED = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "build", "env", "*.egg-info")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder in which the reader has cloned the repository, and nothing else."""
    shutil.copytree(ROOT, tmp_path / "elrcheck", ignore=SKIPPED)
    return tmp_path


def read(page: str) -> tuple[Block, list[Block]]:
    """The block that installs, and the others, which need not activate an environment that there is not."""
    install, *others = blocks(text(page))
    assert any("pip install" in command.text for command in install.commands)
    return install, others


def text(page: str) -> str:
    return (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def test_the_tutorial_ends_with_a_rule_changed_and_a_red_gate() -> None:
    """Quick, so that the text cannot lose its point: what is followed below is about this."""
    _, others = read("tutorial")
    last = [command for block in others for command in block.commands if "gate" in command.text]
    assert [set(command.codes) for command in last] == [{0}, {0}, {1}]
    assert "conjunct  same_incarnation" in text("tutorial") and "witness   b=1" in text("tutorial")


def test_the_first_protocol_is_refuted_repaired_proved_and_handed_to_tlc() -> None:
    _, others = read("first-protocol")
    run = [(command.text, set(command.codes)) for block in others for command in block.commands]
    verdicts = [(line.split()[1], codes) for line, codes in run if line.startswith("elrcheck")]
    assert [codes for verb, codes in verdicts if verb == "check"] == [{1}, {0}, {0}, {0}, {1}, {0}]
    assert [codes for verb, codes in verdicts if verb == "prove"] == [{1}, {0}]
    assert [codes for verb, codes in verdicts if verb == "tlc"] == [{0, 4}, {0, 4}]


@pytest.mark.parametrize("page", PAGES)
def test_the_changes_fit_the_lines_that_they_name(page: str, tmp_path: Path) -> None:
    """Else patch prints more than the page shows."""
    patch = shutil.which("patch")
    if patch is None:
        pytest.skip("no program called patch")
    write_new("lock", tmp_path)
    shutil.copytree(ROOT / "model", tmp_path / "model", ignore=SKIPPED)
    diffs = re.findall(r"^patch .*?<<'EOF'\n(.*?)^EOF$", text(page), re.M | re.S)
    assert diffs
    for diff in diffs:
        strip = "-p1" if diff.startswith("--- a/") else "-p0"
        done = subprocess.run([patch, strip], cwd=tmp_path, input=diff, capture_output=True, text=True, timeout=60)
        (line,) = done.stdout.splitlines()
        assert line.startswith("patching file ")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_followed_from_nothing(page: str, folder: Path) -> None:
    """With the installation, in an environment of its own and within the ten minutes it promises."""
    if shutil.which("python3") is None:
        pytest.skip("the page says python3")
    install, others = read(page)
    own = environment(folder, {"ELRCHECK_CACHE_DIR": str(folder / ".cache")})
    ours = str(Path(sys.executable).parent)
    own["PATH"] = os.pathsep.join(part for part in own["PATH"].split(os.pathsep) if part != ours)
    own.pop("VIRTUAL_ENV", None)
    follow([install, *others], folder, own, timeout=600)
    assert (folder / "env" / "bin" / "elrcheck").exists()
    assert (folder / PAGES[page]).exists()
