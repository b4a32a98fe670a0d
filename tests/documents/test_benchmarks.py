"""The rivals of the benchmarks search the same states as the engine. Speeds are not tested."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel import crew, fingerprint_ir, kernel, table_ir
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.lowering.dag import Dag
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Instance, Leaf, Program
from support.places import ROOT, protocol, protocol_files
from support.small_programs import counter, grid, tokens

sys.path.insert(0, str(ROOT / "benchmarks"))

import edited_proof
import edited_rule
import scaling
import table
from c_program import CResult, compile_c, find_compiler, run_c
from measure import MEBI, Child, run_child, touch_memory
from promela import promela_source
from rows import FACTORS, GROUPS, ROWS
from spin import MODES, SpinResult, build_verifier, find_spin, read_verifier, verifier_command

COMPILER, SPIN = find_compiler(), find_spin()
needs_c = pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
needs_spin = pytest.mark.skipif(SPIN is None or COMPILER is None, reason="no spin or C compiler here")


def rotation(mark: bool = False) -> Program:
    """Three numbers move around at once, (a, b, c) -> (b, c, a): three states when they differ.

    mark: a fourth leaf, which nothing reads, tells that they moved: the first state comes twice.
    """
    dag = Dag()
    a, b, c = (dag.var(i, -1, 6) for i in range(3))
    turn = Instance("Turn", (), (), {0: b, 1: c, 2: a} | ({3: dag.one} if mark else {}))
    leaves = [Leaf(f"x[{i}]", -1, 6) for i in range(3)] + [Leaf("moved", 0, 1)] * mark
    return Program(dag, tuple(leaves), (turn,), (), ((-1, 2, 5) + (0,) * mark,))


@pytest.fixture(scope="module")
def two_brokers() -> Program:
    """kip_full in scope two-brokers: its counts are in test_counts.py."""
    config = resolve(Selection("kip_full", "two-brokers")).config
    return lower(load_checked_model(), config, ()).program


def in_c(program: Program, folder: Path) -> CResult:
    assert COMPILER is not None
    return run_c(compile_c(program, folder, COMPILER, "-O1"))


def in_spin(program: Program, folder: Path, mode: int = 0) -> SpinResult:
    assert COMPILER is not None and SPIN is not None
    binary = build_verifier(promela_source(program), MODES[mode], folder, SPIN, COMPILER, "-O0")
    return read_verifier(run_child(verifier_command(binary, MODES[mode], 1000), cwd=folder).output)


@needs_c
def test_c_counts_as_the_engine_does(two_brokers: Program, tmp_path: Path) -> None:
    counts = in_c(two_brokers, tmp_path)
    assert (counts.generated, counts.distinct, counts.depth) == (218433, 21105, 26)
    assert (counts.cut, counts.overflows) == (137101, 0)


@needs_c
def test_c_sees_bounds_overflows_deadlocks_and_checks(tmp_path: Path) -> None:
    # 0 to 3 are inside the bound, the step to 4 is cut; at 3 it is enabled, so nothing is a deadlock
    bounded = in_c(counter(bound=3), tmp_path)
    assert (bounded.generated, bounded.distinct, bounded.cut, bounded.deadlocks) == (5, 4, 1, 0)
    # counts to 3 in a leaf that holds 0..3; the step to 4 is dropped; below-four and reaches-nine are not hit
    full = in_c(counter(room=3), tmp_path)
    assert (full.generated, full.distinct, full.overflows, full.checks_hit) == (5, 4, 1, 1)
    # ends in 5, where nothing is enabled, having broken below-four and reached two
    ended = in_c(counter(), tmp_path)
    assert (ended.distinct, ended.deadlocks, ended.checks_hit) == (6, 1, 2)


@needs_c
def test_c_grows_its_table(tmp_path: Path) -> None:
    # 64^3 states; each axis offers a step from 63 of its 64 values
    counts = in_c(grid(), tmp_path)
    assert (counts.distinct, counts.generated, counts.depth) == (64**3, 1 + 3 * 63 * 64**2, 3 * 63 + 1)


def test_promela_has_one_option_for_each_instance() -> None:
    source = promela_source(tokens(places=4, count=2))
    assert source.startswith("unsigned x0_at : 4 = 3;\n")
    assert source.count(":: d_step {") == 4
    assert "((x0_at >> 0) & 1) && !(((x0_at >> 1) & 1)) ->" in source
    assert promela_source(tokens(), "bytes").startswith("byte x0_at = 7;\n")


def test_promela_keeps_a_value_that_is_overwritten_before_it_is_read() -> None:
    # values are stored from 0, so -1, 2, 5 become 0, 3, 6; a cycle of three needs one value kept
    lines = [line.strip() for line in promela_source(rotation()).splitlines()]
    starts = zip(("x0_x_0_", "x1_x_1_", "x2_x_2_"), (0, 3, 6), strict=True)
    assert lines[:4] == [*(f"unsigned {name} : 3 = {start};" for name, start in starts), "hidden int t0;"]
    one = "(0 - 1)"
    assert "true ->" in lines
    assert lines[lines.index("true ->") + 1 : lines.index("}")] == [
        f"t0 = (x1_x_1_ + {one});",
        f"x1_x_1_ = (x2_x_2_ + {one}) - {one};",
        f"x2_x_2_ = (x0_x_0_ + {one}) - {one};",
        f"x0_x_0_ = t0 - {one};",
    ]


def test_promela_refuses_what_it_cannot_express() -> None:
    several = Program(**{**vars(rotation()), "init": ((-1, 2, 5), (0, 0, 0))})
    with pytest.raises(ValueError, match="only one initial state"):
        promela_source(several)


@needs_spin
def test_spin_stores_as_many_states(tmp_path: Path) -> None:
    # two tokens on four places: 6 states. 1 step from {0,1} and the like, 2 from {0,2} and {1,3}: 8 in all,
    # and Spin counts the initial state as one more
    counts = in_spin(tokens(places=4, count=2), tmp_path / "tokens")
    assert (counts.stored, counts.transitions) == (6, 9)
    assert in_spin(rotation(mark=True), tmp_path / "rotation", mode=1).stored == 4


@needs_spin
def test_spin_agrees_on_the_model(two_brokers: Program, tmp_path: Path) -> None:
    counts = in_spin(two_brokers, tmp_path)
    assert (counts.stored, counts.transitions) == (21105, 218433 - 137101)


@pytest.mark.parametrize(
    "place",
    [
        *((edit.file, edit.old) for edit in edited_rule.EDITS.values()),
        *((edit.file, edit.old) for edit in edited_proof.EDITS.values()),
    ],
    ids=[*edited_rule.EDITS, *edited_proof.EDITS],
)
def test_what_the_benchmarks_edit_is_there(place: tuple[str, str]) -> None:
    """Each text that a script replaces is in its file once."""
    file, old = place
    assert (ROOT / file).read_text(encoding="utf-8").count(old) == 1


def test_the_problems_of_the_table_exist_with_their_settings() -> None:
    protocols = {each.stem for each in protocol_files()}
    for problem in {each for group in GROUPS.values() for each in group}:
        name, _, settings = problem.partition("@")
        overrides = tuple(filter(None, settings.split(",")))
        chosen = Selection(model=protocol(name)) if name in protocols else Selection(scope=name)
        resolved = resolve(replace(chosen, overrides=overrides))
        assert resolved.overrides.keys() == {each.partition("=")[0] for each in overrides}


def test_the_table_compares_rows_that_it_has() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert {name for row, other, _ in FACTORS for name in (row, other)} <= set(names)


def counted(output: str, **more: Any) -> table.MeasuredRun:
    child = Child(1.0, 0.5, 1 << 20, 0, output, "", **more)
    return table.MeasuredRun.of(child, table.tlc_counts(child))


def test_engines_that_count_differently_do_not_agree() -> None:
    tlc = counted("1146 states generated, 288 distinct states found, 0 states left on queue.", mark=0.25)
    assert (tlc.distinct, tlc.steps, tlc.seconds, tlc.complete) == (288, 1146, 0.75, True)
    ours = replace(tlc, cut=0, digest="a")
    assert ours.agrees(tlc) and tlc.agrees(ours)
    assert not replace(ours, distinct=289).agrees(tlc)
    assert not replace(ours, generated=1147).agrees(tlc)
    assert not replace(ours, digest="b").agrees(ours)
    bounded = replace(ours, generated=1200, cut=54)
    assert bounded.agrees(ours), "steps inside the bound are compared"
    assert bounded.agrees(tlc), "TLC does not tell which of its steps leave the bound"
    many = replace(ours, generated=123_558_402)
    assert many.agrees(replace(many, generated=123_558_400, rounded=True)), "Spin rounds what it prints"
    assert not many.agrees(replace(many, generated=123_558_500, rounded=True))
    assert not many.agrees(replace(many, generated=123_558_400))
    with pytest.raises(table.Missing, match="no counts"):
        counted("Error: Java heap space")


def test_a_stopped_tlc_counts_up_to_its_last_report() -> None:
    text = """Starting... (2026-11-29 10:00:00)
