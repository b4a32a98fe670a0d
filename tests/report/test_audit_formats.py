"""What is made of an audit besides text: SARIF, a page with time lines, the formats of cases; Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from elrcheck.base.errors import ExitCode
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Event, Silent
from elrcheck.kafka.audit import audit, timelines
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.report.formats import render
from elrcheck.results.audit_report import AuditReport
from support.audit_stories import CLEAR, CONTROL, LOST, SHRINK, START, audited, change, min_isr, written
from support.html_pages import EVIL, Page, assert_sound, html
from support.places import TESTS

SARIF = TESTS / "data" / "sarif-2.1.0.json"


@pytest.fixture(scope="module")
def lost() -> AuditReport:
    return audited(LOST, CONTROL)


def test_of_many_flagged_logs_each_is_folded_with_its_flags(tmp_path: Path) -> None:
    """Three stay open; the page of more begins with what needs a look, and a link unfolds a log."""
    logs = [tmp_path / f"log-{number}" for number in range(4)]
    for log in logs:
        log.mkdir()
        written(log, START, SHRINK, (min_isr("2"), CLEAR))
    three, four = (html(audited(*logs[:number])) for number in (3, 4))
    assert '<details class="part">' not in three and four.count('<details class="part">') == 4
    summaries = re.findall(r'<summary><h2 id="l\d">log-\d</h2> <span class="failed">(.*?)</span></summary>', four)
    assert len(summaries) == 4 and set(summaries) == {"flags: 1 high, 1 low"}


def test_a_flag_in_sarif_is_located_at_the_byte_of_its_record(lost: AuditReport) -> None:
    document = json.loads(render(lost, "sarif"))
    jsonschema.Draft202012Validator(json.loads(SARIF.read_text())).validate(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["elr-outside-replicas", "ghost-elected"]
    for result, flag in zip(run["results"], lost.flags, strict=True):
        assert (result["ruleId"], result["level"]) == (flag.rule, "error")
        assert flag.message in result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uri"] == Path(flag.path).as_uri()
        raw = Path(flag.path).read_bytes()[place["region"]["byteOffset"] :]
        assert int.from_bytes(raw[:8]) <= flag.offset <= int.from_bytes(raw[:8]) + 30
        assert location["logicalLocations"][0]["fullyQualifiedName"] == "c-1"
        assert result["properties"]["offset"] == flag.offset and result["properties"]["finding"] == "F-20"
    assert len({result["partialFingerprints"]["elrcheckCase/v1"] for result in run["results"]}) == 2


def test_levels_and_damage_in_sarif(tmp_path: Path) -> None:
    wiped = (min_isr("2"), CLEAR)
    path = written(tmp_path, START, SHRINK, wiped, change(isr=[], leader=-1, lastKnownElr=[0]))
    path.write_bytes(path.read_bytes() + b"\1" * 90)
    report = audited(path)
    (run,) = json.loads(render(report, "sarif"))["runs"]
    levels = {result["ruleId"]: result["level"] for result in run["results"]}
    assert levels["last-known-only"] == "warning" and levels["elr-wiped-by-configuration"] == "error"
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert report.damage[0].message in note["message"]["text"]


def test_the_other_formats_of_cases(lost: AuditReport) -> None:
    junit = render(lost, "junit")
    assert 'failures="2"' in junit and "ghost-elected c-1 49" in junit and "no partition is flagged" in junit
    assert render(lost, "github").count("::error ") == 2
    assert "ghost-elected c-1 49: critical, F-20" in render(lost, "markdown")


def test_the_time_line_has_every_change_of_a_flagged_partition(lost: AuditReport) -> None:
    (line,) = lost.timelines
    assert (line.topic, line.partition, line.left_out) == ("c", 1, 0)
    assert {flag.offset for flag in lost.flags} <= {step.offset for step in line.steps}
    at = {step.offset: step for step in line.steps}
    assert (at[38].elr, at[38].replicas, at[49].leader) == ((0, 1), (2,), 0)
    assert [step.partition_epoch for step in line.steps] == list(range(len(line.steps)))


def test_a_page_has_a_lane_for_each_broker_and_marks_the_flags(lost: AuditReport) -> None:
    page = assert_sound(lost)
    text = page.text()
    assert "broker 0" in text and "broker 2" in text and "leader epoch" in text
    assert "critical, ghost-elected (F-20), offset 49" in text
    assert "In topic c acknowledged records are lost, or orderly operations can lose them: F-20." in text
    roles = {attributes["class"] for tag, attributes in page.tags if tag == "rect" and attributes.get("class")}
    assert {"role leader", "role isr", "role outside", "role replica", "flagged"} <= roles
    marked = [attributes for _, attributes in page.tags if attributes.get("class") == "flagged"]
    assert len(marked) == 2
    evil = replace(lost.timelines[0], topic=EVIL)
    flags = tuple(replace(flag, topic=EVIL, message=EVIL) for flag in lost.flags)
    assert "<img" not in html(replace(lost, flags=flags, timelines=(evil,)))


def test_a_page_and_the_text_say_little_about_logs_without_a_flag(lost: AuditReport) -> None:
    """Rows of the tables of logs and of near misses; the text counts them, and --verbose lists them."""
    page = Page(html(lost))
    (name,) = {flag.log for flag in lost.flags}
    (healthy,) = (log for log in lost.logs if log.name != name)
    assert (healthy.kafka, healthy.metadata_version, healthy.elr_version) == ("4.1", 27, 0)
    number = 1 + [log.name for log in lost.logs].index(name)
    assert [link for link in page.all("href") if link[:1] == "#" and link != "#main"] == ["#overview", f"#l{number}"]
    assert page.text().count(Path(healthy.name).name) == 3 and "Kafka 4.1, metadata.version 27" in page.text()
    assert healthy.name not in render(lost, "text") and "1 more log without a flag" in render(lost, "text")
    assert healthy.name in render(lost, "text", detail=1)


def test_time_lines_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelines, "MOST_STEPS", 5)
    monkeypatch.setattr(timelines, "BEHIND", 2)
    moves = [change(isr=[0, 1, 2]) for _ in range(9)]
    (line,) = audited(written(tmp_path, START, *moves, SHRINK, (min_isr("2"), CLEAR), *moves)).timelines
    assert len(line.steps) == 5 and line.left_out == 9 + 3 + 2 - 4
    page = Page(html(audited(written(tmp_path, START, *moves, SHRINK, (min_isr("2"), CLEAR)))))
    assert "earlier records of this partition are left out" in page.text()


def test_a_removed_partition_ends_its_time_line(tmp_path: Path) -> None:
    removal = ("REMOVE_TOPIC_RECORD", 0, {"topicId": START[-1][2]["topicId"]})
    report = audited(written(tmp_path, START, change(isr=[0, 1, 3]), removal))
    (line,) = report.timelines
    assert [step.exists for step in line.steps] == [True, True, False]
    assert "REMOVE_TOPIC_RECORD (removed)" in Page(html(report)).text()


class Impatient(Silent):
    """Interrupts the audit at the first progress, as Ctrl-C does."""

    def __init__(self) -> None:
        self.heard: list[Event] = []

    def tell(self, event: Event) -> None:
        self.heard.append(event)
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_gives_a_partial_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "SECONDS", 0.0)
    monkeypatch.setattr(audit, "STEPS", 10)
    path = written(tmp_path, START, SHRINK, *[change(isr=[0]) for _ in range(50)], (min_isr("2"), CLEAR))
    progress = Impatient()
    report = run_audit(AuditRequest((path,)), progress)
    (event,) = progress.heard
    assert report.interrupted and report.exit_code is ExitCode.INTERRUPTED
    assert report.records == event.records < 60 and 0 < event.share < 1
    assert (report.verdict, report.timelines) == ("inconclusive", ())
    assert all(flag.severity == "low" for flag in report.flags)
    assert "partial report" in render(report, "text") and "partial report" in render(report, "sarif")
    assert "partial report" in Page(html(report)).text() and report.logs[0].records == report.records
    assert "records/s" in str(event)
    whole = audited(path)
    assert not whole.interrupted and "elr-wiped-by-configuration" in [flag.rule for flag in whole.flags]
