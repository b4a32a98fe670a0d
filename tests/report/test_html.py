"""The HTML report without a browser: well formed, nothing from elsewhere, every text escaped, sound links."""

from __future__ import annotations

import base64
import hashlib
import json
import re

import pytest
from msgspec.structs import replace

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.printable import printable
from elrcheck.report.html.html_charts import growth, matrix, variables, yields
from elrcheck.report.html.html_page import MOST_CASES
from elrcheck.report.html.html_sequence import diagram
from elrcheck.report.html.html_trace import groups, trace_block
from elrcheck.report.report_pages import page_of
from elrcheck.results.check_report import ActionReport, CheckReport, VariableReport
from elrcheck.results.exploration_report import (
    ComponentsReport,
    DegreeReport,
    ExploredAction,
    ExploreReport,
    SpaceReport,
)
from elrcheck.results.prove_report import CellReport
from elrcheck.results.trace_view import Change, Step, TraceView
from support.html_pages import EVIL, Page, assert_sound, hostile, html
from support.page_samples import DRAWN, GRAPH
from support.report_samples import FULL, GATE, MUTATE, PROVE, TLC, TRACE, TRUTHS

EXPLORED = ExploreReport(
    "explored",
    "v",
    "s",
    {},
    1,
    None,
    SpaceReport(True, 3, 2, 2, 0, 0, 2, (1, 1), 0.1),
    (DegreeReport(1, 2),),
    1.0,
    (ExploredAction("A", 1, 1, 0),),
    (VariableReport("partition.isr", 2),),
    ComponentsReport(2, 0, 1),
    9,
    small_graph=GRAPH,
)
REPORTS = {"check": FULL, "drawn": DRAWN, "prove": PROVE, "mutate": MUTATE, "gate": GATE, "explore": EXPLORED}


@pytest.mark.parametrize("name", REPORTS)
def test_the_structure_of_a_page(name: str) -> None:
    assert_sound(REPORTS[name])


