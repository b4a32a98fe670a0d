"""`elrcheck audit` at the command line: text, JSON, exit codes, and paths with nothing to read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from elrcheck.base.errors import UsageFault
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.kafka.audit.rules import audit_rules
from support.audit_stories import CONTROL, FENCED, LOST, START, audited, feature, partition, written
from support.log_stories import BY_KAFKA, SEGMENT, SNAPSHOT
from support.log_writer import batch, batch_of, leader_change
from support.places import SCHEMAS

RULES = audit_rules().by_name

Invoke = Callable[..., tuple[int, str]]


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Invoke:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, options: tuple[str, ...] = ()) -> tuple[int, str]:
        code = run(cli, [*options, "--no-progress", "audit", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call


RECORDS = ("flags", "flags", "logs", "unread", "timelines", *("invisible",) * 6)


def test_the_report_as_json_fits_its_schema(invoke: Invoke) -> None:
    code, output = invoke(LOST, CONTROL, BY_KAFKA / SNAPSHOT, "--format", "json")
    report = json.loads(output)
    schema = json.loads((SCHEMAS / "elrcheck.audit-1.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(report)
    assert code == 1 and report["schema"] == "elrcheck.audit/1"
    assert [log["records"] for log in report["logs"]] == [77, 86, 12]
    (unread,) = report["unread"]
    kind = {"name": "REGISTER_CONTROLLER_RECORD", "version": 0, "known": True}
    assert unread == {**kind, "count": 2, "path": str(LOST / SEGMENT), "offset": 10}
    lines = [json.loads(line) for line in invoke(LOST, "-f", "jsonl")[1].splitlines()]
    assert [line["record"] for line in lines] == ["head", *RECORDS, "verdict"]


def test_the_report_as_text_says_what_to_do(invoke: Invoke) -> None:
    code, output = invoke(LOST)
    assert code == 1
    assert "CRITICAL  elr-outside-replicas  F-20: 1 partition" in output
    assert "true from offset 38, 2026-11-21T23:32:26.178Z, to 54, 2026-11-21T23:32:31.137Z" in output
    assert "offset 49, 2026-11-21T23:32:29.936Z; every replica in the ISR again at 69" in output
    assert RULES["ghost-elected"].afterwards in output and RULES["ghost-elected"].remedy not in output
    verdict = "VIOLATED  no longer true at the end of the log; check c-1 for lost records: 77 records, 2 partitions, "
    assert output.splitlines()[-1].startswith(verdict)
    assert invoke(LOST, "--exit-zero")[0] == 0 and invoke(CONTROL)[0] == 0


def test_what_still_holds_at_the_end_is_to_be_acted_on(invoke: Invoke, tmp_path: Path) -> None:
    """Of two logs the partition has its log; what is over is not among those to act on now."""
    path = written(tmp_path, (*START[:-1], partition(isr=[], leader=-1)), name="x.log")
    output = invoke(LOST, path)[1]
    assert "and still at the end, in " in output and RULES["no-candidate"].remedy in output
    assert output.splitlines()[-1].startswith("VIOLATED  act now on orders-0 of ")
    assert f"{path.name}: " in output.splitlines()[-1]


def test_many_flags_of_a_rule_are_counted(invoke: Invoke, tmp_path: Path) -> None:
    topic = (*START[:-1], *(partition(partitionId=n, isr=[], leader=-1) for n in range(9)))
    path = written(tmp_path, (*topic, *FENCED), name="x.log")
    code, output = invoke(path)
    assert code == 1 and "no-candidate: 9 partitions" in output and "4 more; --verbose shows all" in output
    full = invoke(path, options=("-v",))[1]
    assert "orders-8" in full and "more;" not in full


def test_damage_and_unknown_kinds_are_said(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / SEGMENT
    unknown = batch(2, [b"\x01\x63\x02rest"])
    path.write_bytes(leader_change(0, 1, 1_000, 100) + batch_of(1, (feature(1),))[:-1] + b"\x7f" + unknown)
    code, output = invoke(path)
    assert code == 3 and "DAMAGE" in output and "offset 1: the checksum of the batch is wrong" in output
    assert "not read: 1 record of a kind that is not known, kind 99 of version 2" in output
    code, output = invoke(path, "--strict")
    assert code == 2 and "--strict: a damaged file is an error" in output


@pytest.mark.parametrize("content", [b"", b"garbage of some length, and no batch in it" * 9, bytes(5000)])
def test_nothing_to_read_is_an_error(invoke: Invoke, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(content)
    code, output = invoke(path)
    assert code == 2 and "error[log-empty]" in output and "Traceback" not in output
    with pytest.raises(UsageFault):
        audited(path)


def test_a_wrong_path_is_an_error(invoke: Invoke) -> None:
    code, output = invoke("/no/such/file")
    assert code == 2 and "error[log-unreadable]" in output and "there is no such file or folder" in output
    assert invoke()[0] == 2


def test_a_description_of_topics_is_no_log(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "topics.txt"
    path.write_text("Topic: a\tPartitionCount: 1\tReplicationFactor: 3\n" * 9)
    code, output = invoke(path)
    assert code == 2 and "no record could be read" in output and "elrcheck assess --topics FILE" in output
    path.write_bytes(b"\0\1\2" * 99)
    assert "--topics" not in invoke(path)[1]
