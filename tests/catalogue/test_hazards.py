"""The table of hazards: complete, well formed, and every row shows what it says."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.typed.configuration import config_values
from elrcheck.catalogue.configured import find_variant, reject_impossible
from elrcheck.catalogue.hazard import TABLE, Hazard, packaged_hazards, read_hazards
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.declared.select import select_properties
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.kafka.mutation.hazard_run import demand_known, run_hazard, select_hazards, sides
from elrcheck.lang.ir import Fn, guard_names
from elrcheck.lang.load import Model
from elrcheck.model.choices import FetchFencing
from elrcheck.model.config import Config
from elrcheck.mutation.mutation_run import Searches, dropped, lassos_of, outcome_of

# Section F of the semantics notes: these numbers have a hazard. 49, 50 and 54 are no change of one rule.
NUMBERS = [*range(1, 12), 13, 14, 15, *range(17, 22), *range(23, 35), *range(36, 42), *range(43, 47)]
NUMBERS += [48, 51, 52, 53, 55, 56, 69]
HAZARDS = packaged_hazards()
RUN = [hazard for hazard in HAZARDS if hazard.left_out is None]
SEARCHED = {finding.id for finding in packaged_findings() if finding.runs}
ALONE = [hazard for hazard in RUN if hazard.id not in SEARCHED]
"""Those that have no searches as a finding, which tests/documents/test_findings.py repeats."""
# Left out, each for its own reason; a new one here is a reviewed decision.
NOT_SHOWN = {"F-18b", "F-29", "F-31", "F-32", "F-36", "F-37", "F-48"}


def searches(**limits: float) -> Searches:
    return Searches(MutateRequest(max_states=2_000_000, timeout=limits.get("timeout")), Silent())


# ---------------------------------------------------------------------------- the table


def number_of(hazard: Hazard) -> int:
    match = re.fullmatch(r"F-(\d+)[a-c]?", hazard.id)
    assert match, hazard.id
    return int(match[1])


def test_the_table_is_complete_and_in_order() -> None:
    assert list(dict.fromkeys(map(number_of, HAZARDS))) == [n for n in NUMBERS if n not in (12, 16)]
    assert max(map(number_of, HAZARDS)) < 90, "docs/extending.md leaves the numbers from 90 on to its readers"
    assert len({hazard.id for hazard in HAZARDS}) == len(HAZARDS)
    assert len({hazard.title for hazard in HAZARDS}) == len(HAZARDS)


def test_a_misspelt_knob_is_refused_with_its_line(tmp_path: Path) -> None:
    text = (files("elrcheck.catalogue") / TABLE).read_text("utf-8").replace("crashes", "crashs", 1)
    line = text[: text.index("crashs")].count("\n") + 1
    (tmp_path / TABLE).write_text(text, "utf-8")
    with pytest.raises(UsageFault, match="crashs") as refused:
        read_hazards(tmp_path / TABLE)
    assert refused.value.where == f"{tmp_path / TABLE}:{line}"


def test_a_row_either_says_what_breaks_or_why_it_is_not_run() -> None:
    for hazard in HAZARDS:
        assert hazard.issue and hazard.title and hazard.title[0].isupper(), hazard.id
        if hazard.left_out is not None:
            assert hazard.left_out and not hazard.expected and not hazard.knobs and hazard.guard is None
        else:
            assert hazard.expected and len(set(hazard.expected)) == len(hazard.expected), hazard.id
            assert len(hazard.knobs) + (hazard.guard is not None) == 1, f"{hazard.id} is not one change"


def test_what_is_left_out() -> None:
    assert {h.id for h in HAZARDS if h.left_out is not None} == NOT_SHOWN
    assert all(h.left_out != "no knob yet" for h in HAZARDS), "a missing knob alone is not a reason"


@pytest.mark.parametrize("hazard", RUN, ids=lambda hazard: hazard.id)
def test_the_change_is_one_and_nothing_is_set_in_vain(hazard: Hazard, whole_model: Model) -> None:
    pair = sides(hazard)
    before, after = config_values(pair.base), config_values(pair.changed)
    assert {name for name in before if before[name] != after[name]} == set(hazard.knobs)
    reject_impossible(pair.changed)
    plain = config_values(sides(dataclasses.replace(hazard, settings={}, knobs={})).base)
    assert {name for name in before if before[name] != plain[name]} == set(hazard.settings), "set in vain"
    safety, liveness = ({fn.ident for fn in fns} for fns in (whole_model.always, whole_model.leads_to))
    assert safety >= set(hazard.expected) or liveness >= set(hazard.expected), "a search is for one kind"
    if hazard.guard is not None:
        action = next(fn for fn in whole_model.actions if fn.name == hazard.guard[0])
        assert hazard.guard[1] in guard_names(action)


def test_the_change_moves_the_model_away_from_the_base_variant() -> None:
    """A knob that the variant, or a setting of the row, has anyway would show nothing."""
    for hazard in RUN:
        base = dataclasses.asdict(Config(**{**find_variant(hazard.variant).knobs, **hazard.settings}))
        assert all(base[name] != value for name, value in hazard.knobs.items()), hazard.id


@pytest.mark.parametrize(
    ("change", "message", "help"),
    [
        ({"expected": ("P-111",)}, "there is no property `P-111`", "did you mean `P-11`?"),
        ({"guard": ("Regster", "b is starting")}, "there is no action `Regster`", "did you mean `Register`?"),
        ({"guard": ("Register", "b is startin")}, "no guard of Register `b is startin`", "`b is starting`"),
    ],
)
def test_a_row_that_names_what_is_not_there(
    whole_model: Model, change: dict[str, Any], message: str, help: str
) -> None:
    with pytest.raises(UsageFault, match=message) as caught:
        demand_known(whole_model, dataclasses.replace(HAZARDS[0], **change))
    assert help in str(caught.value.help)
    demand_known(whole_model, HAZARDS[0])


def test_names_are_found_in_any_case_and_with_their_halves() -> None:
    assert [h.id for h in select_hazards(["f-3"])] == ["F-3a", "F-3b"]
    assert [h.id for h in select_hazards(["F-3B", "F-1", "f-3b"])] == ["F-3b", "F-1"]
    assert select_hazards([]) == HAZARDS


# ---------------------------------------------------------------------------- what the rows show

# (hazard, property): steps of a shortest trace, by hand from the rules.
BY_HAND = {
    # The ISR empties, 0 becomes the last known leader; its unclean registration elects it, still fenced.
    ("F-1", "P-19"): ["Crash", "Start", "Fence", "Register"],
    ("F-1", "P-14"): ["Crash", "Start", "Fence", "Register"],
    # The registration changes nothing: a fenced broker without its data is in the ISR.
    ("F-2", "P-14"): ["Crash", "Start", "Register"],
    ("F-2", "P-19"): ["Crash", "Start", "Register"],
    # Taken for a clean restart, the broker moves from the ISR to the ELR.
    ("F-3a", "P-14"): ["Crash", "Start", "Register"],
    # Taken for an unclean restart, the broker is in neither.
    ("F-3b", "P-9"): ["CleanStop", "Start", "Register"],
    # The fetch makes the leader propose 1, whom the controller has fenced.
    ("F-4", "P-19"): ["Fence", "ApplyMetadata", "Fetch", "ExpandIsr", "ControllerAlters"],
    # 1 has told 0 that it has the record, and is not told that it is committed. 0 is fenced; 2 follows 1 and
    # cuts what 0 has committed, as it fetched the last time before 1 did.
    ("F-6", "P-2"): ["Produce", "Fetch", "Fetch", "Fetch", "Fetch", "Fence", "ApplyMetadata"],
    # 0 has two records of epoch 1, 1 has one of epoch 2. 0 leads again and answers with the end of epoch 1,
    # which is beyond the log of 1: nothing is cut, and the second record follows the wrong first one.
    ("F-7", "P-5"): [
        "Produce",
        "Produce",
        "Fence",
        "ApplyMetadata",
        "Produce",
        "Unfence",
        "Fence",
        "ApplyMetadata",
        "ApplyMetadata",
        "Fetch",
        "Fetch",
    ],
    # 1 has the committed record, but never heard that it is; it leads in epoch 2 and appends another. 0 leads
    # in epoch 3, knows no epoch 2, and 1 cuts its log to its own watermark.
    ("F-10", "P-13"): [
        "Produce",
        "Fetch",
        "Fetch",
        "Fence",
        "ApplyMetadata",
        "Produce",
        "Unfence",
        "Fence",
        "ApplyMetadata",
        "ApplyMetadata",
        "Fetch",
    ],
    # 1 lost the record after the fetch that proved it; the proposal names the epoch it has since.
    ("F-13", "P-2"): [
        "Produce",
        "Fetch",
        "Fetch",
        "Crash",
        "Start",
        "Register",
        "ApplyMetadata",
        "ApplyMetadata",
        "Unfence",
        "ExpandIsr",
        "ControllerAlters",
    ],
    # 2 asks 0 for the record after r1. 0 becomes a follower of 1, cuts r1, fetches two others, and reads.
    ("F-18a", "P-5"): [
        "Produce",
        "Fetch",
        "SendLateFetch",
        "StartControlledShutdown",
        "ApplyMetadata",
        "Produce",
        "Produce",
        "ApplyMetadata",
        "Fetch",
        "Fetch",
        "Fetch",
        "ReadForLateFetch",
        "LateFetchReturns",
    ],
    # ISR {0}, ELR {1} is more than a min ISR of 1 allows; then 0 commits alone.
    ("F-19", "P-11"): ["Fence", "ChangeMinIsr"],
    ("F-19", "P-2"): ["Fence", "ChangeMinIsr", "ApplyMetadata", "Produce"],
    # To one replica: complete at once, and the broker that left is eligible.
    ("F-20", "P-12"): ["Reassign"],
    # The id comes back, nobody looks at how it stopped, and it is eligible.
    ("F-21", "P-14"): ["Crash", "Unregister", "Start", "Register"],
    # The change is built as if ELR were off: 1 is forgotten.
    ("F-23", "P-9"): ["Fence", "AssignDirectories"],
    # The value of the cluster is written again, and 1 is forgotten.
    ("F-25", "P-9"): ["Fence", "ChangeMinIsr"],
    # ISR {0} is below the new min ISR, so 1 is eligible; for the leader min ISR is still 1.
    ("F-24", "P-3"): ["ChangeMinIsr", "Fence", "ApplyMetadata"],
    ("F-24", "P-2"): ["ChangeMinIsr", "Fence", "ApplyMetadata", "Produce"],
    # 2 is behind. [0, 1, 2] to [0, 2] adds nobody, so it is complete at once: 0 alone has the record.
    ("F-30a", "P-29"): ["Fence", "Produce", "Fetch", "Fetch", "ApplyMetadata", "Reassign"],
    # [0, 1] to [1, 2] where 1 lost its log: 2 joins, 0 leaves, and 2 alone has the record.
    ("F-30b", "P-29"): [
        "Produce",
        "Fetch",
        "Fetch",
        "Crash",
        "Start",
        "Reassign",
        "ApplyMetadata",
        "Register",
        "ApplyMetadata",
        "Fetch",
        "Fetch",
        "ExpandIsr",
        "ControllerAlters",
    ],
    # 1 is not a replica, fetches all the same, and deletes its log; then it becomes a replica.
    ("F-38", "P-27"): [
        "Produce",
        "Fetch",
        "Fetch",
        "AssignDirectories",
        "ApplyMetadata",
        "Reassign",
        "ApplyMetadata",
        "ExpandIsr",
        "ControllerAlters",
    ],
    # Alone in the ISR the leader commits what the eligible 1 does not have.
    ("F-39", "P-2"): ["Fence", "ApplyMetadata", "Produce"],
    ("F-39", "P-13"): ["Fence", "ApplyMetadata", "Produce"],
    # 1 is proposed while the log is empty; the leader commits without it; then 1 is in the ISR.
    ("F-41", "P-2"): ["Fence", "ApplyMetadata", "Unfence", "Fetch", "ExpandIsr", "Produce", "ControllerAlters"],
    # The answer counts although its sender was killed afterwards and is fenced; or has registered anew.
    ("F-43", "P-19"): [
        "Kill",
        "Start",
        "Register",
        "ApplyMetadata",
        "Unfence",
        "StartRecovery",
        "SendLogInfo",
        "AcceptLogInfo",
        "Kill",
        "Fence",
        "FinishRecovery",
    ],
    ("F-43", "P-31"): [
        "Kill",
        "Start",
        "Register",
        "ApplyMetadata",
        "Unfence",
        "StartRecovery",
        "SendLogInfo",
        "AcceptLogInfo",
        "Kill",
        "Start",
        "Register",
        "FinishRecovery",
    ],
    # LastKnownELR is {0}, the answer is of 1.
    ("F-44", "P-31"): [
        "Fence",
        "Kill",
        "Start",
        "Register",
        "ApplyMetadata",
        "Unfence",
        "Unfence",
        "StartRecovery",
        "ApplyMetadata",
        "SendLogInfo",
        "AcceptLogInfo",
        "FinishRecovery",
    ],
    # ISR {0}, ELR {1, 2}; then 1 joins, which is not enough for min ISR 3.
    ("F-45", "P-10"): ["Fence", "Fence", "Unfence", "ApplyMetadata", "Fetch", "ExpandIsr", "ControllerAlters"],
    # 1 leads while 0 still has a record of its own. The fetch by which 0 cuts it makes 1 believe that 0 has
    # one record; back in the ISR, as 1 learns from the newest metadata, 0 counts for a record it never got.
    ("F-46a", "P-25"): [
        "Produce",
        "Fence",
        "ApplyMetadata",
        "Unfence",
        "ApplyMetadata",
        "Fetch",
        "ExpandIsr",
        "ControllerAlters",
        "ApplyMetadata",
        "Produce",
    ],
    # The other member has not fetched yet.
    ("F-46b", "P-2"): ["Produce"],
}


@pytest.mark.slow
@pytest.mark.parametrize(("ident", "prop"), BY_HAND)
def test_shortest_traces_by_hand(ident: str, prop: str, whole_model: Model) -> None:
    (hazard,) = select_hazards([ident])
    report = run_hazard(whole_model, hazard, frozenset({prop}), searches())
    assert (report.verdict, report.property, report.depth) == ("found", prop, len(BY_HAND[ident, prop]))
    assert report.unmutated is not None
    assert report.unmutated.complete and report.unmutated.violated == ()
    assert report.counterexample is not None
    steps = [step.action for step in report.counterexample.steps]
    assert sorted(steps) == sorted(BY_HAND[ident, prop]), "the same steps, in an order of its own"


def test_refusing_lower_epochs_is_enough(whole_model: Model) -> None:
    """F-8 needs one direction only, in its own configuration."""
    for ident in ("F-8a", "F-8b"):
        (hazard,) = select_hazards([ident])
        lower = dataclasses.replace(hazard, knobs={"fetch_fencing": FetchFencing.ONLY_LOWER})
        after = outcome_of(whole_model, sides(lower).changed, whole_model.always, searches(), "complete")
        assert after.complete and after.first == {}, ident


def test_an_epoch_has_one_leader_so_its_check_is_enough(whole_model: Model) -> None:
    """F-18b: where answers are late, comparing leaders as well as epochs changes no step."""
    (hazard,) = select_hazards(["F-14"])
    before = outcome_of(whole_model, sides(hazard).base, (), searches(), "complete")
    unchecked = dataclasses.replace(hazard, knobs={"response_checks_leader": False})
    after = outcome_of(whole_model, sides(unchecked).changed, (), searches(), "complete")
    assert before.complete and after.complete
    assert (before.distinct, before.generated) == (after.distinct, after.generated)


def searched(model: Model, config: Config, checks: Sequence[Fn], lives: bool) -> SearchOutcome:
    if lives:
        return lassos_of(model, config, checks, searches())[0]
    return outcome_of(model, config, checks, searches(), "complete")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ident", "property", "depth"),
    [
        # 1 is fenced and comes back: the leader epoch stays, and no view ever shows the smaller ISR.
        ("F-34", "V-2", 3),
        # 1 was fenced and joins again; the answer to the proposal is lost, and nobody asks again.
        ("F-46c", "V-3", 8),
        # Without ELR 1 stays in the ISR alone, dead and without a leader; ELR is switched on, 1 registers
        # after an unclean stop: it leaves the ISR, and as nobody led, nobody is the last known leader.
        ("F-26", "V-8", 10),
    ],
)
def test_hazards_of_liveness(ident: str, property: str, depth: int, whole_model: Model) -> None:
    report = run_hazard(whole_model, next(h for h in HAZARDS if h.id == ident), frozenset({property}), searches())
    assert (report.verdict, report.property, report.depth) == ("found", property, depth)
    assert report.counterexample is not None and report.counterexample.loop == depth


@pytest.mark.slow
@pytest.mark.parametrize("hazard", ALONE, ids=lambda hazard: hazard.id)
def test_every_expected_property_breaks_and_only_with_the_change(hazard: Hazard, whole_model: Model) -> None:
    pair = sides(hazard)
    checks = select_properties(whole_model, hazard.expected)
    lives = any(fn.kind == "leads_to" for fn in checks)
    before = searched(whole_model, pair.base, checks, lives)
    assert before.complete and before.first == {}
    broken = whole_model if hazard.guard is None else dropped(whole_model, *hazard.guard)
    after = searched(broken, pair.changed, checks, lives)
    assert after.complete and set(after.first) == set(hazard.expected)
    report = run_hazard(whole_model, hazard, frozenset(hazard.expected), searches())
    assert report.verdict == "found" and report.depth == min(after.first.values())
