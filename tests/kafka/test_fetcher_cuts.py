"""Truncation compared with Kafka's ReplicaFetcherThread, over every pair of small logs of a leader and a follower."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.kafka.jars import Jars
from elrcheck.model.broker.logs import cut_at
from elrcheck.model.config import Config
from elrcheck.model.start import Init
from elrcheck.model.state import Acks, Broker, Entry
from support.junit_runs import run_tests
from support.kafka_jars import jars_or_skip
from support.places import ROOT

SUPPORT = ROOT / "tests" / "support" / "java"
JAVA = [
    *(SUPPORT / f"{name}.java" for name in ("FetcherCuts", "EpochAnswers", "EpochFile")),
    ROOT / "kafka" / "java" / "broker" / "Reflected.java",
]
CONFIG = Config(broker_count=2, log_slots=3, records=3)
BROKER = Init(CONFIG).broker[0]
LEADS = replace(BROKER, view=replace(BROKER.view, leader_epoch=4))


def _with_log(broker: Broker, log: str) -> Broker:
    entries = tuple(Entry(id=place, epoch=int(epoch), acks=Acks.ALL) for place, epoch in enumerate(log, start=1))
    return replace(broker, log=entries)


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", ["4.1.2", "4.3.1"])
def test_a_follower_cuts_every_small_log_where_kafka_does(version: str, tmp_path: Path) -> None:
    out = tmp_path / "cuts"
    source = (
        "package org.elrcheck.broker; public class CutsTest { @org.junit.jupiter.api.io.TempDir java.nio.file.Path "
        "folder; @org.junit.jupiter.api.Test void test() throws Exception { "
        f'FetcherCuts.write(folder, java.nio.file.Path.of("{out}")); }} }}'
    )
    kafka = jars_or_skip(version, Jars.BROKER)
    assert run_tests([source], kafka, tmp_path / "run", more=JAVA) == {"CutsTest": ""}
    differ, questions = [], Counter[str]()
    for line in out.read_text().splitlines():
        kind, log, kafka_end, leader = line.split(" ")
        questions[kind] += 1
        follower = _with_log(BROKER, log)
        point = min(cut_at(CONFIG, _with_log(LEADS, leader), follower), len(log))
        if point != int(kafka_end):
            differ.append(f"{kind}: leader {leader}, follower {log}: Kafka cuts at {kafka_end}, model at {point}")
    assert not differ, "\n".join(differ)
    assert questions == {"fetch": 380, "asked": 380}
