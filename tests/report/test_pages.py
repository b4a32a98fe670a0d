"""The order of a page: what needs attention first, the rest folded; the card; the loss as a picture."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from elrcheck.report.html.html_card import Card
from elrcheck.report.html.html_sequence import diagram
from elrcheck.report.log_notes import sentence
from elrcheck.report.report_pages import page_kind, page_of
from elrcheck.results.any_report import Report
from elrcheck.results.gate_report import Difference
from elrcheck.results.prove_report import Skipped
from support.html_pages import Page, assert_sound, html
from support.page_samples import DRIFT, FAILING, LOSS, PAGES, RISK, SEVERAL, SWEEP
from support.report_samples import FULL, LOST, PROVE, TRACE

GONE = "An acknowledged record can be lost: after step 3 no log has r1 any more (committed in step 1, lost in step 2)."


def before(text: str, *marks: str) -> bool:
    """Whether all marks are there, in this order."""
    places = [text.index(mark) for mark in marks]
    return places == sorted(places)


def card(report: Report) -> Card:
    return page_kind(report).card(report)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_sound_and_has_a_card_on_top(name: str) -> None:
    page = assert_sound(PAGES[name])
    text = html(PAGES[name])
    assert before(text, "<h1>", 'class="card ', '<main id="main">')
    assert [attributes.get("aria-label") for _, attributes in page.tags].count("Summary") == 1


def test_the_shortest_counterexample_is_first_and_open() -> None:
    text = html(SEVERAL)
    marks = ('id="c1-P-1"', 'class="sequence', 'class="state"', '<details class="fold">', 'id="c1-P-8"')
    assert before(text, *marks, 'id="c1-verdicts"', 'class="search"')
    assert [trace.title[:3] for trace in page_of(SEVERAL).parts[0].failing_traces] == ["P-1", "P-8"]
    verdicts = text[text.index('id="c1-verdicts"') :]
    marks = ("<details open>\n<summary>2 failed", "<details>\n<summary>1 not reached", "<details>\n<summary>2 passed")
    assert before(verdicts, *marks), "only what failed is open"
    fine = html(replace(FULL, verdict="holds", properties=FULL.properties[1:2]))
    assert "<details open>\n<summary>1 passed</summary>" in fine, "and open where nothing failed"


def test_a_gate_shows_what_fails_and_folds_what_is_expected() -> None:
    parts = page_of(DRIFT).parts
    assert [part.name.partition(":")[0] for part in parts] == ["worse", "known"]
    assert [part.folded for part in parts] == [False, True]
    assert [trace.title for trace in parts[1].expected_traces] == ["P-8 Kept"] and not parts[1].failing_traces
    text = html(DRIFT)
    assert before(text, 'id="e2-differences"', 'class="part"', 'id="e1"')
    passing = text[text.index('id="e1"') :]
    assert before(passing, "Verdicts", 'class="expected"', 'class="fold"', 'id="e1-P-8"')
    assert "worse: distinct is 5, expected 6." in Page(text).text()
    assert not any(part.folded for part in page_of(replace(DRIFT, entries=DRIFT.entries[:1])).parts)
    assert page_of(replace(DRIFT, entries=(FAILING,))).parts[0].worst == 0


def test_a_gate_says_what_a_new_violation_means_and_folds_counts_behind_it() -> None:
    (count,) = FAILING.differences
    new = Difference("P-1", "P-1", "holds", "violated", "violated", True, True)
    worse = replace(DRIFT, entries=(replace(FAILING, differences=(count, new)),))
    text = html(worse)
    assert before(text, "worse: After step 4 this is false", "worse: distinct is 5", "1 count differs, too")
    assert before(text, "P-1</th><td>holds", '<details class="fold">', "distinct</th><td>6")
    assert "count differs, too" not in html(replace(DRIFT, entries=(FAILING,)))


def test_a_loss_in_a_sentence() -> None:
    violated = LOSS.properties[0]
    assert sentence(violated) == GONE and GONE in Page(html(LOSS)).text()
    assert sentence(replace(violated, counterexample=TRACE)) == (
        "After step 4 this is false: “Every committed record is in some log”."
    )
    assert "never comes true" in sentence(replace(violated, counterexample=replace(TRACE, loop=2)))
    produce, *rest = LOST.steps
    untold = replace(LOST, steps=(replace(produce, changes=produce.changes[:-1]), *rest))
    assert sentence(replace(violated, counterexample=untold)).startswith("A committed record can be lost: ")
    assert sentence(FULL.properties[1]) == ""


def test_the_diagram_has_the_log_before_and_after() -> None:
    _, produce, crash, elect = diagram(LOST, 2).rows
    (line,) = produce.logs
    assert (line.broker, line.before, [(box.name, box.lost) for box in line.after]) == ("0", (), [("r1", False)])
    texts = [note.text for note in produce.notes]
    assert texts == ["isr: {0,1} → {0}", "✓ committed: r1", "✓ acknowledged: r1"]
    (line,) = crash.logs
    assert [[(box.name, box.lost) for box in side] for side in (line.before, line.after)] == [
        [("r1", False)],
        [("r1", True)],
    ]
    assert '<span class="fact passed">✓ acknowledged: r1</span>' in html(LOSS), "and when it was acknowledged"
    assert [note.text for note in crash.notes] == ["✗ no log has r1 any more", "✗ P-8 Kept is false"]
    assert [row.broken for row in (produce, crash, elect)] == [False, True, False] and not elect.logs
    assert 'class="box lost"' in html(LOSS)


def test_the_page_opens_with_the_state_after_the_last_step() -> None:
    text = html(LOSS)
    assert re.search(r'data-leaf="partition.leader" class="changed"><span class="value">1</span>', text)
    assert 'class="number-of-state">3</span> of 3' in text


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("check", [("2", "properties violated"), ("1", "property true"), ("1", "witness not reached")]),
        ("gate", [("1", "drift"), ("1", "same"), ("1", "difference not tolerated")]),
        ("suite", [("1", "not as expected"), ("1", "as expected")]),
        ("audit", [("1", "critical flag"), ("1", "low flag"), ("3", "partitions")]),
        ("risk", [("1", "set of events: lost"), ("1,200", "states searched")]),
        ("prove", [("1", "obligation refuted"), ("1", "unknown"), ("1", "proved"), ("1", "not covered")]),
        ("mutate", [("1", "not found"), ("1", "unnoticed"), ("1", "skipped"), ("1", "found")]),
    ],
)
def test_the_figures_of_a_card(name: str, figures: list[tuple[str, str]]) -> None:
    printed = card(PAGES[name])
    assert [(figure.value, figure.label) for figure in printed.figures][: len(figures)] == figures
    assert name != "risk" or printed.sentences == ("After a crash, an acknowledged record can be lost.",)
    assert ("not tried", "a reassignment, a fencing") in printed.lines or name != "check"


def test_the_card_of_several_settings_says_whose_answer_it_is() -> None:
    other = replace(RISK.first, settings=replace(RISK.settings, kafka="3.9.1"))
    assert card(RISK).lines[0][0] == "searched for losses"
    both = card(replace(RISK, answers=(), others=(other,)))
    assert both.sentences == ("After a crash, an acknowledged record can be lost (Kafka 3.9.1).",) and both.lines == ()


def test_a_sweep_has_the_style_of_the_other_pages() -> None:
    sweep, check = html(SWEEP), html(FULL)

    def style(text: str) -> str:
        return text[text.index("<style>") : text.index("</style>")]

    assert style(sweep) == style(check) and before(sweep, "<h1>", 'class="card failed-card"', "<main")
    assert 'href="#n2"' in sweep and 'id="n2"' in sweep


@pytest.mark.parametrize("report", [*PAGES.values()], ids=list(PAGES))
def test_no_two_landmarks_have_one_name(report: Report) -> None:
    regions = [attributes for _, attributes in Page(html(report)).tags if attributes.get("role") == "region"]
    names = [attributes.get("aria-label") or attributes.get("aria-labelledby") for attributes in regions]
    assert len(names) == len(set(names))


def test_the_card_of_a_proof_names_what_it_does_not_cover() -> None:
    left = tuple(Skipped(f"P-{number}", "Some", "not attempted") for number in range(8))
    action = Skipped("action", "Reassign", "not covered")
    proof = replace(PROVE, verdict="proved", cells=(), skipped=(*left, action))
    assert card(proof).sentences == ("Not covered: P-0, P-1, P-2, P-3, P-4, P-5 and 3 more.",)
    assert card(replace(proof, skipped=left[:1])).sentences == ("Not covered: P-0.",)
