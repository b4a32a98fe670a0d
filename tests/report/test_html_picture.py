"""The picture of a state: a record that was committed and is lost, and texts that are escaped."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from elrcheck.base.requests import Selection
from elrcheck.catalogue.partition_picture import drawn
from elrcheck.report.html.html_trace import picture_of
from elrcheck.results.trace_view import DrawnPartition, Fact
from elrcheck.stored_traces.recorded import of_repro

WRITTEN = "1/5/2"
"""Broker 1 is fenced, and broker 0 commits a record alone."""


@pytest.fixture(scope="module")
def before_and_after() -> tuple[DrawnPartition, DrawnPartition]:
    """The record on broker 0 alone, and then the crash that takes it."""
    subject = of_repro(WRITTEN, Selection("legacy", "two-brokers"))
    state = subject.states[-1]
    crash = next(
        after for label, after in subject.plain.successors(state) if label.action == "Crash" and label.args == (0, 0)
    )
    return drawn(subject.config, state), drawn(subject.config, crash, state)


def test_a_committed_record_is_marked_where_it_is_and_where_it_is_not(
    before_and_after: tuple[DrawnPartition, DrawnPartition],
) -> None:
    before, _ = before_and_after
    roles = [[record and (record.role, record.change) for record in broker.log] for broker in before.brokers]
    assert roles == [[("committed", "")], [("missing", "")]]
    assert before.holders == ("{0}",)
    assert [broker.high_watermark for broker in before.brokers] == [1, 0]
    assert not any(fact.changed for fact in before.facts)


def test_what_a_crash_takes_is_struck_through(before_and_after: tuple[DrawnPartition, DrawnPartition]) -> None:
    _, after = before_and_after
    record = after.brokers[0].log[0]
    assert record is not None and (record.name, record.change) == ("r1", "gone")
    assert after.holders == ("{}",)
    assert ("offline", True) in [(sign.value, sign.changed) for sign in after.brokers[0].status]
    picture = picture_of(after)
    assert "on no broker" in picture and "gone in this step" in picture


def test_texts_are_escaped(before_and_after: tuple[DrawnPartition, DrawnPartition]) -> None:
    evil = "<script>alert(1)</script>"
    facts = (Fact(evil, evil),)
    picture = picture_of(replace(before_and_after[0], facts=facts, notes=facts))
    assert "<script" not in picture and picture.count("&lt;script&gt;") == 4
