"""The pages of replay, simulate and explain, from reports made by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from elrcheck.base.errors import ExitCode
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.results.exploration_report import SeenProperty, SimulationReport, WalkedAction, WalksReport
from elrcheck.results.trace_reports import (
    Candidate,
    Clause,
    Explained,
    ExplainReport,
    Hit,
    Looked,
    Origin,
    Rejection,
    ReplayReport,
)
from elrcheck.results.trace_view import Argument, Change, TraceView
from support.html_pages import EVIL, Page, assert_sound, html
from support.report_samples import TRACE

ORIGIN = Origin("t.itf.json", "legacy", "two-brokers", {"broker_count": 2}, "itf", "P-8")
ISR = Change("partition.isr", "{0,1}", "{0}")
REFUSED = Rejection(
    5,
    "no action makes this state",
    "Fence(b=1)",
    (ISR,),
    (
        Candidate("Fence", (Argument("b", "1"),), None, (Change("partition.elr", "{}", "{1}"),), True),
        *(Candidate("Crash", (Argument("b", str(n)),), None, (ISR,)) for n in range(3)),
        Candidate("Unfence", (Argument("b", "0"),), "b is fenced"),
    ),
)
REPLAY = ReplayReport("rejected", ORIGIN, 7, 5, TRACE, REFUSED, (Hit("P-8", "Kept", 4, "kept", "k=0"),), 3)
WALKS = WalksReport(100, 100, 900, 1000, 40, 2, 1, 77.4, 0.6, 0.5, 2000.0, "--time-budget 1s")
SIMULATION = SimulationReport(
    "violated",
    "legacy",
    "two-brokers",
    {"broker_count": 2},
    7,
    40,
    2,
    None,
    WALKS,
    (
        SeenProperty("P-8", "Kept", "always", "violated", 4, 3, "kept", "k=0", "P-8.trace.json", TRACE),
        SeenProperty("P-1", "Led", "always", "inconclusive"),
        SeenProperty("W-1", "Seen", "sometimes", "reached", 2, 1),
    ),
    (WalkedAction("Fence", 5, 9, 1), WalkedAction("Fetch", 50, 60, 0)),
    "run",
)
INNER = Clause("k < len(log)", False, None, (), None, (Looked("len(log)", "0"),))
WHOLE = Clause("any(holds(b) for b in ...)", False, "kept", (Argument("k", "0"),), 3, (), (INNER,))
FALSE = Explained("P-8", "Kept", False, (WHOLE,), statement="A record stays.", source="p.py:3")
CHOICE = Explained(
    "",
    "Fence",
    False,
    (Clause("not b.fenced", False, "b is unfenced"),),
    (Argument("b", "1"),),
    "b is unfenced",
    ("b is registered",),
)
EXPLAIN = ExplainReport("violated", ORIGIN, 4, 4, "Fence(b=1)", (FALSE, CHOICE), {"partition.isr": "{0}"})


def test_the_page_of_a_refused_trace() -> None:
    page = assert_sound(REPLAY)
    text = page.text()
    assert "elrcheck replay: ✗ rejected" in text and "the model accepts 5 of 7 states" in text
    assert "Step 5 is refused, recorded as Fence(b=1)" in text and "no action makes this state" in text
    assert "Fence(b=1) partition.elr {} {1}" in text and "1 more are enabled" in text
    assert "Crash(b=1)" in text and "Crash(b=2)" not in text, "three of what is possible"
    assert "Unfence(b=0) b is fenced" in text and "P-8 Kept at step 4: kept for k=0" in text
    assert "Accepted prefix: t.itf.json" in text and "Counterexample" not in text


def test_the_page_of_a_trace_that_is_followed_or_not_at_all() -> None:
    accepted = replace(REPLAY, verdict="accepted", accepted=7, rejection=None, violated=())
    fine = assert_sound(replace(accepted, beyond=None))
    assert "✓ accepted" in fine.text() and "is refused" not in fine.text() and "data-go" in str(fine.tags)
    first = replace(REFUSED, step=0, recorded=None, candidates=())
    none = assert_sound(replace(REPLAY, accepted=0, rejection=first, trace=TraceView(TRACE.initial)))
    assert "The first state is refused" in none.text() and "data-go" not in str(none.tags)


def test_the_page_of_walks() -> None:
    text = assert_sound(SIMULATION).text()
    assert "elrcheck simulate: ✗ violated" in text and "about 77 distinct (standard error 1)" in text
    assert "P-8 Kept violated after 4 steps of walk 3: kept for k=0" in text and "? not seen" in text
    assert "Counterexample: P-8 Kept" in text and "Stored in run/P-8.trace.json." in text
    assert text.index("Fetch 50 60 0") < text.index("Fence 5 9 1") and "written in" not in text
    assert "? inconclusive" in assert_sound(replace(SIMULATION, verdict="inconclusive", properties=())).text()


def test_the_page_of_an_explanation() -> None:
    page = assert_sound(EXPLAIN)
    text = page.text()
    assert "State 4 of 4, after Fence(b=1)" in text and "P-8 Kept: ✗ false" in text
    assert "✗ false kept any(holds(b) for b in ...) for k=0 (of 3) ✗ false k < len(log) len(log) = 0" in text
    assert "Fence(b=1): ✗ refused" in text and "Not evaluated: b is registered." in text
    assert "partition.isr {0}" in text


def test_hostile_names_stay_text() -> None:
    evil = Clause(EVIL, True, EVIL, (Argument(EVIL, EVIL),), 1, (Looked(EVIL, EVIL),))
    explained = replace(EXPLAIN, explained=(Explained(EVIL, EVIL, True, (evil,)),), state={EVIL: EVIL})
    origin = Origin(EVIL, EVIL, EVIL, {EVIL: EVIL}, EVIL, EVIL)
    rejected = replace(REFUSED, reason=EVIL, recorded=EVIL, candidates=(Candidate(EVIL, (), EVIL),))
    for report in (explained, replace(REPLAY, origin=origin, rejection=rejected)):
        page = Page(html(report))
        kinds = [attributes.get("type") for tag, attributes in page.tags if tag == "script"]
        assert kinds[-1] is None and set(kinds[:-1]) <= {"application/json"}


def test_the_commands_have_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a trace of no steps: the initial state, in which P-1 holds."""
    trace, page = str(tmp_path / "t.trace.json"), tmp_path / "p.html"
    argv = ["trace", "show", "--repro", "", "--variant", "legacy", "--scope", "two-brokers", "--save", trace]
    assert run(cli, argv) == ExitCode.HOLDS
    for verb, more, verdict in (("explain", ("-p", "P-1"), "holds"), ("replay", (), "accepted")):
        assert run(cli, [verb, trace, *more, "--html", str(page)]) == ExitCode.HOLDS
        title = re.search("<title>(.*)</title>", page.read_text(encoding="utf-8"))
        assert title and title[1] == f"elrcheck {verb}: {verdict}"
    capsys.readouterr()
