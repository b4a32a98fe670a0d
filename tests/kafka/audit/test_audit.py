"""`elrcheck audit`: every sign of a finding at its offset, nothing in sound histories, damage beside both."""

from __future__ import annotations

import json
import random
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.kafka.audit.judged import PROPERTIES, broken_of
from elrcheck.kafka.audit.rules import audit_rules
from elrcheck.kafka.log.cluster_state import ELR_FEATURE, MIN_ISR, ClusterState, PartitionKey
from elrcheck.kafka.log.metadata_records import MetadataRecord, defaults_of
from elrcheck.kafka.log.record_table import BY_NAME, ValueEncoding
from elrcheck.report.formats import render
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import (
    CLEAR,
    CONTROL,
    FENCED,
    LOST,
    SHRINK,
    START,
    TOPIC,
    audited,
    change,
    feature,
    min_isr,
    partition,
    written,
)
from support.log_stories import BY_KAFKA, SEGMENT, T, U, broker, registered
from support.log_writer import RecordFields, batch_of, snapshot_footer, snapshot_header
from support.places import ROOT, SCHEMAS

NEXT_STEPS = audit_rules().next_steps
RULES = audit_rules().by_name


def flags(tmp_path: Path, *steps: RecordFields | tuple[RecordFields, ...]) -> list[tuple[int, str, int | None]]:
    """All but those of records that no event of the controller writes: most stories are told in short."""
    raised = audited(written(tmp_path, *steps)).flags
    return [(flag.offset, flag.rule, flag.until) for flag in raised if flag.rule != "unexplained-record"]


# ---------------------------------------------------------------------------- logs of real clusters


def test_the_log_of_a_loss_is_flagged_before_the_loss() -> None:
    report = audited(LOST)
    assert [(f.offset, f.rule, f.hazard, f.severity, f.until) for f in report.flags] == [
        (38, "elr-outside-replicas", "F-20", "critical", 54),
        (49, "ghost-elected", "F-20", "critical", 69),
    ]
    assert [(f.event, f.until_time) for f in report.flags] == [
        (False, "2026-11-21T23:32:31.137Z"),
        (True, "2026-11-21T23:32:37.547Z"),  # every replica was in the ISR again
    ]
    assert {(f.topic, f.partition) for f in report.flags} == {("c", 1)}
    assert report.flags[0].message == "ELR [0, 1] is not within the replicas [2]"
    assert report.flags[0].time == "2026-11-21T23:32:26.178Z"
    assert (report.verdict, report.exit_code, report.records, report.partitions) == ("violated", 1, 77, 2)
    assert report.damage == ()


def test_the_control_has_no_flag() -> None:
    report = audited(CONTROL)
    assert (report.flags, report.damage, report.verdict, report.exit_code) == ((), (), "no_sign", 0)


def test_a_dump_is_judged_as_the_files_are(tmp_path: Path) -> None:
    """The dump has the snapshot too, which tells nothing new."""
    dump, files = audited(BY_KAFKA / "dump.txt"), audited(BY_KAFKA / SEGMENT)
    assert sum(flag.severity != "low" for flag in files.flags) == 5

    def seen(report: AuditReport) -> list[tuple[int, str, str, int, str]]:
        return [(f.offset, f.rule, f.topic, f.partition, f.message) for f in report.flags]

    assert seen(dump) == seen(files)
    assert (dump.records, dump.logs[0].last_offset) == (files.records, files.logs[0].last_offset) == (34, 33)


# ---------------------------------------------------------------------------- the rules, one by one


def test_a_sound_history_has_no_flags(tmp_path: Path) -> None:
    assert (
        flags(
            tmp_path,
            START,
            (change(isr=[0, 2]), registered(2, brokerId=1, fenced=1)),
            (change(isr=[0], eligibleLeaderReplicas=[2]), registered(2, brokerId=2, fenced=1)),
            (change(isr=[], leader=-1, eligibleLeaderReplicas=[0, 2]), registered(2, brokerId=0, fenced=1)),
            (registered(2, brokerId=2, fenced=-1), change(isr=[2], leader=2, eligibleLeaderReplicas=[0])),
            (registered(2, brokerId=0, fenced=-1),),
            (change(isr=[0, 2], eligibleLeaderReplicas=[]),),
            (min_isr("1"), CLEAR),
            (("REMOVE_TOPIC_RECORD", 0, {"topicId": T}),),
        )
        == []
    )


