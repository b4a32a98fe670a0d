"""The leader epoch cache compared with Kafka's classes over every small log: ends of epochs, cutting, growing, loading.

UnifiedLog and LeaderEpochFileCache have a scheduler that runs nothing, so that no file follows a truncation by itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.kafka.jars import Jars
from elrcheck.model.broker.epoch_cache import cut, file_left, grown, latest_epoch, leads_no_more, loaded
from elrcheck.model.broker.logs import end_offset_for
from elrcheck.model.choices import EpochFile
from elrcheck.model.config import Config
from elrcheck.model.start import Init
from elrcheck.model.state import Acks, Broker, Entry
from support.junit_runs import run_tests
from support.kafka_jars import jars_or_skip
from support.places import ROOT

JAVA = [
    ROOT / "tests" / "support" / "java" / "EpochAnswers.java",
    ROOT / "tests" / "support" / "java" / "EpochFile.java",
    ROOT / "kafka" / "java" / "broker" / "Reflected.java",
]
CONFIG = Config(broker_count=2, log_slots=4, records=4, epoch_file=EpochFile.LATER, late_flushes=1)
BROKER = Init(CONFIG).broker[1]
EPOCHS = range(1, 5)


def _held(log: str) -> Broker:
    entries = tuple(Entry(id=place, epoch=int(epoch), acks=Acks.ALL) for place, epoch in enumerate(log, start=1))
    return replace(BROKER, log=entries)


def _follows(log: str, own: int) -> Broker:
    """The broker once it follows; own: the epoch in which it has led without writing, or 0."""
    broker = _held(log)
    if own == 0:
        return broker
    view = replace(broker.view, leader=1, leader_epoch=own)
    return replace(leads_no_more(CONFIG, replace(broker, view=view, epoch_start=len(log)), 1), view=broker.view)


def _end(broker: Broker, own: int, epoch: int) -> str:
    """The end of an epoch, as Kafka says it where the cache has nothing as old or nothing as late.

    For an epoch older than all Kafka gives the name that was asked for: a follower cuts at the same offset.
    """
    latest = max(latest_epoch(broker), own)
    if epoch > latest:
        return "none"
    end = end_offset_for(broker, own, epoch)
    bare = broker.stray_epoch == epoch and own == 0
    return f"{end.epoch if end.epoch > 0 and not bare else epoch}:{end.offset}"


def _ends(broker: Broker) -> str:
    ends = (_end(broker, 0, epoch) for epoch in EPOCHS)
    return " ".join((str(len(broker.log)), str(latest_epoch(broker)), *ends))


def _answer(kind: str, log: str, a: int, b: int) -> str:
    if kind == "end":
        return _end(_held(log), a, b)
    after = cut(CONFIG, _follows(log, a), b)
    if kind != "cut" and b > 0:
        after = grown(CONFIG, after, Entry(id=4, epoch=int(log[b - 1]), acks=Acks.ALL))
    if kind == "loaded":
        after = loaded(CONFIG, file_left(after, len(after.log)))
    return _ends(after)


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_every_small_log_is_answered_as_kafka_does(version: str, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    source = (
        "package org.elrcheck.broker; public class AnswersTest { @org.junit.jupiter.api.io.TempDir java.nio.file.Path "
        "folder; @org.junit.jupiter.api.Test void test() throws Exception { "
        f'EpochAnswers.write(folder, java.nio.file.Path.of("{answers}")); }} }}'
    )
    kafka = jars_or_skip(version, Jars.BROKER)
    assert run_tests([source], kafka, tmp_path / "run", more=JAVA) == {"AnswersTest": ""}
    differ, counts = [], Counter[str]()
    for line in answers.read_text().splitlines():
        kind, log, a, b, answer = line.split(" ", 4)
        counts[kind] += 1
        if (model := _answer(kind, log, int(a), int(b))) != answer:
            differ.append(f"{kind} {log} {a} {b}: Kafka {answer}, model {model}")
    assert not differ, "\n".join(differ)
    assert counts == {"end": 160, "cut": 130, "grown": 130, "loaded": 130}
