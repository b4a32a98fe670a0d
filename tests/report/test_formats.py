"""JUnit, SARIF, GitHub, Markdown, Mermaid and JSON Lines, each read back by what others read it with."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from junitparser import Failure, JUnitXml, Skipped
from markdown_it import MarkdownIt
from msgspec.structs import replace

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.cli import cli
from elrcheck.console.option_values import output_file
from elrcheck.console.output import Output
from elrcheck.console.shell import Shell
from elrcheck.report.ci.github import message, value
from elrcheck.report.ci.junit import legal
from elrcheck.report.ci.markdown import escape, to_markdown
from elrcheck.report.document import Case, Document, Sheet, Suite, judged
from elrcheck.report.formats import EVERY, FORMATS, LISTS, PLAIN, render
from elrcheck.report.log_notes import Loss, loss
from elrcheck.report.trace_diagrams import mermaid
from elrcheck.results.any_report import Report
from elrcheck.results.trace_reports import TlcReport
from elrcheck.results.trace_view import Argument, Step, TraceView
from support.places import TESTS
from support.report_samples import CHECK, LOST, MUTATE, PROVE, TRACE

SARIF = jsonschema.Draft202012Validator(json.loads((TESTS / "data" / "sarif-2.1.0.json").read_text()))
NODE_MODULES = TESTS / "mermaid" / "node_modules"

# ---------------------------------------------------------------------------------- JUnit


def test_junit_is_read_by_junitparser() -> None:
    (suite,) = JUnitXml.fromstring(render(CHECK, "junit").encode())
    assert (suite.name, suite.tests, suite.failures, suite.skipped, suite.errors) == (
        "kip_full, two-brokers",
        4,
        1,
        1,
        0,
    )
    cases = {case.name: case for case in suite}
    assert list(cases) == ["P-1 LeaderCompleteness", "P-2 Other", "W-1 Seen", "W-2 Unseen"]
    (failure,) = cases["P-1 LeaderCompleteness"].result
    assert isinstance(failure, Failure)
    assert failure.message == ("P-1 LeaderCompleteness violated at depth 2: leader_holds_committed for b=1")
    assert "step 2    Fence(b=1)" in failure.text and "partition.isr: {0,1} -> {0}" in failure.text
    assert [type(result) for result in cases["W-2 Unseen"].result] == [Skipped]
    assert cases["P-2 Other"].is_passed and cases["W-1 Seen"].is_passed


def test_a_proof_and_mutations_as_junit() -> None:
    suites = {suite.name: suite for suite in JUnitXml.fromstring(render(PROVE, "junit").encode())}
    assert {name: (s.tests, s.failures, s.skipped) for name, s in suites.items()} == {
        "kip_full, initiation": (1, 0, 0),
        "kip_full, consecution": (2, 1, 1),
        "kip_full, implication": (1, 0, 0),
        "kip_full, not covered": (1, 0, 1),
    }
    hazards, guards = JUnitXml.fromstring(render(MUTATE, "junit").encode())
    assert (hazards.tests, hazards.failures, hazards.skipped) == (3, 1, 1)
    assert (guards.tests, guards.failures, guards.skipped) == (1, 0, 0)


def test_characters_that_xml_forbids_are_replaced() -> None:
    assert legal("a\x00b\x1bc\ud800d\te\n") == "a\ufffdb\ufffdc\ufffdd\te\n"
    case = Case("a", "a", "failed", "v", 'm\x01<&">', "t\x02]]>")
    text = render_document(Document("check", "violated", ExitCode.FINDING, (), Sheet("", (Suite("s", (case,)),))))
    (suite,) = JUnitXml.fromstring(text.encode())
    (failure,) = next(iter(suite)).result
    assert failure.message == 'm\ufffd<&">' and failure.text == "t\ufffd]]>"


def render_document(sheet: Sheet) -> str:
    from elrcheck.report.ci.junit import to_junit

    return to_junit(sheet)


# ---------------------------------------------------------------------------------- SARIF


def sarif(report: Report) -> Any:
    document = json.loads(render(report, "sarif"))
    SARIF.validate(document)
    return document["runs"][0]


def lines(place: Any) -> tuple[str, int]:
    physical = place["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


def test_sarif_shows_the_trace_at_the_lines_of_the_model() -> None:
    run = sarif(CHECK)
    (result,) = run["results"]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "P-1"
    assert result["level"] == "error"
    assert lines(result["locations"][0]) == ("invariants/properties.py", 68)
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [lines(step["location"]) for step in steps] == [
        ("model/broker/replica.py", 30),
        ("model/control_plane/broker_events.py", 12),
        ("model/isr.py", 5),
        ("model/control_plane/elections.py", 8),
    ]
    text = steps[1]["location"]["message"]["text"]
    assert text.startswith("2. Fence(b=1): partition.isr: {{0,1}} -> {{0}};")
    assert run["invocations"][0]["exitCode"] == 1
    assert [n["message"]["text"] for n in run["invocations"][0]["toolExecutionNotifications"]] == [
        "W-2 Unseen (kip_full, two-brokers): no state of this search shows it"
    ]


def test_a_rule_names_its_page_if_the_release_says_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from elrcheck.report.ci.sarif import to_sarif

    case = Case("F-1", "One", "failed", "loss", "m", "It happens.\n", help="Do.", page="findings/F-1.md")
    document = Document("assess", "at_risk", ExitCode.FINDING, (), Sheet("", (Suite("s", (case,)),)))
    for url in (None, "https://example.org/docs"):
        monkeypatch.setattr("elrcheck.report.ci.sarif.documentation", lambda url=url: url)
        log = json.loads(to_sarif(document))
        SARIF.validate(log)
        (rule,) = log["runs"][0]["tool"]["driver"]["rules"]
        assert rule["fullDescription"]["text"] == "It happens." and rule.get("helpUri") == (
            url and f"{url}/{case.page}"
        )


def test_a_refuted_cell_as_sarif() -> None:
    (result,) = sarif(PROVE)["results"]
    assert result["ruleId"] == "TypeOk"
    assert lines(result["locations"][0]) == ("invariants/lemmas/lemmas_views.py", 10)
    (step,) = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert lines(step["location"]) == ("model/control_plane/broker_events.py", 40)


def test_fingerprints_tell_findings_apart_and_stay_the_same() -> None:
    def prints(report: Report) -> list[str]:
        return [result["partialFingerprints"]["elrcheckCase/v1"] for result in sarif(report)["results"]]

    from msgspec.structs import replace

    other = replace(CHECK, scope="three-brokers")
    later = replace(CHECK, search=replace(CHECK.search, distinct=99))
    assert prints(CHECK) == prints(later) != prints(other)


# --------------------------------------------------------------------------------- GitHub


def test_github_escapes_what_would_end_a_command() -> None:
    assert message("50% a:b,c\r\nd\n") == "50%25 a:b,c%0D%0Ad"
    assert value("50% a:b,c\nd") == "50%25 a%3Ab%2Cc%0Ad"


def test_one_annotation_for_each_finding() -> None:
    annotations = render(CHECK, "github").splitlines()
    assert len(annotations) == 3 and annotations[1].startswith("VIOLATED  kip_full, two-brokers")
    assert annotations[2] == "elrcheck check fails with exit code 1: P-1 LeaderCompleteness"
    head, text = re.fullmatch(r"::error (.+?)::(.*)", annotations[0]).groups()  # type: ignore[union-attr]
    assert head == ("file=invariants/properties.py,line=68,title=P-1 LeaderCompleteness (kip_full%2C two-brokers)")
    assert "because  b is unfenced; 50%25 <sure>%0A" in text


def test_a_run_that_decided_nothing_is_a_warning() -> None:
    from msgspec.structs import replace

    search = replace(CHECK.search, complete=False, stopped_by="--max-depth 3")
    open_ = replace(CHECK.properties[1], verdict="inconclusive")
    report = replace(CHECK, verdict="inconclusive", search=search, properties=(open_,))
    warnings = [line for line in render(report, "github").splitlines() if line.startswith("::warning ")]
    assert warnings == [
        "::warning title=elrcheck check::1 undecided: P-2",
        "::warning title=elrcheck check::the search is incomplete: it was stopped by --max-depth 3",
    ]


# ------------------------------------------------------------------------ Markdown, Mermaid


def test_markdown_shows_table_trace_and_diagram() -> None:
    text = render(CHECK, "markdown")
    assert text.startswith("# elrcheck check: violated\n")
    assert "| ❌ P-1 LeaderCompleteness | violated at depth 2 | invariants/properties.py:68 |" in text
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    fences = [token.info for token in tokens if token.type == "fence"]
    assert fences == ["text", "mermaid"]
    assert [token.type for token in tokens].count("tr_open") == 1 + 4 + 1 + 4  # two tables with their heads
    assert "html_block" not in {token.type for token in tokens}


def test_markdown_has_no_accidental_meaning() -> None:
    assert escape("a|b *c* <d> [e] `f`\n_g_") == r"a\|b \*c\* \<d\> \[e\] \`f\` \_g\_"
    case = Case("a", "a", "failed", "v", "", "```\nnot the end\n````")
    text = to_markdown(Document("check", "violated", ExitCode.FINDING, (), Sheet("", (Suite("s", (case,)),))))
    assert "`````text\n```\nnot the end\n````\n`````" in text


def test_the_diagram_has_controller_and_brokers() -> None:
    assert mermaid(TRACE, 2).splitlines() == [
        "sequenceDiagram",
        "    participant Controller",
        "    participant B0 as broker 0",
        "    participant B1 as broker 1",
        "    B1-xB0: 1. Fetch(f=1, leader=0, lost=true)",
        "    Note over B1: log: [] → [r1@1(all)]",
        "    Note over B1: 2. Fence(b=1)",
        "    Note over Controller: isr: {0,1} → {0}<br/>elr: {} → {1}",
        "    B0->>Controller: 3. ShrinkIsr(leader=0, out={1})",
        "    Note over Controller: 4. ElectPreferred()",
    ]


def test_the_diagram_shows_the_loss() -> None:
    """Log before and after, what was committed and lost, and a frame around what breaks a property."""
    lines = mermaid(LOST, 2).splitlines()
    crash = lines.index("    Note over B0: 2. Crash(b=0)")
    assert lines[crash - 3 : crash + 4] == [
        "    Note over B0: log: [] → [r1@1(all)]<br/>committed: r1@1(all)<br/>acknowledged: r1@1(all)",
        "    Note over Controller: isr: {0,1} → {0}",
        "    rect rgba(200, 30, 30, 0.15)",
        "    Note over B0: 2. Crash(b=0)",
        "    Note over B0: log: [r1@1(all)] → []<br/>✗ loses committed r1",
        "    Note over Controller: ✗ no log has r1 any more<br/>✗ P-8 Kept is false",
        "    end",
    ]
    assert lines[crash + 4 :] == ["    Note over B1: 3. Elect(b=1)", "    Note over Controller: leader: 0 → 1"]


def test_a_loss_names_the_record_and_who_leads_without_it() -> None:
    assert loss(LOST) == Loss("r1@1(all)", None, True, 1, 2)
    surviving = replace(LOST, initial={**LOST.initial, "broker[2].log": "[r1@1(all)]"})
    assert loss(surviving) == Loss("r1@1(all)", "1", True, 1, None), "broker 1 never had it"
    assert loss(replace(LOST, steps=LOST.steps[:1])) is None and loss(TRACE) is None


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.skipif(not (NODE_MODULES / "mermaid").is_dir(), reason="`npm install` was not run in tests/mermaid")
def test_the_real_mermaid_reads_the_diagram(tmp_path: Path) -> None:
    odd = TraceView(steps=(Step(1, "Odd", (Argument("b", "1"), Argument("x", "a;b#c<d>: end, %% -> loop"))),))
    files = [tmp_path / "trace.mmd", tmp_path / "odd.mmd", tmp_path / "lost.mmd"]
    for file, trace in zip(files, (TRACE, odd, replace(LOST, loop=1)), strict=True):
        file.write_text(mermaid(trace, 2), encoding="utf-8")
    command = ["node", TESTS / "mermaid" / "parse.mjs", *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    drawn, other, lost = (json.loads(line) for line in done.stdout.splitlines())
    assert drawn["type"] == "sequence"
    assert drawn["actors"] == other["actors"] == ["Controller", "B0", "B1"]
    assert drawn["messages"][0] == "1. Fetch(f=1, leader=0, lost=true)"
    assert len(drawn["messages"]) == 6 and len(other["messages"]) == 1
    assert "✗ loses committed r1" in " ".join(map(str, lost["messages"]))


# ----------------------------------------------------------------------------- JSON Lines


@pytest.mark.parametrize("report", [CHECK, PROVE, MUTATE], ids=["check", "prove", "mutate"])
def test_every_line_is_an_object_of_its_own(report: Report) -> None:
    objects = [json.loads(line) for line in render(report, "jsonl").splitlines()]
    assert objects[0]["record"] == "head" and objects[0]["schema"] == report.schema
    assert objects[-1] == {"record": "verdict", "verdict": report.verdict, "exit_code": int(report.exit_code)}


def test_lines_are_named_after_their_lists() -> None:
    objects = [json.loads(line) for line in render(CHECK, "jsonl").splitlines()]
    assert [line["record"] for line in objects] == ["head", *["properties"] * 4, "actions", "verdict"]
    assert objects[1]["id"] == "P-1" and objects[1]["counterexample"]["repro"] == "0/4/1/2"


# ------------------------------------------------------------------------------- selection


def test_a_report_that_is_no_list_of_cases_is_refused() -> None:
    tlc = TlcReport("same", "Elr", "tla2tools.jar", "2.15", (), 0, 1.0)
    with pytest.raises(UsageFault, match="this format does not support"):
        judged(tlc)


def test_the_step_summary_is_added_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("earlier\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    Shell(progress=False).deliver(CHECK, Output("markdown"))
    assert summary.read_text() == "earlier\n"
    assert Shell(progress=False).deliver(CHECK, Output("github")) is ExitCode.FINDING
    assert summary.read_text().startswith("earlier\n# elrcheck check: violated\n")
    assert "::error file=" in capsys.readouterr().out


def test_the_name_of_a_file_says_its_format(tmp_path: Path) -> None:
    endings = {
        "a.json": "json",
        "a.jsonl": "jsonl",
        "a.xml": "junit",
        "a.md": "markdown",
        "a.sarif": "sarif",
        "a.html": "html",
        "a.prom": "prometheus",
    }
    for name, form in {**endings, "a.txt": "text", "junit:a.txt": "junit"}.items():
        assert output_file(EVERY, name) == (form, Path(name.rpartition(":")[2]))
    with pytest.raises(click.BadParameter, match="no format sarif here"):
        output_file(PLAIN, "a.sarif")
    with pytest.raises(click.BadParameter, match="no format sarif here"):
        output_file((*PLAIN, *LISTS), "sarif:a.txt")


@pytest.mark.parametrize("form", EVERY)
def test_every_format_ends_with_one_newline(form: str) -> None:
    text = render(CHECK, form)
    assert text.endswith("\n") and not text.endswith("\n\n")


@pytest.mark.parametrize("form", ["junit", "github", "markdown", "html", "sarif", "prometheus", "csv"])
def test_the_list_of_formats_names_every_command_that_has_one(form: str) -> None:
    commands = FORMATS[form].rpartition(";")[2].strip(" .")
    assert set(commands.split(", ")) == {name for name, forms in commands_with_formats() if form in forms}


def commands_with_formats(group: click.Group = cli, before: str = "") -> Iterator[tuple[str, Sequence[str]]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands_with_formats(command, f"{before}{name} ")
        for param in command.params:
            if param.name == "form" and isinstance(param.type, click.Choice):
                yield before + name, param.type.choices
