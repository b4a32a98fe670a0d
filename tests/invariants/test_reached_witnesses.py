"""Every witness is reached, at its depth, in the family of small configurations that is there for it."""

from __future__ import annotations

import pytest

from elrcheck.checking.suite.suite_file import SuiteCase, packaged_suites
from elrcheck.explorer.search.compiled import Search
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower

# Configuration of catalogue/suites/witnesses.toml -> what it requires, at the depth where that first happens.
REACHED: dict[str, dict[str, int]] = {
    "two-records": {
        "W-1": 4,
        "W-3": 5,
        "W-4": 3,
        "W-5": 5,
        "W-6": 8,
        "W-7": 9,
        "W-8": 12,
        "W-9": 2,
        "W-10": 2,
        "W-11": 3,
        "W-12": 3,
        "W-13": 2,
        "W-25": 12,
    },
    "three-in-sync": {"W-2": 5, "W-11": 5, "W-18": 7},
    "reassignments": {"W-11": 8, "W-15": 6, "W-16": 2},
    "settings": {"W-11": 3, "W-19": 2, "W-20": 2},
    "stops-and-recovery": {"W-11": 3, "W-17": 16, "W-21": 16, "W-22": 3, "W-23": 4, "W-24": 2},
    "watermark-without-min-isr": {"W-11": 3, "W-14": 3},
}


@pytest.fixture(scope="module")
def cases() -> dict[str, SuiteCase]:
    (family,) = (family for family in packaged_suites() if family.name == "witnesses")
    return {case.name.removeprefix("witnesses/"): case for case in family.cases}


@pytest.mark.slow
@pytest.mark.parametrize("name", REACHED)
def test_witnesses_are_reached(checked_model: Model, cases: dict[str, SuiteCase], name: str) -> None:
    case = cases[name]
    witnesses = tuple(fn for fn in checked_model.sometimes if fn.ident in case.reaches)
    lowered = lower(checked_model, case.selected.config, witnesses)
    result = Search(lowered.program).run(None, "complete")
    first = {lowered.program.checks[check].name: depth for check, depth in result.first.items()}
    assert first == REACHED[name]


def test_every_witness_is_here(checked_model: Model, cases: dict[str, SuiteCase]) -> None:
    assert set(cases) == set(REACHED)
    assert {ident for case in cases.values() for ident in case.reaches} == {fn.ident for fn in checked_model.sometimes}
