"""Blocks of states: lanes of every width, other processors, and steps that are left out."""

from __future__ import annotations

import dataclasses
import platform

import numpy as np
import pytest

from elrcheck.base.requests import Limits, Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel import kernel, object_code
from elrcheck.explorer.kernel.emit import Lanes
from elrcheck.explorer.kernel.expand_ir import kernel_lanes
from elrcheck.explorer.kernel.word_layout import Successors
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.lowering.independence import asleep
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program
from support.naive_counts import PROGRAMS, compare, plain
from support.searches import search
from support.small_programs import counter, grid, sliding_puzzle, tokens, wide

WIDTHS = [Lanes(8, 64), Lanes(8, 32), Lanes(16, 32), Lanes(16, 16), Lanes(32, 16), Lanes(32, 8), Lanes(64, 8)]


def real_program(scope: str, checked: bool = True) -> Program:
    model = load_whole_model()
    properties = model.checks if checked else ()
    return lower(model, resolve(Selection(scope=scope)).config, properties).program


@pytest.mark.slow
@pytest.mark.parametrize("lanes", WIDTHS, ids=lambda lanes: f"{lanes.count}x{lanes.bits}")
@pytest.mark.parametrize("name", PROGRAMS)
def test_lanes_of_every_width(name: str, lanes: Lanes, monkeypatch: pytest.MonkeyPatch) -> None:
    program = PROGRAMS[name]()
    if kernel_lanes(program).bits > lanes.bits:
        pytest.skip("its values need more bits")
    monkeypatch.setattr(kernel, "kernel_lanes", lambda _: lanes)
    compare(program, search(program))


@pytest.mark.parametrize("vector", [256, 512])
def test_lanes_are_as_narrow_as_values_allow(vector: int) -> None:
    assert kernel_lanes(tokens(7), vector).bits == 8
    assert kernel_lanes(tokens(8), vector).bits == 16, "a mask of eight bits has no room for a sign"
    assert kernel_lanes(grid(12, 3), vector) == Lanes(8, vector // 8)
    assert kernel_lanes(sliding_puzzle(), vector) == Lanes(8, vector // 8)
    assert kernel_lanes(wide(), vector) == Lanes(32, vector // 32)
    assert kernel_lanes(wide(bits=40), vector) == Lanes(64, 8)


@pytest.mark.slow
@pytest.mark.parametrize("room", [125, 126, 127, 128, 253, 254, 255, 256, 257])
@pytest.mark.parametrize("beyond", [0, 1])
def test_values_at_the_edge_of_a_lane(room: int, beyond: int) -> None:
    """The largest value that fits is stored, the next one is an overflow, never a value that fits."""
    program = counter(top=room + beyond, room=room)
    result = search(program)
    compare(program, result)
    assert bool(result.overflow) == bool(beyond)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="processors of another kind")
@pytest.mark.parametrize("name", ["x86-64-v3", "x86-64-v2"])
def test_processors_with_other_vectors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_code, "processor", lambda: (name, ""))
    monkeypatch.setattr(kernel, "MODULE", 1)  # every group in a module of its own, whose operations are not combined
    for program in (sliding_puzzle(), counter(top=7, room=5), real_program("two-brokers")):
        for vector in (256, 512):
            lanes = kernel_lanes(program, vector)
            monkeypatch.setattr(kernel, "kernel_lanes", lambda _, lanes=lanes: lanes)
            result = search(program)
            if len(program.init[0]) < 10:
                compare(program, result)
            else:
                assert (result.generated, result.distinct, result.diameter) == (218_433, 21_105, 26)


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["two-brokers", "three-brokers-tiny", "late-fetches"])
def test_steps_that_are_left_out_change_nothing(scope: str) -> None:
    """Levels, counts of every action, new states of every action, first violations and values."""
    program = real_program(scope)
    every = Search(program, SearchSettings(Limits(max_depth=14)), leave_out=False)
    fewer = Search(program, SearchSettings(workers=2, limits=Limits(max_depth=14)))
    expected, actual = every.run(None, "complete"), fewer.run(None, "complete")
    assert plain(actual) == plain(expected)
    inside = expected.generated - 1 - sum(expected.cut)
    assert every.crew.looked_up == inside
    assert fewer.crew.looked_up < 0.8 * inside


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["min-isr-1", "recovery-two-brokers"])
def test_steps_that_are_left_out_change_nothing_in_whole_scopes(scope: str) -> None:
    program = real_program(scope)
    every = Search(program, SearchSettings(workers=2), leave_out=False)
    fewer = Search(program, SearchSettings(workers=2))
    assert plain(fewer.run(None, "complete")) == plain(every.run(None, "complete"))


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["two-brokers", "min-isr-change"])
def test_steps_that_may_be_left_out_commute(scope: str) -> None:
    """Where both are enabled inside the bound, each stays so after the other, and the results are equal."""
    program = real_program(scope, checked=False)
    run = Search(program, SearchSettings(Limits(max_depth=6)))
    result = run.run(None, "complete")
    later = asleep(program)
    rows = np.concatenate([np.array(rows) for depth in range(6) for rows in run.batches(depth)])
    once = run.successors(rows)
    steps = {at: number for number, at in enumerate(pairs(once))}
    twice = run.successors(once.rows)
    after = {at: row.tobytes() for at, row in zip(pairs(twice), twice.rows, strict=True)}
    tried = 0
    for (source, a), number in steps.items():
        for t in range(a + 1, len(later)):
            if later[a] >> t & 1 and (source, t) in steps:
                tried += 1
                assert after[number, t] == after[steps[source, t], a]
    assert len(result.levels) == 7
    assert tried > 500


def pairs(successors: Successors) -> list[tuple[int, int]]:
    """The source and the instance of every successor."""
    return list(zip(successors.sources.tolist(), successors.instances.tolist(), strict=True))


def test_nothing_is_left_out_where_it_cannot_be_known() -> None:
    """Credits of a level that was not built here say nothing: all steps of the initial states are taken."""
    program = grid(8, 2)
    rows = [(x, y) for x in range(8) for y in range(8) if x + y == 5]
    several = dataclasses.replace(program, init=tuple(rows))
    result = search(several)
    compare(several, result)
    assert asleep(program) == [0b10, 0]
