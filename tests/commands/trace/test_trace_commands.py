"""`elrcheck trace`: show with filters, other notations, diff, minimise, sample, and step by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import itf_py
import jsonschema
import pytest

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection, TraceFilters
from elrcheck.cli import cli
from elrcheck.commands.trace.diff import diff
from elrcheck.commands.trace.minimise import minimise
from elrcheck.commands.trace.show import sample, show, written
from elrcheck.commands.trace.step import step
from elrcheck.console.shell import run
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.state import Acks
from elrcheck.results.trace_view import Change
from elrcheck.stored_traces.recorded import of_repro, subject_of
from elrcheck.stored_traces.tracefile import load_trace
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.loaded import Loaded, NamedSelection
from elrcheck.traces.replay import Replayed, replay
from support.lost_record import CALLS, LEGACY, lost_record, stored
from support.places import SCHEMAS, TESTS

IN_LEGACY = NamedSelection(LEGACY, frozenset({"variant", "scope"}))
OPTIONS = ["--variant", "legacy", "--scope", "two-brokers"]


@pytest.fixture(scope="module")
def story() -> Loaded[Label]:
    return lost_record()


@pytest.fixture(scope="module")
def subject(story: Loaded[Label], tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    return subject_of(stored(tmp_path_factory.mktemp("run"), story), None, NamedSelection())


def along(story: Loaded[Label], labels: list[Label]) -> Replayed:
    """Another trace in the same scope, as if it came from action indices."""
    from elrcheck.declared.select import resolve

    selected = resolve(LEGACY)
    plain = PlainModel(story.model, selected.config)
    states = [plain.initial()]
    for label in labels:
        states.append(plain.step(states[-1], label))
    behaviour = Behaviour(TraceOrigin.of(selected, source="made"), tuple(states), tuple(labels))
    return replay(story.model, selected.config, behaviour)


# ------------------------------------------------------------------------------------- show


def test_the_whole_trace(subject: Replayed) -> None:
    report = show(subject)
    assert tuple(one.label for one in report.trace.steps) == CALLS
    assert (report.steps, report.first, report.last, report.exit_code) == (4, 1, 4, 0)
    assert [(hit.id, hit.step) for hit in report.violated] == [("P-8", 4)]


def test_repro_is_the_same_trace(subject: Replayed) -> None:
    assert of_repro(subject.repro, LEGACY).states == subject.states


def test_filters(subject: Replayed) -> None:
    """Steps 2 to 3, and of the state only what is called isr or lies in broker 0, without its log."""
    report = show(subject, TraceFilters(("isr", "broker[0]"), ("broker[0].log",), 2, 3))
    assert [one.index for one in report.trace.steps] == [2, 3]
    assert report.trace.steps[0].changes == ()
    assert [c.path for c in report.trace.steps[1].changes] == [
        "broker[0].high_watermark",
        "broker[0].view.partition_epoch",
        "broker[0].view.isr",
    ]
    # The first state shown is the one before step 2: the fence has happened.
    assert report.trace.initial["partition.isr"] == "{0}"
    assert "broker[0].log" not in report.trace.initial
    assert (report.first, report.last, report.steps) == (2, 3, 4)
    assert [hit.id for hit in report.violated] == ["P-8"]


def test_globs_take_brackets_as_they_are(subject: Replayed) -> None:
    report = show(subject, TraceFilters(("broker[0].view.*",)))
    changed = {c.path for one in report.trace.steps for c in one.changes}
    assert not any(one.because for one in report.trace.steps), "the guards are beside the question"
    assert any(one.because for one in show(subject, TraceFilters(hide=("isr",))).trace.steps)
    assert changed and all(path.startswith("broker[0].view.") for path in changed)


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        (TraceFilters(only=("irs",)), "nothing in the state is called `irs`"),
        (TraceFilters(first=0), "no step 0"),
        (TraceFilters(last=5), "no step 5"),
    ],
)
def test_filters_that_mean_nothing(subject: Replayed, filters: TraceFilters, says: str) -> None:
    with pytest.raises(UsageFault, match=says):
        show(subject, filters)


def test_notations(subject: Replayed, tmp_path: Path) -> None:
    path = tmp_path / "again.trace.json"
    path.write_text(written(subject, "trace", TraceFilters()))
    assert load_trace(path).behaviour.states == subject.states
    itf = itf_py.trace_from_json(json.loads(written(subject, "itf", TraceFilters())))
    assert len(itf.states) == 5
    assert written(subject, "tla", TraceFilters()).startswith("---- MODULE LegacyTwoBrokers_P8 ----")
    assert "1. Fence(b=1)" not in written(subject, "mermaid", TraceFilters(first=2))
    assert 's3 -> s4 [label="Crash(b=0, keep=0)"]' in written(subject, "dot", TraceFilters())
    with pytest.raises(UsageFault, match="leave out the filters"):
        written(subject, "tla", TraceFilters(first=2))


def test_a_damaged_trace_is_for_replay(story: Loaded[Label], tmp_path: Path) -> None:
    path = stored(tmp_path, story)
    document = json.loads(path.read_text())
    document["states"][4]["lossy"] = []
    path.write_text(json.dumps(document))
    with pytest.raises(UsageFault) as fault:
        subject_of(path, None, NamedSelection())
    assert fault.value.code == "trace-rejected"
    assert fault.value.help == f"see `elrcheck replay {path}`"


# ------------------------------------------------------------------------------------- diff


def test_a_trace_and_itself(subject: Replayed) -> None:
    report = diff(subject, subject)
    assert (report.verdict, report.common, report.rows, report.exit_code) == ("same", 4, (), 0)


def test_where_two_traces_part(story: Loaded[Label], subject: Replayed) -> None:
    """Both fence 1 and produce; then one applies metadata, the other crashes."""
    other = along(story, [Label("Fence", (1,)), Label("Produce", (0, Acks.ALL)), Label("Crash", (0, 0))])
    report = diff(subject, other)
    assert (report.verdict, report.common, report.steps_a, report.steps_b, report.exit_code) == (
        "different",
        2,
        4,
        3,
        1,
    )
    assert [(row.step, row.a, row.b) for row in report.rows] == [
        (3, CALLS[2], "Crash(b=0, keep=0)"),
        (4, CALLS[3], None),
    ]
    leaves = {leaf.path: (leaf.old, leaf.new) for leaf in report.rows[0].leaves}
    assert leaves["committed"] == ("[r1@1(all)]", "[]")
    assert leaves["lossy"] == ("{}", "{0}")


# --------------------------------------------------------------------------------- minimise


def test_what_is_not_needed_is_left_out(story: Loaded[Label]) -> None:
    """Three steps that the loss does not need; the four that are left are needed one by one."""
    longer = along(
        story,
        [
            Label("Fetch", (1, 0, False)),
            Label("Fence", (1,)),
            Label("ApplyMetadata", (1,)),
            Label("Produce", (0, Acks.ALL)),
            Label("ApplyMetadata", (0,)),
            Label("Crash", (0, 0)),
        ],
    )
    short, done = minimise(longer, "P-8", Silent())
    assert (done.steps_before, [(each.before, each.members) for each in done.sorts]) == (6, [(2, 1)])
    # A single broker is enough: it produces, which commits at once, and crashes.
    assert done.steps == 2
    assert [label.action for label in short.labels] == ["Produce", "Crash"]
    assert [(hit.id, hit.step) for hit in show(short).violated if hit.id == "P-8"] == [("P-8", 2)]


def test_nothing_to_keep(story: Loaded[Label]) -> None:
    harmless = along(story, [Label("Fence", (1,))])
    with pytest.raises(NothingChecked):
        minimise(harmless, None, Silent())
    with pytest.raises(UsageFault, match="does not violate P-8"):
        minimise(harmless, "P-8", Silent())


# ----------------------------------------------------------------------------------- sample


def test_a_sample_follows_from_its_seed() -> None:
    selection = NamedSelection(Selection("kip_full", "three-brokers"))
    one, again, other = sample(selection, 5, 12), sample(selection, 5, 12), sample(selection, 6, 12)
    assert one.labels == again.labels != other.labels
    assert of_repro(one.repro, selection.selection).states == one.states
    assert all(one.plain.within(state) for state in one.states)
    assert all(a != b for a, b in zip(one.states, one.states[1:], strict=False))


def test_a_refused_sample_is_not_stored(invoke: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    path = tmp_path / "sample.json"
    options = ("--scope", "two-brokers", "--only", "isr", "--as", "tla", "--save", str(path))
    code, _, err = invoke("trace", "sample", *options)
    assert code == 2 and "leave out the filters" in err and not path.exists()


def test_a_lasso_that_stops_is_not_the_trace_that_ends_there(tmp_path: Path) -> None:
    lasso = TESTS / "data" / "before" / "V-2.trace.json"
    ends = json.loads(lasso.read_text())
    del ends["loop"]
    path = tmp_path / "ends.trace.json"
    path.write_text(json.dumps(ends | {"property": ""}))
    report = diff(*(subject_of(one, None, NamedSelection()) for one in (lasso, path)))
    assert report.verdict == "different" and report.rows == ()
    assert report.config == (Change("forever", "from state 3", "-"),)


# ------------------------------------------------------------------------------------- step


def stepped(lines: list[str], patient: bool = False) -> tuple[Replayed, str]:
    output: list[str] = []
    script = iter(lines)
    read: Callable[[], str | None] = lambda: next(script, None)  # noqa: E731
    return step(of_repro("", LEGACY), read, output.append, patient), "".join(output)


def test_the_story_walked_by_hand(subject: Replayed, tmp_path: Path) -> None:
    """The menu's numbers are the action indices of --repro."""
    path = tmp_path / "mine.json"
    reached, output = stepped([*subject.repro.split("/"), f"s {path}", "q", "0"])
    assert reached.states == subject.states
    assert "VIOLATED P-8 NoCommittedRecordLost: kept_somewhere k=0" in output
    trace = load_trace(path).behaviour
    assert (trace.origin.property, trace.states) == ("P-8", subject.states)


