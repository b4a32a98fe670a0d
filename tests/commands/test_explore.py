"""What `elrcheck explore` says of a scope, and the graph it writes, against the plain model."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from msgspec import structs

from elrcheck.base.errors import ExitCode
from elrcheck.base.progress import Silent
from elrcheck.base.requests import ExploreRequest, Limits, Selection
from elrcheck.cli import cli
from elrcheck.commands import explore as explore_module
from elrcheck.commands.explore import run_explore
from elrcheck.console.shell import run
from elrcheck.declared.select import resolve
from elrcheck.explorer.graph.graph import graph_of_plain
from elrcheck.lang.load import Model
from elrcheck.lang.plain import PlainModel
from elrcheck.report.json_report import to_json
from elrcheck.results.exploration_report import ExploreReport
from elrcheck.traces.describe import leaves
from support.places import SCHEMAS

# One spurious fencing: 216 states.
SMALL = Selection(scope="two-brokers-quiet", overrides=("fences=1",))
# In code_4_1 a reassignment breaks P-11 and P-12, properties of states, and a changed min.insync.replicas
# breaks P-9, a property of steps (docs/findings.md, F-20 and F-25).
BROKEN = {"P-11": ("reassignments=2", "records=0"), "P-9": ("min_isr_changes=1", "fences=1", "records=0")}
CHOICE = ("--scope", "two-brokers-quiet", "--set", "fences=1")


def explored(selection: Selection = SMALL, **fields: Any) -> ExploreReport:
    return run_explore(ExploreRequest(selection, **fields), Silent())


class Plain:
    """Every reachable state and step, by the plain model."""

    def __init__(self, model: Model, selection: Selection) -> None:
        self.model = PlainModel(model, resolve(selection).config)
        graph, self.counts = graph_of_plain(self.model)
        assert graph is not None
        self.graph = graph
        self.states = [graph.state(n) for n in range(graph.count)]
        self.steps = list(zip(graph.sources.tolist(), graph.targets.tolist(), graph.labels.tolist(), strict=True))
        self.ty = model.state_ty

    def node(self, number: int) -> tuple[Any, ...]:
        """What a node must say: its depth, then every leaf."""
        return (int(self.graph.depths[number]), tuple(leaves(self.states[number], self.ty)))


@pytest.fixture(scope="module")
def plain(whole_model: Model) -> Plain:
    return Plain(whole_model, SMALL)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ExploreReport:
    return explored(graph=tmp_path_factory.mktemp("graphs") / "g.graphml")


def nodes(graph: Any) -> Counter[Any]:
    names = [path for path in next(iter(graph.nodes.values())) if path not in ("depth", "initial", "violates")]
    return Counter((node["depth"], tuple((path, node[path]) for path in names)) for _, node in graph.nodes(data=True))


def steps(graph: Any) -> Counter[Any]:
    """Edges by what their ends say."""
    texts = {n: tuple(node.items()) for n, node in graph.nodes(data=True)}
    return Counter((texts[a], texts[b], edge["label"]) for a, b, edge in graph.edges(data=True))


# ---------------------------------------------------------------------------- statistics


def test_the_numbers_are_those_of_the_plain_model(report: ExploreReport, plain: Plain) -> None:
    space, counts = report.space, plain.counts
    assert (space.complete, report.verdict, report.exit_code) == (True, "explored", ExitCode.HOLDS)
    assert (space.distinct, space.generated, space.cut) == (counts.distinct, counts.generated, counts.cut)
    assert space.steps == len(plain.steps) == space.generated - space.cut - 1
    assert (space.levels, space.deadlocks) == (counts.levels, 0)
    degrees = Counter(Counter(source for source, _, _ in plain.steps).values())
    degrees[0] = space.distinct - degrees.total()
    assert {row.degree: row.states for row in report.degrees} == {k: n for k, n in degrees.items() if n}
    assert report.mean_degree == round(len(plain.steps) / counts.distinct, 3)
    assert {a.name: a.fired for a in report.actions if a.fired} == counts.enabled
    assert sum(a.new_states for a in report.actions) == counts.distinct - 1
    isr = {state.partition.isr for state in plain.states}
    assert {v.name: v.distinct for v in report.variables}["partition.isr"] == len(isr) > 1


def test_components_are_those_of_networkx(report: ExploreReport, plain: Plain) -> None:
    parts = list(nx.strongly_connected_components(nx.DiGraph((a, b) for a, b, _ in plain.steps)))
    components = report.components
    assert components is not None
    assert (components.count, components.largest) == (len(parts), max(map(len, parts)))
    assert components.cyclic == sum(1 for part in parts if len(part) > 1)


def test_beyond_the_limit_steps_are_counted_without_a_graph(
    report: ExploreReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explore_module, "GRAPH_STATES", 0)
    large = explored()
    assert large.components is None
    assert (large.degrees, large.mean_degree) == (report.degrees, report.mean_degree)


def test_a_limit_is_inconclusive() -> None:
    report = explored(limits=Limits(max_depth=2))
    assert (report.verdict, report.exit_code) == ("inconclusive", ExitCode.INCONCLUSIVE)
    assert (report.space.stopped_by, len(report.space.levels)) == ("--max-depth 2", 3)
    assert report.components is None


# ---------------------------------------------------------------------------- the graph


def test_graphml_is_the_graph_of_the_plain_model(report: ExploreReport, plain: Plain) -> None:
    """A node for each distinct state; an edge for each transition that was generated and not cut."""
    assert report.graph is not None and (report.graph.format, report.graph.violating) == ("graphml", 0)
    graph = nx.read_graphml(report.graph.path, force_multigraph=True)
    assert graph.number_of_nodes() == report.graph.nodes == report.space.distinct
    assert graph.number_of_edges() == report.graph.edges == report.space.generated - report.space.cut - 1
    assert nodes(graph) == Counter(plain.node(n) for n in range(len(plain.states)))
    ends = [n for n, node in graph.nodes(data=True) if node["initial"]]
    assert len(ends) == 1 and graph.nodes[ends[0]]["partition.isr"] == "{0,1}"
    names = plain.graph.names
    assert Counter(edge["action"] for _, _, edge in graph.edges(data=True)) == Counter(
        names[label].action for _, _, label in plain.steps
    )
    fences = {edge["label"] for _, _, edge in graph.edges(data=True) if edge["action"] == "Fence"}
    assert fences <= {"Fence(b=0)", "Fence(b=1)"} and len(fences) == 2


def test_json_is_node_link_data(report: ExploreReport, tmp_path: Path) -> None:
    assert report.graph is not None
    written = explored(graph=tmp_path / "g", graph_format="json", properties=("P-1",)).graph
    assert written is not None and written.format == "json"
    data = json.loads(Path(written.path).read_text(encoding="utf-8"))
    graph = nx.node_link_graph(data, edges="edges")
    assert (data["multigraph"], data["directed"], graph.is_multigraph()) == (True, True, True)
    other = nx.read_graphml(report.graph.path, force_multigraph=True)
    assert nodes(graph) == nodes(other) and steps(graph) == steps(other)
    assert nx.node_link_data(graph, edges="edges") == data


def test_dot_has_a_line_for_each_node_and_edge(report: ExploreReport, tmp_path: Path) -> None:
    written = explored(graph=tmp_path / "g.dot", properties=("P-1",)).graph
    assert written is not None
    quoted = r'"(?:[^"\\\n]|\\.)*"'
    attributes = rf"\[\w+=(?:{quoted}|\w+)(?:, \w+=(?:{quoted}|\w+))*\]"
    first, *lines, last = Path(written.path).read_text(encoding="utf-8").splitlines()
    assert (first, last) == ("digraph states {", "}")
    kinds = Counter(
        next(
            (
                kind
                for kind, pattern in (
                    ("node", rf"  s\d+ {attributes};"),
                    ("edge", rf"  s\d+ -> s\d+ {attributes};"),
                    ("default", rf"  (?:node|edge) {attributes};"),
                )
                if re.fullmatch(pattern, line)
            ),
            line,
        )
        for line in lines
    )
    assert kinds == {"node": report.space.distinct, "edge": report.space.steps, "default": 2}
    start = next(line for line in lines if line.startswith("  s0 ["))
    assert "peripheries=2" in start and start.startswith('  s0 [label="0 depth 0\\l"')


@pytest.mark.slow
@pytest.mark.parametrize("ident", BROKEN)
def test_violations_are_marked(whole_model: Model, tmp_path: Path, ident: str) -> None:
    selection = Selection("code_4_1", "two-brokers-quiet", BROKEN[ident])
    plain = Plain(whole_model, selection)
    report = explored(selection, graph=tmp_path / "g.json", properties=("P-*",))
    graph = nx.node_link_graph(json.loads((tmp_path / "g.json").read_text(encoding="utf-8")), edges="edges")
    of_states = [fn for fn in whole_model.always if not fn.is_step]
    of_steps = [fn for fn in whole_model.always if fn.is_step]
    marked = Counter(i for _, node in graph.nodes(data=True) for i in node["violates"].split())
    assert marked == Counter(fn.ident for state in plain.states for fn in of_states if not plain.model.holds(fn, state))
    marked_steps = Counter(i for _, _, edge in graph.edges(data=True) for i in edge["violates"].split())
    assert marked_steps == Counter(
        fn.ident
        for a, b, _ in plain.steps
        for fn in of_steps
        if not plain.model.holds(fn, plain.states[a], plain.states[b])
    )
    assert (marked | marked_steps)[ident] > 0
    assert report.graph is not None
    assert report.graph.violating == sum(1 for _, node in graph.nodes(data=True) if node["violates"])
    assert report.graph.violating_steps == sum(1 for *_, e in graph.edges(data=True) if e["violates"])
    assert report.exit_code is ExitCode.HOLDS, "explore judges nothing"


# ---------------------------------------------------------------------------- the command


def test_the_documents_follow_the_schema(report: ExploreReport) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SCHEMAS / "elrcheck.exploration-1.schema.json").read_text(encoding="utf-8"))
    for each in (report, structs.replace(report, graph=None, components=None)):
        jsonschema.Draft202012Validator(schema).validate(json.loads(to_json(each)))


def test_the_command_shows_what_it_wrote(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(cli, ["--no-progress", "explore", *CHOICE, "-p", "P-1", "--graph", "g.dot"]) == ExitCode.HOLDS
    printed = capsys.readouterr()
    assert "EXPLORED  kip_full, two-brokers-quiet: all states within the budgets" in printed.out
    assert "g.dot (dot): 216 nodes, 585 edges" in printed.out
    assert printed.err == "" and [path.name for path in tmp_path.iterdir()] == ["g.dot"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["-p", "P-1", "--graph", "g.dot", "--max-nodes", "215"], "raise --max-nodes"),
        (["-p", "P-1", "--graph", "g.dot", "--max-depth", "3"], "a graph needs all states"),
        (["--graph", "g.png"], "--graph-format"),
        (["--graph", "."], "g"),
        (["--graph-format", "png"], "graphml"),
        (["--max-nodes", "0"], "usage-bad-value"),
        (["-p", "Q-1", "--graph", "g.dot"], "unknown-property"),
        (["-p", "V-1", "--graph", "g.dot"], "liveness"),
        (["-p", "P-1"], "--property needs --graph"),
        (["--graph-format", "dot"], "--graph-format needs --graph"),
    ],
)
def test_mistakes_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: Any, tmp_path: Path, argv: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(cli, ["--no-progress", "explore", *CHOICE, *argv]) == ExitCode.DID_NOT_RUN
    printed = capsys.readouterr()
    assert words in printed.err and "Traceback" not in printed.err and printed.out == ""
    assert not list(tmp_path.iterdir()), "nothing is written"


def test_a_graph_may_have_as_many_states_as_allowed(tmp_path: Path) -> None:
    written = explored(graph=tmp_path / "g.json", max_nodes=216, properties=("P-1",)).graph
    assert written is not None and written.nodes == 216


def test_a_folder_that_cannot_be_written_is_no_crash(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    argv = ["--no-progress", "explore", *CHOICE, "-p", "P-1", "--graph", str(tmp_path / "file" / "g.dot")]
    assert run(cli, argv) == ExitCode.ENVIRONMENT
    assert "cannot-write" in capsys.readouterr().err
