"""Why `risk` says something happens, where no search with one finding repaired can tell."""

from __future__ import annotations

from dataclasses import replace

from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.catalogue.evidence.attributed import repair_of
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.invariants.modules import load_outcome_model
from elrcheck.kafka.risk.causes import BY_STEP, recognised, repairs
from elrcheck.kafka.risk.settings_group import group_of
from elrcheck.lang.plain import PlainModel
from elrcheck.model.state import State

FINDINGS = {finding.id: finding for finding in packaged_findings()}


def seen(*states: State) -> list[str]:
    return [repair.finding for repair in recognised(states, list(FINDINGS.values()))]


def leaderless(elr: bool, *isr: int) -> State:
    start = PlainModel(load_outcome_model(), group_of(RiskRequest("4.1", 3, 2)).config).initial()
    partition = replace(start.partition, leader=None, isr=frozenset(isr))
    return replace(start, partition=partition, settings=replace(start.settings, elr_enabled=elr))


def test_findings_without_a_repair_are_recognised_by_the_switch_of_the_feature() -> None:
    assert seen(leaderless(False, 1), leaderless(True, 1)) == ["F-26"]
    assert seen(leaderless(True), leaderless(False)) == ["F-57"]
    assert all(not repair_of(FINDINGS[name]) for name in BY_STEP)


def test_a_switch_with_a_leader_or_with_candidates_left_is_neither() -> None:
    led = leaderless(False, 1)
    led = replace(led, partition=replace(led.partition, leader=1))
    assert seen(led, leaderless(True, 1)) == []
    assert seen(leaderless(True, 1), leaderless(False, 1)) == []
    assert seen(leaderless(False), leaderless(False)) == []


def test_without_elr_what_elr_alone_would_not_prevent_is_tried_last() -> None:
    off = repairs(group_of(RiskRequest("4.0", 3, 2)), list(FINDINGS.values()))
    assert [sorted(repair.knobs) for repair in off[-2:]] == [["elr_enabled"], ["elr_enabled", "last_known_leader"]]
    assert [repair.designed for repair in off[-2:]] == [False, True]
    on = repairs(group_of(RiskRequest("4.1", 3, 2)), list(FINDINGS.values()))
    assert all("elr_enabled" not in repair.knobs for repair in on)
