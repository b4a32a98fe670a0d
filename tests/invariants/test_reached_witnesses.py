"""Every operation happens, in a way that matters, in some small scope."""

from __future__ import annotations

import pytest

from elrcheck.base.requests import Selection
from elrcheck.catalogue.select import resolve
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.result import Limits
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower

# What is set in two-brokers-quiet, and the witnesses that are there for it, at their depths.
REACHED: dict[tuple[str, ...], dict[str, int]] = {
    ("shutdowns=1", "unregistrations=1", "crashes=1"): {"W-22": 3, "W-23": 4},
    ("reassignments=2", "spare_brokers=1", "min_isr=1", "fences=1"): {"W-15": 6, "W-16": 2},
    ("min_isr_changes=1", "feature_changes=1", "directory_changes=1", "fences=1"): {
        "W-19": 2,
        "W-20": 2,
        "W-24": 2,
    },
    ("broker_count=3", "fences=2", "records=0"): {"W-18": 7},
    ("kills=2",): {"W-17": 16, "W-21": 16, "W-25": 15},
}


@pytest.fixture(scope="module")
def model() -> Model:
    return load_checked_model()


@pytest.mark.parametrize("settings", REACHED, ids=" ".join)
def test_operations_are_reached(model: Model, settings: tuple[str, ...]) -> None:
    wanted = tuple(fn for fn in model.sometimes if fn.ident in REACHED[settings])
    lowered = lower(model, resolve(Selection("kip_full", "two-brokers-quiet", settings)).config, wanted)
    result = Search(lowered.program, workers=1, cache=None, limits=Limits()).run(None, "complete")
    first = {lowered.program.checks[check].name: depth for check, depth in result.first.items()}
    assert first == REACHED[settings]


def test_every_witness_of_an_operation_is_here(model: Model) -> None:
    named = {ident for reached in REACHED.values() for ident in reached}
    assert named == {fn.ident for fn in model.sometimes if int(fn.ident[2:]) >= 15}
