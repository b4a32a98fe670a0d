"""Fingerprints: a slot that shares its word with the credit, and levels that do not stay in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elrcheck.base.requests import Limits
from elrcheck.explorer.kernel.fingerprint_ir import credit_bits
from elrcheck.explorer.search import compiled
from elrcheck.explorer.search.compiled import INTERRUPTED, Search, SearchSettings
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.explorer.store import fingerprints
from elrcheck.explorer.store.fingerprints import FingerprintSet
from elrcheck.explorer.store.hashed import Hashed
from elrcheck.explorer.store.levels import LevelFiles
from elrcheck.lang.lowering.program import Program
from support.level_folder import Folder
from support.searches import search
from support.small_programs import grid

COUNTS = (64**3, 1 + 3 * 63 * 64**2, 190)
"""Distinct states, generated states and diameter of a grid of three numbers below 64."""


@pytest.fixture(scope="module")
def program() -> Program:
    return grid(64, 3)


@pytest.fixture(scope="module")
def credits(program: Program) -> list[int]:
    """The new states of each instance, by a search that stores whole states."""
    return search(program).new_states


@pytest.mark.parametrize(("instances", "bits"), [(0, 2), (1, 2), (2, 2), (3, 3), (6, 3), (7, 4), (62, 6)])
def test_a_credit_has_room_for_every_instance(instances: int, bits: int) -> None:
    """And for two more numbers: 0 is an empty slot, all bits are a state of an earlier level."""
    assert credit_bits(instances) == bits
    assert instances + 2 <= 1 << bits


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "workers"), [(64, 1), (64, 2), (128, 2)])
def test_levels_that_outgrow_their_buffer_count_the_same(
    program: Program, credits: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int, workers: int
) -> None:
    monkeypatch.setattr(fingerprints, "KEPT_ROWS", 1)
    run = Search(program, SearchSettings(workers=workers, fingerprint=bits, keeper=Folder(tmp_path)))
    result = run.run(None, "complete")
    space = run.space
    assert isinstance(space, Hashed)
    assert space.visited.most < max(result.levels), "some level went to its files while it was built"
    assert (result.distinct, result.generated, result.diameter) == COUNTS
    assert result.new_states == credits
    assert [level.rows for level in space.written][: len(result.levels)] == list(result.levels)
    traces = Retrace(run).traces(list(result.first))
    assert len(traces[0]) == 190


@pytest.mark.parametrize("bits", [0, 64])
def test_a_time_budget_reserves_nothing_for_levels_that_are_in_files(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    monkeypatch.setattr(compiled, "SAVED_PER_SECOND", 1.0)
    limits = Limits(time_budget=100.0)
    run = Search(program, SearchSettings(limits, fingerprint=bits, keeper=Folder(tmp_path, always=True)))
    assert run.run(None, "complete").complete == bool(bits), "a space in memory would take hours to save"


def test_a_run_with_levels_on_disk_is_resumed(
    program: Program, credits: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprints, "KEPT_ROWS", 1)
    keeper, calls = Folder(tmp_path), 0

    def interrupted() -> bool:
        nonlocal calls
        calls += 1
        return calls > 150

    first = Search(program, SearchSettings(workers=2, fingerprint=64, keeper=keeper, interrupted=interrupted))
    assert first.run(None, "complete").reason == INTERRUPTED
    levels, tally = keeper.saved[-1]
    again = Search(program, SearchSettings(workers=2, fingerprint=64, keeper=keeper))
    again.resume(levels, tally)
    assert 10_000 < again.distinct < COUNTS[0]
    result = again.run(None, "complete")
    assert (result.distinct, result.generated, result.diameter) == COUNTS
    assert result.new_states == credits


def test_a_crowded_table_grows_before_it_is_full(
    program: Program, credits: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slot tells 2^c homes apart only as long as no state is too far behind its own."""
    monkeypatch.setattr(FingerprintSet, "spacing", 100)
    crowded: list[bool] = []
    plain = FingerprintSet._crowded

    def watched(table: FingerprintSet) -> bool:
        crowded.append(plain(table))
        return crowded[-1]

    monkeypatch.setattr(FingerprintSet, "_crowded", watched)
    result = search(program, fingerprint=64, workers=2, keeper=Folder(tmp_path))
    assert any(crowded)
    assert (result.distinct, result.generated, result.diameter) == COUNTS
    assert result.new_states == credits


def test_a_state_too_far_from_its_home_is_never_overlooked(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FingerprintSet, "spacing", 1)
    with pytest.raises(RuntimeError, match="behind its home"):
        search(program, fingerprint=64, keeper=Folder(tmp_path))


def test_nothing_is_left_of_a_level_that_was_given_up(tmp_path: Path) -> None:
    files, rows = LevelFiles(tmp_path, 2), np.arange(64, dtype=np.uint64).reshape(-1, 2)
    with pytest.raises(KeyboardInterrupt), files.gathered(3, 2) as level:
        level.append(rows)
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with files.gathered(3, 2) as level:
        level.append(rows[:20])
        level.append(rows[20:])
    assert sorted(place.name for place in tmp_path.iterdir()) == [mark.name for mark in level.saved.files]
    assert [mark.name[:8] for mark in level.saved.files] == ["00003-0-", "00003-1-"]
    files.verify(level.saved)
    states = np.concatenate(list(files.read(level.saved)))
    assert sorted(map(tuple, states.tolist())) == list(map(tuple, rows.tolist()))
