"""The rivals of the benchmarks search the same states as the engine. Speeds are not tested."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.lowering.dag import Dag
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Instance, Leaf, Program
from support.places import ROOT, protocol
from support.small_programs import counter, grid, tokens

sys.path.insert(0, str(ROOT / "benchmarks"))

import edited_proof
import edited_rule
from c_program import CResult, compile_c, find_compiler, run_c
from measure import Child, run_child
from promela import promela_source
from spin import MODES, SpinResult, build_verifier, find_spin, read_verifier, verifier_command

import protocols

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


def test_the_protocols_that_are_compared_exist_with_their_settings() -> None:
    for name, settings in protocols.CASES.items():
        file = protocol(name.partition("@")[0])
        assert resolve(Selection(model=file, overrides=settings)).overrides.keys() == {
            each.partition("=")[0] for each in settings
        }


def test_a_protocol_that_two_tools_count_differently_is_named() -> None:
    child = Child(1.0, 0.5, 1 << 20, 0, "1146 states generated, 288 distinct states found, 0 states left on queue.", "")
    tlc = protocols._read(protocols.TLC_COUNTS, child, child.output)
    ours = protocols.CountedRun(child, 1146, 288, 0.9)
    runs = {("two_phase", "again"): [ours], ("two_phase", "tlc"): [tlc]}
    row = protocols._row("two_phase", runs)
    assert (row["same"], row["generated"], row["distinct"]) == (True, 1146, 288)
    other = protocols.CountedRun(child, 1146, 289, 0.9)
    assert not protocols._row("two_phase", {**runs, ("two_phase", "stateright"): [other]})["same"]
    with pytest.raises(SystemExit, match="no counts"):
        protocols._read(protocols.STATERIGHT_COUNTS, child, child.output)
