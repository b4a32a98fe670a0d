"""The table of whole states: it loses no state, and stores none twice, when several workers move it to a larger one."""

from __future__ import annotations

import time

import numpy as np
import pytest

from elrcheck.explorer.kernel.crew import SearchCrew
from elrcheck.explorer.kernel.kernel import build
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.store.visited import SPLIT_SLOTS, ExactSet
from support.spark_runs import lowered

BATCHES, ROWS = 8, 125_000


@pytest.mark.parametrize("workers", [2, 3])
def test_a_table_that_grows_in_parts_keeps_every_state(workers: int) -> None:
    kernel = build(lowered("kip_full", "two-brokers").program, KernelCache())
    crew = SearchCrew(kernel, workers)
    visited = ExactSet(kernel, crew)
    numbers = np.random.default_rng(20261128)
    shape = (ROWS, kernel.layout.words)
    batches = [numbers.integers(0, 1 << 63, shape, np.uint64) for _ in range(BATCHES)]
    sizes = []
    for batch in batches:
        sizes.append(visited.slots)
        assert visited.insert(batch)
    assert sum(workers * SPLIT_SLOTS <= size < visited.slots for size in set(sizes)) >= 1  # it grew in parts
    assert visited.filled == BATCHES * ROWS
    for batch in batches:
        assert visited.insert(batch)
    assert visited.filled == BATCHES * ROWS
    crew.close()


def test_who_is_interrupted_waits_for_the_other_workers() -> None:
    """They write to memory that is returned to the system when the search is gone."""
    crew = SearchCrew(build(lowered("kip_full", "two-brokers").program, KernelCache()), 2)
    ended: list[int] = []

    def work(worker: int, first: int, last: int) -> None:
        if worker == 0:
            raise KeyboardInterrupt
        time.sleep(0.3)
        ended.append(last - first)

    with pytest.raises(KeyboardInterrupt):
        crew.split(0, ROWS, work)
    assert ended == [ROWS - ROWS // 2]
    crew.close()
