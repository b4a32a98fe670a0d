"""A rule of the model, changed by hand, turns the gate red with a trace that names conjunct and broker.

The package is copied, a patch of a page is applied to the copy, and the gate runs from it.
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

from support.edits import apply_diff
from support.places import ROOT, copy_package


@dataclass(frozen=True)
class Red:
    """What must be seen once a rule is broken. guard: the guard that is gone."""

    property: str
    conjunct: str
    guard: str = ""


def _page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


PATCHES = [
    *re.findall(r"<<'EOF'\n(--- a/.*?)^EOF$", _page("tutorial"), re.M | re.S),
    """\
--- a/model/broker/high_watermark.py
+++ b/model/broker/high_watermark.py
@@ -35,1 +35,1 @@
-    return len(counted) >= leader_min_isr(c, settings, leader, leader_id)
+    return len(counted) >= 1
""",
    """\
--- a/model/control_plane/decide.py
+++ b/model/control_plane/decide.py
@@ -184,3 +184,3 @@
     old = controller.registration[b]
-    clean = vouches(c, old, shutdown_was_clean(c, event.presented, old.epoch), event.brings_directory)
+    clean = True
     if registration_fails(c, controller, b, clean):
""",
]
JOINS_TOO_EARLY = Red("P-27", "same_incarnation", "ExpandIsr, guard: f has caught up")
COMMITS_BELOW_MIN_ISR = Red("P-1", "leader_holds_committed")
TRUSTS_EVERY_SHUTDOWN = Red("P-14", "removed_at_registration")
EVERY = (JOINS_TOO_EARLY, COMMITS_BELOW_MIN_ISR, TRUSTS_EVERY_SHUTDOWN)
"""In the order of the patches: the first is on a page."""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The package in a folder of its own; its parent goes to PYTHONPATH."""
    return copy_package(tmp_path / "copy" / "elrcheck")


def gate(package: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "elrcheck", "--no-progress", "gate", *options]
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    work = package.parent.parent / "work"
    work.mkdir(exist_ok=True)
    return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=300)


def turns_red(package: Path, edit: Red) -> None:
    """The gate passes before the patch, and fails after it, with the trace of what the rule broke."""
    run = gate(package, "--add", "two-brokers", "--scope", "two-brokers")
    assert run.returncode == 0, run.stderr
    apply_diff(PATCHES[EVERY.index(edit)], package)
    outputs = ("-o", "gate.json", "-o", "gate.sarif")
    red = gate(package, "-v", *outputs)
    assert red.returncode == 1, red.stderr
    work = package.parent.parent / "work"
    entry = json.loads((work / "gate.json").read_text(encoding="utf-8"))["entries"][0]
    newly = {d["subject"]: d for d in entry["differences"] if d["kind"] == "violated"}
    assert newly[edit.property]["expected"] == "holds" and newly[edit.property]["fails"]
    broken = next(p for p in entry["check"]["properties"] if p["id"] == edit.property)
    assert broken["conjunct"] == edit.conjunct
    assert re.fullmatch("b=[01]", broken["witness"])
    block = red.stdout[red.stdout.index(f"FAIL  {edit.property} ") :]
    assert f"conjunct  {edit.conjunct}" in block and f"witness   {broken['witness']}" in block
    assert "step 1 " in block
    guards = [d["what"] for d in entry["differences"] if d["kind"] == "guard"]
    assert guards == ([edit.guard] if edit.guard else [])
    points_at_the_copy(package, json.loads((work / "gate.sarif").read_text(encoding="utf-8")), edit)


def points_at_the_copy(package: Path, document: Any, edit: Red) -> None:
    """Every step of the code flow is at a line of the copy where an action begins."""
    result = next(r for r in document["runs"][0]["results"] if r["ruleId"] == edit.property)
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    for step in flow:
        physical = step["location"]["physicalLocation"]
        line = physical["region"]["startLine"]
        source = (package / physical["artifactLocation"]["uri"]).read_text(encoding="utf-8").splitlines()
        action = step["location"]["message"]["text"].split(". ")[1].split("(")[0]
        assert f"def {action}(" in "\n".join(source[line - 1 : line + 3])


def test_every_patch_applies_and_a_page_says_what_it_breaks(copied: Path) -> None:
    """Quick, so that a renamed line is noticed by whoever renames it."""
    assert len(PATCHES) == len(EVERY)
    reported = re.findall(r"(P-\d+)[^(]*?\(`(\w+)`\)", _page("ci").split("## Three broken rules")[1].split("\n## ")[0])
    assert reported == [(red.property, red.conjunct) for red in EVERY]
    for patch in PATCHES:
        apply_diff(patch, copied)


@pytest.mark.slow
@pytest.mark.parametrize("edit", EVERY, ids=lambda red: red.property)
def test_a_broken_rule_turns_the_gate_red(copied: Path, edit: Red) -> None:
    """What the first prints is on the page of the tutorial, whose test follows it."""
    turns_red(copied, edit)
