"""docs/from-tlaplus.md: TLC runs the TLA+ and the PlusCal of the page, and counts what elrcheck counts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import elrcheck
from elrcheck.commands.new_model import write_new
from elrcheck.tla_export.tlc_process import TlcOptions, TlcRun, find_tools, run_tlc
from support.invoked import Invoke
from support.places import ROOT

PAGE = (ROOT / "docs" / "from-tlaplus.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S))


def tlc(folder: Path, text: str, tests_again: bool, *checked: str) -> TlcRun:
    """Run TLC on a module of the page, with two processes."""
    (name,) = re.findall(r"MODULE (\w+)", text)
    file = folder / f"{name}.tla"
    file.write_text(text)
    lines = ["CONSTANTS Processes = {0, 1}", f"TestsAgain = {str(tests_again).upper()}", "SPECIFICATION Spec", *checked]
    config = file.with_suffix(".cfg")
    config.write_text("\n".join(lines) + "\n")
    return run_tlc(find_tools(), file, config, TlcOptions(brief=True))


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return write_new("lock", tmp_path)[0]


@pytest.mark.slow
@pytest.mark.tlc
def test_tlc_counts_the_modules_of_the_page_as_elrcheck_counts_its_model(lock: Path, tmp_path: Path) -> None:
    for tests_again in (False, True):
        ours = elrcheck.check(model=lock, settings={"tests_again": tests_again}).search
        counts = (ours.generated, ours.distinct, ours.diameter)
        by_hand = tlc(tmp_path, BLOCKS["tla"], tests_again)
        assert by_hand.output.counts == counts
        algorithm = tmp_path / "LockInPlusCal.tla"
        algorithm.write_text(BLOCKS["pluscal"])
        tools = find_tools()
        translate = [str(tools.java.path), "-cp", str(tools.jar), "pcal.trans", "-nocfg", str(algorithm)]
        subprocess.run(translate, check=True, capture_output=True, cwd=tmp_path, timeout=60)
        translated = tlc(tmp_path, algorithm.read_text(), tests_again)
        assert translated.output.counts == counts


@pytest.mark.slow
@pytest.mark.tlc
def test_tlc_finds_what_the_page_says_and_its_trace_is_accepted(lock: Path, tmp_path: Path, invoke: Invoke) -> None:
    broken = tlc(tmp_path, BLOCKS["tla"], False, "INVARIANT MutualExclusion")
    assert broken.exit_code == 12
    (tmp_path / "tlc.out").write_text(broken.output_tail)
    code, out, err = invoke("replay", str(tmp_path / "tlc.out"), "--model", str(lock))
    assert code == 0, out + err
    quoted = PAGE.partition("--model lock.py\n")[2].partition("```")[0].splitlines()
    assert len(quoted) == 2 and [line for line in quoted if line not in out] == []
    right = tlc(tmp_path, BLOCKS["tla"], True, "INVARIANT MutualExclusion", "PROPERTY LockIsReleased")
    assert right.exit_code == 0, right.output_tail
