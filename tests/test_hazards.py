"""The table of hazards: complete, well formed, and every row shows what it says."""

from __future__ import annotations

import dataclasses
import re

import pytest

from elrcheck.config import config_values
from elrcheck.explorer.mutate import run_hazard, select_hazards, sides
from elrcheck.explorer.mutation_run import Searches, dropped, outcome_of
from elrcheck.explorer.select import find_variant, reject_impossible, select_properties
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.guards import guard_names
from elrcheck.lang.load import Model
from elrcheck.model.config import Config
from elrcheck.model.hazards import HAZARDS, Hazard
from elrcheck.report.progress import Silent
from elrcheck.report.request import MutateRequest

# Section F of the semantics notes: these numbers have a hazard, the others below 49 do not exist.
NUMBERS = [*range(1, 12), 13, 14, 15, *range(17, 22), *range(23, 35), *range(36, 42), *range(43, 47), 48]
RUN = [hazard for hazard in HAZARDS if hazard.left_out is None]
# Left out for a reason that is not a missing knob; a new one here is a reviewed decision.
NOT_SHOWN = {"F-25", "F-26", "F-29", "F-30", "F-31", "F-32", "F-36", "F-37", "F-48"}


@pytest.fixture(scope="module")
def model() -> Model:
    return load_checked_model()


def searches(**limits: float) -> Searches:
    return Searches(MutateRequest(max_states=2_000_000, timeout=limits.get("timeout")), Silent())


# ---------------------------------------------------------------------------- the table


def number_of(hazard: Hazard) -> int:
    found = re.fullmatch(r"F-(\d+)[a-c]?", hazard.id)
    assert found, hazard.id
    return int(found[1])


def test_the_table_is_complete_and_in_order() -> None:
    assert list(dict.fromkeys(map(number_of, HAZARDS))) == [n for n in NUMBERS if n not in (12, 16)]
    assert len({hazard.id for hazard in HAZARDS}) == len(HAZARDS)
    assert len({hazard.title for hazard in HAZARDS}) == len(HAZARDS)


def test_a_row_either_says_what_breaks_or_why_it_is_not_run() -> None:
    for hazard in HAZARDS:
        assert hazard.issue and hazard.title and hazard.title[0].isupper(), hazard.id
        if hazard.left_out is not None:
            assert hazard.left_out and not hazard.expected and not hazard.knobs and hazard.guard is None
        else:
            assert hazard.expected and len(set(hazard.expected)) == len(hazard.expected), hazard.id
            assert len(hazard.knobs) + (hazard.guard is not None) == 1, f"{hazard.id} is not one change"


def test_what_is_left_out_for_good() -> None:
    without_knob = {h.id for h in HAZARDS if h.left_out == "no knob yet"}
    assert {h.id for h in HAZARDS if h.left_out is not None} - without_knob == NOT_SHOWN


@pytest.mark.parametrize("hazard", RUN, ids=lambda hazard: hazard.id)
def test_the_change_is_one_and_nothing_is_set_in_vain(hazard: Hazard, model: Model) -> None:
    pair = sides(hazard)
    before, after = config_values(pair.base), config_values(pair.changed)
    assert {name for name in before if before[name] != after[name]} == set(hazard.knobs)
    reject_impossible(pair.changed)
    plain = config_values(sides(dataclasses.replace(hazard, settings={}, knobs={})).base)
    assert {name for name in before if before[name] != plain[name]} == set(hazard.settings), "set in vain"
    assert {fn.ident for fn in model.always} >= set(hazard.expected)
    if hazard.guard is not None:
        action = next(fn for fn in model.actions if fn.name == hazard.guard[0])
        assert hazard.guard[1] in guard_names(action)


def test_the_change_moves_the_model_away_from_the_base_variant() -> None:
    """A knob that the variant has anyway would show nothing."""
    for hazard in RUN:
        base = dataclasses.asdict(Config(**find_variant(hazard.variant).knobs))
        assert all(base[name] != value for name, value in hazard.knobs.items()), hazard.id