Progress(5) at 2026-11-29 10:00:03: 1,000 states generated (..), 100 distinct states found (..)
Progress(9) at 2026-11-29 10:01:03: 61,000 states generated (..), 6,300 distinct states found (..)
"""
    child = Child(70.0, 120.0, 1 << 30, None, text, "")
    assert table.tlc_counts(child) == {"generated": 61000, "distinct": 6300, "seconds": 63.0, "complete": False}


@pytest.mark.slow
def test_memory_is_written_to_before_a_run() -> None:
    child = touch_memory(64 * MEBI)
    assert child.exit_code == 0 and child.peak_bytes >= 64 * MEBI


@pytest.mark.slow
def test_kernels_of_the_scaling_benchmark_search_the_same(
    two_brokers: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (kernel, crew, table_ir, fingerprint_ir):
        for name in ("CHUNK", "ROW_BLOCK"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, getattr(module, name))
    settings = ("as it is", "packed", "block 8")
    runs = [scaling.measured(two_brokers, scaling.SETTINGS[name], 2) for name in settings]
    assert {(run["distinct"], run["generated"]) for run in runs} == {(21_105, 218_433)}
    assert all(0 < run["busy"] <= 1 and 0 < run["alone"] < 1 and run["lines"] > 1 for run in runs)


def test_the_table_of_a_small_protocol(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is not installed here is named; the others count the same."""
    rows = "elrcheck 1$|elrcheck 1, .*(step|symmetry)|C 1$|Spin 1 d|TLC|Python"
    report = tmp_path / "table.json"
    assert table.main(["two_phase", "--rounds", "1", "--touch", "1", "--rows", rows, "--output", str(report)]) == 0
    (problem,) = json.loads(report.read_text())["problems"]
    counts = {row["row"]: {(run["distinct"], run["generated"]) for run in row["runs"]} for row in problem["rows"]}
    assert counts.keys() | problem["missing"].keys() == {row.name for row in ROWS if re.search(rows, row.name)}
    assert counts["elrcheck 1"] == counts["Python 1"] == {(288, 1146)}
    for name, pairs in counts.items():
        assert pairs == ({(80, 318)} if "symmetry" in name else {(288, 1146)}), name
    assert re.search(r"^elrcheck 1 +288 +1,146 ", capsys.readouterr().out, re.M)
