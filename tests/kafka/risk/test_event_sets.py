"""The monotone search over sets of events: what it skips, what it calls safe, and what stays open."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.kafka.risk.event_sets import (
    KINDS,
    Events,
    EventSets,
    SetAnswer,
    budgets_of,
    contains,
    fitting,
    in_words,
    parts,
    suspects,
)
from elrcheck.kafka.risk.settings_group import group_of

NAMES = ("stop", "kill", "crash")


def searched(sets: EventSets, breaking: Events, left_open: Sequence[Events] = ()) -> list[Events]:
    """Runs the search where a property breaks with these events; returns which sets were asked for."""
    sets_searched: list[Events] = []

    def search(events: Events, outcomes: Sequence[str], briefly: bool) -> SetAnswer | None:
        sets_searched.append(events)
        if events in left_open:
            return None
        if events == breaking:
            return SetAnswer(frozenset(outcomes), frozenset(), 10)
        return SetAnswer(frozenset(), frozenset(outcomes), 10)

    sets.run(search)
    return sets_searched


def test_no_set_is_searched_of_which_a_part_breaks() -> None:
    sets = EventSets(NAMES, ("A",), 3)
    order = searched(sets, ("stop", "kill"))
    assert len(order) == len(set(order)) == 3 + 6 + 7
    assert not [events for events in order if len(events) == 3 and {"stop", "kill"} <= set(events)]
    assert sets.smallest("A") == [("stop", "kill")]
    assert (sets.safe_up_to("A"), sets.undecided("A")) == (1, [])


def test_a_set_that_a_limit_left_open_is_never_safe() -> None:
    sets = EventSets(NAMES, ("A",), 2)
    searched(sets, (), left_open=[("crash", "crash")])
    assert sets.smallest("A") == []
    assert (sets.safe_up_to("A"), sets.undecided("A")) == (1, [("crash", "crash")])


def test_answers_about_other_events_are_left_out() -> None:
    sets = EventSets(("stop",), ("A",), 1)
    sets.answers[("kill",)] = sets.answers[("stop", "stop")] = SetAnswer(frozenset("A"))
    assert sets.smallest("A") == []


def test_an_open_set_is_searched_again_and_no_other() -> None:
    sets = EventSets(NAMES, ("A",), 2)
    searched(sets, (), left_open=[("crash", "crash")])
    assert searched(sets, ()) == [("crash", "crash")]
    assert sets.safe_up_to("A") == 2


def test_sets_that_findings_name_are_searched_first() -> None:
    crashes, kills, stops = ("crash", "crash"), ("kill", "kill"), ("stop", "stop")
    likely = {crashes: crashes, kills: kills, ("stop", "crash"): crashes, stops: kills}
    order = searched(EventSets(NAMES, ("A",), 2, likely), crashes)
    assert set(order[3:5]) == {crashes, kills}
    assert order[5] == ("stop", "crash")
    assert order.index(stops) > 5


def test_parts_and_containment_count_events() -> None:
    assert list(parts(("stop", "stop", "kill"))) == [("stop",), ("kill",), ("stop", "stop"), ("stop", "kill")]
    assert contains({"stop": 2, "kill": 1}, {"stop": 2})
    assert not contains({"stop": 1, "kill": 1}, {"stop": 2})


def test_events_as_people_list_them() -> None:
    assert in_words({"reassign": 2, "stop": 1}) == "2 reassignments and an orderly stop"
    assert in_words({"kill": 1}) == "a kill"
    assert in_words({"stop": 1, "fence": 2, "elect_unclean": 1}) == (
        "an orderly stop, 2 fencings of live brokers and an unclean election by an operator"
    )
    assert budgets_of(("stop", "stop", "fence")) == {"clean_stops": 2, "fences": 1}


def test_the_searches_of_findings_are_suspected() -> None:
    suspected = suspects(packaged_findings(), 3)
    assert suspected["fence", "reassign", "reassign"] == ("fence", "reassign", "reassign")  # F-20
    assert suspected["stop", "reassign", "reassign"] == ("fence", "reassign", "reassign")
    assert suspected["stop", "stop", "lose_directory"] == ("stop", "stop", "lose_directory")  # F-52
    assert all(list(events) == sorted(events, key=[k.name for k in KINDS].index) for events in suspected)


@pytest.mark.parametrize("kafka", ["4.0", "4.1", "4.3"])
def test_the_searches_that_fit_a_release(kafka: str) -> None:
    """F-20 is in each of them, and its search has the same min.insync.replicas; F-53 needs 1."""
    findings = packaged_findings()
    fits = fitting(findings, group_of(RiskRequest(kafka, 3, 2, elr=True)).config)
    assert ("fence", "reassign", "reassign") in fits
    assert ("fence", "shrink", "set_min_isr") not in fits
    off = fitting(findings, group_of(RiskRequest(kafka, 3, 2, elr=False)).config)
    assert ("fence", "reassign", "reassign") not in off
    assert (("crash", "fence", "move_directory") in fits) == (kafka != "4.3")  # F-23 is fixed there


def test_what_fits_comes_with_its_parts_after_single_events() -> None:
    fits, alike, crashes = ("stop", "kill", "kill"), ("stop", "stop", "kill"), ("crash", "crash")
    sets = EventSets(NAMES, ("A",), 3, {fits: fits, alike: fits, crashes: crashes}, frozenset([fits]))
    order = searched(sets, fits)
    assert set(order[:3]) == {("stop",), ("kill",), ("crash",)}
    assert order[3:7] == [("stop", "kill"), ("kill", "kill"), fits, ("stop", "stop")]
    assert order[7] == alike and len(order) == len(set(order))
    assert sets.smallest("A") == [fits]
    others = EventSets(("stop",), ("A",), 3, {fits: fits}, frozenset([fits]))
    assert list(others.likely()) == []


def test_a_short_search_that_breaks_nothing_is_not_repeated() -> None:
    fits, alike = ("stop", "kill", "kill"), ("stop", "stop", "kill")
    sets = EventSets(NAMES, ("A",), 3, {fits: fits, alike: alike}, frozenset([fits, alike]))
    short: list[Events] = []

    def search(events: Events, outcomes: Sequence[str], briefly: bool) -> SetAnswer | None:
        if briefly:
            short.append(events)
        return SetAnswer(states=10) if briefly else SetAnswer(frozenset(), frozenset(outcomes), 10)

    sets.run(search)
    assert {fits, alike} <= set(short) and len(short) == len(set(short))
    assert sets.undecided("A") == []
