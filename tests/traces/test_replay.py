"""`elrcheck replay`: our traces, ITF, TLC's JSON and TLC's text; what refuses a wrong one; hostile files."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import itf_py
import jsonschema
import pytest

from elrcheck.base.errors import ElrError, ExitCode, NothingChecked, UsageFault
from elrcheck.base.requests import Selection
from elrcheck.checking.trace_notation import export_loaded
from elrcheck.cli import cli
from elrcheck.commands.trace.show import run_replay
from elrcheck.console.shell import run
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.report.json_report import as_data
from elrcheck.results.trace_reports import ReplayReport
from elrcheck.stored_traces.recorded import Format
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.tla_export.reading.values import show
from elrcheck.tla_export.spec import write_spec
from elrcheck.tla_export.tlc_process import find_tools
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.loaded import Loaded, NamedSelection
from support.edits import replaced
from support.lost_record import CALLS, LEGACY, STORY, lost_record, stored, tlc_json
from support.places import SCHEMAS

SCHEMA = SCHEMAS / "elrcheck.replay-1.schema.json"
IN_LEGACY = NamedSelection(LEGACY, frozenset({"variant", "scope"}))


@pytest.fixture(scope="module")
def story() -> Loaded[Label]:
    return lost_record()


def itf_file(folder: Path, story: Loaded[Label]) -> Path:
    return export_loaded(story, "itf", folder)[0]


def tlc_text(story: Loaded[Label], labels: bool = True) -> str:
    """The trace as TLC prints it."""
    lines = ["TLC2 Version 2.15", "Error: The behavior up to this point is:"]
    place = "line 1, col 1 to line 2, col 2 of module M"
    names = ["Initial predicate", *(f"{label.action} {place}" for label in STORY)]
    for number, state in enumerate(story.behaviour.states, start=1):
        lines.append(f"State {number}: <{names[number - 1] if labels else 'Next'}>")
        values = {name: show(ty, getattr(state, name)) for name, ty in story.model.state_fields.items()}
        lines += [f"/\\ {name} = {text}" for name, text in values.items()] + [""]
    return "\n".join(lines)


def edited(path: Path, edit: Callable[[Any], None]) -> Path:
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))
    return path


def checked(report: ReplayReport) -> ReplayReport:
    jsonschema.validate(json.loads(json.dumps(as_data(report))), json.loads(SCHEMA.read_text()))
    return report


# ---------------------------------------------------------------------------- accepted


def written(folder: Path, story: Loaded[Label], form: Format) -> Path:
    path = folder / "trace"
    match form:
        case "elrcheck":
            return stored(folder, story)
        case "itf":
            return itf_file(folder, story)
        case "tlc-json":
            path.write_text(json.dumps(tlc_json(story)))
        case "tlc-text":
            path.write_text(tlc_text(story))
    return path


@pytest.mark.parametrize("form", ["elrcheck", "itf", "tlc-json", "tlc-text"])
def test_every_notation_is_told_from_its_contents_and_accepted(
    story: Loaded[Label], tmp_path: Path, form: Format
) -> None:
    report = checked(run_replay(written(tmp_path, story, form), IN_LEGACY))
    assert (report.verdict, report.origin.format, report.exit_code) == ("accepted", form, ExitCode.HOLDS)
    assert (report.states, report.accepted) == (5, 5)
    assert tuple(step.label for step in report.trace.steps) == CALLS
    hits = [(hit.id, hit.step, hit.witness) for hit in report.violated]
    assert hits == [("P-8", 4, "k=0, b=nobody (0 before the step)")]


def test_our_own_files_name_their_model(story: Loaded[Label], tmp_path: Path) -> None:
    for path in (stored(tmp_path, story), itf_file(tmp_path, story)):
        report = run_replay(path, NamedSelection())
        assert (report.verdict, report.origin.variant, report.origin.scope) == ("accepted", "legacy", "two-brokers")


def test_what_itf_py_writes_is_accepted(story: Loaded[Label], tmp_path: Path) -> None:
    """An independent reader and writer of ITF in between."""
    trace = itf_py.trace_from_json(json.loads(itf_file(tmp_path, story).read_text()))
    again = tmp_path / "again.itf.json"
    again.write_text(json.dumps(itf_py.trace_to_json(trace)))
    assert run_replay(again, IN_LEGACY).verdict == "accepted"


def test_quint_adds_variables_and_writes_options_as_variants(story: Loaded[Label], tmp_path: Path) -> None:
    def as_quint(document: Any) -> None:
        document["vars"] += ["mbt::actionTaken", "mbt::nondetPicks"]
        del document["#meta"]
        for state in document["states"]:
            del state["#meta"]
            state["mbt::actionTaken"], state["mbt::nondetPicks"] = "step", {"b": {"tag": "None", "value": 0}}
            partition = state["partition"]
            if partition["leader"] == {"#bigint": "0"}:
                partition["leader"] = {"tag": "Some", "value": {"#bigint": "0"}}

    path = edited(itf_file(tmp_path, story), as_quint)
    assert run_replay(path, IN_LEGACY).verdict == "accepted"


def test_difftrace_and_tool_markers(story: Loaded[Label], tmp_path: Path) -> None:
    """-difftrace leaves out what did not change; -tool wraps every message."""
    previous: dict[str, str] = {}
    lines = ["@!@!@STARTMSG 2121:1 @!@!@", "The behavior up to this point is:", "@!@!@ENDMSG 2121 @!@!@"]
    for number, state in enumerate(story.behaviour.states, start=1):
        values = {name: show(ty, getattr(state, name)) for name, ty in story.model.state_fields.items()}
        lines += ["@!@!@STARTMSG 2217:4 @!@!@", f"{number}: <Next>"]
        lines += [f"/\\ {name} = {text}" for name, text in values.items() if previous.get(name) != text]
        lines += ["", "@!@!@ENDMSG 2217 @!@!@"]
        previous = values
    path = tmp_path / "tool.txt"
    path.write_text("\n".join(lines))
    report = run_replay(path, IN_LEGACY)
    assert (report.verdict, report.origin.format, report.states) == ("accepted", "tlc-text", 5)


# ---------------------------------------------------------------------------- rejected


def test_a_state_that_no_action_makes(story: Loaded[Label], tmp_path: Path) -> None:
    """It is named ApplyMetadata, which is possible and makes nearly the same state."""

    def wrong(document: Any) -> None:
        document["states"][3]["partition"]["leader_epoch"] = 7

    report = checked(run_replay(edited(stored(tmp_path, story), wrong), NamedSelection()))
    rejection = report.rejection
    assert rejection is not None
    assert (report.verdict, report.exit_code, report.accepted, rejection.step) == ("rejected", ExitCode.FINDING, 3, 3)
    nearest = rejection.candidates[0]
    assert (nearest.label, nearest.guard, nearest.named) == ("ApplyMetadata(b=0)", None, True)
    assert [(c.path, c.old, c.new) for c in nearest.differs] == [("partition.leader_epoch", "1", "7")]


def test_every_candidate_has_the_guard_that_refused_it(story: Loaded[Label], tmp_path: Path) -> None:
    """The log has one slot, so nobody produces once more; broker 1 is fenced already."""

    def skip(document: Any) -> None:
        del document["states"][3], document["steps"][2]

    rejection = run_replay(edited(stored(tmp_path, story), skip), NamedSelection()).rejection
    assert rejection is not None
    assert rejection.step == 3
    guards = {one.label: one.guard for one in rejection.candidates}
    assert guards["Fence(b=1)"] == "b is unfenced"
    assert guards["Produce(leader=0, acks=ALL)"] == "the log has room"
    assert guards["Crash(b=0, keep=0)"] is None
    assert rejection.candidates[0].label == "Crash(b=0, keep=0)"
    assert "committed" in [change.path for change in rejection.candidates[0].differs]
    every = {fn.name for fn in story.model.actions}
    assert {one.action for one in rejection.candidates} >= {"Fence", "Produce", "Crash", "Fetch"}
    assert {one.action for one in rejection.candidates} <= every


def test_a_wrong_name_is_refused_although_the_state_is_right(story: Loaded[Label], tmp_path: Path) -> None:
    def rename(document: Any) -> None:
        document["steps"][0]["args"] = [0]

    rejection = run_replay(edited(stored(tmp_path, story), rename), NamedSelection()).rejection
    assert rejection is not None
    assert rejection.reason == "the trace calls this step Fence(b=0), but it is Fence(b=1)"


def test_another_variant_says_where_it_parts(story: Loaded[Label], tmp_path: Path) -> None:
    """With ELR the feature is on from the start, so the first state differs there."""
    report = run_replay(stored(tmp_path, story), NamedSelection(Selection("kip_full"), frozenset({"variant"})))
    assert report.rejection is not None
    assert (report.accepted, report.rejection.step) == (0, 0)
    assert "settings.elr_enabled" in [change.path for change in report.rejection.changed]


def test_a_step_that_does_nothing(story: Loaded[Label], tmp_path: Path) -> None:
    def stutter(document: Any) -> None:
        document["states"].insert(1, document["states"][1])
        document["#meta"] = {}
        for state in document["states"]:
            state.pop("#meta", None)

    rejection = run_replay(edited(itf_file(tmp_path, story), stutter), IN_LEGACY).rejection
    assert rejection is not None
    assert (rejection.step, rejection.changed) == (2, ())
    assert rejection.reason.startswith("this step changes nothing")


def lasso(story: Loaded[Label], folder: Path) -> Path:
    """Broker 1 fetches from 0 until there is no news, and then for ever."""
    plain, fetch = PlainModel(story.model, story.config), Label("Fetch", (1, 0, False))
    states = [plain.initial()]
    while (after := plain.step(states[-1], fetch)) != states[-1]:
        states.append(after)
    origin = TraceOrigin("legacy", "two-brokers")
    behaviour = Behaviour(origin, tuple(states), (fetch,) * len(states), len(states) - 1)
    path = folder / "lasso.trace.json"
    write_trace(path, behaviour, story.model.state_ty)
    return path


def test_a_cycle_is_closed_by_a_step_of_the_model(story: Loaded[Label], tmp_path: Path) -> None:
    path = lasso(story, tmp_path)
    report = run_replay(path, NamedSelection())
    assert (report.verdict, report.states, report.accepted) == ("accepted", 2, 2)
    assert (report.trace.loop, len(report.trace.steps)) == (1, 2)

    def elsewhere(document: Any) -> None:
        document["loop"] = 0  # nothing leads back to the initial state

    report = run_replay(edited(path, elsewhere), NamedSelection())
    assert report.rejection is not None
    assert (report.verdict, report.accepted, report.rejection.step) == ("rejected", 2, 2)


# ---------------------------------------------------------------------------- no trace at all


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        '{"vars": [], "states": []}',
        '{"counterexample": {"state": [], "action": []}}',
        "TLC2 Version 2.15\nModel checking completed. No error has been found.\n",
        '{"schema": "elrcheck.trace/1", "states": []}',
    ],
)
def test_nothing_recorded_is_never_accepted(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty"
    path.write_text(text)
    with pytest.raises(NothingChecked):
        run_replay(path, NamedSelection())


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"hello\n", "neither JSON nor"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"\x80\x04\x95\x10\x00\x00\x00.", "not UTF-8"),
        (b"[1, 2]", "not a trace: a list"),
        (b'{"a": 1}', "not a trace: an object without"),
        (b'{"states": [', "not valid JSON"),
        (b'{"schema": "elrcheck.report/1"}', "expected the schema elrcheck.trace/1"),
        (b"{" + b'"a": {' * 50_000, "nested too deeply"),
        (b"State 1: <Initial predicate>\n/\\ partition = __import__('os')\n", "not a TLA+ value"),
        (b"State 1: <Initial predicate>\n/\\ partition = 3\n", "without"),
        (b"State " + b"9" * 5000 + b": <Next>\n/\\ x = 3\n", "not a number of a state"),
        (b"State 1: <Initial predicate>\n/\\ x = " + b"{" * 5000 + b"\n", "nested deeper"),
    ],
)
def test_what_is_no_trace(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "no-trace"
    path.write_bytes(data)
    with pytest.raises(UsageFault) as fault:
        run_replay(path, NamedSelection())
    assert says in fault.value.message
    assert str(path) in (fault.value.where or "")


def test_the_place_of_a_wrong_value(story: Loaded[Label], tmp_path: Path) -> None:
    """Each reader names the field."""
    document = tlc_json(story)
    document["counterexample"]["state"][2][1]["partition"]["leader"] = "nobody"
    path = tmp_path / "tlc.json"
    path.write_text(json.dumps(document))
    with pytest.raises(UsageFault) as fault:
        run_replay(path, IN_LEGACY)
    assert (fault.value.where or "").endswith("$.counterexample.state[2][1].partition.leader")
    document = json.loads(json.dumps(tlc_json(story)))
    document["counterexample"]["action"][1][2][1]["lossy"] = [0]
    path.write_text(json.dumps(document))
    with pytest.raises(UsageFault, match="this is not state 3 as it is listed"):
        run_replay(path, IN_LEGACY)
    path.write_text(replaced(tlc_text(story), 'recovery |-> "RECOVERED"', 'recovery |-> "BROKEN"', 1))
    with pytest.raises(UsageFault) as fault:
        run_replay(path, IN_LEGACY)
    assert (fault.value.where or "").endswith("state 1.partition.recovery")


def test_a_trace_of_more_brokers_than_the_scope_has(story: Loaded[Label], tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(tlc_text(story))
    with pytest.raises(UsageFault, match="expected one value for each of 3 brokers"):
        run_replay(path, NamedSelection(Selection("legacy", "three-brokers")))


def test_a_format_can_be_forced(story: Loaded[Label], tmp_path: Path) -> None:
    path = stored(tmp_path, story)
    with pytest.raises(ElrError, match="unknown key"):
        run_replay(path, IN_LEGACY, "itf")
    assert run_replay(path, IN_LEGACY, "elrcheck").verdict == "accepted"


def test_the_command(story: Loaded[Label], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stored(tmp_path, story)
    assert run(cli, ["replay", str(path)]) == 0
    assert "ACCEPTED  legacy, two-brokers: the model accepts 5 of 5 states" in capsys.readouterr().out

    def wrong(document: Any) -> None:
        document["states"][3]["lossy"] = [0]

    edited(path, wrong)
    assert run(cli, ["replay", str(path)]) == 1
    out = capsys.readouterr().out
    assert "ApplyMetadata(b=0) leads to another state (model -> recorded):" in out
    assert "lossy: {} -> {0}" in out
    assert "by guard" in out
    assert run(cli, ["replay", str(path), "-f", "github"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("::error") and "no action makes this state" in out
    assert run(cli, ["replay", str(path), "-f", "junit"]) == 1
    assert 'failures="1"' in capsys.readouterr().out
    path.write_text("")
    assert run(cli, ["replay", str(path)]) == 5
    path.write_bytes(b"\x00\xff")
    assert run(cli, ["replay", str(path)]) == 2
    assert run(cli, ["replay", str(tmp_path / "missing")]) == 2


# ---------------------------------------------------------------------------- the real TLC


@pytest.mark.tlc
@pytest.mark.parametrize(
    "extra", [(), pytest.param(("-tool", "-difftrace"), marks=pytest.mark.slow)], ids=["plain", "difftrace"]
)
@pytest.mark.slow
def test_what_tlc_prints_of_its_own_search(story: Loaded[Label], tmp_path: Path, extra: tuple[str, ...]) -> None:
    """TLC searches the exported module, finds P-8 broken, and the plain model follows what it prints."""
    tools = find_tools()
    write_spec(story.model, story.config, tmp_path, "Legacy")
    cfg = tmp_path / "Legacy.cfg"
    text = cfg.read_text()
    constants = text[: text.index("INVARIANT")] if "INVARIANT" in text else text
    cfg.write_text(constants + "\nINVARIANT NoCommittedRecordLost\n")
    command = [
        str(tools.java.path),
        "-cp",
        str(tools.jar),
        "tlc2.TLC",
        "-workers",
        "1",
        "-deadlock",
        "-metadir",
        str(tmp_path / "meta"),
        *extra,
        "Legacy.tla",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 12, done.stdout[-2000:]
    path = tmp_path / "tlc.out"
    path.write_text(done.stdout)
    report = run_replay(path, IN_LEGACY)
    assert (report.verdict, report.origin.format) == ("accepted", "tlc-text")
    # Breadth-first with one worker: as short as our own story, and broken only at its end.
    assert [(hit.id, hit.step) for hit in report.violated] == [("P-8", 4)]