def test_names_are_found_in_any_case_and_with_their_halves() -> None:
    assert [h.id for h in select_hazards(["f-3"])] == ["F-3a", "F-3b"]
    assert [h.id for h in select_hazards(["F-3B", "F-1", "f-3b"])] == ["F-3b", "F-1"]
    assert select_hazards([]) == HAZARDS


# ---------------------------------------------------------------------------- what the rows show

# (hazard, property): steps of a shortest trace, by hand from the rules.
BY_HAND = {
    # The ISR empties, 0 becomes the last known leader; its unclean registration elects it, still fenced.
    ("F-1", "P-19"): ["Crash", "Start", "Fence", "Register"],
    # The registration changes nothing: a fenced broker without its data is in the ISR.
    ("F-2", "P-14"): ["Crash", "Start", "Register"],
    ("F-2", "P-19"): ["Crash", "Start", "Register"],
    # Taken for a clean restart, the broker moves from the ISR to the ELR.
    ("F-3a", "P-14"): ["Crash", "Start", "Register"],
    # The fetch makes the leader propose 1, whom the controller has fenced.
    ("F-4", "P-19"): ["Fence", "ApplyMetadata", "Fetch", "ExpandIsr", "ControllerAlters"],
    # ISR {0}, ELR {1} is more than a min ISR of 1 allows; then 0 commits alone.
    ("F-19", "P-11"): ["Fence", "ChangeMinIsr"],
    ("F-19", "P-2"): ["Fence", "ChangeMinIsr", "ApplyMetadata", "Produce"],
    # To one replica: complete at once, and the broker that left is eligible.
    ("F-20", "P-12"): ["Reassign"],
    # The id comes back, nobody looks at how it stopped, and it is eligible.
    ("F-21", "P-14"): ["Crash", "Unregister", "Start", "Register"],
    # ISR {0} is below the new min ISR, so 1 is eligible; for the leader min ISR is still 1.
    ("F-24", "P-3"): ["ChangeMinIsr", "Fence", "ApplyMetadata"],
    ("F-24", "P-2"): ["ChangeMinIsr", "Fence", "ApplyMetadata", "Produce"],
    # Alone in the ISR the leader commits what the eligible 1 does not have.
    ("F-39", "P-2"): ["Fence", "ApplyMetadata", "Produce"],
    ("F-39", "P-13"): ["Fence", "ApplyMetadata", "Produce"],
    # 1 is proposed while the log is empty; the leader commits without it; then 1 is in the ISR.
    ("F-41", "P-2"): [
        "Fence", "ApplyMetadata", "Unfence", "Fetch", "ExpandIsr", "Produce", "ControllerAlters"
    ],
}  # fmt: skip


@pytest.mark.parametrize(("ident", "prop"), BY_HAND)
def test_shortest_traces_by_hand(ident: str, prop: str, model: Model) -> None:
    (hazard,) = select_hazards([ident])
    report = run_hazard(model, hazard, frozenset({prop}), searches())
    assert (report.verdict, report.property, report.depth) == ("found", prop, len(BY_HAND[ident, prop]))
    assert report.unmutated is not None
    assert report.unmutated.complete and report.unmutated.violated == ()
    assert report.counterexample is not None
    steps = [step.action for step in report.counterexample.steps]
    assert sorted(steps) == sorted(BY_HAND[ident, prop]), "the same steps, in an order of its own"


@pytest.mark.slow
@pytest.mark.parametrize("hazard", RUN, ids=lambda hazard: hazard.id)
def test_every_expected_property_breaks_and_only_with_the_change(hazard: Hazard, model: Model) -> None:
    pair = sides(hazard)
    checks = select_properties(model, hazard.expected)
    before = outcome_of(model, pair.base, checks, searches(), "complete")
    assert before.complete and before.first == {}
    broken = model if hazard.guard is None else dropped(model, *hazard.guard)
    after = outcome_of(broken, pair.changed, checks, searches(), "complete")
    assert after.complete and set(after.first) == set(hazard.expected)
    report = run_hazard(model, hazard, frozenset(hazard.expected), searches())
    assert report.verdict == "found" and report.depth == min(after.first.values())