def test_the_policy_names_the_style_and_the_script_and_nothing_else() -> None:
    text = html(FULL)
    policy = next(g["content"] or "" for _, g in Page(text).tags if g.get("http-equiv") == "Content-Security-Policy")
    for name, pattern in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        (inside,) = re.findall(pattern, text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy


def test_hostile_names_stay_text() -> None:
    text = html(hostile(FULL))
    page = Page(text)
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert [attributes.get("type") for attributes in scripts] == ["application/json", None]
    assert not any(tag == "img" for tag, _ in page.tags) and "<img" not in text and "<script>alert" not in text
    assert "{{ 7*7 }}" in page.text() and "49" not in page.text("h1")
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert json.loads(data)["steps"][0]["because"] == printable(EVIL)


def test_what_a_page_says() -> None:
    page = Page(html(FULL))
    text = page.text()
    assert page.text("title").startswith("elrcheck check: violated")
    assert "✗ P-1 LeaderCompleteness violated at depth 2: leader_holds_committed for b=1" in text
    assert "True in every state: P-3 Never broken." in text and "Not reached: W-2 Unseen." in text
    assert "As action indices: 0/4/1/2." in text and "Stored in runs/a/P-1.trace.json." in text
    gate = Page(html(GATE)).text()
    assert "Differences from the baseline" in gate and "distinct 6 5 (worse) count ✗ fails" in gate
    assert "Proof matrix" in gate and "0 of 2 proved" in gate
    assert "Proof matrix" in Page(html(PROVE)).text()


def test_a_page_is_not_for_a_report_without_cases() -> None:
    with pytest.raises(UsageFault, match="does not support"):
        html(TLC)


def test_truths_are_marks_for_every_state() -> None:
    block = trace_block("k", "t", "m", replace(TRACE, truths=TRUTHS), 2)
    assert [(row.id, row.marks) for row in block.truths] == [
        ("P-1", (False, False, True, False, True)),
        ("P-2", (None, True, False, False, False)),
        ("W-1", (False, False, False, False, True)),
    ]
    assert block.quiet == {"always": ("P-3 Never broken",), "sometimes": ("W-2 Unseen",)}


def test_leaves_stand_side_by_side_for_each_broker() -> None:
    initial = {
        "partition.isr": "{0}",
        "broker[0].view.leader": "0",
        "broker[1].view.leader": "1",
        "lossy": "{}",
        "broker[1].peers[0].end": "2",
    }
    changed = TraceView(initial, (Step(1, "A", (), "", (Change("broker[1].view.leader", "1", "0"),)),))
    partition, broker, cluster = groups(changed)
    assert (partition.name, partition.columns, partition.changes) == ("partition", (), False)
    assert (broker.name, broker.columns) == ("broker", ("0", "1"))
    leader, end = broker.rows
    assert [cell and (cell.value, cell.changes) for cell in leader.cells] == [("0", False), ("0", True)]
    assert end.name == "peers[0].end" and end.cells[0] is None and not end.changes
    assert [row.name for row in cluster.rows] == ["lossy"]


def test_lanes_and_arrows() -> None:
    picture = diagram(TRACE, 2)
    x = {lane.name: lane.x for lane in picture.lanes}
    assert list(x) == ["Controller", "broker 0", "broker 1"] and len(set(x.values())) == 3
    start, fetch, fence, shrink, elect = picture.rows
    assert (start.index, start.at) == (0, None)
    assert (fetch.at, fetch.to, fetch.lost) == (x["broker 1"], x["broker 0"], True)
    assert (fence.at, fence.to, [note.text for note in fence.notes]) == (
        x["broker 1"],
        None,
        ["isr: {0,1} → {0}", "elr: {} → {1}"],
    )
    assert (shrink.at, shrink.to, shrink.lost) == (x["broker 0"], x["Controller"], False)
    assert elect.at == x["Controller"] and not any(row.repeats for row in picture.rows)
    assert [row.index for row in diagram(replace(TRACE, loop=2), 2).rows if row.repeats] == [3]
    assert [lane.name for lane in diagram(TRACE, 0).lanes] == ["Controller", "broker 1", "broker 0"]
    for brokers in range(8):
        lanes = diagram(TRACE, brokers).lanes
        assert lanes[0].x > 0 and lanes[-1].x < 100, "whatever their number, they stand within the width"


def test_bars_are_relative_to_the_longest() -> None:
    chart = growth((1, 4, 2))
    assert chart is not None and (chart.peak.depth, chart.peak.height) == (1, 160)
    assert [column.height for column in chart.columns] == [40, 160, 80] and growth((0,)) is None
    actions = (
        ActionReport("Idle", 0, 0),
        ActionReport("Beyond", 3, 0, 3),
        ActionReport("A", 9, 2),
        ActionReport("B", 9, 8),
    )
    rows = [(bar.name, bar.length, bar.remark) for bar in yields(actions)]
    assert rows == [("B", 100, ""), ("A", 25, ""), ("Beyond", 0, "only beyond the budgets"), ("Idle", 0, "never fired")]
    assert [(bar.name, bar.length) for bar in variables(FULL.variables)] == [
        ("broker[0].log", 100),
        ("partition.isr", 40),
    ]


def test_the_matrix_has_a_gap_where_there_is_no_obligation() -> None:
    drawn = matrix(PROVE)
    assert drawn is not None and drawn.lemmas == ("TypeOk",) and (drawn.proved, drawn.total) == (0, 2)
    assert [(action, [c and c.verdict for c in cells]) for action, cells in drawn.rows] == [
        ("Unfence", ["refuted"]),
        ("Start", ["unknown"]),
    ]
    more = matrix(replace(PROVE, cells=(*PROVE.cells, CellReport("Start", "Other", "proved", 0.1))))
    assert more is not None and more.rows[0][1][1] is None
    assert matrix(replace(PROVE, cells=())) is None


def test_long_tables_leave_out_what_passed() -> None:
    many = tuple(CellReport("A", f"L{n}", "proved", 0.0) for n in range(MOST_CASES + 1))
    page = page_of(replace(PROVE, cells=(*many, *PROVE.cells)))
    part = next(part for part in page.parts if part.name.endswith("consecution"))
    assert (len(part.cases), part.hidden, len(part.traces)) == (2, MOST_CASES + 1, 1)
    assert dict(part.counts) == {"passed": MOST_CASES + 1, "failed": 1, "undecided": 1}


@pytest.mark.parametrize(
    ("report", "tone"),
    [
        (FULL, "failed"),
        (replace(FULL, verdict="holds"), "passed"),
        (replace(FULL, verdict="inconclusive"), "undecided"),
    ],
)
def test_the_tone_is_that_of_the_exit_code(report: CheckReport, tone: str) -> None:
    assert page_of(report).tone == tone
    assert (report.exit_code is ExitCode.HOLDS) == (tone == "passed")
