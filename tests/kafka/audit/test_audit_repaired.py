"""`audit --repaired`: what is flagged in a cluster whose build has the patches of some findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.audit.rules import Repairs, audit_rules
from elrcheck.report.formats import render
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import (
    BROKERS,
    FENCED,
    LOST,
    SHRINK,
    START,
    TOPIC,
    change,
    feature,
    min_isr,
    partition,
    written,
)
from support.html_pages import Page, html
from support.live_cluster import FakeCluster, shrunk, topic
from support.log_stories import registered
from support.places import SCHEMAS

NEXT_STEPS = audit_rules().next_steps
RULES = audit_rules().by_name

ALONE = ((change(isr=[0, 2]), FENCED[1]), (change(isr=[0], eligibleLeaderReplicas=[2]), FENCED[2]))
"""1 and then 2 are fenced, and 2 is eligible."""
SWITCHED = (SHRINK, (feature(0),), (feature(1),))
"""A downgrade and an upgrade with a stored ELR: F-28, then F-56."""


def audited(path: Path, *repaired: str, workers: int = 1) -> AuditReport:
    return run_audit(AuditRequest((path,), repaired=repaired, workers=workers), Silent())


def rules(report: AuditReport) -> list[str]:
    return [flag.rule for flag in report.flags if flag.severity != "low"]


def test_what_the_patch_makes_harmless_is_not_flagged_and_the_rest_is(tmp_path: Path) -> None:
    path = written(tmp_path, START, *SWITCHED)
    assert rules(audited(path)) == ["elr-while-off", "elr-from-before"]
    assert rules(audited(path, "F-28")) == ["elr-from-before"]
    assert rules(audited(path, "f-56")) == ["elr-while-off"]
    both = audited(path, "F-28", "F-56")
    assert (rules(both), both.verdict, both.exit_code) == ([], "no_sign", ExitCode.HOLDS)
    assert rules(audited(path, "F-20", "F-64")) == ["elr-while-off", "elr-from-before"]


def test_what_a_build_with_the_patch_does_not_write_is_flagged() -> None:
    report = audited(LOST, "F-20")
    assert [flag.rule for flag in report.flags] == ["elr-outside-replicas", "ghost-elected"]
    assert "repaired: F-20; a build with its patch leaves no sign of it" in render(report, "text")


def test_the_other_states_of_a_partition_without_leader(tmp_path: Path) -> None:
    alone = (change(isr=[], leader=-1, lastKnownElr=[0]), *FENCED)
    path = written(tmp_path, START, alone, (feature(0),))
    assert rules(audited(path)) == ["last-known-only", "switched-off-without-leader"]
    assert rules(audited(path, "F-57")) == [] and len(rules(audited(path, "F-28"))) == 2


def test_properties_are_those_of_the_repaired_model(tmp_path: Path) -> None:
    """With the patch of F-28 a stored ELR elects nobody while the feature is off: no needless stall."""
    stored = change(isr=[], leader=-1, eligibleLeaderReplicas=[1])
    path = written(tmp_path, START, (feature(0),), (stored, FENCED[0], FENCED[2]))
    assert set(rules(audited(path))) == {"elr-while-off", "P-20"}
    assert rules(audited(path, "F-28")) == []
    assert set(rules(audited(path, "F-56"))) == {"elr-while-off", "P-20"}


def test_records_are_explained_by_the_repaired_rules_as_well(tmp_path: Path) -> None:
    """The leader is fenced while the feature is off: the release elects 2 from the stored ELR."""
    back = registered(2, brokerId=2, fenced=-1)
    fenced = (change(leader=-1, eligibleLeaderReplicas=[]), FENCED[0])
    path = written(tmp_path, START, *ALONE, (feature(0),), (back,), fenced)
    unexplained = [flag.offset for flag in audited(path).flags if flag.rule == "unexplained-record"]
    assert unexplained == [14] and audited(path, "F-56").logs[0].unexplained == 1
    repaired = audited(path, "F-28")
    assert (repaired.logs[0].explained, repaired.logs[0].unexplained, repaired.flags) == (4, 0, ())


def test_raised_values_and_deleted_topics(tmp_path: Path) -> None:
    start = (feature(1), min_isr("1"), *BROKERS, TOPIC, partition())
    alone = change(isr=[0], eligibleLeaderReplicas=[1, 2])
    stories: dict[str, tuple[str, tuple[object, ...]]] = {
        "F-53": ("raised-while-shrinking", ((min_isr("2"),), (alone,))),
        "F-24": ("raised-while-fencing", ((min_isr("2"),), (alone, *FENCED[1:]))),
        "F-26": ("leaderless-with-isr", ((feature(0),), (change(isr=[0], leader=-1), *FENCED), (feature(1),))),
        "F-62": (
            "last-known-outside-replicas",
            ((change(replicas=[0], isr=[], leader=-1, lastKnownElr=[1]), *FENCED),),
        ),
    }
    for finding, (rule, story) in stories.items():
        path = written(tmp_path, start, *story, name=f"{int(finding[2:]):020}.log")  # type: ignore[arg-type]
        assert rules(audited(path)) == [rule], finding
        assert rules(audited(path, finding)) == [], finding
        assert rules(audited(path, "F-28")) == [rule], finding


def test_processes_judge_alike(tmp_path: Path) -> None:
    path = written(tmp_path, START, *SWITCHED)
    assert rules(audited(path, "F-28", workers=2)) == ["elr-from-before"]


def test_a_cluster_that_runs() -> None:
    cluster = FakeCluster([topic("orders", shrunk([0], [1]))], elr=0, brokers={0: False, 1: True, 2: True})
    assert cluster.flagged() == [("elr-while-off", "F-28")]
    report = cluster.audited("F-28")
    assert report.flags == ()
    assert report.repaired[0].left_out == ("elr-while-off", "downgrade-keeps-elr")
    cluster.elr = 1
    assert ("downgrade-keeps-elr", "F-28") in cluster.flagged()
    assert "downgrade-keeps-elr" not in [flag.rule for flag in cluster.audited("F-28").flags]


def test_which_findings_can_be_repaired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, code, message in (
        ("F-280", "unknown-name", "did you mean `F-28`?"),
        ("28", "unknown-name", ""),
        ("F-54", "no-patch", "has a patch"),
    ):
        with pytest.raises(UsageFault) as fault:
            Repairs.of([name])
        assert fault.value.code == code and message in str(fault.value.help or "")
    path = written(tmp_path, START, *SWITCHED)
    assert run(cli, ["audit", str(path), "--repaired", "F-280"]) == ExitCode.DID_NOT_RUN
    assert "did you mean `F-28`?" in capsys.readouterr().err
    assert run(cli, ["audit", str(path), "--repaired", "F-28", "--repaired", "F-56"]) == ExitCode.HOLDS
    assert Repairs.of(["f-28", "F-28"]).findings == ("F-28",)


def test_every_format_names_the_repairs(tmp_path: Path) -> None:
    report = audited(written(tmp_path, START, *SWITCHED), "F-28")
    for form in ("text", "markdown", "github", "sarif"):
        assert "repaired: F-28; elr-while-off is not flagged" in render(report, form), form
    assert 'name="repaired" value="F-28"' in render(report, "junit")
    assert "F-28 (not flagged: elr-while-off)" in Page(html(report)).text()
    document = json.loads(render(report, "json"))
    schema = json.loads((SCHEMAS / "elrcheck.audit-1.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(document)
    assert document["repaired"] == [{"finding": "F-28", "left_out": ["elr-while-off"]}]
    assert '"repaired"' in render(report, "jsonl")


def test_only_signs_of_findings_with_a_patch_are_harmless() -> None:
    """A rule that is never flagged again would hide what it is for."""
    for name, rule in RULES.items():
        if rule.harmless_if_repaired:
            assert rule.hazard is not None and Repairs.of([rule.hazard]).harmless(name), name
    assert {name for name in NEXT_STEPS if not RULES[name].harmless_if_repaired} == {"unclean-successor"}
    assert not Repairs.of(["F-20"]).harmless("ghost-elected")
