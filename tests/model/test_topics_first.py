"""A leader applies the topics of a publish before its configurations (BrokerMetadataPublisher, F-24).

What that breaks, and that ATOMIC holds in the same small scope: hazard F-24 and the searches of finding F-24.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.broker.isr_proposals import LeaderLearns, ShrinkIsr
from elrcheck.model.broker.lifecycle import Kill, Start
from elrcheck.model.broker.metadata import ApplyMetadata, ApplyMinIsr, ApplyOlderRecord
from elrcheck.model.broker.replica import Fetch, Produce
from elrcheck.model.choices import MinIsrPropagation, Propagation, Reregistration
from elrcheck.model.config import Config
from elrcheck.model.control_plane.broker_events import ControllerAlters, Fence, Register
from elrcheck.model.control_plane.controller_event import MinIsrLevel
from elrcheck.model.control_plane.operator_events import ChangeMinIsr
from elrcheck.model.start import Init
from elrcheck.model.state import Acks, State
from elrcheck.model.variants import VARIANTS

ATOMIC, LOG, TOPICS_FIRST = (MinIsrPropagation.ATOMIC, MinIsrPropagation.LOG, MinIsrPropagation.TOPICS_FIRST)
SIZES = {"broker_count": 3, "min_isr": 2, "min_isr_changes": 2, "kills": 1}
C = Config(**SIZES, min_isr_propagation=TOPICS_FIRST)


def raised(c: Config, value: int = 3) -> State:
    """The value becomes 3, then broker 2 is fenced: the log has them in this order."""
    return Fence(c, ChangeMinIsr(c, Init(c), MinIsrLevel.TOPIC, value), 2)


def test_a_leader_counts_with_the_old_value_until_it_has_applied_the_configurations() -> None:
    s = ApplyMetadata(C, raised(C), 0)
    assert (s.broker[0].view.isr, s.broker[0].min_isr, s.broker[0].due_min_isr) == ({0, 1}, 2, 3)
    s = Fetch(C, Fetch(C, Produce(C, s, 0, Acks.ALL), 1, 0, False), 1, 0, False)
    assert len(s.committed) == 1 and s.broker[0].high_watermark == 1
    s = ApplyMinIsr(C, s, 0)
    assert (s.broker[0].min_isr, s.broker[0].due_min_isr) == (3, 0)
    with pytest.raises(NotEnabled, match="b has an older value"):
        ApplyMinIsr(C, s, 0)


def test_in_the_order_of_the_log_it_has_both_at_once() -> None:
    c = replace(C, min_isr_propagation=ATOMIC)
    s = ApplyMetadata(c, raised(c), 0)
    assert (s.broker[0].min_isr, s.broker[0].due_min_isr) == (3, 0)
    s = Produce(replace(c, min_isr_propagation=TOPICS_FIRST), ApplyMetadata(C, raised(C), 0), 0, Acks.ALL)
    assert len(s.broker[0].log) == 1, "the old value admits the write"


def test_what_is_due_is_the_value_of_the_publish_and_comes_before_any_other() -> None:
    s = ApplyMetadata(C, raised(C), 0)
    s = Fence(C, ChangeMinIsr(C, s, MinIsrLevel.TOPIC, 1), 1)
    with pytest.raises(NotEnabled, match="b has applied everything it has read"):
        ApplyMetadata(C, s, 0)
    s = ApplyMinIsr(C, s, 0)
    assert s.broker[0].min_isr == 3
    with pytest.raises(NotEnabled, match="b has applied the topics"):
        ApplyMinIsr(C, s, 0)
    s = ApplyMetadata(C, s, 0)
    assert (s.broker[0].min_isr, s.broker[0].due_min_isr) == (3, 1)


def test_an_older_record_waits_for_what_is_due_as_well() -> None:
    c = replace(C, metadata=Propagation.LOG, fences=3)
    s = ChangeMinIsr(c, raised(c), MinIsrLevel.TOPIC, 1)
    s = Fence(c, s, 1)
    at_first = ApplyOlderRecord(c, s, 0, 2)
    assert (at_first.broker[0].view.partition_epoch, at_first.broker[0].due_min_isr) == (2, 3)
    with pytest.raises(NotEnabled, match="b has applied everything it has read"):
        ApplyMetadata(c, at_first, 0)
    s = ApplyMetadata(c, ApplyMinIsr(c, at_first, 0), 0)
    assert (s.broker[0].min_isr, s.broker[0].due_min_isr) == (3, 1)


def test_a_publish_without_topics_is_one_step_and_moves_no_watermark() -> None:
    """Kafka's UnifiedLog.updateConfig asks no partition; the next record, fetch or ISR does."""
    c = replace(C, broker_count=2, shrinks=1)
    s = Produce(c, Init(c), 0, Acks.ALL)
    s = LeaderLearns(c, ControllerAlters(c, ShrinkIsr(c, s, 0, frozenset({1})), 0), 0)
    s = ChangeMinIsr(c, s, MinIsrLevel.TOPIC, 1)
    assert s.broker[0].view.partition_epoch < s.partition.partition_epoch, "the ELR was cleared"
    s = ApplyMetadata(c, s, 0)
    assert (s.broker[0].high_watermark, s.broker[0].due_min_isr) == (0, 1), "the old value is 2"
    assert ApplyMinIsr(c, s, 0).broker[0].high_watermark == 0
    assert ApplyMinIsr(replace(c, min_isr_propagation=LOG), s, 0).broker[0].high_watermark == 1


def test_a_follower_has_both_at_once_for_it_looks_at_neither() -> None:
    s = ApplyMetadata(C, raised(C), 1)
    assert (s.broker[1].min_isr, s.broker[1].due_min_isr) == (3, 0)


def test_a_process_that_ends_reads_everything_again() -> None:
    c = replace(C, elr_enabled=False, rereg_without_elr=Reregistration.IGNORE, register_before_fence=True)
    s = ApplyMetadata(c, raised(c), 0)
    s = Kill(c, s, 0)
    assert s.broker[0].due_min_isr == 0
    s = Register(c, Start(c, s, 0), 0)
    s = ApplyMetadata(c, ChangeMinIsr(c, s, MinIsrLevel.TOPIC, 1), 0)
    assert s.broker[0].view.leader == 0, "without ELR it still leads"
    assert (s.broker[0].min_isr, s.broker[0].due_min_isr) == (1, 0), "it loads its log with the value"


def test_only_with_log_does_a_value_come_before_the_isr_that_was_written_before_it() -> None:
    """The value is written after the ISR; a leader that has it has the ISR too, except with LOG."""
    for propagation in MinIsrPropagation:
        c = replace(C, min_isr_propagation=propagation)
        s = ChangeMinIsr(c, Fence(c, Init(c), 2), MinIsrLevel.TOPIC, 3)
        if propagation is LOG:
            assert ApplyMinIsr(c, s, 0).broker[0].view.isr == {0, 1, 2}
            continue
        with pytest.raises(NotEnabled):
            ApplyMinIsr(c, s, 0)


def test_the_released_variants_do_so_and_the_kip_does_not() -> None:
    propagations = {variant.name: Config(**variant.knobs).min_isr_propagation for variant in VARIANTS}
    assert {propagations[variant.name] for variant in VARIANTS if variant.kafka} == {TOPICS_FIRST}
    assert {propagations[name] for name in ("legacy", "legacy_strict", "code_2024_10")} == {TOPICS_FIRST}
    assert {propagations[name] for name in ("kip_full", "kip_phase1")} == {ATOMIC}
