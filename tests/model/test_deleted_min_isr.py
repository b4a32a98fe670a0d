"""A topic's min.insync.replicas is deleted: the cluster's applies (ConfigurationControlManager, DELETE)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elrcheck.lang.runtime import EMPTY, NotEnabled
from elrcheck.model.config import Config
from elrcheck.model.control_plane.broker_events import Fence
from elrcheck.model.control_plane.controller_event import MinIsrLevel
from elrcheck.model.control_plane.operator_events import ChangeMinIsr, DeleteMinIsr
from elrcheck.model.start import Init
from elrcheck.model.state import State, configured_min_isr
from elrcheck.model.variants import variant_named

SIZES = {"broker_count": 3, "min_isr_changes": 2, "min_isr": 2}
KIP = Config(**SIZES)
CODE_4_3 = Config(**SIZES, **variant_named("code_4_3").knobs)


def with_cluster(c: Config, value: int) -> State:
    """The cluster has a value of its own, two of three brokers are fenced, so one is eligible."""
    s = Fence(c, Fence(c, Init(c), 1), 2)
    s = ChangeMinIsr(c, replace(s, partition=replace(s.partition, elr=EMPTY)), MinIsrLevel.CLUSTER, value)
    return replace(s, partition=replace(s.partition, elr=frozenset({2})))


@pytest.mark.parametrize(("value", "elr"), [(1, EMPTY), (3, frozenset({2}))])
def test_the_kip_clears_the_elr_only_if_the_isr_is_enough_then(value: int, elr: frozenset[int]) -> None:
    s = DeleteMinIsr(KIP, with_cluster(KIP, value))
    assert configured_min_isr(s.settings) == value
    assert (s.partition.elr, s.spent.min_isr_changes) == (elr, 2)


@pytest.mark.parametrize("value", [1, 3])
def test_the_code_clears_it_whatever_applies_then(value: int) -> None:
    before = with_cluster(CODE_4_3, value)
    after = DeleteMinIsr(CODE_4_3, before).partition
    assert after == replace(before.partition, elr=EMPTY, partition_epoch=before.partition.partition_epoch + 1)


def test_only_a_value_that_is_there_and_makes_a_difference_is_deleted() -> None:
    same = with_cluster(KIP, 2)
    gone = DeleteMinIsr(KIP, with_cluster(KIP, 1))
    for s in (same, gone):
        with pytest.raises(NotEnabled):
            DeleteMinIsr(KIP, s)
