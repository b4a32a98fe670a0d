"""A rule of the model, changed by hand, turns the gate red with a trace that names conjunct and broker.

The package is copied, one line of the copy is edited as a person would, and the gate runs from the copy.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from followed import assert_quoted
from places import ROOT, copy_package


@dataclass(frozen=True)
class Edit:
    """A line of a file, what it becomes, and what must be seen then. guard: the guard that is gone."""

    file: str
    old: str
    new: str
    property: str
    conjunct: str
    guard: str = ""


JOINS_TOO_EARLY = Edit(
    "model/broker/isr_proposals.py",
    '    require(may_join(c, me, f), "f has caught up")\n',
    "",
    property="P-27", conjunct="same_incarnation", guard="ExpandIsr, guard: f has caught up",
)  # fmt: skip
COMMITS_BELOW_MIN_ISR = Edit(
    "model/broker/high_watermark.py",
    "return len(counted) >= leader_min_isr(c, g, me, leader)",
    "return len(counted) >= 1",
    property="P-1", conjunct="leader_holds_committed",
)  # fmt: skip
TRUSTS_EVERY_SHUTDOWN = Edit(
    "model/control_plane/broker_events.py",
    "clean = shutdown_was_clean(c, me.clean_file, old.epoch)",
    "clean = True",
    property="P-14", conjunct="removed_at_registration",
)  # fmt: skip


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The package in a folder of its own; its parent goes to PYTHONPATH."""
    return copy_package(tmp_path / "copy" / "elrcheck")


def gate(package: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "elrcheck", "--no-progress", "gate", *options]
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    work = package.parent.parent / "work"
    work.mkdir(exist_ok=True)
    return subprocess.run(
        command, cwd=work, env=environment, capture_output=True, text=True, timeout=300
    )


def edited(package: Path, edit: Edit) -> None:
    file = package / edit.file
    source = file.read_text(encoding="utf-8")
    assert source.count(edit.old) == 1
    file.write_text(source.replace(edit.old, edit.new), encoding="utf-8")


def turns_red(package: Path, edit: Edit) -> str:
    """Before and after the edit; what the gate prints then."""
    made = gate(package, "--add", "two-brokers", "--scope", "two-brokers")
    assert made.returncode == 0, made.stderr
    edited(package, edit)
    outputs = ("-o", "gate.json", "-o", "gate.sarif")
    red = gate(package, *outputs)
    assert red.returncode == 1, red.stderr
    work = package.parent.parent / "work"
    entry = json.loads((work / "gate.json").read_text(encoding="utf-8"))["entries"][0]
    newly = {d["subject"]: d for d in entry["differences"] if d["kind"] == "violated"}
    assert newly[edit.property]["expected"] == "holds" and newly[edit.property]["fails"]
    found = next(p for p in entry["check"]["properties"] if p["id"] == edit.property)
    assert found["conjunct"] == edit.conjunct
    assert re.fullmatch("b=[01]", found["witness"])
    block = red.stdout[red.stdout.index(f"FAIL  {edit.property} ") :]
    assert f"conjunct  {edit.conjunct}" in block and f"witness   {found['witness']}" in block
    assert "step 1 " in block
    guards = [d["what"] for d in entry["differences"] if d["kind"] == "guard"]
    assert guards == ([edit.guard] if edit.guard else [])
    points_at_the_copy(package, json.loads((work / "gate.sarif").read_text(encoding="utf-8")), edit)
    return red.stdout


def points_at_the_copy(package: Path, document: Any, edit: Edit) -> None:
    """Every step of the code flow is at a line of the copy where an action begins."""
    result = next(r for r in document["runs"][0]["results"] if r["ruleId"] == edit.property)
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    for step in flow:
        physical = step["location"]["physicalLocation"]
        line = physical["region"]["startLine"]
        source = (package / physical["artifactLocation"]["uri"]).read_text(encoding="utf-8").splitlines()
        action = step["location"]["message"]["text"].split(". ")[1].split("(")[0]
        assert f"def {action}(" in "\n".join(source[line - 1 : line + 3])


@pytest.mark.slow
def test_a_follower_that_joins_too_early(copied: Path) -> None:
    """Its output is what docs/ci.md shows, where the entry is called two-brokers."""
    printed = turns_red(copied, JOINS_TOO_EARLY)
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)
    quoted = tuple(" ".join(line.split()) for line in shown.splitlines())
    assert_quoted(quoted, printed)


@pytest.mark.slow
@pytest.mark.parametrize("edit", [COMMITS_BELOW_MIN_ISR, TRUSTS_EVERY_SHUTDOWN], ids=lambda e: e.property)
def test_other_rules(copied: Path, edit: Edit) -> None:
    turns_red(copied, edit)
