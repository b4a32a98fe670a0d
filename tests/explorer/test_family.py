"""A search of a family finds what a search of the closed configuration finds; plain Python is the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from elrcheck.base.requests import Limits, Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search import reference
from elrcheck.explorer.search.compiled import SearchSettings
from elrcheck.explorer.search.family import KernelFamily
from elrcheck.explorer.search.result import SearchResult
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.open_numbers import budgets_of
from elrcheck.model.budgets import Spent
from elrcheck.model.choices import Propagation
from elrcheck.model.config import Config
from elrcheck.traces.replay import replay_finding
from support.searches import with_traces

QUIET = {"broker_count": 2, "min_isr": 2, "log_slots": 1, "response_loss": False, "fetch_loss": False}
BUDGETS = sorted(Spent.__dataclass_fields__)
EVERY = Config(**{**QUIET, **dict.fromkeys(BUDGETS, 1)})
NOTHING = dict.fromkeys(BUDGETS, 0)
SOME: list[dict[str, int]] = [
    {},
    {"records": 1, "crashes": 1},
    {"records": 1, "acks_zero": 1, "kills": 1},
    {"min_isr_changes": 1},
    {"shutdowns": 1, "shutdown_timeouts": 1, "records": 1},
    {"feature_changes": 1, "clean_stops": 1},
    {"directory_failures": 1, "directory_changes": 1},
    {"elections": 1, "late_fetches": 1, "records": 1, "acks_one": 1},
]


def family(model: Model, widest: Config, least: Mapping[str, int] | None = None) -> KernelFamily:
    return KernelFamily(model, widest, least=least, cache=KernelCache())


def compare(model: Model, family: KernelFamily, bounds: Mapping[str, int]) -> tuple[SearchResult, Config]:
    """Everything that the reference counts is the same, and every trace is a violation when replayed."""
    search = family.search(bounds, SearchSettings(Limits(max_states=20_000)))
    result = with_traces(search, search.run(None, "complete"))
    closed = replace(family.widest, **bounds)  # type: ignore[type-var]
    assert isinstance(closed, Config)
    expected = reference.search(model, closed, max_states=20_000)
    assert result.complete and expected.complete, bounds
    counts = (result.generated, result.distinct, result.levels, result.deadlocks, sum(result.cut))
    assert counts == (expected.generated, expected.distinct, expected.levels, expected.deadlocks, expected.cut)
    enabled: Counter[str] = Counter()
    for instance, count in zip(family.program.instances, result.enabled, strict=True):
        enabled[instance.action] += count
    assert dict(+enabled) == expected.enabled
    checks = family.program.checks
    assert {checks[k].name: depth for k, depth in result.first.items()} == expected.first
    for fn in model.always:
        number = next(k for k, check in enumerate(checks) if check.name == fn.ident)
        if number in result.traces:
            states = tuple(family.decode(row) for row in result.traces[number])
            assert replay_finding(model, closed, fn, states).rejection is None
    return result, closed


@pytest.mark.slow
def test_every_budget_of_the_model_can_stay_open(checked_model: Model) -> None:
    assert budgets_of(checked_model) == set(BUDGETS)
    shared = family(checked_model, EVERY)
    assert {p.name for p in shared.lowered.parameters} == set(BUDGETS)
    for bounds in SOME:
        compare(checked_model, shared, {**NOTHING, **bounds})


@pytest.mark.slow
def test_violations_of_released_code_are_found_at_the_same_depth(checked_model: Model) -> None:
    selection = Selection("code_4_0", "two-brokers-quiet", ("crashes=1", "fences=1", "shrinks=1"))
    widest = resolve(selection).config
    shared = family(checked_model, widest, {"crashes": 0, "fences": 0, "shrinks": 0, "min_isr": 1})
    violations = 0
    for bounds in ({"min_isr": 1, "fences": 0}, {"crashes": 0, "fences": 0}):
        result, _ = compare(checked_model, shared, bounds)
        violations += len([k for k in result.first if shared.program.checks[k].kind == "always"])
    assert violations > 0


@pytest.mark.slow
def test_switches_that_shape_the_state_stay_exact(checked_model: Model) -> None:
    """A metadata log as long as the budgets need, stale entries, acknowledged records."""
    shaped = {"metadata": Propagation.LOG, "elr_index_goes_stale": True, "tracks_acks": True}
    widest = Config(**{**QUIET, **NOTHING, **shaped, "records": 1, "min_isr_changes": 1, "fences": 1})
    shared = family(checked_model, widest)
    for bounds in ({"fences": 0, "records": 0}, {"min_isr_changes": 0}, {"records": 0, "min_isr_changes": 0}):
        compare(checked_model, shared, bounds)


def test_a_search_may_stop_and_another_begins_afresh(checked_model: Model) -> None:
    shared = family(checked_model, Config(**{**QUIET, **NOTHING, "records": 1, "fences": 1}))
    stopped = shared.search({}, SearchSettings(Limits(max_depth=3))).run(None, "complete")
    assert (stopped.complete, stopped.reason) == (False, "--max-depth 3")
    result, closed = compare(checked_model, shared, {})
    again = shared.search({}, SearchSettings(workers=2)).run(None, "complete")
    assert (again.generated, again.levels) == (result.generated, result.levels)
    assert closed == shared.widest
    with pytest.raises(ValueError, match="fences cannot be 2"):
        shared.search({"fences": 2})
