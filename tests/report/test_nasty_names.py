"""Names that mean something in a format, in every report that has it, read back by others.

A file of the user has any name: a scope, a baseline, a trace.
"""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml
from markdown_it import MarkdownIt
from msgspec.structs import replace

from elrcheck.report.formats import LISTS, LOCATED, PLAIN, render
from elrcheck.report.sweep_table import to_csv
from elrcheck.results.any_report import Report
from elrcheck.results.gate_report import Difference, EntryReport, GateReport
from elrcheck.results.mutation_report import GuardReport, HazardReport, MutateReport
from elrcheck.results.proofs.controller_report import (
    ControllerReport,
    EventReport,
    RuleReport,
    StepFailure,
    StepReport,
    VariantReport,
)
from elrcheck.results.prove_report import SolverReport
from elrcheck.results.suite_report import SweepAxis, SweepEngine, SweepReport, SweepRow
from elrcheck.results.trace_reports import Candidate, Origin, Rejection, ReplayReport
from elrcheck.results.trace_view import Argument, Change, Step, TraceView
from support.places import TESTS
from support.report_samples import CHECK, PROVE

SARIF = jsonschema.Draft202012Validator(json.loads((TESTS / "data" / "sarif-2.1.0.json").read_text()))
NASTY = "a\x01|b`c` [d](e) {0} ;#f<img>&\"'::50%\r\n::error::pwned\n# heading\ud800.toml"

STEP = Step(1, "Fence", (Argument("b", NASTY),), NASTY, (), "model/control_plane/broker_events.py:12")
FAILED = replace(CHECK.properties[0], name=NASTY, witness=NASTY, counterexample=TraceView({}, (STEP,)))
NASTY_CHECK = replace(CHECK, scope=NASTY, properties=(FAILED, *CHECK.properties[1:]))
DIFFERENCE = Difference("P-1", NASTY, "holds", NASTY, "violated", True, True)
COUNTED = Difference("distinct", NASTY, "1", NASTY, "count", False, True)
CONTROLLER = ControllerReport(
    "refuted",
    2,
    SolverReport("z3", "4", 1.0),
    1.0,
    (RuleReport("CT-1", NASTY, NASTY, NASTY),),
    (
        VariantReport(
            NASTY,
            "refuted",
            0,
            1,
            0,
            0.1,
            {},
            (),
            (EventReport(NASTY, NASTY, "possible", 0.0),),
            (
                StepReport(
                    NASTY,
                    "CT-1",
                    "refuted",
                    0.1,
                    NASTY,
                    StepFailure(
                        {}, {}, {"isr": NASTY}, (Argument("b", NASTY),), (Change("isr", NASTY, NASTY),), NASTY, True
                    ),
                ),
            ),
        ),
    ),
)
REPORTS: dict[str, Report] = {
    "check": NASTY_CHECK,
    "prove": replace(PROVE, variant=NASTY, cells=(replace(PROVE.cells[0], action=NASTY, lemma=NASTY),)),
    "prove --controller": CONTROLLER,
    "mutate": MutateReport(
        "not_found",
        1.0,
        1,
        (HazardReport("F-1", NASTY, NASTY, NASTY, "not_found", (), reason=NASTY),),
        guards=(GuardReport(NASTY, NASTY, "inconclusive", reason=NASTY),),
    ),
    "gate": GateReport(
        "drift",
        NASTY,
        ("drift",),
        1.0,
        (EntryReport(NASTY, f"{NASTY}:7", "drift", (DIFFERENCE, COUNTED), NASTY_CHECK),),
    ),
    "replay": ReplayReport(
        "rejected",
        Origin(NASTY, NASTY, NASTY, {"broker_count": 2}, "itf", NASTY),
        2,
        1,
        TraceView({}, (STEP,)),
        Rejection(2, NASTY, NASTY, (), (Candidate(NASTY, (), NASTY),)),
    ),
}
every_report = pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)


@every_report
def test_junit(report: Report) -> None:
    parsed = JUnitXml.fromstring(render(report, "junit").encode("utf-8"))
    failures = [case for suite in parsed for case in suite if case.result and not case.is_skipped]
    assert failures and all("\x01" not in case.name for case in failures)
    for case in failures:
        line = case._elem.get("line")
        assert line is None or line.isdigit()


@every_report
def test_sarif(report: Report) -> None:
    document = json.loads(render(report, "sarif")) if not isinstance(report, MutateReport) else None
    if document is None:
        return
    SARIF.validate(document)
    assert document["runs"][0]["results"]
    for uri in re.findall(r'"uri": "([^"]*)"', json.dumps(document)):
        assert re.fullmatch(r"[\w./%~-]+", uri), uri


@every_report
def test_github(report: Report) -> None:
    *commands, result, last = render(report, "github").splitlines()
    assert commands and all(re.match(r"::(error|warning) [^\r\n]*::", line) for line in commands)
    assert not result.startswith("::") and not last.startswith("::")
    for line in commands:
        head = line.split("::")[1].partition(" ")[2]
        assert all(re.fullmatch(r"(file|line|title)=[^:,]*", field) for field in head.split(",")), head


@every_report
def test_markdown(report: Report) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(render(report, "markdown"))
    flat = [token for outer in tokens for token in (outer, *(outer.children or ()))]
    kinds = {token.type for token in flat}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "code_inline", "em_open"}
    headings = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    assert not any(text == "heading" or text.startswith("heading\ud800") for text in headings)
    rows = [sum(t.type in ("td_open", "th_open") for t in row) for row in _rows(tokens)]
    assert set(rows) <= {2, 3}


def _rows(tokens: list[Any]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        if rows:
            rows[-1].append(token)
    return rows


@every_report
def test_every_format_can_be_written(report: Report) -> None:
    located = () if isinstance(report, MutateReport) else LOCATED
    for form in (*PLAIN, *LISTS, *located):
        assert render(report, form).encode("utf-8", "backslashreplace")


def test_a_sweep_as_csv_markdown_and_html() -> None:
    rows = tuple(
        SweepRow(k, {"scope": f"{NASTY}{k}", "min_isr": k}, "legacy", f"{NASTY}{k}", "failed", reason=NASTY)
        for k in (1, 2)
    )
    axes = (SweepAxis("scope", (f"{NASTY}1", f"{NASTY}2")), SweepAxis("min_isr", (1, 2)))
    report = SweepReport("inconclusive", axes, ("scope", "min_isr"), rows, 0, 1.0, SweepEngine("local", 1, 1), NASTY)
    table = list(csv.DictReader(io.StringIO(to_csv(report), newline="")))
    assert len(table) == 2 and table[0]["scope"] == f"{NASTY}1"
    tokens = MarkdownIt("commonmark").enable("table").parse(render(report, "markdown"))
    assert not {t.type for o in tokens for t in (o, *(o.children or ()))} & {"html_block", "html_inline"}
    tags: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            tags.append(tag)

    Reader().feed(render(report, "html"))
    assert "table" in tags and "img" not in tags
