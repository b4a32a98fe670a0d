"""What docs/findings.md says of released code: which rule breaks what, with how few faults.

Two brokers, one record, nothing lost on the network; each case adds the budgets its rule needs. The
numbers are depths of shortest counterexamples; every search is complete.
"""

from __future__ import annotations

import pytest
from places import ROOT

from elrcheck.base.requests import Selection
from elrcheck.catalogue.select import resolve
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.result import Limits
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower

FINDINGS = ROOT / "docs" / "findings.md"
SCOPE = "two-brokers-quiet"
# hazard: (what is set, what breaks in code_4_1 and at which depth)
CODE_4_1: dict[str, tuple[tuple[str, ...], dict[str, int]]] = {
    "F-20": (
        ("reassignments=2", "fences=1"),
        {"P-11": 1, "P-12": 1, "P-3": 2, "P-20": 2, "P-2": 3, "P-13": 3, "P-1": 5, "P-8": 8},
    ),
    "F-21": (
        ("unregistrations=1", "crashes=1", "fences=1"),
        {"P-14": 4, "P-2": 7, "P-13": 7, "P-1": 10, "P-8": 13},
    ),
    "F-23": (
        ("directory_changes=1", "crashes=1", "kills=1"),
        {"P-9": 3, "P-1": 11, "P-2": 11, "P-8": 14},
    ),
    "F-25": (("min_isr_changes=1", "fences=2"), {"P-9": 2}),
    "F-26": (("feature_changes=1", "fences=2", "elr_enabled=false"), {"P-18": 3, "P-19": 3}),
    "F-28": (
        ("feature_changes=1", "fences=3", "min_isr_changes=1"),
        {"P-9": 2, "P-11": 3, "P-3": 4, "P-2": 5, "P-13": 5, "P-1": 7, "P-8": 10},
    ),
}


@pytest.fixture(scope="module")
def model() -> Model:
    return load_checked_model()


def broken(model: Model, variant: str, settings: tuple[str, ...]) -> dict[str, int]:
    config = resolve(Selection(variant, SCOPE, settings)).config
    lowered = lower(model, config, model.always)
    result = Search(lowered.program, workers=2, cache=None, limits=Limits()).run(None, "complete")
    assert result.complete, result.reason
    return {lowered.program.checks[check].name: depth for check, depth in result.first.items()}


@pytest.mark.parametrize("hazard", CODE_4_1)
def test_code_4_1_breaks(model: Model, hazard: str) -> None:
    settings, expected = CODE_4_1[hazard]
    found = broken(model, "code_4_1", settings)
    # P-6, P-25 to P-27 follow for readers, writers and followers of the wrong leader.
    assert {ident: depth for ident, depth in found.items() if ident in expected} == expected
    assert set(found) - set(expected) <= {"P-6", "P-25", "P-26", "P-27"}


@pytest.mark.parametrize("hazard", sorted(set(CODE_4_1) - {"F-26"}))
def test_kip_full_holds_there(model: Model, hazard: str) -> None:
    assert broken(model, "kip_full", CODE_4_1[hazard][0]) == {}


def test_switching_elr_on_leaves_a_leaderless_partition_as_it_is(model: Model) -> None:
    """The KIP does not say what becomes of it: the last member stays in the ISR, as without ELR."""
    assert broken(model, "kip_full", CODE_4_1["F-26"][0]) == {"P-18": 3, "P-19": 3}


def test_the_document_says_so() -> None:
    text = FINDINGS.read_text(encoding="utf-8")
    for hazard, (settings, _) in CODE_4_1.items():
        assert hazard in text
        assert " ".join(f"--set {one}" for one in settings) in text, hazard
