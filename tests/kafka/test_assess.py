"""`assess`: the findings of a release that settings allow, of topics, and beside an audit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from elrcheck.catalogue.evidence import conformance, searched
from elrcheck.catalogue.evidence.by_version import finding_table
from elrcheck.results.risk.assess_report import AssessReport
from support.assessments import TWO_TOPICS, assess
from support.invoked import Invoke
from support.places import ROOT
from support.scripts import script


def names(report: AssessReport, group: int = 0) -> list[str]:
    return [finding.finding for finding in report.groups[group].findings]


@pytest.mark.parametrize(
    ("kafka", "elr", "certain", "unknown"),
    [
        ("3.9", None, {"F-2", "F-51", "F-58", "F-61", "F-63"}, {"F-20", "F-64", "F-60", "F-26"}),
        ("4.1", None, {"F-20", "F-51", "F-64", "F-25"}, {"F-2", "F-60", "F-62", "F-1", "F-55", "F-19"}),
        ("4.1", False, {"F-51", "F-58", "F-63", "F-26"}, {"F-20", "F-24", "F-53", "F-64"}),
        ("4.3", None, {"F-20", "F-60", "F-52"}, {"F-23", "F-1"}),
    ],
)
def test_what_applies_to_a_release(kafka: str, elr: bool | None, certain: set[str], unknown: set[str]) -> None:
    report = assess(kafka, elr=elr)
    applying = set(names(report))
    assert certain <= applying and not unknown & applying
    assert report.verdict == "at_risk" and report.exit_code == 1 and not report.looked_at


def test_losses_on_brokers_come_first_and_each_has_its_evidence() -> None:
    (group,) = assess("4.3.1").groups
    ranks = [(one.severity != "loss", ("brokers", "classes", "model").index(one.level)) for one in group.findings]
    assert ranks == sorted(ranks) and ranks[0] == (False, 0) and ranks[-1][0]
    evidence = {
        (row.finding, cell.level)
        for row in finding_table().rows
        for cell in row.cells
        if cell.kafka == "4.3.1" and cell.state == "shown"
    }
    assert {(one.finding, one.level) for one in group.findings} <= evidence
    assert all(one.happens and one.remedy for one in group.findings)


def test_what_was_seen_on_brokers_is_what_was_lost_there(invoke: Invoke) -> None:
    """F-23 left a partition without a leader on brokers, and lost records only in the classes."""
    (group,) = assess("4.1", min_insync_replicas=2).groups
    one = {each.finding: each for each in group.findings}
    assert (one["F-23"].level, one["F-23"].on_brokers) == ("classes", "no leader")
    assert one["F-52"].on_brokers == "lost (F-52/last), not seen (F-52/h1)" and "up to 4.2.1" in one["F-52"].happens
    assert not one["F-20"].forced and one["F-24"].forced and one["F-65"].forced
    losses = [each.forced for each in group.findings if (each.severity, each.level) == ("loss", "brokers")]
    assert losses == sorted(losses) and len(set(losses)) == 2, "what needs no paused process comes first"
    out = " ".join(invoke("assess", "--kafka", "4.1", "--min-insync-replicas", "2")[1].split())
    assert "12 of them have on brokers of this release" in out and "which showed: no leader" in out
    assert "scheduler has written the file" in out, "a loss is printed in full, whatever its level"
    out = " ".join(invoke("assess", "--kafka", "4.0", "--min-insync-replicas", "2")[1].split())
    assert "__transaction_state" in out and "has lost records on brokers of this release, in steps by hand loses" in out


@pytest.mark.parametrize("finding", ["F-61", "F-56", "F-23"])
def test_what_is_seen_on_brokers_is_what_show_says(finding: str, invoke: Invoke) -> None:
    printed = invoke("show", finding)[1].splitlines()
    lines = [line.partition("; control")[0] for line in printed if "elrcheck reproduce" in line]
    (assessed,) = (one for one in assess("4.1", min_insync_replicas=2).groups[0].findings if one.finding == finding)
    words = {"lost": ": lost ", "no leader": ": unavailable: "}
    assert any(words[assessed.on_brokers] in line for line in lines)
    assert not any(text in line for word, text in words.items() if word != assessed.on_brokers for line in lines)


def test_a_search_of_an_older_model_says_so_and_is_not_released(monkeypatch: pytest.MonkeyPatch) -> None:
    def evidence() -> str:
        (group,) = assess("4.3.1").groups
        return next(one.evidence for one in group.findings if one.finding == "F-20")

    now = next(each for each in searched.packaged_searches() if (each.finding, each.variant) == ("F-20", "code_4_3"))
    demand = script(".ci/release.py").demand_current_searches
    monkeypatch.setattr(searched, "packaged_searches", lambda: (now,))
    monkeypatch.setattr(conformance, "model_digest", lambda: now.model)
    assert "model: breaks" in evidence() and "changed since" not in evidence()
    demand()
    monkeypatch.setattr(conformance, "model_digest", lambda: "another")
    assert f"model: breaks (on {now.day}; the model has changed since)" in evidence()
    with pytest.raises(SystemExit, match=r"search_findings\.py older`: the model has changed since .* F-20$"):
        demand()


def test_an_unclean_election_brings_more() -> None:
    more = set(names(assess("4.3", unclean_leader_election_enable=True))) - set(names(assess("4.3")))
    assert more == {"F-62"}


def test_topics_are_judged_by_their_settings_and_named_at_their_line(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    file.write_text(TWO_TOPICS)
    report = assess("4.3", topics=(file,))
    assert [(group.topics, group.places) for group in report.groups] == [
        (("audit",), (f"{file}:3",)),
        (("orders",), (f"{file}:1",)),
    ]
    assert "F-62" in names(report) and "F-62" not in names(report, 1)
    code, out, _ = invoke("assess", "--kafka", "4.3", "--topics", str(file), "--format", "github")
    assert code == 1 and "line=3" in out and "F-62" in out
    file.write_text(TWO_TOPICS + "nonsense\n")
    assert assess("4.3", topics=(file,), fail_on="never").exit_code == 3


@pytest.mark.parametrize(
    ("factor", "least", "unclean", "allowed"),
    [
        (3, 2, False, []),
        (3, 1, False, [("min.insync.replicas", "loss")]),
        (1, 1, False, [("replication.factor", "loss")]),
        (2, 2, False, [("min.insync.replicas", "unavailable")]),
        (3, 2, True, [("unclean.leader.election.enable", "loss")]),
        (3, 5, False, [("min.insync.replicas", "unavailable")]),
        (1, 2, False, [("replication.factor", "loss")]),
    ],
)
def test_what_settings_allow_in_every_release(
    factor: int, least: int, unclean: bool, allowed: list[tuple[str, str]], invoke: Invoke
) -> None:
    (group,) = assess(
        "4.3", replication_factor=factor, min_insync_replicas=least, unclean_leader_election_enable=unclean
    ).groups
    assert [(risk.setting, risk.severity) for risk in group.by_design] == allowed
    options = ["--replication-factor", str(factor), "--min-insync-replicas", str(least)]
    options += ["--unclean-leader-election-enable"] * unclean
    code, out, _ = invoke("assess", "--kafka", "4.3", *options, "--fail-on", "settings")
    assert code == int(any(severity == "loss" for _, severity in allowed))
    assert out.count("BY DESIGN") == len(allowed) and all(f"BY DESIGN    {setting}: " in out for setting, _ in allowed)


def test_each_topic_whose_settings_allow_a_loss_is_marked_at_its_line(invoke: Invoke, tmp_path: Path) -> None:
    topic = "Topic: {}\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas={}\n"
    file = tmp_path / "topics.txt"
    file.write_text(topic.format("a", 1) + topic.format("b", 2) + topic.format("c", 1))
    question = ("assess", "--kafka", "4.3", "--topics", str(file), "--fail-on", "settings", "--format", "github")
    code, out, _ = invoke(*question)
    errors = [line for line in out.splitlines() if line.startswith("::error ")]
    assert code == 1 and [re.findall(r"line=(\d)", line) for line in errors] == [["1"], ["3"]]
    assert "the settings of 2 topics allow a loss by design" in out and "::warning " in out
    file.write_text(topic.format("b", 2))
    code, out, _ = invoke(*question)
    assert code == 0 and "::error " not in out, "what is known of the release is a warning"
    (warning,) = (line for line in out.splitlines() if "line=1," in line)
    assert ",title=F-20 " in warning and "F-51 A leader that missed an epoch" in warning and warning.count("%0A") > 10


@pytest.mark.parametrize(
    ("fail_on", "code", "least", "most"), [("never", 0, 0, 0), ("settings", 1, 1, 1), ("loss", 1, 6, 40)]
)
def test_junit_lists_as_failures_what_the_exit_code_is_for(
    fail_on: str, code: int, least: int, most: int, invoke: Invoke, tmp_path: Path
) -> None:
    file = tmp_path / "topics.txt"
    file.write_text("Topic: a\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=1\n")
    question = ("assess", "--kafka", "4.3", "--topics", str(file), "--fail-on", fail_on, "--format", "junit")
    ended, out, _ = invoke(*question)
    suites = ElementTree.fromstring(out)
    failures = len(suites.findall(".//failure"))
    assert ended == code and least <= failures <= most and suites.get("failures") == str(failures)
    assert "F-51 A leader that missed an epoch" in out


def test_what_needs_a_follower_is_not_of_a_single_replica() -> None:
    one, two, three = (
        set(names(assess("4.1", replication_factor=factor, min_insync_replicas=1))) for factor in (1, 2, 3)
    )
    assert {"F-51", "F-58", "F-69"} <= two - one and "F-63" in three - two and "F-52" in one


def test_the_advice_does_not_begin_another_finding() -> None:
    """Replicas first, complete, then min.insync.replicas; an update says what it brings."""
    (group,) = assess("4.1", replication_factor=1).groups
    (risk,) = group.by_design
    reassign, configs = (risk.remedy.index(f"kafka-{tool}.sh") for tool in ("reassign-partitions", "configs"))
    assert reassign < risk.remedy.index("cancel") < configs and risk.remedy.count("every ISR is complete") == 3
    (group,) = assess("4.1", replication_factor=3).groups
    assert "reassign" not in group.by_design[0].remedy and "no broker is about to stop" in group.by_design[0].remedy
    update = {finding.finding: finding.remedy for finding in group.findings}["F-23"]
    assert "Losses known of 4.3.1 and not of this release: F-60 (" in update and "F-20" not in update


def test_near_misses_of_one_partition_within_seconds_come_first(invoke: Invoke) -> None:
    log = str(ROOT / "tests" / "data" / "metadata_log" / "lost-4.1.1")
    out = invoke("assess", "--log", log)[1]
    assert "\nTOGETHER     c-1: within 3.8 s from offset 38, " in out
    assert out.index("TOGETHER") < out.index("leadership lost and regained, as F-51 needs: ")
    (together,) = json.loads(invoke("assess", "--log", log, "--format", "json")[1])["near_together"]
    assert "leader-returned" in together["kinds"]


def test_an_upgrade_in_a_few_lines(invoke: Invoke, tmp_path: Path) -> None:
    """What is fixed, new, or seen in another way; what was only not tried is not called fixed."""
    question = ("assess", "--kafka", "4.1", "--replication-factor", "3", "--min-insync-replicas", "1")
    code, out, _ = invoke(*question, "--compare", "kafka=4.3", "--compare", "min.insync.replicas=2,kafka=4.1.1")
    release, settings = (part.partition("\n\n")[0] for part in out.split("compared with ")[1:])
    assert code == 1 and release.startswith("kafka=4.3\n") and len(release.splitlines()) < 20
    assert "\nfixed        F-23, " in release and "\nnew          F-60, " in release
    assert "F-52" in release and "4.1.2 brokers: lost (F-52/last), not seen (F-52/h1); 4.3.1 brokers: lost" in release
    assert "\ngone         min.insync.replicas, by design" in settings and "\nnot tried    F-68, " in settings
    _, out, _ = invoke(*question, "--compare", "kafka=4.1.2", "-q")
    assert "compared with kafka=4.1.2: nothing differs" in out
    (tmp_path / "topics.txt").write_text(TWO_TOPICS)
    report = assess("4.1", topics=(tmp_path / "topics.txt",), compare=("kafka=4.3",))
    changes = {(change.change, change.finding.finding) for change in report.comparisons[0].changes}
    assert {("gone", "F-23"), ("new", "F-60"), ("seen", "F-52")} <= changes and ("new", "F-62") not in changes
    assert invoke(*question, "--compare", "kafk=4.3")[0] == 2


@pytest.mark.parametrize(
    ("kafka", "elr", "undecided"),
    [
        ("4.2.2", None, ["F-56", "F-63", "F-68", "F-70"]),
        ("4.2.1", None, ["F-67", "F-68", "F-70"]),
        ("4.2.1", False, ["F-68", "F-70"]),
        ("3.9", None, ["F-70"]),
        ("4.3.1", None, []),
    ],
)
def test_what_was_not_tried_in_a_release_is_not_passed_over(
    kafka: str, elr: bool | None, undecided: list[str], invoke: Invoke
) -> None:
    """4.2 stands for 4.2.2, on which less was tried than on 4.2.1 and 4.3.0: F-63 is on both."""
    (group,) = assess(kafka, elr=elr).groups
    named = [re.findall(r"F-\d+", note.partition("(")[0]) for note in group.notes if "undecided in" in note]
    assert [sorted(each) for each in named] == ([undecided] if undecided else [])
    assert not set(undecided) & {finding.finding for finding in group.findings}
    printed = " ".join(invoke("assess", "--kafka", kafka, "--fail-on", "never")[1].split())
    assert ("shown in other releases, and undecided in" in printed) is bool(undecided)


def test_what_a_release_cannot_have_is_not_put_down_to_its_settings() -> None:
    """No settings of 3.9 have an ELR; those of 4.1 have one unless it is off."""
    (over_there,) = assess("3.9", compare=("kafka=4.3",)).comparisons
    absences = {change.finding.finding: change.absence for change in over_there.changes if change.change == "new"}
    assert {absences[finding] for finding in ("F-20", "F-24", "F-64", "F-28")} == {"prevented"}
    (on,) = assess("4.1", elr=False, compare=("elr=on",)).comparisons
    assert "settings" in {change.absence for change in on.changes if change.finding.finding == "F-20"}


def test_the_page_names_every_topic_and_links_to_its_findings(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    topic = "Topic: t{}\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=1\n"
    file.write_text("".join(topic.format(number) for number in range(300)) + TWO_TOPICS)
    log = str(ROOT / "tests" / "data" / "metadata_log" / "lost-4.1.1")
    question = ("assess", "--kafka", "4.1", "--topics", str(file), "--log", log, "--compare", "kafka=4.3")
    page = invoke(*question, "--format", "html")[1]
    assert "<li>t299</li>" in page and page.count("<li>t299</li>") == 1 and "300 topics, one in a line" in page
    assert page.count('<tr id="F-23"') == 1 and '<a href="#F-23">F-23</a>' in page
    assert set(re.findall(r'href="#(F-\d+)"', page)) <= set(re.findall(r'<tr id="(F-\d+)"', page)), "no link is dead"
    assert f"<dd>{file}, {log}</dd>" in page and "<dd>Kafka 4.1.2</dd>" in page
    assert re.search(r"<dt>assessed</dt><dd>\d{4}-\d\d-\d\d ", page)
    assert '<td data-label="what to do">' in page, "on a phone, each cell has a line with its label"
    assert page.index("Beside the flags") < page.index("Findings that this release and these settings allow")


def test_what_is_not_read_stands_at_the_top_and_exits_with_3(invoke: Invoke, tmp_path: Path) -> None:
    """Unless something fails, which exits with 1."""
    file = tmp_path / "topics.txt"
    file.write_text(TWO_TOPICS.replace("unclean.leader.election.enable", "unclean.leader.election.enabled"))
    for fail_on, code in (("loss", 1), ("flag", 3), ("never", 3)):
        ended, out, _ = invoke("assess", "--kafka", "4.3", "--topics", str(file), "--fail-on", fail_on)
        assert ended == code and out.splitlines()[1].startswith("unread       line 3: unknown setting")
        assert out.index("unread") < out.index("topics       orders") and "unclean election on" not in out
    _, _, err = invoke("assess", "--kafka", "4.3", "--topics", str(tmp_path / "none.txt"))
    assert "error[topics-unreadable]" in err


def test_every_format_of_ci_has_the_number_that_fails(invoke: Invoke, tmp_path: Path) -> None:
    """A finding of the release is listed once, however many kinds of settings there are, and fails nothing."""
    topic = "Topic: {}\tPartitionCount: 2\tReplicationFactor: {}\tConfigs: min.insync.replicas={}\n"
    file = tmp_path / "topics.txt"
    file.write_text("".join(topic.format(*each) for each in (("a", 3, 2), ("b", 4, 2), ("c", 3, 1), ("d", 5, 2))))
    question = ("assess", "--kafka", "4.3", "--topics", str(file), "--fail-on", "settings")
    form = {name: invoke(*question, "--format", name) for name in ("github", "markdown", "junit", "sarif")}
    assert {code for code, _, _ in form.values()} == {1}
    github, markdown, junit, sarif = (out for _, out, _ in form.values())
    assert 'failures="1"' in junit and github.count("::error ") == 1
    assert github.splitlines()[-1] == "elrcheck assess fails with exit code 1: c: min.insync.replicas"
    assert re.findall(r"^(\d+) failed", markdown, re.M) == ["1"] and len(markdown) < 8000
    assert "fails with exit code 1: c: min.insync.replicas." in markdown and markdown.count("❌") == 1
    run = json.loads(sarif)["runs"][0]
    results = [(result["ruleId"], result["level"]) for result in run["results"]]
    assert [rule for rule, level in results if level == "error"] == ["min.insync.replicas"]
    assert len(results) == len(set(results)) and ("F-20", "note") in results
    described = {rule["id"]: rule["fullDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert all(text.endswith(".") and " " in text for text in described.values())
    file.write_text(topic.format("a", 3, 2))
    code, out, _ = invoke(*question, "--format", "github")
    assert code == 0 and out.splitlines()[-1] == "elrcheck assess passes"


def test_what_makes_the_job_fail_unread_is_an_error(invoke: Invoke, tmp_path: Path) -> None:
    definition = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata:\n  name: {}\n"
    spec = "spec:\n  replicas: {}\n  config:\n    min.insync.replicas: 2\n"
    (tmp_path / "bad.yaml").write_text(definition.format("{{ .name }}"))
    (tmp_path / "good.yaml").write_text((definition + spec).format("a", 3))
    question = ("assess", "--kafka", "4.3", "--topics", ".", "--fail-on", "settings", "--format", "github")
    code, out, _ = invoke(*question)
    assert code == 3 and "::error file=bad.yaml,line=4,title=elrcheck assess::Not read: " in out
    assert out.splitlines()[-1].startswith("elrcheck assess fails with exit code 3: not read: bad.yaml, line 4: ")
    (tmp_path / "good.yaml").write_text((definition + spec).format("a", 1))
    code, out, _ = invoke(*question)
    assert code == 1 and "::warning file=bad.yaml,line=4," in out


def test_findings_are_listed_by_release_the_worst_first(invoke: Invoke) -> None:
    code, out, _ = invoke("list", "findings", "--kafka", "4.1", "--format", "json")
    rows = json.loads(out)
    ids = [row["id"] for row in rows]
    assert code == 0 and {"F-20", "F-51", "F-64", "F-62"} <= set(ids) and not {"F-2", "F-60", "F-55"} & set(ids)
    assert ids.index("F-20") < ids.index("F-64") and rows[0]["summary"].endswith("level brokers")
    assert invoke("list", "actions", "--kafka", "4.1")[0] == 2
    assert "no rules are known for Kafka `9.9`" in invoke("list", "findings", "--kafka", "9.9")[2]
