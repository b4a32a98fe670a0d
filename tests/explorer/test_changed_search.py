"""The search of a changed program by the kernel of the original, compared with a kernel of its own."""

from __future__ import annotations

import pytest

from elrcheck.base.requests import Limits, Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.changed_search import ChangedSearch, differs
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.rule_proof import partition_mutants
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.relower import relower
from elrcheck.mutation.rule_mutants import RuleMutants

FUNCTIONS = ("fence_target", "may_join", "ShrinkIsr")
LIMITS = Limits(max_states=4000)


@pytest.fixture(scope="module")
def mutants() -> RuleMutants:
    return partition_mutants(load_whole_model())


@pytest.fixture(scope="module")
def original(mutants: RuleMutants) -> tuple[Lowered, Search]:
    config = resolve(Selection("kip_full", "two-brokers-quiet", ("fences=1", "shrinks=1"))).config
    lowered = lower(mutants.model, config)
    search = Search(lowered.program, SearchSettings(cache=KernelCache()))
    search.run(None, "complete")
    return lowered, search


@pytest.mark.slow
def test_a_changed_program_has_the_states_that_its_own_kernel_finds(
    mutants: RuleMutants, original: tuple[Lowered, Search]
) -> None:
    """Every tenth change; a change that is said to make no difference has the original's counts."""
    lowered, search = original
    counts: dict[str, int] = {"same": 0, "indistinguishable": 0, "different": 0}
    names = [pair for name in FUNCTIONS for pair in mutants.names((name,))][::12]
    for function, name in names:
        changed = mutants.make(mutants.find(function, name))
        if changed is None:
            continue
        change = relower(lowered, changed.model, changed.affected)
        assert change is not None
        with planted(changed.original, changed.plain):
            fresh = lower(changed.model, lowered.config)
        own = Search(fresh.program, SearchSettings(cache=KernelCache(), limits=LIMITS))
        expected = own.run(None, "complete")
        if change.same or not differs(search, change):
            counts["same" if change.same else "indistinguishable"] += 1
            assert expected.levels == tuple(search.space.sizes), name
            continue
        counts["different"] += 1
        other = ChangedSearch(search, change, limits=LIMITS)
        result = other.run(None, "complete")
        assert (result.complete, result.first) == (expected.complete, expected.first), name
        if result.complete:
            assert (result.levels, result.generated) == (expected.levels, expected.generated), name
            assert result.deadlocks == expected.deadlocks
        for check, rows in Retrace(other).traces(list(result.first)[:1]).items():
            assert len(rows) == result.first[check] + 1
    assert all(counts.values()), counts
