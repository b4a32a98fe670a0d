"""The compiled and the numpy search against a naive one, on small programs."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Event, LevelDone, Silent
from elrcheck.base.requests import Limits
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.kernel.word_layout import make_layout
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.result import SearchResult
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.explorer.search.vector import VectorSearch
from elrcheck.lang.lowering.dag import Dag
from elrcheck.lang.lowering.program import Check, Instance, Leaf, Program
from support.naive_counts import PROGRAMS, compare, plain
from support.searches import search
from support.small_programs import (
    LEAVES,
    Recipe,
    State,
    counter,
    grid,
    leaf_values,
    naive_search,
    programs,
    recipes,
    to_node,
    to_value,
    tokens,
)


def check_traces(program: Program, result: SearchResult) -> None:
    """Every trace starts initially, takes real steps and ends at the depth it claims."""
    steps = naive_search(program).steps
    ends = dict(result.traces)
    assert set(ends) == set(result.first)
    for check, trace in ends.items():
        assert len(trace) == result.first[check] + 1
        assert trace[0] in program.init
        for before, after in itertools.pairwise(trace):
            assert after in steps[before]


def vector(program: Program) -> SearchResult:
    run = VectorSearch(program, limits=Limits())
    result = run.run(None, "complete")
    result.traces = Retrace(run).traces(list(result.first))
    return result


@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
def test_hand_made_programs(make: Callable[[], Program]) -> None:
    program = make()
    one = search(program)
    compare(program, one)
    check_traces(program, one)
    assert plain(search(program, workers=2)) == plain(one)
    assert plain(vector(program)) == plain(one)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_random_programs(program: Program) -> None:
    one = search(program)
    compare(program, one)
    check_traces(program, one)
    assert plain(search(program, workers=2)) == plain(one)
    assert plain(vector(program)) == plain(one)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(recipes("number", 5), min_size=12, max_size=12), st.lists(leaf_values, min_size=40, max_size=40))
def test_native_expressions(given_recipes: list[Recipe], states: list[State]) -> None:
    """Kernel (scalar in updates, vector lanes in checks) and numpy compute what the recipes mean."""
    dag = Dag()
    nodes = [to_node(dag, recipe) for recipe in given_recipes]
    results = tuple(Leaf(f"result{k}", node.lo, node.hi) for k, node in enumerate(nodes))
    updates = {len(LEAVES) + k: node for k, node in enumerate(nodes)}
    checks = tuple(Check(f"is{k}", "sometimes", "state", dag.eq(node, node.hi)) for k, node in enumerate(nodes))
    start = tuple(leaf.lo for leaf in (*LEAVES, *results))
    program = Program(dag, (*LEAVES, *results), (Instance("Set", (), (), updates),), checks, (start,))
    rows = make_layout(program.leaves).pack_rows([(*state, *start[len(LEAVES) :]) for state in states])
    expected = [tuple(to_value(recipe, state) for recipe in given_recipes) for state in states]
    native = Search(program)
    for engine in (native, VectorSearch(program, limits=Limits())):
        steps = engine.successors(rows)
        order = np.argsort(steps.sources)
        assert [engine.layout.unpack(row)[len(LEAVES) :] for row in steps.rows[order]] == expected
        for k, node in enumerate(nodes):
            assert engine.state_hits(k, rows).tolist() == [values[k] == node.hi for values in expected]


class Levels(Silent):
    """The levels that a search has reported."""

    def __init__(self) -> None:
        self.events: list[LevelDone] = []

    def tell(self, event: Event) -> None:
        assert isinstance(event, LevelDone)
        self.events.append(event)


def test_growth_and_threads() -> None:
    """Enough states that arrays and table grow several times, on two threads at once."""
    program = grid(64, 3)
    levels = Levels()
    one = search(program, progress=levels)
    two = search(program, workers=2)
    assert one.distinct == two.distinct == 64**3
    assert plain(one) == plain(two)
    assert one.diameter == 3 * 63 + 1
    assert one.generated == 1 + 3 * 63 * 64**2
    assert len(one.traces[0]) == 190
    assert levels.events[-1].distinct <= one.distinct
    assert one.bytes_per_state < 60


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(max_states=5000), "--max-states 5000"),
        (Limits(max_depth=10), "--max-depth 10"),
        (Limits(time_budget=0.0), "--time-budget 0s"),
        (Limits(memory=1_000_000), "--memory 1000000"),
    ],
    ids=["states", "depth", "time", "memory"],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_limits_make_a_search_incomplete(limits: Limits, reason: str, workers: int) -> None:
    result = search(grid(64, 3), limits=limits, workers=workers)
    assert not result.complete
    assert result.reason == reason
    assert 0 < result.distinct < 64**3
    assert sum(result.levels) == result.distinct
    assert sum(result.new_states) == result.distinct - 1
    if limits.max_states is not None:
        assert 5000 <= result.distinct < 20000
    if limits.max_depth is not None:
        assert result.diameter == 11
        assert result.distinct == 286


def test_a_limit_that_is_not_met_changes_nothing() -> None:
    program = tokens()
    generous = Limits(max_states=10**6, max_depth=10**6, time_budget=1e6, memory=10**10)
    assert plain(search(program, limits=generous)) == plain(search(program))


def test_stop_at_first_ends_after_the_level() -> None:
    result = search(counter(), stop="first")
    assert (result.complete, result.reason) == (False, "--stop-at-first")
    assert result.first == {1: 3, 2: 2}, "the step into 3 fails first"
    assert result.levels == (1, 1, 1, 1)
    later = vector_first(counter())
    assert (later.first, later.levels) == (result.first, result.levels)


def vector_first(program: Program) -> SearchResult:
    return VectorSearch(program, limits=Limits()).run(None, "first")


def test_overflow_is_inconclusive_and_named() -> None:
    result = search(counter(top=7, room=5))
    assert not result.complete
    assert result.reason == "values out of range: x"
    assert result.overflow == {0: 1}
    assert result.distinct == 6


def test_cut_successors_are_counted_only() -> None:
    result = search(counter(bound=3))
    assert (result.generated, result.distinct, result.cut) == (5, 4, [1])
    assert result.deadlocks == 0, "a state whose only step is cut is not a deadlock"
    assert 0 not in result.first, "checks do not see what was cut"


def test_a_state_without_a_step_is_a_deadlock() -> None:
    assert search(counter()).deadlocks == 1


def test_traces_are_the_least_shortest() -> None:
    """Among all shortest ways the choice is fixed: from the end, always the least predecessor."""
    result = search(grid(4, 2), workers=2)
    trace = result.traces[0]
    layout = make_layout(grid(4, 2).leaves)
    for before, after in itertools.pairwise(trace):
        rivals = [tuple(v - (k == axis) for k, v in enumerate(after)) for axis in (0, 1) if after[axis]]
        assert layout.pack(before) == min(layout.pack(rival) for rival in rivals)


def test_kernel_cache(own_store: Path) -> None:
    cache = KernelCache()
    program = tokens()

    def run() -> tuple[bool, int]:
        search_ = Search(program, SearchSettings(cache=cache))
        return search_.native.cached, search_.run(None, "complete").distinct

    assert run() == (False, 35)
    assert run() == (True, 35)
    (entry,) = (own_store / "kernels").iterdir()
    whole = entry.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1] + bytes([whole[-1] ^ 1]), b"x" + whole):
        entry.write_bytes(damaged)
        assert run() == (False, 35), "a damaged entry is made again"
        assert run() == (True, 35)
    assert [path.name for path in (own_store / "kernels").iterdir()] == [entry.name]


def test_cache_folder_that_cannot_be_used(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert search(tokens(), cache=KernelCache({"ELRCHECK_CACHE_DIR": str(blocked)})).distinct == 35


@pytest.mark.parametrize("workers", [1, 2])
def test_interrupt_leaves_cleanly(workers: int) -> None:
    class Interrupted(Silent):
        def tell(self, event: Event) -> None:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        search(grid(64, 3), workers=workers, progress=Interrupted())
    assert threading.active_count() == before


def test_layout_packs_tightly_and_back() -> None:
    leaves = [Leaf("a", 3, 3), Leaf("b", -1, 2), Leaf("c", 0, (1 << 60) - 1), Leaf("d", 0, 15), Leaf("e", 5, 6)]
    layout = make_layout(leaves)
    assert layout.words == 2
    assert layout.used_bits == 2 + 60 + 4 + 1
    for slot, leaf in zip(layout.slots, leaves, strict=True):
        assert slot.bits == (leaf.hi - leaf.lo).bit_length()
        assert slot.shift + slot.bits <= 64
    states = [(3, -1, 0, 0, 5), (3, 2, (1 << 60) - 1, 15, 6), (3, 0, 12345, 7, 6)]
    rows = layout.pack_rows(states)
    assert [layout.unpack(row) for row in rows] == states
    columns = layout.columns(rows)
    assert [tuple(int(column[k]) for column in columns) for k in range(3)] == states


def test_program_refuses_nonsense() -> None:
    dag, other = Dag(), Dag()
    leaf = Leaf("x", 0, 3)
    with pytest.raises(ValueError, match="outside"):
        Program(dag, (leaf,), (), (), ((4,),))
    with pytest.raises(ValueError, match="another dag"):
        Program(dag, (leaf,), (Instance("A", (), (other.var(0, 0, 3),), {}),), (), ((0,),))
    with pytest.raises(ValueError, match="state checks"):
        Program(dag, (leaf,), (), (Check("c", "always", "state"),), ((0,),))
    with pytest.raises(ValueError, match="not a step check"):
        Program(
            dag,
            (leaf,),
            (Instance("A", (), (), {}, (), {0: dag.one}),),
            (Check("c", "always", "state", dag.one),),
            ((0,),),
        )


def test_more_instances_than_a_record_can_number_are_refused() -> None:
    dag = Dag()
    instances = tuple(Instance("Act", (k,), (), {0: dag.var(0, 0, 1)}) for k in range(1 << 16))
    program = Program(dag, (Leaf("x", 0, 1),), instances, (), ((0,),))
    with pytest.raises(UsageFault, match="65,536 action instances, more than 65,535"):
        Search(program)