def test_undo_and_jump_go_back_and_forth(subject: Replayed) -> None:
    first, second, *_ = subject.repro.split("/")
    reached, _ = stepped([first, second, "u", "j 0", "j 2", "u"])
    assert reached.states == subject.states[:2]
    # Another step makes what was undone unreachable.
    with pytest.raises(UsageFault, match="no state 2; the states are 0 to 1"):
        stepped([first, second, "j 0", "0", "j 2"])


def test_a_file_below_a_user_who_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for the shell, it is a folder of that name."""
    monkeypatch.chdir(tmp_path)
    stepped(["0", "s ~nobody-here/walk.json"])
    assert load_trace(Path("~nobody-here/walk.json")).behaviour.labels


@pytest.mark.parametrize("line", ["999", "x", "j", "j 7", "u", "s", "-1"])
def test_a_mistake_is_told_at_a_terminal_and_ends_a_script(line: str) -> None:
    with pytest.raises(UsageFault):
        stepped([line, "0"])
    reached, output = stepped([line, "0"], patient=True)
    assert "error[step-" in output
    assert len(reached.labels) == 1


# --------------------------------------------------------------------------------- commands


def test_the_commands(
    story: Loaded[Label],
    subject: Replayed,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = str(stored(tmp_path, story))
    destination = str(tmp_path / "kept.json")
    view = json.loads((SCHEMAS / "elrcheck.trace-view-1.schema.json").read_text())
    difference = json.loads((SCHEMAS / "elrcheck.trace-diff-1.schema.json").read_text())
    assert run(cli, ["trace", "show", path, "--only", "isr", "--save", destination]) == 0
    assert "partition.isr: {0,1} -> {0}" in capsys.readouterr().out
    assert load_trace(Path(destination)).behaviour.states == subject.states
    assert run(cli, ["trace", "show", "--repro", subject.repro, *OPTIONS, "-f", "json"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), view)
    assert run(cli, ["trace", "diff", path, destination]) == 0
    assert run(cli, ["trace", "minimise", path, "-f", "json"]) == 0
    capsys.readouterr()
    assert run(cli, ["trace", "diff", path, path, "-f", "json"]) == 0
    jsonschema.validate(json.loads(capsys.readouterr().out), difference)
    assert run(cli, ["trace", "sample", "--seed", "1", "--depth", "3", *OPTIONS, "--as", "mermaid"]) == 0
    assert capsys.readouterr().out.startswith("sequenceDiagram")
    monkeypatch.setattr("sys.stdin", io.StringIO("0\nq\n"))
    assert run(cli, ["trace", "step", *OPTIONS]) == 0
    assert capsys.readouterr().out.endswith("1 step  --repro 0\n")
    assert run(cli, ["trace", "show"]) == 2
    for wrong in ("0/99", "0//1", "a", "²", "9" * 5000):
        assert run(cli, ["trace", "show", "--repro", wrong, *OPTIONS]) == 2
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\n"), encoding="utf-8"))
    assert run(cli, ["trace", "step", *OPTIONS]) == 2
