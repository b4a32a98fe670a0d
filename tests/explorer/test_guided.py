"""Guided walks: what they meet, what they find, and that a seed decides everything."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection, SimulateRequest
from elrcheck.catalogue.hazard import packaged_hazards
from elrcheck.commands.simulate import run_simulate
from elrcheck.explorer.search import guided as guided_module
from elrcheck.explorer.search.guided import Guided
from elrcheck.explorer.search.walk import WalkResult, Walks
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.hazard_run import sides
from elrcheck.lang.lowering.dag import evaluate_all
from elrcheck.lang.lowering.falsity import falsities
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program
from elrcheck.stored_traces.tracefile import load_trace
from support.invoked import Invoke
from support.small_programs import counter, grid, naive_search, programs, sliding_puzzle, tokens, wide

BROKEN = Selection("code_4_1", "two-brokers-quiet", ("reassignments=2", "fences=1"))


def walked(program: Program, walks: int = 100_000, depth: int = 100, seed: int = 1) -> WalkResult:
    return Guided(program, seed, depth).run(walks)


def steady(result: WalkResult) -> dict[str, Any]:
    return asdict(replace(result, seconds=0.0))


def stepped(program: Program, before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether some instance leads from one state to the other, inside the bound."""
    for one in program.instances:
        if not all(evaluate_all((*one.guards, *one.within), before)):
            continue
        values = evaluate_all(tuple(one.updates.values()), before)
        new = dict(zip(one.updates, values, strict=True))
        if tuple(new.get(k, v) for k, v in enumerate(before)) == after:
            return True
    return False


@pytest.mark.slow
@settings(max_examples=15)
@given(programs())
def test_a_distance_is_zero_exactly_where_the_check_is_hit(program: Program) -> None:
    distances = falsities(program, range(len(program.checks)))
    for state in program.init:
        values = evaluate_all(tuple(distances), state)
        for number, (check, value) in enumerate(zip(program.checks, values, strict=True)):
            if check.node is not None:
                hit = evaluate_all((check.node,), state)[0] == check.hit_value
            else:
                hit = any(
                    all(evaluate_all(one.guards, state))
                    and evaluate_all((one.step_checks[number],), state)[0] == check.hit_value
                    for one in program.instances
                    if number in one.step_checks
                )
            assert (value == 0) == hit and value >= 0, check


def test_a_distance_falls_on_the_way_to_a_violation() -> None:
    program = counter(top=5, room=7)
    (away,) = falsities(program, [0])
    assert [evaluate_all((away,), (x,))[0] for x in range(6)] == [4, 3, 2, 1, 0, 0]


@pytest.mark.parametrize("program", [sliding_puzzle(), tokens(), grid(6, 3)], ids=["puzzle", "ring", "grid"])
def test_a_run_ends_when_every_state_was_met(program: Program) -> None:
    """No state is missed, and none is walked to for long once it is known."""
    result = walked(program)
    naive = naive_search(program)
    assert result.distinct == sum(naive.levels)
    assert result.reason == "no unvisited state within --depth 100"
    assert result.distinct <= result.states < 4 * result.distinct
    assert set(result.first) == set(naive.first)


def test_a_trace_is_one_of_the_program_and_ends_where_the_check_is_hit() -> None:
    for program in (sliding_puzzle(), wide()):
        result = walked(program, walks=3000)
        assert result.first
        for check, hit in result.first.items():
            assert hit.trace[0] == program.init[0]
            assert all(stepped(program, a, b) for a, b in itertools.pairwise(hit.trace))
            node = program.checks[check].node
            if node is not None:
                assert evaluate_all((node,), hit.trace[-1])[0] == program.checks[check].hit_value
            assert hit.states and hit.states <= result.states and hit.walk <= result.begun


@pytest.mark.slow
def test_a_seed_decides_everything() -> None:
    one = walked(sliding_puzzle(), walks=400, seed=9)
    assert steady(walked(sliding_puzzle(), walks=400, seed=9)) == steady(one)
    assert steady(walked(sliding_puzzle(), walks=400, seed=10)) != steady(one)


def test_the_depth_is_that_of_traces_and_not_of_single_walks() -> None:
    """The corner of the grid is 15 steps away; a walk alone takes at most STRIDE."""
    assert 0 in walked(grid(6, 3), depth=15).first
    short = walked(grid(6, 3), depth=14)
    assert 0 not in short.first and short.deepest == 14
    assert short.reason == "no unvisited state within --depth 14"


def test_a_full_memory_ends_walks_and_loses_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only states one step beyond the known ones are judged then, and their traces are whole."""
    monkeypatch.setattr(guided_module, "MOST_STATES", 50)
    result = Guided(sliding_puzzle(), 1, 100).run(2000)
    assert result.distinct == 50 and result.states > 50 and result.first
    for hit in result.first.values():
        assert all(stepped(sliding_puzzle(), a, b) for a, b in itertools.pairwise(hit.trace))


def test_a_run_stops_at_its_first_violation_or_after_its_walks() -> None:
    program = sliding_puzzle()
    result = Guided(program, 1, 100).run(10**6, stop_at_first=True)
    assert result.reason == "--stop-at-first"
    assert any(program.checks[check].kind == "always" for check in result.first)
    assert Guided(program, 1, 100).run(1).reason is None
    late = Guided(program, 1, 100).run(10**6, seconds=0.0)
    assert late.reason == "--time-budget 0s"


@pytest.mark.slow
def test_what_needs_many_steps_is_found_in_far_fewer_states_than_by_uniform_walks() -> None:
    """F-9, 18 steps; `benchmarks/guided.py` measures all such hazards with more seeds."""
    hazard = next(one for one in packaged_hazards() if one.id == "F-9")
    model = load_whole_model()
    program = lower(model, sides(hazard).changed, [fn for fn in model.always if fn.ident == "P-2"]).program
    for seed in range(2):
        hit = Guided(program, seed, 40).run(10**6, stop_at_first=True).first[0]
        assert hit.states and hit.states < 5000 and len(hit.trace) - 1 >= 18
        uniform = Walks(program, seed, 40).run(4 * hit.states // 40)
        assert not uniform.first, "four times as many states do not find it"


@pytest.mark.slow
def test_a_report_has_replayed_traces_and_says_how_many_states_it_took(tmp_path: Path) -> None:
    request = SimulateRequest(BROKEN, ("P-11", "W-11"), 3, 300, run_dir=tmp_path / "run", guided=True)
    report = run_simulate(request, Silent())
    (violated,) = (one for one in report.properties if one.id == "P-11")
    assert (report.verdict, violated.verdict, report.workers) == ("violated", "violated", 1)
    assert violated.states is not None and violated.steps is not None and violated.counterexample is not None
    assert report.search.guided and report.search.distinct_error == 0 and (report.search.cells or 0) > 1
    stored = load_trace(tmp_path / "run" / str(violated.trace))
    assert len(stored.behaviour.labels) == violated.steps
    again = run_simulate(replace(request, run_dir=tmp_path / "other"), Silent())
    assert [one.states for one in again.properties] == [one.states for one in report.properties]


def test_the_command_line_says_how_many_states_it_took(invoke: Invoke) -> None:
    words = ("--variant", "code_4_1", "--scope", "two-brokers-quiet", "--set", "reassignments=2")
    code, out, _ = invoke("simulate", *words, "--guided", "--seed", "3", "--walks", "200", "-p", "P-11")
    assert code == 1 and " distinct in " in out and "after" in out
