"""Which records the model explains: those of real controllers, and hardly any that was changed afterwards."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.kafka.audit import record_check
from elrcheck.kafka.audit.explained import Explanation, RecordQuestion, explain
from elrcheck.kafka.audit.log_audit import LogAudit
from elrcheck.kafka.log.log_files import logs_of, read_log
from elrcheck.kafka.partition_questions import KafkaPartition
from elrcheck.report.formats import render
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import CONTROL, LOST, START, audited, change, min_isr, partition, written


def unexplained(report: AuditReport) -> list[tuple[int, str]]:
    return [(flag.offset, flag.message) for flag in report.flags if flag.rule == "unexplained-record"]


def test_every_record_of_real_controllers_is_explained() -> None:
    report = audited(LOST, CONTROL)
    assert unexplained(report) == []
    assert [(log.explained, log.unexplained, log.not_asked) for log in report.logs] == [(9, 0, 0), (10, 0, 0)]
    assert "9 of 9 changes explained" in render(report, "text")


def asked_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[RecordQuestion, Explanation | None]]:
    """What the audit of a log asks, with the answers."""
    answered: list[tuple[RecordQuestion, Explanation | None]] = []

    def ask(question: RecordQuestion) -> Explanation | None:
        answered.append((question, explain(question)))
        return answered[-1][1]

    monkeypatch.setattr(record_check, "explain", ask)
    (log,) = logs_of([folder])
    for _ in LogAudit(log).run(read_log(log)):
        pass
    return answered


def test_the_events_are_those_that_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of the loss: a reassignment to one broker and back, then an orderly stop (F-20)."""
    events = [answer.event for _, answer in asked_of(LOST, monkeypatch) if answer is not None]
    assert events[:2] == ["the topic is created"] * 2
    assert "a reassignment to [{2}]" in events and "a reassignment to [{0}, {1}, {2}]" in events
    assert "broker {2} is fenced or shuts down" in events


def changed(chance: random.Random, after: KafkaPartition) -> KafkaPartition:
    """The partition with one field changed to something that looks as good."""
    members = tuple(b for b in after.replicas if chance.random() < 0.5)
    other = chance.choice([b for b in (-1, *after.replicas) if b != after.leader])
    wrong = chance.choice(
        (
            replace(after, partition_epoch=after.partition_epoch + chance.choice((-1, 1))),
            replace(after, leader_epoch=after.leader_epoch + chance.choice((-1, 1))),
            replace(after, leader=other),
            replace(after, elr=members),
            replace(after, last_known_elr=members[:1]),
            replace(after, isr=members),
            replace(after, recovery="RECOVERING" if after.recovery == "RECOVERED" else "RECOVERED"),
        )
    )
    return wrong


def test_a_changed_record_is_hardly_ever_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    tried = caught = 0
    for folder in (LOST, CONTROL):
        for question, _ in asked_of(folder, monkeypatch):
            for _ in range(8):
                wrong = changed(chance, question.after)
                if wrong == question.after:
                    continue
                tried += 1
                answer = explain(replace(question, after=wrong))
                caught += answer is not None and answer.event is None
    assert tried > 100 and caught > 0.8 * tried, f"{caught} of {tried}"


def test_what_no_event_writes_is_a_note(tmp_path: Path) -> None:
    """The ELR without a member that left, a leader that the replica list does not put first."""
    path = written(tmp_path, START, change(isr=[0], eligibleLeaderReplicas=[2]))
    report = audited(path)
    ((offset, message),) = unexplained(report)
    assert offset == 8 and "nearest: AlterPartition of leader 0: ELR {2}, not {1, 2}" in message
    assert report.verdict == "no_sign" and report.logs[0].unexplained == 1
    assert '"level": "note"' in render(report, "sarif")
    elected = audited(written(tmp_path, START, change(isr=[1, 2], leader=2)))
    assert unexplained(elected)[0][0] == 8
    created = audited(written(tmp_path, (*START[:-1], partition(leader=1))))
    assert "the topic is created" in unexplained(created)[0][1]


def test_an_orderly_history_is_explained(tmp_path: Path) -> None:
    steps = (
        (change(isr=[0, 1]),),
        (change(isr=[0], eligibleLeaderReplicas=[1]),),
        (min_isr("1"), ("CLEAR_ELR_RECORD", 0, {"topicName": ""})),
        (change(replicas=[0, 1, 2, 3], addingReplicas=[3], directories=["AAAAAAAAAAAAAAAAAAAAAA"] * 4),),
        (change(replicas=[0, 1, 2], addingReplicas=[], leader=0, isr=[0]),),
    )
    report = audited(written(tmp_path, START, *steps))
    assert unexplained(report) == []
    assert report.logs[0].explained == 6
