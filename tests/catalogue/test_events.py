"""Events in an operator's words, and the findings that a search leaves out."""

from __future__ import annotations

from dataclasses import fields

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.base.typed.configuration import KAFKA_NAMES, config_fields, parse_overrides
from elrcheck.catalogue.configured import find_variant
from elrcheck.catalogue.events import NETWORK, event_words, missing, not_tried, tried
from elrcheck.catalogue.evidence.outside import danger, findings_outside
from elrcheck.catalogue.evidence.searched import RELEASED
from elrcheck.declared.select import resolve
from elrcheck.model.budgets import Spent
from elrcheck.model.config import Config


def config(variant: str = "kip_full", *overrides: str) -> Config:
    return resolve(Selection(variant, "two-brokers", overrides)).config


def test_every_budget_has_words() -> None:
    assert list(event_words()) == [budget.name for budget in fields(Spent) if budget.name != "records"]
    wordings = [words for event in event_words().values() for words in (event.one, event.many)]
    assert len(set(wordings)) == len(wordings)


def test_what_is_tried_and_what_is_not() -> None:
    small = config()
    assert "1 crash that loses unflushed records" in tried(small)
    assert "reassignments" in not_tried(small, {})
    assert len(tried(small)) + len(not_tried(small, {})) == len(event_words()) + len(NETWORK)
    wide = config("kip_full", "reassignments=2", "metadata=LOG", "fetch_loss=false")
    assert {"2 reassignments", NETWORK["metadata"]} <= set(tried(wide))
    assert NETWORK["fetch_loss"] in not_tried(wide, {})
    assert missing(small, wide) == ("2 reassignments",)
    worst_first = not_tried(small, danger("kip_full"))
    assert sorted(worst_first) == sorted(not_tried(small, {})) and worst_first != not_tried(small, {})
    numbers = danger("code_4_3")
    most = max(numbers[name] for name, event in event_words().items() if event.many in worst_first)
    assert most > 1 and worst_first[0] in [event_words()[name].many for name in event_words() if numbers[name] == most]
    assert missing(wide, small) == ()
    waits, acts = config("kip_full", "early_starts=1"), config("code_4_3", "early_starts=1")
    assert event_words()["early_starts"].many in not_tried(waits, {})
    assert event_words()["early_starts"].times(1) in tried(acts)


def test_findings_that_the_scope_leaves_out() -> None:
    outside = {each.finding: each for each in findings_outside("code_4_1", config("code_4_1"))}
    assert outside["F-20"].needs == ("2 fencings of live brokers", "2 reassignments")
    assert outside["F-20"].lost == "acknowledged records"
    wider = config("code_4_1", "fences=2", "reassignments=2")
    assert "F-20" not in {each.finding for each in findings_outside("code_4_1", wider)}
    numbers = [len(each.needs) for each in findings_outside("code_4_1", config("code_4_1"))]
    assert numbers == sorted(numbers)


def test_what_the_kip_says_has_no_finding_of_a_release() -> None:
    assert findings_outside("kip_full", config()) == ()


def test_every_release_names_its_variant() -> None:
    for variant in RELEASED:
        for release in variant.kafka:
            assert find_variant(release).name == variant.name
    assert find_variant("4.1").name == find_variant("4.1.2").name == "code_4_1_1"
    assert find_variant("3.9").name == "code_3_9"
    for wrong in ("4", "4.9", "4.1.9", "4.1.", ".1", ""):
        with pytest.raises(UsageFault, match="unknown variant"):
            find_variant(wrong)


def test_settings_by_their_name_in_kafka() -> None:
    assert set(KAFKA_NAMES.values()) <= set(config_fields(Config))
    settings = ("min.insync.replicas=1", "eligible.leader.replicas.version=0")
    assert parse_overrides(Config, settings) == {"min_isr": 1, "elr_enabled": False}
    unclean = parse_overrides(Config, ("unclean.leader.election.enable=true",))
    assert unclean == {"unclean_leader_election_enable": True}
    with pytest.raises(UsageFault) as fault:
        parse_overrides(Config, ("replication.factor=3",))
    assert "broker_count" in str(fault.value.help)
