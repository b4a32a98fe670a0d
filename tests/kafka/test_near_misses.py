"""Near misses of metadata logs: what `assess` says beside the flags, and what it cannot see."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.base.kafka_requests import AssessRequest
from elrcheck.base.progress import Silent
from elrcheck.catalogue.evidence.by_version import finding_table
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.kafka.assess.assess import run_assess
from elrcheck.kafka.audit.near_misses import near_misses, watched
from elrcheck.kafka.audit.rules import audit_rules
from elrcheck.results.audit_report import NearMiss
from support.audit_stories import CONTROL, FENCED, LOST, START, change, feature, min_isr, written
from support.invoked import Invoke
from support.log_stories import broker
from support.log_writer import RecordFields

INVISIBLE = audit_rules().invisible
NEXT_STEPS = audit_rules().next_steps
RULES = audit_rules().by_name


def near(*logs: Path) -> dict[str, tuple[NearMiss, ...]]:
    return {each.kind: each.first for each in near_misses(watched(logs, lambda: False))}


def test_every_loss_of_a_release_has_a_sign_or_is_said_to_have_none() -> None:
    signs = {rule.hazard for rule in RULES.values() if rule.hazard and rule.name not in NEXT_STEPS}
    findings = {
        row.finding for row in finding_table().rows for cell in row.cells if cell.state == "shown" and cell.kafka
    }
    losses = {finding.id for finding in packaged_findings() if finding.severity == "loss"} & findings
    assert {each.finding for each in INVISIBLE} == losses - signs


def test_a_leader_away_and_back_in_the_log_of_a_loss() -> None:
    (returned,) = near(LOST)["leader-returned"]
    assert (returned.topic, returned.partition, returned.offset, returned.until) == ("c", 1, 38, 49)
    assert returned.message == "leader 0, then 2, then 0 again after 3.76 s, not restarted"
    (below,) = near(LOST)["below-min-isr"]
    assert below.message == "ISR [2] of replicas [0, 1, 2], min.insync.replicas 2" and below.until == 54
    (gone,) = near(LOST)["eligible-gone"]
    assert gone.message == "ELR [1, 2], ISR [0]: 2 is stopping" and (gone.offset, gone.until) == (49, 54)


AWAY, BACK = change(leader=1), change(leader=0)


@pytest.mark.parametrize(
    ("between", "returned"),
    [
        ((), True),
        ((broker(3, 0, fenced=False, brokerEpoch=10),), False),  # it was restarted
        ((change(leader=2),), True),
    ],
)
def test_what_counts_as_a_leader_away_and_back(
    between: tuple[RecordFields, ...], returned: bool, tmp_path: Path
) -> None:
    log = written(tmp_path, START, AWAY, *between, BACK)
    assert bool(near(log)["leader-returned"]) == returned


def test_no_leader_in_between_is_no_other_leader(tmp_path: Path) -> None:
    log = written(tmp_path, START, change(leader=-1, isr=[0]), BACK)
    assert near(log)["leader-returned"] == ()


@pytest.mark.slow
def test_a_return_after_long_is_no_near_miss(tmp_path: Path) -> None:
    quiet = tuple(feature(1) for _ in range(15_001))  # a millisecond each
    assert near(written(tmp_path, START, AWAY, *quiet, BACK))["leader-returned"] == ()
    assert near(written(tmp_path, START, AWAY, *quiet[:100], BACK))["leader-returned"]


def test_conditions_begin_and_end_with_settings_and_brokers(tmp_path: Path) -> None:
    log = written(
        tmp_path, START, change(isr=[0, 1], eligibleLeaderReplicas=[2]), min_isr("3"), FENCED[2], min_isr("2")
    )
    spans = near(log)
    assert [(each.offset, each.until) for each in spans["below-min-isr"]] == [(9, 11)]
    assert [(each.offset, each.until) for each in spans["eligible-gone"]] == [(10, None)]


def test_a_partition_without_a_leader_is_an_outage_and_no_small_isr(tmp_path: Path) -> None:
    gone = change(isr=[], leader=-1, eligibleLeaderReplicas=[0, 1, 2])
    log = written(tmp_path, START, change(isr=[0], eligibleLeaderReplicas=[1, 2]), gone, change(isr=[1], leader=1))
    spans = near(log)
    (outage,) = spans["no-leader"]
    assert outage.message == "no leader: ISR [], ELR [0, 1, 2]" and (outage.offset, outage.until) == (9, 10)
    assert [(each.offset, each.until) for each in spans["below-min-isr"]] == [(8, 9), (10, None)]
    (of_kind,) = (each for each in near_misses(watched([log], lambda: False)) if each.kind == "no-leader")
    assert of_kind.longest == 0.001  # a millisecond from record to record


def test_near_misses_of_one_partition_within_seconds_are_named_together(tmp_path: Path) -> None:
    (watch,) = watched([LOST], lambda: False)
    (together,) = watch.together()
    assert (together.topic, together.partition, together.offset, together.seconds) == ("c", 1, 38, 3.758)
    assert together.kinds == ("below-min-isr", "leader-returned", "eligible-gone")
    (watch,) = watched([written(tmp_path, START, AWAY, BACK)], lambda: False)
    assert list(watch.together()) == []


def test_an_audit_without_flags_points_to_near_misses(invoke: Invoke, tmp_path: Path) -> None:
    code, out, _ = invoke("audit", str(CONTROL))
    assert code == 0 and f"2 near misses: `elrcheck assess --log {CONTROL}` lists them" in out.splitlines()
    assert "NO SIGN  of a loss, but " in out
    page = tmp_path / "page.html"
    invoke("audit", str(CONTROL), "-o", str(page))
    assert f"<code>elrcheck assess --log {CONTROL}</code> lists them" in page.read_text(encoding="utf-8")
    code, out, _ = invoke("audit", str(written(tmp_path, START, AWAY)))
    assert code == 0 and "near misses: none" not in out and "NO SIGN  of a loss: " in out


def test_long_logs_are_not_read_again(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elrcheck.kafka.audit.audit.MOST_WATCHED", 85)
    out = invoke("audit", str(CONTROL))[1]
    why = "not looked for (over 50,000 records, Spark, or a file deleted)"
    assert f"near misses: {why}; `elrcheck assess --log {CONTROL}` lists them" in out


def test_the_page_names_near_misses_and_what_cannot_be_seen(invoke: Invoke) -> None:
    code, out, _ = invoke("assess", "--kafka", "4.1", "--log", str(CONTROL), "--fail-on", "flag")
    lines = out.splitlines()
    assert code == 0 and "an ISR below min.insync.replicas: 2 times, 1 partition" in lines
    start = next(number for number, line in enumerate(lines) if line.startswith("cannot be seen here"))
    assert lines[start + 1].startswith("  F-51") and any(line.startswith("  F-63") for line in lines[start:])
    code, out, _ = invoke("audit", str(CONTROL))
    assert code == 0 and "HOLDS" not in out and "NO SIGN" in out and "cannot be seen in a metadata log: F-51" in out


def test_the_html_page_has_both_as_well(invoke: Invoke, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    invoke("assess", "--kafka", "4.1", "--log", str(LOST), "-o", str(page))
    text = page.read_text(encoding="utf-8")
    assert "leader 0, then 2, then 0 again after 3.76 s" in text and "Cannot be seen here" in text
    invoke("assess", "--kafka", "4.1", "-o", str(page))
    assert "Beside the flags" not in page.read_text(encoding="utf-8")


def test_a_log_and_a_release_are_one_report(tmp_path: Path) -> None:
    report = run_assess(AssessRequest("4.3", logs=(LOST, written(tmp_path, START, AWAY, BACK))), Silent())
    (returned, *_) = report.near_misses
    assert (returned.kind, returned.times, returned.partitions) == ("leader-returned", 2, 2)
    assert {"F-51", "F-65"} <= {each.finding for each in report.invisible}
