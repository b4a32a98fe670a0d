"""Configurations of the packaged suites, searched by one family, have the counts recorded of each."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest

from elrcheck.base.typed.configuration import build_config, config_values
from elrcheck.checking.suite.suite_counts import packaged_counts
from elrcheck.checking.suite.suite_file import SuiteCase, packaged_suites
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.family import KernelFamily
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.lowering.open_numbers import budgets_of
from elrcheck.model.config import Config

MOST = 25_000
"""States of a configuration that is searched here."""


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1, 2], ids=["plain", "lagging", "lost-answers"])
def test_one_kernel_has_the_counts_of_each_configuration(place: int) -> None:
    model, recorded = load_checked_model(), packaged_counts()
    numbers = sorted(budgets_of(model) | {"min_isr"})
    groups: dict[str, list[SuiteCase]] = defaultdict(list)
    for case in (case for suite in packaged_suites() for case in suite.cases):
        if case.walk is None and case.name in recorded:
            values = config_values(case.selected.config)
            groups[json.dumps({k: v for k, v in values.items() if k not in numbers})].append(case)
    cases = sorted(groups.values(), key=len, reverse=True)[place]
    ranges = {name: [getattr(case.selected.config, name) for case in cases] for name in numbers}
    fields = {name: getattr(cases[0].selected.config, name) for name in Config.__dataclass_fields__}
    widest = build_config(Config, fields | {name: max(values) for name, values in ranges.items()})
    least = {name: min(values) for name, values in ranges.items()}
    family = KernelFamily(model, widest, least=least, cache=KernelCache())
    met: Counter[str] = Counter()
    for case in (case for case in cases if recorded[case.name].distinct <= MOST):
        config = case.selected.config
        bounds = {p.name: getattr(config, p.name) for p in family.lowered.parameters}
        result = family.search(bounds).run(None, "complete")
        expected = recorded[case.name]
        counts = (result.generated, result.distinct, result.diameter)
        assert counts == (expected.generated, expected.distinct, expected.diameter), case.name
        checks = (family.program.checks[k] for k in result.first)
        broken = {check.name for check in checks if check.kind == "always"}
        assert broken == set(case.violates), case.name
        met.update(name for name in numbers if getattr(config, name) > least[name])
    assert len(met) >= 6 and sum(met.values()) >= 20
