"""`elrcheck audit`: every sign of a finding at its offset, nothing in sound histories, damage beside both."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from log_stories import MADE, SEGMENT, SNAPSHOT, T, U, broker, registered
from log_writer import Told, batch, leader_change, snapshot_footer, snapshot_header, told_batch
from places import ROOT, SCHEMAS, TESTS

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.requests import AuditRequest
from elrcheck.catalogue.finding_file import finding_files, read_finding
from elrcheck.cli import cli
from elrcheck.commands.audit.audit import run_audit
from elrcheck.commands.audit.judged import PROPERTIES, broken_of
from elrcheck.commands.audit.rules import RULES
from elrcheck.console.shell import run
from elrcheck.kafka.log.cluster_state import ClusterState, Key
from elrcheck.kafka.log.metadata_records import MetadataRecord, defaults_of
from elrcheck.kafka.log.record_table import BY_NAME
from elrcheck.results.audit_report import AuditReport

STORED = TESTS / "data" / "metadata_log"
LOST, CONTROL = STORED / "lost-4.1.1", STORED / "control-4.1.1"


def feature(level: int) -> Told:
    return ("FEATURE_LEVEL_RECORD", 0, {"name": "eligible.leader.replicas.version", "featureLevel": level})


def min_isr(value: str | None, resource: tuple[int, str] = (4, "")) -> Told:
    fields = {"resourceType": resource[0], "resourceName": resource[1], "name": "min.insync.replicas"}
    return ("CONFIG_RECORD", 0, fields | {"value": value})


def partition(**more: object) -> Told:
    told = {"partitionId": 0, "topicId": T, "replicas": [0, 1, 2], "isr": [0, 1, 2], "leader": 0}
    return ("PARTITION_RECORD", 2, told | {"directories": ["AAAAAAAAAAAAAAAAAAAAAA"] * 3} | more)


def change(**more: object) -> Told:
    return ("PARTITION_CHANGE_RECORD", 2, {"partitionId": 0, "topicId": T} | more)


CLEAR: Told = ("CLEAR_ELR_RECORD", 0, {"topicName": ""})
TOPIC: Told = ("TOPIC_RECORD", 0, {"name": "orders", "topicId": T})
BROKERS = tuple(broker(3, b, fenced=False) for b in range(4))
START: tuple[Told, ...] = (feature(1), min_isr("2"), *BROKERS, TOPIC, partition())
"""Offsets 0 to 7."""


def written(tmp_path: Path, *steps: Told | tuple[Told, ...], name: str = SEGMENT) -> Path:
    """A segment; each step is a batch."""
    content, base = b"", 0
    for step in steps:
        told: tuple[Told, ...] = (step,) if isinstance(step[0], str) else step  # type: ignore[assignment]
        content += told_batch(base, told, time=1_000 + base)
        base += len(told)
    path = tmp_path / name
    path.write_bytes(content)
    return path


def audited(*paths: Path, strict: bool = False) -> AuditReport:
    return run_audit(AuditRequest(paths, strict), Silent())


def flags(tmp_path: Path, *steps: Told | tuple[Told, ...]) -> list[tuple[int, str, int | None]]:
    return [(flag.offset, flag.rule, flag.until) for flag in audited(written(tmp_path, *steps)).flags]


# ---------------------------------------------------------------------------- logs of real clusters


def test_the_log_of_a_loss_is_flagged_before_the_loss() -> None:
    report = audited(LOST)
    assert [(f.offset, f.rule, f.hazard, f.severity, f.until) for f in report.flags] == [
        (38, "elr-outside-replicas", "F-20", "critical", 54),
        (49, "ghost-elected", "F-20", "critical", None),
    ]
    assert {(f.topic, f.partition) for f in report.flags} == {("c", 1)}
    assert report.flags[0].message == "ELR [0, 1] is not within the replicas [2]"
    assert report.flags[0].time == "2026-11-21T23:32:26.178Z"
    assert (report.verdict, report.exit_code, report.records, report.partitions) == ("violated", 1, 77, 2)
    assert report.damage == ()


def test_the_control_has_no_flag() -> None:
    report = audited(CONTROL)
    assert (report.flags, report.damage, report.verdict, report.exit_code) == ((), (), "holds", 0)


def test_a_dump_is_judged_as_the_files_are(tmp_path: Path) -> None:
    """The dump has the snapshot too, which tells nothing new."""
    dump, files = audited(MADE / "dump.txt"), audited(MADE / SEGMENT)
    assert len(files.flags) == 5

    def seen(report: AuditReport) -> list[tuple[int, str, str, int, str]]:
        return [(f.offset, f.rule, f.topic, f.partition, f.message) for f in report.flags]

    assert seen(dump) == seen(files)
    assert (dump.records, dump.logs[0].last_offset) == (files.records, files.logs[0].last_offset) == (34, 33)


def test_what_damage_leaves_is_judged(tmp_path: Path) -> None:
    raw = bytearray((LOST / SEGMENT).read_bytes())
    raw[-20] ^= 1
    (tmp_path / SEGMENT).write_bytes(raw)
    report = audited(tmp_path)
    assert [flag.offset for flag in report.flags] == [38, 49]
    (damage,) = report.damage
    assert damage.offset == 76 and "checksum" in damage.message
    assert audited(tmp_path, strict=True).exit_code == 2
    assert audited(LOST, strict=True).exit_code == 1


# ---------------------------------------------------------------------------- the rules, one by one


def test_a_sound_history_has_no_flags(tmp_path: Path) -> None:
    assert flags(
        tmp_path, START,
        (change(isr=[0, 2]), registered(2, brokerId=1, fenced=1)),
        (change(isr=[0], eligibleLeaderReplicas=[2]), registered(2, brokerId=2, fenced=1)),
        (change(isr=[], leader=-1, eligibleLeaderReplicas=[0, 2]), registered(2, brokerId=0, fenced=1)),
        (registered(2, brokerId=2, fenced=-1), change(isr=[2], leader=2, eligibleLeaderReplicas=[0])),
        (registered(2, brokerId=0, fenced=-1),),
        (change(isr=[0, 2], eligibleLeaderReplicas=[]),),
        (min_isr("1"), CLEAR),
        (("REMOVE_TOPIC_RECORD", 0, {"topicId": T}),),
    ) == []  # fmt: skip


FENCED = tuple(registered(2, brokerId=b, fenced=1) for b in (0, 1, 2))
SHRINK = (change(isr=[0], eligibleLeaderReplicas=[1]), *FENCED[1:])
"""Offsets 8 to 10: 1 and 2 are fenced, 1 is eligible."""
Batches = tuple[tuple[Told, ...], ...]
Found = list[tuple[int, str, int | None]]
STORIES: Mapping[str, tuple[Batches, Found]] = {
    "a cancelled reassignment and the loss after it": (
        (
            (change(replicas=[2], isr=[2], leader=2, eligibleLeaderReplicas=[0, 1]),),
            (change(replicas=[0, 1, 2], addingReplicas=[0, 1]),),
            (change(isr=[0], leader=0, eligibleLeaderReplicas=[1, 2]), registered(2, brokerId=2, fenced=1)),
        ),
        [(8, "elr-outside-replicas", None), (10, "ghost-elected", None)],
    ),
    "reassigned and complete again": (
        (
            (change(replicas=[2], isr=[2], leader=2, eligibleLeaderReplicas=[0, 1]),),
            (change(replicas=[0, 1, 2]),),
            (change(isr=[0, 1, 2], eligibleLeaderReplicas=[]),),
        ),
        [(8, "elr-outside-replicas", 10)],
    ),
    "a ghost blocks the election": (
        (
            (change(replicas=[1], isr=[1], leader=1, eligibleLeaderReplicas=[0]),),
            (change(isr=[], leader=-1, lastKnownElr=[1]), FENCED[1]),
        ),
        [(8, "elr-outside-replicas", None), (9, "elr-blocks-election", None)],
    ),
    "the cluster's min ISR is written again": (
        (SHRINK, (min_isr("2"), CLEAR)),
        [(12, "elr-wiped-by-configuration", None)],
    ),
    "a topic has its own": (
        (SHRINK, (min_isr("3", (2, "orders")),), (min_isr("1"), CLEAR)),
        [(13, "elr-wiped-by-configuration", None)],
    ),
    "the min ISR changes": ((SHRINK, (min_isr("3"), CLEAR)), []),
    "an assignment of directories": (
        (SHRINK, (change(directories=["AAAAAAAAAAAAAAAAAAAAAQ"] * 3, eligibleLeaderReplicas=[]),)),
        [(11, "elr-wiped-by-directories", None)],
    ),
    "a downgrade and an upgrade": (
        (SHRINK, (feature(0),), (feature(1),)),
        [(11, "elr-while-off", 12), (12, "elr-from-before", None)],
    ),
    "ELR is switched on without a leader": (
        (
            (feature(0),),
            (change(isr=[0], leader=-1), *FENCED),
            (feature(1),),
        ),
        [(13, "leaderless-with-isr", None)],
    ),
    "an eligible replica is unregistered": (
        (SHRINK, (("UNREGISTER_BROKER_RECORD", 0, {"brokerId": 1, "brokerEpoch": 9}),)),
        [(11, "elr-unregistered", None)],
    ),
    "-1 is stored": (
        ((change(isr=[], leader=-1, lastKnownElr=[-1], eligibleLeaderReplicas=[1]), *FENCED),),
        [(8, "stored-none", None)],
    ),
    "-1 is elected": (
        ((change(isr=[-1], leader=-1), *FENCED),),
        [(8, "stored-none", None)],
    ),
    "no list names a candidate": (
        (
            (change(isr=[], leader=-1), *FENCED),
            (registered(2, brokerId=1, fenced=-1), change(isr=[1], leader=1)),
        ),
        [(8, "no-candidate", 13)],
    ),
    "the last known leader remains": (
        ((change(isr=[], leader=-1, lastKnownElr=[0]), *FENCED),),
        [(8, "last-known-only", None)],
    ),
    "P-10": (((change(isr=[0], eligibleLeaderReplicas=[0, 1]),),), [(8, "P-10", None)]),
    "P-11": (((change(isr=[0, 2], eligibleLeaderReplicas=[1]),),), [(8, "P-11", None)]),
    "P-12": (((change(isr=[0, 1, 3]),),), [(8, "P-12", None)]),
    "P-17": (((change(isr=[1, 2]),), (change(isr=[0, 1, 2]),)), [(8, "P-17", 9)]),
    "P-18": (((change(isr=[], leader=0),),), [(8, "P-17", None), (8, "P-18", None)]),
    "P-19": (((FENCED[2],), (registered(2, brokerId=2, fenced=-1),)), [(8, "P-19", 9)]),
    "P-19, shutting down": (((registered(2, brokerId=2, inControlledShutdown=1),),), [(8, "P-19", None)]),
    "P-20": (((change(isr=[], leader=-1, eligibleLeaderReplicas=[1]),),), [(8, "P-20", None)]),
}


@pytest.mark.parametrize("story", list(STORIES))
def test_each_sign_is_recognised_at_its_offset(tmp_path: Path, story: str) -> None:
    batches, expected = STORIES[story]
    assert flags(tmp_path, START, *batches) == expected


def test_every_rule_has_a_story() -> None:
    told = {rule for _, found in STORIES.values() for _, rule, _ in found}
    assert told == set(RULES)
    assert {ident for ident, _ in PROPERTIES} == {rule for rule in RULES if rule.startswith("P-")}


def test_rules_name_findings_that_are_described() -> None:
    known = {read_finding(file).id for file in finding_files()}
    assert {rule.hazard for rule in RULES.values()} - {None} <= known
    document = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    for rule in RULES.values():
        row = next(line for line in document.splitlines() if line.startswith("| ") and rule.name in line)
        assert f"| {rule.severity} |" in row and (rule.hazard or "| |") in row


def test_a_flag_inside_a_snapshot_has_its_last_offset(tmp_path: Path) -> None:
    told = (*START[:-1], partition(replicas=[2], isr=[2], leader=2, eligibleLeaderReplicas=[0],
                                   directories=["AAAAAAAAAAAAAAAAAAAAAA"]))  # fmt: skip
    name = "00000000000000000040-0000000003.checkpoint"
    content = snapshot_header(0, 3, 5_000, 4_000) + told_batch(1, told, 3) + snapshot_footer(9, 3, 5_000)
    (tmp_path / name).write_bytes(content)
    moved = (change(replicas=[0, 1, 2]), change(isr=[0], leader=0, eligibleLeaderReplicas=[]))
    tail = told_batch(40, moved, 3)
    (tmp_path / f"{40:020}.log").write_bytes(tail)
    report = audited(tmp_path)
    assert [(f.offset, f.rule, Path(f.path).name) for f in report.flags] == [
        (39, "elr-outside-replicas", name), (41, "ghost-elected", f"{40:020}.log"),
    ]  # fmt: skip
    assert report.damage == () and report.logs[0].first_offset == 39


def test_the_elr_of_an_aborted_transaction_is_no_flag(tmp_path: Path) -> None:
    wrong = change(replicas=[2], isr=[2], leader=2, eligibleLeaderReplicas=[0, 1])
    begin, abort = ("BEGIN_TRANSACTION_RECORD", 0, {}), ("ABORT_TRANSACTION_RECORD", 0, {})
    assert flags(tmp_path, START, begin, wrong, abort) == []
    assert flags(tmp_path, START, begin, wrong, ("END_TRANSACTION_RECORD", 0, {})) != []


def test_brokers_may_have_any_ids(tmp_path: Path) -> None:
    """The model numbers brokers from 0; a cluster does not."""
    many = (1000, 7, 2**31 - 1)
    steps = (
        feature(1), min_isr("2"), *(broker(3, b, fenced=False) for b in many), TOPIC,
        partition(replicas=list(many), isr=list(many), leader=7),
        change(isr=[7, 1000]), change(isr=[7], eligibleLeaderReplicas=[1000]),
    )  # fmt: skip
    assert flags(tmp_path, steps) == []
    assert flags(tmp_path, (*steps, change(replicas=[7]))) == [(9, "elr-outside-replicas", None)]


def test_an_offline_directory_excuses_a_replica_from_leading() -> None:
    """P-18 and P-20 do not ask a member to lead whose log directory the controller knows to be offline."""
    gone = "KvUvGCJJQgi3w52y-cTS0A"
    told = (
        feature(1), min_isr("2"), broker(3, 0, fenced=False, logDirs=(U,)), TOPIC,
        partition(replicas=(0,), isr=(), leader=-1, eligibleLeaderReplicas=(0,), directories=(gone,)),
    )  # fmt: skip
    state = ClusterState()
    for name, version, fields in told:
        state.apply(MetadataRecord(name, version, defaults_of(BY_NAME[name]) | dict(fields)))
    assert broken_of(state, Key(T, 0)) == ()
    state.apply(MetadataRecord("BROKER_REGISTRATION_CHANGE_RECORD", 3, defaults_of(
        BY_NAME["BROKER_REGISTRATION_CHANGE_RECORD"]) | {"brokerId": 0, "logDirs": (U, gone)}))  # fmt: skip
    assert [broken.property for broken in broken_of(state, Key(T, 0))] == ["P-20"]


# ---------------------------------------------------------------------------- the command


Invoke = Callable[..., tuple[int, str]]


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Invoke:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, options: tuple[str, ...] = ()) -> tuple[int, str]:
        code = run(cli, [*options, "--no-progress", "audit", *map(str, arguments)])
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return call


def test_the_report_as_json_fits_its_schema(invoke: Invoke) -> None:
    code, output = invoke(LOST, CONTROL, MADE / SNAPSHOT, "--format", "json")
    report = json.loads(output)
    schema = json.loads((SCHEMAS / "elrcheck.audit-1.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(report)
    assert code == 1 and report["schema"] == "elrcheck.audit/1"
    assert [log["records"] for log in report["logs"]] == [77, 86, 12]
    (unread,) = report["unread"]
    assert unread == {"name": "REGISTER_CONTROLLER_RECORD", "version": 0, "known": True, "count": 2}
    lines = [json.loads(line) for line in invoke(LOST, "-f", "jsonl")[1].splitlines()]
    assert [line["record"] for line in lines] == ["head", "flags", "flags", "logs", "unread", "verdict"]


def test_the_report_as_text_says_what_to_do(invoke: Invoke) -> None:
    code, output = invoke(LOST)
    assert code == 1
    assert "CRITICAL  elr-outside-replicas  F-20: 1 partition" in output
    assert "offset 38, 2026-11-21T23:32:26.178Z, until 54" in output
    assert RULES["ghost-elected"].remedy in output
    assert output.splitlines()[-1].startswith("VIOLATED  77 records, 2 partitions, 2 flags (1 not resolved)")
    assert invoke(LOST, "--exit-zero")[0] == 0 and invoke(CONTROL)[0] == 0


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
    path.write_bytes(leader_change(0, 1, 1_000, 100) + told_batch(1, (feature(1),))[:-1] + b"\x7f" + unknown)
    code, output = invoke(path)
    assert code == 0 and "DAMAGE" in output and "offset 1: the checksum of the batch is wrong" in output
    assert "not read: 1 records of a kind that is not known, kind 99 of version 2" in output
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
