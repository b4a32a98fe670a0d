"""Where states are kept changes nothing that is reported: in memory, as fingerprints, or on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from elrcheck.base.requests import Limits, Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel.kernel import build
from elrcheck.explorer.search.compiled import INTERRUPTED, Search, SearchSettings
from elrcheck.explorer.search.result import SearchResult
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.explorer.store.fingerprints import collision_probability
from elrcheck.explorer.store.levels import PARTS, LevelFiles
from elrcheck.explorer.store.spaces import Resident
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program
from support.level_folder import Folder
from support.searches import search
from support.small_programs import grid, tokens


def plain(result: SearchResult) -> SearchResult:
    """Without what depends on time, memory, the number of workers and where states were kept."""
    return dataclasses.replace(
        result,
        seconds=0.0,
        compile_seconds=0.0,
        bytes_per_state=0,
        workers=0,
        fingerprint_bits=None,
        collision_probability=0.0,
        spilled=False,
    )


def of_scope(scope: str, variant: str = "kip_full") -> Program:
    model = load_checked_model()
    config = resolve(Selection(variant, scope)).config
    return lower(model, config, model.checks).program


@pytest.fixture(scope="module")
def program() -> Program:
    """A scope in which something is violated, so that there are traces to compare."""
    return of_scope("two-brokers", "code_4_0")


@pytest.fixture(scope="module")
def expected(program: Program) -> SearchResult:
    result = search(program)
    assert result.complete and result.traces
    return result


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "workers"), [(64, 1), (64, 2), (128, 2)])
def test_fingerprints_count_the_same(
    program: Program, expected: SearchResult, tmp_path: Path, bits: int, workers: int
) -> None:
    result = search(program, fingerprint=bits, workers=workers, keeper=Folder(tmp_path))
    assert plain(result) == plain(expected)
    assert result.fingerprint_bits == bits
    assert result.collision_probability == collision_probability(expected.distinct, bits) > 0


@pytest.mark.parametrize("bits", [64, 128])
def test_the_table_of_fingerprints_grows(tmp_path: Path, bits: int) -> None:
    result = search(grid(64, 3), fingerprint=bits, workers=2, keeper=Folder(tmp_path))
    assert (result.distinct, result.generated, result.diameter) == (64**3, 1 + 3 * 63 * 64**2, 190)
    assert sum(result.new_states) == 64**3 - 1
    assert len(result.traces[0]) == 190


def test_collision_probability() -> None:
    assert collision_probability(1, 64) == 0.0
    assert collision_probability(10**9, 64) == pytest.approx(0.0271, rel=0.01)  # n^2 / 2^65
    assert collision_probability(10**9, 128) == pytest.approx(1.47e-21, rel=0.01)
    assert collision_probability(10**12, 64) == 1.0


@pytest.mark.slow
def test_any_bits_of_the_hash_are_as_good_as_random(tmp_path: Path) -> None:
    run = Search(of_scope("three-brokers-tiny"))
    result = run.run(None, "complete")
    rows = np.concatenate([np.array(part) for depth in range(result.diameter) for part in run.batches(depth)])
    hashes = run.native.hashes(rows)
    pairs = len(rows) * (len(rows) - 1) / 2
    for shift in (0, 11, 22, 33, 46):
        cut = (hashes >> np.uint64(shift)) & np.uint64((1 << 18) - 1)
        counts = np.unique(cut, return_counts=True)[1]
        collisions = int((counts * (counts - 1) // 2).sum())
        assert collisions == pytest.approx(pairs / 2**18, abs=6 * (pairs / 2**18) ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [0, 64])
def test_states_that_do_not_fit_the_memory_go_to_disk(
    program: Program, expected: SearchResult, tmp_path: Path, bits: int
) -> None:
    limits = Limits(memory=600_000 if bits == 0 else 500_000)
    result = search(program, limits=limits, workers=2, fingerprint=bits, keeper=Folder(tmp_path))
    assert result.spilled and result.complete
    assert plain(result) == plain(expected)
    assert [place.name for place in tmp_path.glob(".*")] == [], "nothing is left of the passes"


@pytest.mark.slow
def test_parts_are_by_hash_and_complete(program: Program, tmp_path: Path) -> None:
    keeper = Folder(tmp_path, always=True)
    result = search(program, limits=Limits(memory=600_000), keeper=keeper)
    assert result.spilled
    levels, _ = keeper.saved[-1]
    assert all(level.partitioned for level in levels)
    kernel = build(program)
    files = LevelFiles(tmp_path, kernel.layout.words)
    deepest = max(levels, key=lambda level: level.rows)
    for part in range(PARTS):
        rows = np.concatenate(list(files.parts(deepest, [part])))
        assert set((kernel.hashes(rows) % np.uint64(PARTS)).tolist()) <= {part}
    assert sum(files.part_rows(deepest)) == deepest.rows


@pytest.mark.slow
def test_too_little_memory_for_a_part_is_inconclusive(program: Program, tmp_path: Path) -> None:
    limits = Limits(memory=150_000)
    result = search(program, limits=limits, keeper=Folder(tmp_path))
    assert (result.complete, result.reason) == (False, "--memory 150000")
    assert 0 < sum(result.levels) == result.distinct < 21105


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "memory"), [(0, None), (64, 500_000), (64, None), (0, 500_000)])
def test_an_interrupted_search_goes_on_as_if_nothing_had_been(
    program: Program, expected: SearchResult, tmp_path: Path, bits: int, memory: int | None
) -> None:
    """Interrupted again and again, each time a few rounds later."""
    limits, calls, runs = Limits(memory=memory), 0, 0
    keeper = Folder(tmp_path)

    def interrupted() -> bool:
        nonlocal calls
        calls += 1
        return calls > 20 * 3**runs

    while True:
        run = Search(
            program, SearchSettings(workers=2, limits=limits, fingerprint=bits, keeper=keeper, interrupted=interrupted)
        )
        if keeper.saved:
            run.resume(*keeper.saved[-1])
        calls = 0
        result = run.run(None, "complete")
        runs += 1
        assert runs < 50
        if result.reason != INTERRUPTED:
            break
        assert sum(level.rows for level in keeper.saved[-1][0]) <= result.distinct
    result.traces = Retrace(run).traces(list(result.first))
    assert runs > 1
    assert plain(result) == plain(expected)


@pytest.mark.slow
def test_a_run_can_move_between_memory_and_disk(program: Program, expected: SearchResult, tmp_path: Path) -> None:
    keeper = Folder(tmp_path, always=True)
    small = Limits(memory=500_000, max_states=15_000)
    assert search(program, limits=small, keeper=keeper).reason == "--max-states 15000"
    again = Search(program, SearchSettings(keeper=keeper))
    again.resume(*keeper.saved[-1])
    assert isinstance(again.space, Resident)
    result = again.run(None, "complete")
    result.traces = Retrace(again).traces(list(result.first))
    assert plain(result) == plain(expected)


def test_fingerprints_need_a_folder() -> None:
    with pytest.raises(ValueError, match="folder"):
        search(tokens(), fingerprint=64)
