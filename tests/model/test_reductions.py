"""What is forgotten makes no difference: the same findings at the same depths (ADR 0008, ADR 0009)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from elrcheck.base.requests import Limits
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.reference import search as reference_search
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.plain import PlainModel
from elrcheck.model.alternatives.reductions import forget_at_commit
from elrcheck.model.choices import CleanCheck, MinIsrPropagation, Propagation, Reregistration, Truncation
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.state import Exchange, Stage
from elrcheck.mutation.mutation_run import dropped

SMALL: dict[str, Any] = {"broker_count": 2, "log_slots": 1, "records": 1, "acks_one": 0, "fences": 0, "shrinks": 0}
LOG = {"metadata": Propagation.LOG}
BOTH = {"skips_no_news": True, "forgets": True}
# Whether something breaks, as hazards F-3, F-5 and others do, is part of what must not change.
CASES: dict[str, dict[str, Any]] = {
    "lossy": {"shrinks": 1, "crashes": 0, "fences": 1, "min_isr": 1},
    "lagging": {**LOG, "fences": 1, "shrinks": 1, "min_isr": 1},
    "acting-too-early": {**LOG, "registration_catch_up": False, "response_loss": False, "fences": 1},
    "clean-by-mistake": {**LOG, "clean_check": CleanCheck.ALWAYS_CLEAN, "fences": 1, "fetch_loss": False},
    "epochs-unchecked": {"alter_checks_epochs": False, "alter_checks_fenced": False, "fences": 1},
    "not-fenced": {"elr_enabled": False, "rereg_without_elr": Reregistration.IGNORE, "fences": 1},
    "moved-late": {
        "spare_brokers": 1,
        "crashes": 0,
        "reassignments": 1,
        "min_isr": 1,
        "late_fetches": 1,
        "response_checks_epoch": False,
    },
    "shutting-down": {"shutdowns": 1, "crashes": 0, "fences": 1},
    "told-min-isr": {
        "min_isr_changes": 1,
        "crashes": 0,
        "fences": 1,
        "records": 0,
        "min_isr_propagation": MinIsrPropagation.LOG,
    },
    "cut-at-watermark": {"truncation": Truncation.HIGH_WATERMARK, "fences": 1},
}


def search_result(model: Model, config: Config) -> tuple[int, dict[str, int], set[str], bool]:
    """Distinct states; depths of what was found; actions that fired; whether a state has no successor."""
    program = lower(model, config).program
    result = Search(program, SearchSettings(Limits(max_states=300_000))).run(None, "complete")
    assert result.complete, result.reason
    first = {program.checks[check].name: depth for check, depth in result.first.items()}
    fired = {i.action for i, n in zip(program.instances, result.enabled, strict=True) if n > 0}
    return result.distinct, first, fired, result.deadlocks > 0


@pytest.mark.slow
def test_a_hazard_of_a_missing_guard_is_found_all_the_same(checked_model: Model) -> None:
    """F-38: a broker without a replica fetches; a record without news to replicas deletes what it got."""
    unguarded = dropped(checked_model, "Fetch", "f is a replica")
    changes = {"spare_brokers": 1, "reassignments": 1, "directory_changes": 1}
    quiet = {"crashes": 0, "response_loss": False, "fetch_loss": False}
    config = Config(**{**SMALL, **changes, **quiet, "min_isr": 1})
    _, *rest = search_result(unguarded, config)
    assert {"P-1", "P-8"} <= set(rest[0])
    _, *same = search_result(unguarded, replace(config, **BOTH))
    assert same == rest


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_findings_and_their_depths_stay(checked_model: Model, case: str) -> None:
    config = Config(**{**SMALL, **CASES[case]})
    distinct, *rest = search_result(checked_model, config)
    fewer, *same = search_result(checked_model, replace(config, **BOTH))
    assert same == rest
    assert fewer < distinct or case == "shutting-down"


@pytest.mark.slow
def test_the_plain_search_counts_the_same(checked_model: Model) -> None:
    config = Config(**{**SMALL, **LOG, **BOTH, "crashes": 0, "fences": 1, "response_loss": False})
    assert reference_search(checked_model, config).distinct == search_result(checked_model, config)[0]


# ---------------------------------------------------------------------------- by hand

THREE = Config(crashes=0, **BOTH)


def test_only_followers_that_read_everything_skip_a_record() -> None:
    """A record that drops 2 from the ISR: follower 1 has read all, 2 has not, and 0 leads."""
    s = PlainModel(load_checked_model(), THREE).initial()
    now = replace(s.partition, partition_epoch=2)
    behind = replace(s.broker[2], view=replace(s.broker[2].view, partition_epoch=1))
    current = [replace(s.broker[b], view=replace(s.broker[b].view, partition_epoch=2)) for b in (0, 1)]
    s = replace(s, partition=now, broker=(*current, behind))
    smaller = replace(now, isr=frozenset({0, 1}), partition_epoch=3)
    assert [b.view.partition_epoch for b in forget_at_commit(THREE, s, smaller)] == [2, 3, 1]
    elected = replace(smaller, leader=1, leader_epoch=2)
    assert forget_at_commit(THREE, s, elected) == s.broker
    assert forget_at_commit(Config(crashes=0), s, smaller) == s.broker
    waiting = replace(THREE, shutdowns=1)
    assert [b.view.partition_epoch for b in forget_at_commit(waiting, s, smaller)] == [2, 2, 1]


def test_an_overtaken_request_keeps_only_its_sender() -> None:
    s = PlainModel(load_checked_model(), THREE).initial()
    request = Exchange(
        stage=Stage.SENT,
        error=Error.NONE,
        leader_epoch=1,
        partition_epoch=1,
        isr=frozenset({0, 1, 2}),
        min_isr=0,
        member_epochs=(1, 2, 3),
    )
    s = replace(s, broker=(replace(s.broker[0], alter=request), *s.broker[1:]))
    assert forget_at_commit(THREE, s, s.partition)[0].alter.member_epochs == (1, 2, 3)
    newer = replace(s.partition, partition_epoch=2)
    assert forget_at_commit(THREE, s, newer)[0].alter == replace(request, member_epochs=(1, 0, 0))
