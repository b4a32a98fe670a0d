"""What a shard keeps: with fingerprints, and written in parts, a level is the same as with whole states."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import Kernel, build
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.store.fingerprints import FingerprintSet
from elrcheck.explorer.store.levels import LevelFiles, SavedLevel
from elrcheck.explorer.store.visited import ExactSet
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.spark.shards import HashedShard, Shard, ShardLevel, WholeShard
from support.spark_runs import lowered

DEPTH = 14
PIECE = 500


@pytest.fixture(scope="module")
def program() -> Lowered:
    return lowered("kip_full", "two-brokers")


class Levels:
    """The levels of a search, made by one shard from batches of candidates."""

    def __init__(self, program: Lowered, folder: Path, shard: Callable[[Kernel, SearchCrew], Shard]) -> None:
        self.kernel = build(program.program, KernelCache())
        self.crew = SearchCrew(self.kernel, 2)
        self.files = LevelFiles(folder, self.kernel.layout.words)
        self.shard = shard(self.kernel, self.crew)
        self.written: list[SavedLevel] = []
        self.facts: list[Any] = []
        self.in_parts = 0
        first = self.kernel.layout.pack_rows(sorted(set(program.program.init)))
        self.add([(first, np.zeros(len(first), np.uint16))])
        while len(self.written) < DEPTH:
            self.add(self.candidates())
        self.crew.close()

    def candidates(self) -> list[Any]:
        """The successors of the newest level, in pieces."""
        pieces = []
        for address, first, last in self.shard.frontier(self.written[-1], self.files):
            visited = ExactSet(self.kernel, self.crew)
            visited.source = address
            visited.begin_level()
            self.crew.expand(visited, first, last, lambda: None)
            visited.close_level()
            rows, whos = visited.view(0, visited.reserved).copy(), visited.credits().copy()
            pieces += [(rows[k : k + PIECE], whos[k : k + PIECE]) for k in range(0, len(rows), PIECE)]
        return pieces

    def add(self, pieces: list[Any]) -> None:
        place = (len(self.written), 0, 1)
        with ShardLevel(self.kernel, self.crew, self.files, place, lambda _: None) as new:
            self.shard.begin(new)
            for rows, whos in pieces:
                assert self.shard.states.insert(rows, whos)
            credit = self.shard.close(new)
        assert new.saved is not None
        self.written.append(new.saved)
        self.in_parts += new.in_parts
        seen = dataclasses.replace(new.judgement, narrow=new.judgement.narrow.tolist())
        self.facts.append((credit.tolist(), seen, self.rows(new.saved)))

    def rows(self, level: SavedLevel) -> list[bytes]:
        return sorted(row.tobytes() for rows in self.files.read(level) for row in rows)


def whole(kernel: Kernel, crew: SearchCrew) -> Shard:
    return WholeShard(ExactSet(kernel, crew))


def hashed(program: Lowered, bits: int, in_parts: bool = False) -> Callable[[Kernel, SearchCrew], Shard]:
    table = build(program.program, KernelCache(), bits // 64)

    def shard(_kernel: Kernel, _crew: SearchCrew) -> Shard:
        states = FingerprintSet(table, SearchCrew(table, 1))
        if in_parts:
            states.most = 1
        return HashedShard(states)

    return shard


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("in_parts", [False, True])
def test_levels_by_fingerprints(program: Lowered, tmp_path: Path, bits: int, in_parts: bool) -> None:
    expected = Levels(program, tmp_path / "whole", whole)
    levels = Levels(program, tmp_path / "hashed", hashed(program, bits, in_parts))
    assert levels.facts == expected.facts
    assert expected.in_parts == 0 and (levels.in_parts > 0) == in_parts

    again = hashed(program, bits)(levels.kernel, levels.crew)
    for level in levels.written:
        again.load(level, levels.files)
    assert again.level == levels.shard.level == DEPTH - 1
    blocks = [rows for level in levels.written for rows in levels.files.read(level)]
    again.begin()
    assert all(again.states.insert(rows) for rows in blocks)
    again.states.close_level()
    assert again.states.reserved == 0, "a shard that was read knows every state"


def test_a_level_that_fails_leaves_no_file(program: Lowered, tmp_path: Path) -> None:
    kernel = build(program.program, KernelCache())
    crew = SearchCrew(kernel, 1)
    states = ExactSet(kernel, crew)
    states.start(kernel.layout.pack_rows(sorted(set(program.program.init))))
    files = LevelFiles(tmp_path, kernel.layout.words)
    with pytest.raises(RuntimeError), ShardLevel(kernel, crew, files, (0, 0, 1), lambda _: None) as new:
        new.append(states)
        raise RuntimeError
    assert not list(tmp_path.iterdir())
