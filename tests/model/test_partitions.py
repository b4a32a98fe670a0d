"""The controller with several topics and partitions: what all engines and TLC count, and what its indexes cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import elrcheck
from elrcheck.base.requests import Selection
from elrcheck.declared.declared_model import declared
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.reference import search
from elrcheck.lang.load import initial_states
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.control_plane.controller_event import ControlState
from elrcheck.model.partitions.broker_batches import (
    FailDirectory,
    Fence,
    GrantShutdown,
    Register,
    StartShutdown,
    Unfence,
    Unregister,
)
from elrcheck.model.partitions.controller_config import ControllerConfig
from elrcheck.model.partitions.controller_state import ControllerState, Fault
from elrcheck.model.partitions.cut_batches import CutFence, CutShutdown, ResumeShutdown
from elrcheck.model.partitions.indexes import elr_entries, recomputed
from elrcheck.model.partitions.topic_events import (
    BalanceLeaders,
    CreateTopic,
    DeleteTopic,
    LoadSnapshot,
    WriteTopicMinIsr,
)
from support.invoked import Invoke

MODEL = Path("elrcheck.catalogue.kafka_controller")
NOTHING: tuple[str, ...] = ()
# Scope, variant: (generated, distinct, diameter), and what is violated. F-64 breaks M-1 and M-2 of the releases, F-1
# M-3 and P-19 of 4.0, F-56 P-11; an event that a failing controller cuts off breaks five in every variant.
COUNTS = {
    ("default", "kip_full"): ((42610, 3645, 12), NOTHING),
    ("default", "code_4_0"): ((73138, 6299, 12), ("M-1", "M-2", "M-3", "P-19")),
    ("default", "code_4_3"): ((72764, 6265, 12), ("M-1", "M-2")),
    ("two-topics", "kip_full"): ((126649, 8726, 12), NOTHING),
    ("two-topics", "code_4_3"): ((258825, 18101, 12), ("M-1", "M-2")),
    ("three", "kip_full"): ((4981086, 282854, 16), NOTHING),
    ("three", "code_4_3"): ((11340096, 646126, 16), ("M-1", "M-2")),
    ("shutdowns", "kip_full"): ((76661, 8751, 13), NOTHING),
    ("shutdowns", "code_4_3"): ((78523, 9043, 13), NOTHING),
    ("cuts", "kip_full"): ((606795, 31071, 14), ("M-3", "M-4", "P-18", "P-19", "P-20")),
    ("features", "kip_full"): ((23531, 2002, 11), NOTHING),
    ("features", "code_4_3"): ((91388, 7513, 12), ("M-1", "P-11")),
    ("directories", "kip_full"): ((5876718, 291560, 17), NOTHING),
    ("uncommitted", "kip_full"): ((722697, 50945, 16), NOTHING),
    ("uncommitted", "code_4_3"): ((2241009, 157217, 18), ("M-1", "M-2")),
    ("answers", "kip_full"): ((1376849, 163513, 23), NOTHING),
    ("answers", "code_4_3"): ((1376849, 163513, 23), NOTHING),
}
SMALL = (
    ("default", ("crashes=0", "min_isr_changes=0")),
    ("default", ("crashes=0",)),
    ("three", ("crashes=0", "fences=1", "deletions=0", "min_isr_changes=0")),
    ("cuts", ("crashes=0", "unregistrations=0")),
    ("uncommitted", ("crashes=0", "min_isr_changes=0")),
    ("answers", ("partitions=1", "fences=0", "crashes=0")),
)
"""Scopes and settings that plain Python and TLC walk in seconds, with the variant code_4_3."""


def fixed(config: ControllerConfig | None = None, **settings: object) -> ControllerConfig:
    knobs = resolve(Selection(variant="code_4_3", scope="default", model=MODEL)).config
    return type(knobs)(**{**vars(knobs), **settings})


def begun(config: ControllerConfig) -> ControllerState:
    (first,) = initial_states(declared(Selection(model=MODEL).source).whole(), config)
    assert isinstance(first, ControllerState)
    return first


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow if COUNTS[c][0][0] > 10**6 else ()) for c in COUNTS]
)
def test_every_scope_is_searched_whole(case: tuple[str, str]) -> None:
    (scope, variant), (counts, violated) = case, COUNTS[case]
    report = elrcheck.check(model=MODEL, scope=scope, variant=variant)
    assert (report.search.generated, report.search.distinct, report.search.diameter) == counts
    assert report.search.complete
    assert tuple(p.id for p in report.properties if p.verdict == "violated") == violated


@pytest.mark.parametrize("case", SMALL, ids=lambda case: "-".join((case[0], *case[1])))
def test_plain_python_and_both_compiled_engines_count_the_same(case: tuple[str, tuple[str, ...]]) -> None:
    scope, overrides = case
    selected = resolve(Selection(variant="code_4_3", scope=scope, overrides=overrides, model=MODEL))
    plain = search(selected.declared.whole(), selected.config)
    for engine in ("local", "numpy"):
        settings = selected.overrides
        counted = elrcheck.check(model=MODEL, variant="code_4_3", scope=scope, settings=settings, engine=engine).search
        assert (counted.generated, counted.distinct, counted.diameter) == (
            plain.generated,
            plain.distinct,
            plain.diameter,
        ), engine


@pytest.mark.tlc
@pytest.mark.slow
@pytest.mark.parametrize(
    "case", (*SMALL, ("answers", ("partitions=1", "fences=0"))), ids=lambda case: "-".join((case[0], *case[1]))
)
def test_tlc_counts_the_same(case: tuple[str, tuple[str, ...]], invoke: Invoke) -> None:
    scope, overrides = case
    settings = [word for setting in overrides for word in ("--set", setting)]
    command = ("tlc", "--count", "--model", str(MODEL), "--variant", "code_4_3", "--scope", scope, *settings)
    code, out, _ = invoke(*command, "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (0, "same")


# ---------------------------------------------------------------------------- indexes that go stale


def test_a_deleted_topic_keeps_a_broker_from_registering() -> None:
    """F-64: fence 1, write min.insync.replicas, delete the topic, and 1 registers uncleanly."""
    c = fixed()
    fenced = Fence(c, begun(c), 1)
    cleared = WriteTopicMinIsr(c, fenced, 0, 1)
    assert cleared.topics[0].parts[0].partition.elr == frozenset()
    assert cleared.indexes.elrs[1][0] == (1, 1), "its members stay in the index"
    deleted = DeleteTopic(c, cleared, 0)
    assert deleted.indexes.deleted_elrs == {1}
    assert Register(c, deleted, 1, False).fault == Fault.REGISTRATION
    assert Register(c, deleted, 1, True).fault == Fault.NONE, "a clean one asks the other index only"
    again = CreateTopic(c, deleted, 0)
    assert Register(c, again, 1, False).fault == Fault.REGISTRATION, "a topic of the same name has another id"
    unregistering = fixed(unregistrations=1)
    assert Unregister(unregistering, deleted, 1).fault == Fault.UNREGISTRATION


def test_the_patch_of_f64_and_a_younger_snapshot_each_help() -> None:
    c = fixed(elr_index_goes_stale=False)
    deleted = DeleteTopic(c, WriteTopicMinIsr(c, Fence(c, begun(c), 1), 0, 1), 0)
    assert Register(c, deleted, 1, False).fault == Fault.NONE
    stale = fixed(snapshots=1)
    deleted = DeleteTopic(stale, WriteTopicMinIsr(stale, Fence(stale, begun(stale), 1), 0, 1), 0)
    loaded = LoadSnapshot(stale, deleted)
    assert loaded.indexes == recomputed(stale, deleted.topics)
    assert Register(stale, loaded, 1, False).fault == Fault.NONE


def test_a_partition_deleted_with_an_empty_isr_stays_in_the_index_of_directories() -> None:
    """F-67: then the controller resigns when the log directory of one of its brokers fails."""
    c = fixed(directory_failures=1, topics=2, partitions=1)
    emptied = Fence(c, Fence(c, begun(c), 1), 0)
    assert emptied.topics[0].parts[0].partition.isr == frozenset()
    deleted = DeleteTopic(c, emptied, 0)
    assert deleted.indexes.deleted_directories == {0, 1}
    failed = FailDirectory(c, deleted, 0, ControlState.UNCHANGED)
    assert failed.fault == Fault.FAILED_DIRECTORY and failed.topics == deleted.topics
    mended = fixed(directory_failures=1, topics=2, partitions=1, directory_index_goes_stale=False)
    deleted = DeleteTopic(mended, emptied, 0)
    assert FailDirectory(mended, deleted, 0, ControlState.UNCHANGED).fault == Fault.NONE


@pytest.mark.parametrize("scope", ["default", "two-topics"])
def test_a_release_with_both_indexes_mended_goes_on(scope: str) -> None:
    settings = {"elr_index_goes_stale": False, "directory_index_goes_stale": False}
    report = elrcheck.check(model=MODEL, variant="code_4_3", scope=scope, settings=settings)
    assert report.verdict == "holds" and report.search.complete


def test_an_entry_too_many_becomes_one_of_partition_0() -> None:
    """BrokersToElrs.remove leaves out all entries of a partition, and its shorter array ends with zeros."""
    c = fixed(min_isr_changes=2)
    twice = Fence(c, begun(c), 1)
    index = tuple(((1, 2),) if b == 1 else ((0, 0),) for b in range(2))
    stale = twice.__class__(**{**vars(twice), "indexes": type(twice.indexes)(**{**vars(twice.indexes), "elrs": index})})
    left = begun(c).topics[0]
    assert [elr_entries(c, stale, stale.topics[0], left, 1, 0, p) for p in (0, 1)] == [1, 0]


def test_fencing_asks_the_index_and_moves_the_leaders_of_all_partitions() -> None:
    c = fixed()
    first = begun(c)
    assert [part.partition.leader for part in first.topics[0].parts] == [0, 1]
    fenced = Fence(c, first, 0)
    assert [part.partition.leader for part in fenced.topics[0].parts] == [1, 1]
    assert fenced.indexes == recomputed(c, fenced.topics)
    assert fenced.indexes.imbalanced == {(0, 0)}


# ---------------------------------------------------------------------------- batches that are cut


def test_a_shutdown_that_is_cut_begins_again_at_the_next_controller() -> None:
    c = fixed(cuts=1, shutdowns=2)
    cut = CutShutdown(c, begun(c), 0, frozenset())
    assert cut.registration[0].in_controlled_shutdown and cut.topics[0].parts[0].partition.leader == 0
    for again in (StartShutdown, GrantShutdown):
        with pytest.raises(NotEnabled):
            again(c, cut, 0)
    resumed = ResumeShutdown(c, cut, 0)
    assert resumed.topics[0].parts[0].partition.leader == 1 and resumed.registration == cut.registration
    assert GrantShutdown(c, resumed, 0).registration[0].fenced


def test_a_fencing_that_is_cut_leaves_a_partition_to_the_timer_that_balances() -> None:
    c = fixed(cuts=1, fences=2, elections=1)
    alone = Fence(c, begun(c), 1)
    cut = CutFence(c, alone, 0, frozenset({(0, 0)}))
    assert not cut.registration[0].fenced
    assert [part.partition.leader for part in cut.topics[0].parts] == [None, 0]
    with pytest.raises(NotEnabled):
        Unfence(c, cut, 0)
    assert BalanceLeaders(c, cut).topics[0].parts[0].partition.leader == 0