Batches = tuple[tuple[RecordFields, ...], ...]
Flags = list[tuple[int, str, int | None]]
STORIES: Mapping[str, tuple[Batches, Flags]] = {
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
    "an upgrade that clears every ELR, as with the patch of F-56": (
        (SHRINK, (feature(0),), (CLEAR, feature(1))),
        [(11, "elr-while-off", 12)],
    ),
    "ELR is switched on without a leader": (
        ((feature(0),), (change(isr=[0], leader=-1), *FENCED), (feature(1),)),
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
    "-1 is elected": (((change(isr=[-1], leader=-1), *FENCED),), [(8, "stored-none", None)]),
    "no list names a candidate": (
        ((change(isr=[], leader=-1), *FENCED), (registered(2, brokerId=1, fenced=-1), change(isr=[1], leader=1))),
        [(8, "no-candidate", 13)],
    ),
    "the last known leader is not a replica": (
        ((change(replicas=[0], isr=[], leader=-1, lastKnownElr=[1]), *FENCED),),
        [(8, "last-known-outside-replicas", None)],
    ),
    "it is none, and a member is left": (
        ((change(replicas=[0], isr=[0], leader=-1, lastKnownElr=[1]),),),
        [(8, "last-known-outside-replicas", None)],
    ),
    "the last known leader remains": (
        ((change(isr=[], leader=-1, lastKnownElr=[0]), *FENCED),),
        [(8, "last-known-only", None)],
    ),
    "ELR is switched off while the last known leader is awaited": (
        ((change(isr=[], leader=-1, lastKnownElr=[0]), *FENCED), (feature(0),)),
        [(8, "last-known-only", 12), (12, "switched-off-without-leader", None)],
    ),
    "P-10": (((change(isr=[0], eligibleLeaderReplicas=[0, 1]),),), [(8, "P-10", None)]),
    "P-11": (((change(isr=[0, 2], eligibleLeaderReplicas=[1]),),), [(8, "P-11", None)]),
    "P-12": (((change(isr=[0, 1, 3]),),), [(8, "P-12", None)]),
    "P-17": (((change(isr=[1, 2]),), (change(isr=[0, 1, 2]),)), [(8, "P-17", 9)]),
    "P-18": (((change(isr=[], leader=0),),), [(8, "P-17", None), (8, "P-18", None)]),
    "P-19": (((FENCED[2],), (registered(2, brokerId=2, fenced=-1),)), [(8, "P-19", 9)]),
    "P-19, shutting down": (((registered(2, brokerId=2, inControlledShutdown=1),),), [(8, "P-19", None)]),
    "the only member leads, and is fenced": (
        ((change(isr=[0]), FENCED[1], FENCED[2]), (FENCED[0],), (registered(2, brokerId=0, fenced=-1),)),
        [(11, "inactive-leader", 12)],
    ),
    "P-20": (((change(isr=[], leader=-1, eligibleLeaderReplicas=[1]),),), [(8, "P-20", None)]),
}


ELSEWHERE = (
    "completed-with-few",
    "cancelled-with-few",
    "raised-while-shrinking",
    "raised-while-fencing",
    "registered-in-isr",
    "registered-without-directory",
    "deleted-after-clearing",
)
"""Rules with tests of their own: test_audit_reassigned.py, test_audit_returned.py, test_audit_deleted.py."""


@pytest.mark.parametrize("story", list(STORIES))
def test_each_sign_is_recognised_at_its_offset(tmp_path: Path, story: str) -> None:
    batches, expected = STORIES[story]
    assert flags(tmp_path, START, *batches) == expected


def test_every_rule_has_a_story() -> None:
    rules = {rule for _, expected in STORIES.values() for _, rule, _ in expected} | {*ELSEWHERE}
    assert rules | {"unexplained-record"} == set(RULES) - NEXT_STEPS
    assert {ident for ident, _ in PROPERTIES} == {rule for rule in RULES if rule.startswith("P-")}


def test_rules_name_findings_that_are_described() -> None:
    ids = {finding.id for finding in packaged_findings()}
    assert {rule.hazard for rule in RULES.values()} - {None} <= ids
    document = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    for rule in RULES.values():
        row = next(line for line in document.splitlines() if line.startswith("| ") and rule.name in line)
        assert f"| {rule.severity} |" in row and (rule.hazard or "| |") in row


def test_every_text_of_the_table_is_used_and_every_name_is_a_rule_of_its_own() -> None:
    table = tomllib.loads((ROOT / "kafka" / "audit" / "rules.toml").read_text("utf-8"))
    rules = [*table["rule"], *table["next_step"]]
    assert {rule[key] for rule in rules for key in ("remedy", "afterwards") if key in rule} == set(table["advice"])
    assert len({rule["name"] for rule in rules}) == len(rules) == len(RULES)


def test_a_flag_inside_a_snapshot_has_its_last_offset(tmp_path: Path) -> None:
    steps = (
        *START[:-1],
        partition(replicas=[2], isr=[2], leader=2, eligibleLeaderReplicas=[0], directories=["AAAAAAAAAAAAAAAAAAAAAA"]),
    )
    name = "00000000000000000040-0000000003.checkpoint"
    content = snapshot_header(0, 3, 5_000, 4_000) + batch_of(1, steps, 3) + snapshot_footer(9, 3, 5_000)
    (tmp_path / name).write_bytes(content)
    moved = (change(replicas=[0, 1, 2]), change(isr=[0], leader=0, eligibleLeaderReplicas=[]))
    tail = batch_of(40, moved, 3)
    (tmp_path / f"{40:020}.log").write_bytes(tail)
    report = audited(tmp_path)
    loud = [flag for flag in report.flags if flag.severity != "low"]
    assert [(f.offset, f.rule, Path(f.path).name) for f in loud] == [
        (39, "elr-outside-replicas", name),
        (41, "ghost-elected", f"{40:020}.log"),
    ]
    assert report.damage == () and report.logs[0].first_offset == 39


def test_the_elr_of_an_aborted_transaction_is_no_flag(tmp_path: Path) -> None:
    wrong = change(replicas=[2], isr=[2], leader=2, eligibleLeaderReplicas=[0, 1])
    begin, abort = ("BEGIN_TRANSACTION_RECORD", 0, {}), ("ABORT_TRANSACTION_RECORD", 0, {})
    assert flags(tmp_path, START, begin, wrong, abort) == []
    assert flags(tmp_path, START, begin, wrong, ("END_TRANSACTION_RECORD", 0, {})) != []


def test_a_broker_that_registers_again_is_no_flag_without_elr(tmp_path: Path) -> None:
    """Releases before 4.0 leave it in the ISR until it is unfenced (KAFKA-18106); it was fenced before."""
    again = (FENCED[2], broker(3, 2), registered(2, brokerId=2, fenced=-1))
    assert flags(tmp_path, START, (feature(0),), *again) == []
    assert flags(tmp_path, START, *again) == [(8, "P-19", 10)]


def test_no_content_makes_the_audit_fail(tmp_path: Path) -> None:
    """Nonsense in sound batches: ids that do not exist, empty lists, -1, settings that are none."""
    chance = random.Random(4)
    path = tmp_path / SEGMENT
    rules: Counter[str] = Counter()
    schema = Draft202012Validator(json.loads((SCHEMAS / "elrcheck.audit-1.schema.json").read_text("utf-8")))
    for _ in range(40):
        content, base = b"", 0
        for _ in range(chance.randrange(1, 6)):
            steps = [nonsense(chance) for _ in range(chance.randrange(1, 25))]
            content += batch_of(base, steps, time=chance.choice((0, -1, 10**17)))
            base += len(steps)
        path.write_bytes(content)
        report = audited(path)
        assert report.records == base
        rules.update(flag.rule for flag in report.flags)
        assert render(report, "text")
        schema.validate(json.loads(render(report, "json")))
    assert len(rules) > 6


NONSENSE = (
    "TOPIC_RECORD",
    "PARTITION_RECORD",
    "PARTITION_CHANGE_RECORD",
    "REGISTER_BROKER_RECORD",
    "CONFIG_RECORD",
    "UNREGISTER_BROKER_RECORD",
    "BROKER_REGISTRATION_CHANGE_RECORD",
    "CLEAR_ELR_RECORD",
    "REMOVE_TOPIC_RECORD",
    "FEATURE_LEVEL_RECORD",
    "BEGIN_TRANSACTION_RECORD",
    "END_TRANSACTION_RECORD",
    "PARTITION_CHANGE_RECORD",
)


def nonsense(chance: random.Random) -> RecordFields:
    kind = BY_NAME[chance.choice(NONSENSE)]
    fields: dict[str, object] = {}
    for each in kind.fields:
        if each.kind is ValueEncoding.STRUCT or (each.tag is not None and chance.random() < 0.5):
            continue
        if each.kind is ValueEncoding.INT32 and each.many:
            fields[each.name] = [chance.choice((-7, -1, 0, 1, 2, 2)) for _ in range(chance.randrange(4))]
        elif each.kind is ValueEncoding.UUID and not each.many:
            fields[each.name] = chance.choice((T, U))
        elif each.kind in (ValueEncoding.INT8, ValueEncoding.INT16, ValueEncoding.INT32):
            fields[each.name] = chance.choice((-2, -1, 0, 1, 2, 4))
        elif each.kind is ValueEncoding.STRING and not each.nullable:
            fields[each.name] = chance.choice(("", "orders", ELR_FEATURE, MIN_ISR))
    if kind.name == "CONFIG_RECORD":
        fields["value"] = chance.choice((None, "", "0", "2", "-2", "two", "9" * 30))
    return (kind.name, kind.newest, fields)


def test_brokers_may_have_any_ids(tmp_path: Path) -> None:
    """The model numbers brokers from 0; a cluster does not."""
    many = (1000, 7, 2**31 - 1)
    steps = (
        feature(1),
        min_isr("2"),
        *(broker(3, b, fenced=False) for b in many),
        TOPIC,
        partition(replicas=list(many), isr=list(many), leader=7),
        change(isr=[7, 1000]),
        change(isr=[7], eligibleLeaderReplicas=[1000]),
    )
    assert flags(tmp_path, steps) == []
    assert flags(tmp_path, (*steps, change(replicas=[7]))) == [(9, "elr-outside-replicas", None)]


def test_an_offline_directory_excuses_a_replica_from_leading() -> None:
    """P-18 and P-20 do not ask a member to lead whose log directory the controller knows to be offline."""
    gone = "KvUvGCJJQgi3w52y-cTS0A"
    steps = (
        feature(1),
        min_isr("2"),
        broker(3, 0, fenced=False, logDirs=(U,)),
        TOPIC,
        partition(replicas=(0,), isr=(), leader=-1, eligibleLeaderReplicas=(0,), directories=(gone,)),
    )
    state = ClusterState()
    for name, version, fields in steps:
        state.apply(MetadataRecord(name, version, defaults_of(BY_NAME[name]) | dict(fields)))
    assert broken_of(state, PartitionKey(T, 0)) == ()
    state.apply(
        MetadataRecord(
            "BROKER_REGISTRATION_CHANGE_RECORD",
            3,
            defaults_of(BY_NAME["BROKER_REGISTRATION_CHANGE_RECORD"]) | {"brokerId": 0, "logDirs": (U, gone)},
        )
    )
    assert [broken.property for broken in broken_of(state, PartitionKey(T, 0))] == ["P-20"]
