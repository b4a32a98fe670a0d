"""`elrcheck audit --bootstrap` at the command line: every format, exit codes, options, a missing library."""

from __future__ import annotations

import _thread
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.kafka.audit import live_audit
from elrcheck.report.formats import render
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import LOST
from support.html_pages import Page, html
from support.live_cluster import FakeCluster, shrunk, topic
from support.places import SCHEMAS, TESTS
from support.wire_broker import WireBroker, listening

SARIF = TESTS / "data" / "sarif-2.1.0.json"
Invoke = Callable[..., tuple[int, str]]


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Invoke:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(live_audit, "PAUSE", 0.0)

    def call(*arguments: object, progress: bool = False) -> tuple[int, str]:
        code = run(cli, [*(() if progress else ("--no-progress",)), "audit", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call


@pytest.fixture(scope="module")
def cluster() -> FakeCluster:
    """ELR members outside the replicas; the user may not see reassignments."""
    away = topic("orders", shrunk([2], [0, 1], replicas=(2,), leader=2))
    return FakeCluster([away], denied=frozenset({"reassignments"}))


@pytest.fixture(scope="module")
def report(cluster: FakeCluster) -> AuditReport:
    return cluster.audited()


def test_text_and_json_of_a_cluster(invoke: Invoke, cluster: FakeCluster, tmp_path: Path) -> None:
    with listening(WireBroker(cluster)) as address:
        code, output = invoke("--bootstrap", address, "-o", "report.json", progress=True)
        quiet, _ = invoke("--bootstrap", address, "--exit-zero")
    assert (code, quiet) == (1, 0)
    lines = output.splitlines()
    assert "CRITICAL  elr-outside-replicas  F-20: 1 partition" in lines
    assert "NOT SEEN  reassignments: the user is not authorized" in lines
    assert f"connecting to {address}" in lines and "looking again at 1 partition" in lines
    about = next(line for line in lines if line.startswith(f"kafka://{address}: cluster"))
    assert about.endswith("Kafka 4.1, metadata.version 27, ELR on")
    assert "at offset 512 of the metadata log" in output and "byte" not in output
    assert any(re.match(r"VIOLATED  act now on \S+: 1 topic, 1 partition, 2 flags", line) for line in lines)
    document = json.loads((tmp_path / "report.json").read_text())
    schema = json.loads((SCHEMAS / "elrcheck.audit-1.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["cluster"]["brokers"] == [0, 1, 2, 3] and document["logs"] == []
    assert document["flags"][0]["offset"] == 512


def test_the_formats_of_cases(report: AuditReport) -> None:
    document = json.loads(render(report, "sarif"))
    jsonschema.Draft202012Validator(json.loads(SARIF.read_text())).validate(document)
    (run,) = document["runs"]
    levels = {result["ruleId"]: result["level"] for result in run["results"]}
    assert levels == {"elr-outside-replicas": "error", "downgrade-keeps-elr": "note"}
    (place,) = run["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "kafka://localhost:9092"
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "orders-0"
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "not seen: reassignments: the user is not authorized"
    assert 'failures="2"' in render(report, "junit")
    assert "::error " in render(report, "github")
    assert "elr-outside-replicas orders-0: critical, F-20" in render(report, "markdown")
    assert "elr-outside-replicas" in render(report, "jsonl")


def test_the_page_has_flags_and_remedies(report: AuditReport) -> None:
    page = Page(html(report)).text()
    assert "ELR [0, 1] is not within the replicas [2]" in page
    assert report.flags[0].remedy in page and "kafka://localhost:9092" in page
    assert "No partition is flagged." in html(FakeCluster().audited())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a PATH, or --bootstrap HOST:PORT"),
        (("--bootstrap", "localhost:1", "x.log"), "give a PATH or --bootstrap, not both"),
        (("--bootstrap", "localhost:1", "--strict"), "--strict requires a PATH"),
        (("--bootstrap", "localhost:1", "--engine", "spark"), "--engine requires a PATH"),
        (("--client-config", __file__, "x.log"), "--client-config requires --bootstrap"),
        (("--bootstrap", "nowhere"), "error[bootstrap-address]"),
    ],
)
def test_options_that_do_not_go_together(invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    code, output = invoke(*arguments)
    assert code == 2 and message in output and "Traceback" not in output


def test_a_path_counts_more_than_an_address_in_the_settings(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "elrcheck.toml").write_text('[audit]\nbootstrap = "localhost:1"\n')
    assert invoke(LOST, "--exit-zero")[0] == 0
    assert invoke()[0] == 4


def test_nobody_listens_at_the_command_line(invoke: Invoke) -> None:
    with listening(WireBroker(FakeCluster())) as address:
        pass
    code, output = invoke("--bootstrap", address)
    assert code == 4 and "error[cluster-unreachable]" in output and "Traceback" not in output


def test_a_missing_library(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kafka.admin", None)
    code, output = invoke("--bootstrap", "localhost:1")
    assert code == 4 and "error[live-client]" in output and "pip install 'kafka-python>=3.0.12,<4'" in output


def test_ctrl_c_while_brokers_are_asked(invoke: Invoke) -> None:
    class Impatient(FakeCluster):
        def partitions(self, *arguments):  # type: ignore[no-untyped-def]
            _thread.interrupt_main()
            time.sleep(0.3)  # nobody waits for this answer
            return super().partitions(*arguments)

    with listening(WireBroker(Impatient())) as address:
        code, output = invoke("--bootstrap", address)
    assert code == 130 and "Traceback" not in output
