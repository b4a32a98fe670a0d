"""Gauges for Prometheus: the text format, and what `assess` and `audit` count."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from elrcheck.base.errors import ExitCode
from elrcheck.report.ci.prometheus import to_prometheus
from elrcheck.report.document import Document, Gauge, Sample, Sheet
from support.audit_stories import LOST, START, partition, written
from support.invoked import Invoke

NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
LABEL = rf'{NAME}="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"({NAME})(\{{{LABEL}(?:,{LABEL})*\}})? (-?[0-9]+)")


def samples(text: str) -> dict[str, int]:
    """Read the text as the exposition format says: help and type before the samples, and no sample twice."""
    values: dict[str, int] = {}
    current, described = "", set[str]()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            assert current not in described, "the samples of a name stand together"
            described.add(current)
        elif line.startswith("# TYPE "):
            assert line == f"# TYPE {current} gauge"
        else:
            match = SAMPLE.fullmatch(line)
            assert match is not None and match[1] == current, line
            key = match[1] + (match[2] or "")
            assert key not in values
            values[key] = int(match[3])
    assert text.endswith("\n")
    return values


def test_the_flags_of_an_audit(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "elrcheck.prom"
    invoke("audit", str(LOST), "-o", str(file))
    values = samples(file.read_text())
    assert values['elrcheck_exit_code{command="audit"}'] == 1
    ghost = f'elrcheck_audit_flags{{log="{LOST}",rule="ghost-elected",finding="F-20",severity="critical",ended="yes"}}'
    assert values[ghost] == 1 and values["elrcheck_audit_records"] == 77 and values["elrcheck_audit_damage"] == 0


def test_a_flag_that_is_not_over_names_its_partition(invoke: Invoke, tmp_path: Path) -> None:
    """So an alert on open flags ends with the condition, while the time of the run tells a run that no longer comes."""
    parts = (partition(partitionId=n, isr=[], leader=-1) for n in range(60))
    log = written(tmp_path, (*START[:-1], *parts))
    before = int(time.time())
    values = samples(invoke("audit", str(log), "-f", "prometheus")[1])
    (count,) = (value for name, value in values.items() if 'rule="no-candidate"' in name and 'ended="no"' in name)
    named = [name for name in values if name.startswith("elrcheck_audit_open_flag{")]
    assert count == 60 and len(named) == 50 and 'topic="orders",partition="0",rule="no-candidate"' in named[0]
    assert before <= values['elrcheck_run_timestamp_seconds{command="audit"}'] <= time.time()
    ended = samples(invoke("audit", str(LOST), "-f", "prometheus")[1])
    assert not [name for name in ended if name.startswith("elrcheck_audit_open_flag{")]


def test_the_topics_of_an_assessment(invoke: Invoke, tmp_path: Path) -> None:
    topics = tmp_path / "topics.txt"
    line = "Topic: {}\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
    topics.write_text(line.format("a") + line.format("b") + "what\n")
    code, out, _ = invoke("assess", "--kafka", "4.1", "--topics", str(topics), "--log", str(LOST), "-f", "prometheus")
    values = samples(out)
    (key,) = (name for name in values if name.startswith("elrcheck_assess_topics") and 'finding="F-20"' in name)
    assert code == 1 and values[key] == 2 and 'severity="loss",level="brokers"' in key
    assert values["elrcheck_assess_incomplete"] == 1
    assert sum(value for name, value in values.items() if name.startswith("elrcheck_assess_flags")) == 2


@pytest.mark.parametrize("text", ['a"b', "a\\nb\\", "a\nb", "é{},="])
def test_labels_are_escaped(text: str) -> None:
    gauge = Gauge("x", "A help.", (Sample((("a", text),), 3),))
    document = Document("audit", "holds", ExitCode.HOLDS, (), Sheet("", gauges=(gauge,)))
    (key,) = (name for name in samples(to_prometheus(document)) if name.startswith("elrcheck_x"))
    quoted = key.partition('"')[2].removesuffix('"}')
    assert re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), quoted) == text


def test_other_reports_do_not_have_the_format(invoke: Invoke) -> None:
    code, _, err = invoke("check", "--scope", "two-brokers", "-f", "prometheus")
    assert code == 2 and "prometheus" in err
