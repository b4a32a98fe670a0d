"""The state graph in a report and its picture: by hand, and against an own search of the plain model."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from elrcheck.base.errors import ExitCode
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.checking.check import run_check
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.plain import PlainModel
from elrcheck.report.html.html_states import KINDS, MIXED, OTHERS, picture, to_svg
from elrcheck.report.html.layered import crossings, layered
from elrcheck.report.json_report import to_json
from elrcheck.results.check_report import CheckReport
from elrcheck.results.exploration_report import ExploreReport, SpaceReport
from elrcheck.results.trace_view import Change, DrawnPath, DrawnState, DrawnStep, SmallGraph, Step
from elrcheck.traces.describe import arguments, leaves
from support.html_pages import EVIL, Page, html
from support.places import SCHEMAS
from support.report_samples import BROKEN, CHECK

SVG = "{http://www.w3.org/2000/svg}"
CRASH = Change("broker[1].up", "true", "false")
GRAPH = SmallGraph(
    {"broker[1].up": "true", "partition.isr": "{0,1}"},
    (
        DrawnState(0, None, "", ()),
        DrawnState(1, 0, "Crash(b=1)", (CRASH,)),
        DrawnState(1, 0, "Fence(b=1)", (Change("partition.isr", "{0,1}", "{0}"),)),
        DrawnState(2, 1, "Fence(b=1)", (Change("partition.isr", "{0,1}", "{0}"),), ("P-1",)),
    ),
    (
        DrawnStep(0, 1, "Crash(b=1)", "Crash", "lifecycle"),
        DrawnStep(0, 1, "Kill(b=1)", "Kill", "lifecycle"),
        DrawnStep(0, 2, "Fence(b=1)", "Fence", "broker_events"),
        DrawnStep(1, 3, "Fence(b=1)", "Fence", "broker_events"),
        DrawnStep(2, 3, "Crash(b=1)", "Crash", "lifecycle", ("P-9",)),
        DrawnStep(2, 3, "Fence(b=1)", "Fence", "broker_events"),
        DrawnStep(3, 3, "Fetch(f=0)", "Fetch", "replica"),
        DrawnStep(3, 0, "Start(b=1)", "Start", "lifecycle"),
    ),
    (DrawnPath("P-1", (0, 1, 3)),),
)
SPACE = SpaceReport(True, 9, 4, 8, 3, 0, 3, (1, 2, 1), 0.1)
EXPLORED = ExploreReport(
    "explored", "v", "s", {"min_isr": 1}, 2, None, SPACE, (), 2.0, (), (), None, 9, small_graph=GRAPH
)


# ----------------------------------------------------------------------------- by the model


@pytest.fixture(scope="module")
def checked() -> CheckReport:
    return run_check(CheckRequest(BROKEN, ("P-1*",), engine="reference", drawn=True), Silent())


def values_of(graph: SmallGraph) -> list[tuple[tuple[str, str], ...]]:
    """Every leaf of every state: those of the parent with what changed."""
    rows: list[dict[str, str]] = []
    for state in graph.states:
        before = graph.initial if state.parent is None else rows[state.parent]
        assert all(before[change.path] == change.old for change in state.changes)
        rows.append({**before, **{change.path: change.new for change in state.changes}})
    return [tuple(values.items()) for values in rows]


def test_states_and_steps_are_those_of_an_own_search(checked: CheckReport) -> None:
    graph, model = checked.small_graph, load_whole_model()
    assert graph is not None
    plain = PlainModel(model, resolve(BROKEN).config)
    actions = model.actions_by_name
    depth = {plain.initial(): 0}
    steps: Counter[Any] = Counter()
    queue = [plain.initial()]

    def leaf_values(state: Any) -> Any:
        return tuple(leaves(state, model.state_ty))

    for state in queue:
        for label, after in plain.successors(state):
            if not plain.within(after):
                continue
            named = arguments(actions[label.action], label.args)
            steps[leaf_values(state), leaf_values(after), Step(0, label.action, named).label] += 1
            if after not in depth:
                depth[after] = depth[state] + 1
                queue.append(after)
    values = values_of(graph)
    chosen = [fn for fn in model.always if fn.ident.startswith("P-1") and not fn.is_step]
    assert Counter((values[s.source], values[s.target], s.label) for s in graph.steps) == steps
    assert {v: (s.depth, s.violates) for v, s in zip(values, graph.states, strict=True)} == {
        leaf_values(state): (at, tuple(fn.ident for fn in chosen if not plain.holds(fn, state)))
        for state, at in depth.items()
    }
    assert {step.kind for step in graph.steps} >= {"reassignment_events", "metadata"}


def test_the_way_is_the_counterexample(checked: CheckReport) -> None:
    graph = checked.small_graph
    assert graph is not None and {path.property for path in graph.paths} >= {"P-11", "P-12"}
    for path in graph.paths:
        violated = next(p for p in checked.properties if p.id == path.property)
        assert violated.verdict == "violated" and violated.counterexample is not None
        labels = [step.label for step in violated.counterexample.steps]
        joined = {(s.source, s.target, s.label) for s in graph.steps}
        pairs = list(zip(path.states, path.states[1:], labels, strict=False))
        assert path.states[0] == 0 and len(labels) == len(pairs) and set(pairs) <= joined
        assert path.property in graph.states[path.states[-1]].violates


def test_a_picture_is_only_made_for_a_page_and_few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    request = CheckRequest(Selection("kip_full", "two-brokers-quiet"), ("P-1",), engine="reference")
    assert run_check(request, Silent()).small_graph is None
    for name in ("checking.check", "explorer.graph.networkx_graph", "report.html.html_page"):
        monkeypatch.setattr(f"elrcheck.{name}.MOST_STATES", 5)
    report = run_check(dataclasses.replace(request, drawn=True), Silent())
    assert (report.small_graph, report.search.distinct) == (None, 6)
    assert "up to 5 states, and there are 6" in Page(html(report)).text()
    monkeypatch.setattr("elrcheck.checking.check.MOST_STATES", 6)
    assert run_check(dataclasses.replace(request, drawn=True), Silent()).small_graph is None


def test_the_documents_follow_the_schemas(checked: CheckReport) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for name, report in (("report", checked), ("exploration", EXPLORED)):
        schema = json.loads((SCHEMAS / f"elrcheck.{name}-1.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(json.loads(to_json(report)))


# ----------------------------------------------------------------------------- the picture


def test_layers_are_ordered_to_cross_less() -> None:
    near = {1: ([], [4]), 2: ([], [3]), 3: ([2], []), 4: ([1], [])}
    assert crossings([[1, 2], [3, 4]], near) == 1 and crossings([[1, 2], [4, 3]], near) == 0
    assert crossings([[1], [3, 4]], {1: ([], [3, 4]), 3: ([1], []), 4: ([1], [])}) == 0
    depths, joined = (0, 1, 1, 2, 2), ((0, 1), (0, 2), (1, 4), (2, 3), (4, 3), (3, 0))
    places = layered(depths, joined)
    assert (places[1] < places[2]) == (places[4] < places[3]), "no crossing is left"
    assert places == layered(depths, joined) and min(places) == 0
    wide = layered([0, *[1] * 9], [(0, n) for n in range(1, 10)])
    assert all(b - a >= 1 for a, b in zip(sorted(wide[1:]), sorted(wide[1:])[1:], strict=False))
    assert wide[0] == 4, "above the middle of nine"
    assert layered([], []) == ()


def test_parallel_steps_are_one_line_with_a_number() -> None:
    drawn = picture(GRAPH)
    lines = {(line.source, line.target): line for line in drawn.lines}
    assert {ends: line.count for ends, line in lines.items()} == {
        (0, 1): 2,
        (0, 2): 1,
        (1, 3): 1,
        (2, 3): 2,
        (3, 3): 1,
        (3, 0): 1,
    }
    keys = {key.name: key for key in drawn.keys}
    assert [(key.name, key.style, key.actions) for key in drawn.keys] == [
        ("lifecycle", 0, ("Crash", "Kill", "Start")),
        ("broker events", 1, ("Fence",)),
        ("replica", 2, ("Fetch",)),
        (MIXED, KINDS + 1, ()),
    ]
    assert lines[0, 1].style == keys["lifecycle"].style and lines[2, 3].style == keys[MIXED].style
    assert lines[0, 1].title == "0 → 1\nCrash(b=1)\nKill(b=1)"
    assert [ends for ends, line in lines.items() if line.bad] == [(2, 3)]
    assert [ends for ends, line in lines.items() if line.on_way] == [(0, 1), (1, 3)]
    assert [(s.initial, s.bad, s.on_way) for s in drawn.spots] == [
        (True, False, True),
        (False, False, True),
        (False, False, False),
        (False, True, True),
    ]
    assert drawn.spots[3].lines[:4] == (
        "State 3, depth 2",
        "✗ violates P-1",
        "from 1 by Fence(b=1), which changes",
        "  partition.isr: {0,1} → {0}",
    )
    assert drawn.thick == "thick: a shortest path to a violation of P-1"
    lasso = picture(replace(GRAPH, paths=(DrawnPath("V-1", (0, 1, 3, 3)),)))
    assert lasso.thick == "thick: a behaviour that violates V-1 by staying there forever"
    assert {(x.source, x.target) for x in lasso.lines if x.on_way} == {(0, 1), (1, 3), (3, 3)}
    step = picture(replace(GRAPH, paths=(DrawnPath("P-9", (0, 2, 3)),)))
    assert step.thick == "thick: a shortest path to a violation of P-9"
    assert drawn.spots[3].near == "0 1 2 3" and drawn.spots[0].y < drawn.spots[1].y < drawn.spots[3].y


def test_rare_kinds_share_a_pattern() -> None:
    steps = tuple(DrawnStep(0, 1, f"A{n}()", f"A{n}", f"kind{n}") for n in range(KINDS + 1) for _ in range(9 - n))
    styles = {key.name: key.style for key in picture(replace(GRAPH, steps=steps)).keys}
    assert styles == {**{f"kind{n}": n for n in range(KINDS - 1)}, OTHERS: KINDS, MIXED: KINDS + 1}
    few = picture(replace(GRAPH, steps=steps[:-1][:-2]))
    assert OTHERS not in {key.name for key in few.keys}, "seven kinds have seven patterns"


@pytest.mark.parametrize("graph", [GRAPH, SmallGraph({}, (DrawnState(0, None, "", ()),))])
def test_the_file_is_xml_and_everything_is_inside(graph: SmallGraph) -> None:
    text = to_svg(graph)
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg" and text.startswith("<?xml") and to_svg(graph) == text
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert sorted(ids) == sorted(f"{k}{n}" for k in "st" for n in range(len(graph.states)))
    wide, high = (float(root.attrib[name]) for name in ("width", "height"))
    for box in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(box.get(name, 0)) for name in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and x + w <= wide and y + h <= high
    assert text.count("http") == 1 and "<script" not in text and "url(" not in text and "@import" not in text


def test_hostile_names_stay_text() -> None:
    evil = SmallGraph(
        {EVIL: EVIL},
        (DrawnState(0, None, "", (), (EVIL,)), DrawnState(1, 0, EVIL, (Change(EVIL, EVIL, EVIL),))),
        (DrawnStep(0, 1, EVIL, EVIL, EVIL, (EVIL,)),),
        (DrawnPath(EVIL, (0,)),),
    )
    names = {node.tag.removeprefix(SVG) for node in ElementTree.fromstring(to_svg(evil)).iter()}
    assert names == {"svg", "title", "style", "rect", "text", "g", "path", "circle"}
    page = Page(html(replace(EXPLORED, variant=EVIL, small_graph=evil)))
    assert [attributes for tag, attributes in page.tags if tag == "script"] == [{}]


# -------------------------------------------------------------------------------- the page


def test_the_page_of_explore() -> None:
    page = Page(html(EXPLORED))
    text = page.text()
    assert "elrcheck explore: ✓ explored" in text and "Thick: a shortest path to a violation of P-1." in text
    assert len([g for _, g in page.tags if "data-near" in g]) == 4 and "Growth per depth" in text
    assert "3 2 Fence(b=1) from 1 partition.isr: {0,1} → {0} ✗ P-1" in re.sub(r"\s+", " ", page.text("table"))
    missing = replace(EXPLORED, small_graph=None, space=replace(SPACE, distinct=201))
    assert "up to 200 states, and there are 201" in Page(html(missing)).text()
    few = replace(SPACE, complete=False, stopped_by="--max-depth 2")
    cut = replace(missing, verdict="inconclusive", space=few)
    text = Page(html(cut)).text()
    assert "? inconclusive" in text
    assert "A graph needs all states, but --max-depth 2 stopped the search" in text
    assert "All states and steps" not in Page(html(CHECK)).text(), "nothing is said where none was asked for"


def test_html_is_output_html(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The page of both options, the JSON of the same run, and a graph in none without a page."""
    monkeypatch.chdir(tmp_path)
    argv = ["--no-progress", "check", "--scope", "two-brokers-quiet", "-p", "P-1", "--engine", "reference"]
    assert run(cli, [*argv, "--html", "a", "-o", "html:b", "-f", "json"]) == ExitCode.HOLDS
    assert Path("a").read_text(encoding="utf-8") == Path("b").read_text(encoding="utf-8")
    assert len(json.loads(capsys.readouterr().out)["small_graph"]["states"]) == 6
    assert run(cli, [*argv, "-f", "json"]) == ExitCode.HOLDS
    assert json.loads(capsys.readouterr().out)["small_graph"] is None
    assert run(cli, [*argv, "--html", "no/where.html"]) == ExitCode.DID_NOT_RUN
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.slow
def test_explore_writes_page_and_picture(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = ["--no-progress", "explore", "--scope", "two-brokers-quiet", "-p", "P-1"]
    assert run(cli, [*argv, "--graph", "s.svg", "--html", "s.html", "-o", "s.json"]) == ExitCode.HOLDS
    assert "s.svg (svg): 6 nodes, 8 edges" in capsys.readouterr().out
    data = json.loads(Path("s.json").read_text(encoding="utf-8"))["small_graph"]
    assert (len(data["states"]), len(data["steps"])) == (6, 8)
    root = ElementTree.parse("s.svg").getroot()
    assert len([g for g in root.iter(f"{SVG}g") if (g.get("class") or "").startswith("state")]) == 6
    assert 'data-near="' in Path("s.html").read_text(encoding="utf-8")
    more = ["--set", "fences=1", "--graph", "t.svg"]
    assert run(cli, [*argv, *more]) == ExitCode.DID_NOT_RUN
    printed = capsys.readouterr().err
    assert "states; the graph may have at most 200" in printed and "write .graphml or .dot" in printed
    assert not Path("t.svg").exists()
