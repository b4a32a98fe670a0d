"""`--reduce` over the suite: the same findings at the same depths, from fewer states (ADR 0008, ADR 0009)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from elrcheck.base.requests import Limits, SuiteRequest
from elrcheck.checking.suite.suite import selected_cases
from elrcheck.checking.suite.suite_counts import packaged_counts
from elrcheck.checking.suite.suite_file import SuiteCase
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.lowering.lower import lower
from elrcheck.model.config import Config

BOTH: dict[str, Any] = {"skips_no_news": True, "forgets": True}
LARGEST = 500_000
"""Distinct states of the largest configuration that is searched twice."""
QUICK = ("hazards/f-3b", "narrow/forgets-useless-registrations")
ONE_IN = 27
"""Of each family of the suite the first configuration, and one of so many, is searched twice."""


def cases() -> Iterator[Any]:
    """A spread of the configurations that are searched, but for the largest; all but two of them are slow.

    Neighbours in a family differ in one event, and the reductions are about variables, not about events.
    """
    counts = packaged_counts()
    families: Counter[str] = Counter()
    for case in selected_cases(SuiteRequest()):
        recorded = counts.get(case.name)
        if case.walk is None and recorded is not None and recorded.distinct <= LARGEST:
            family = case.name.partition("/")[0]
            families[family] += 1
            if case.name in QUICK:
                yield pytest.param(case, id=case.name)
            elif families[family] % ONE_IN == 1:
                yield pytest.param(case, marks=pytest.mark.slow, id=case.name)


def search_result(config: Config) -> tuple[int, dict[str, int], set[str], bool]:
    """Distinct states; depths of what was found; actions that fired; whether a state has no successor."""
    program = lower(load_whole_model(), config).program
    limits = Limits(max_states=4 * LARGEST)
    search = Search(program, SearchSettings(cache=KernelCache(), limits=limits))
    result = search.run(None, "complete")
    assert result.complete, result.reason
    first = {program.checks[check].name: depth for check, depth in result.first.items()}
    fired = {one.action for one, n in zip(program.instances, result.enabled, strict=True) if n > 0}
    return result.distinct, first, fired, result.deadlocks > 0


@pytest.mark.slow
@pytest.mark.parametrize("case", list(cases()))
def test_findings_and_their_depths_stay(case: SuiteCase) -> None:
    config: Any = case.selected.config
    distinct, *rest = search_result(config)
    fewer, *same = search_result(replace(config, **BOTH))
    assert same == rest
    assert fewer <= distinct
