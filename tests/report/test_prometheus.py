"""Gauges for Prometheus: the text format, and what `assess` and `audit` count."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from elrcheck.base.errors import ExitCode
from elrcheck.report.ci.prometheus import to_prometheus
from elrcheck.report.document import Document, Gauge, Sample, Sheet
from support.audit_stories import LOST

Invoke = Callable[..., tuple[int, str, str]]
NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
LABEL = rf'{NAME}="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"({NAME})(\{{{LABEL}(?:,{LABEL})*\}})? (-?[0-9]+)")


def samples(text: str) -> dict[str, int]:
    """Read the text as the exposition format says: help and type before the samples, and no sample twice."""
    found: dict[str, int] = {}
    current, told = "", set[str]()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            assert current not in told, "the samples of a name stand together"
            told.add(current)
        elif line.startswith("# TYPE "):
            assert line == f"# TYPE {current} gauge"
        else:
            match = SAMPLE.fullmatch(line)
            assert match is not None and match[1] == current, line
            key = match[1] + (match[2] or "")
            assert key not in found
            found[key] = int(match[3])
    assert text.endswith("\n")
    return found


def test_the_flags_of_an_audit(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "elrcheck.prom"
    invoke("audit", str(LOST), "-o", str(file))
    found = samples(file.read_text())
    assert found['elrcheck_exit_code{command="audit"}'] == 1
    ghost = 'elrcheck_audit_flags{rule="ghost-elected",finding="F-20",severity="critical",ended="no"}'
    assert found[ghost] == 1 and found["elrcheck_audit_records"] == 77 and found["elrcheck_audit_damage"] == 0


def test_the_topics_of_an_assessment(invoke: Invoke, tmp_path: Path) -> None:
    topics = tmp_path / "topics.txt"
    line = "Topic: {}\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
    topics.write_text(line.format("a") + line.format("b") + "what\n")
    code, out, _ = invoke("assess", "--kafka", "4.1", "--topics", str(topics), "--log", str(LOST), "-f", "prometheus")
    found = samples(out)
    (key,) = (name for name in found if name.startswith("elrcheck_assess_topics") and 'finding="F-20"' in name)
    assert code == 1 and found[key] == 2 and 'severity="loss",level="brokers"' in key
    assert found["elrcheck_assess_incomplete"] == 1
    assert sum(value for name, value in found.items() if name.startswith("elrcheck_assess_flags")) == 2


@pytest.mark.parametrize("text", ['a"b', "a\\nb\\", "a\nb", "é{},="])
def test_labels_are_escaped(text: str) -> None:
    gauge = Gauge("x", "A help.", (Sample((("a", text),), 3),))
    document = Document("audit", "holds", ExitCode.HOLDS, (), Sheet("", gauges=(gauge,)))
    (key,) = (name for name in samples(to_prometheus(document)) if name.startswith("elrcheck_x"))
    quoted = key.partition('"')[2].removesuffix('"}')
    assert re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), quoted) == text


def test_other_reports_do_not_have_the_format(invoke: Invoke) -> None:
    code, _, err = invoke("check", "--scope", "two-brokers", "-f", "prometheus")
    assert code == 2 and "prometheus" in err
