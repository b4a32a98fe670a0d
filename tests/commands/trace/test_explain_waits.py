"""`elrcheck explain` of a lasso: what is waited for, and what the cycle owes to fair steps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.cli import cli
from elrcheck.commands.trace.explain import ExplainQuestion, run_explain
from elrcheck.console.shell import run
from elrcheck.declared.select import resolve
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.report.formats import render
from elrcheck.report.json_report import as_data
from elrcheck.results.trace_reports import ExplainReport, FairStep
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.replay import Replayed, replay
from support.places import SCHEMAS

SCHEMA = SCHEMAS / "elrcheck.explain-1.schema.json"


def lasso(model: Model, labels: Sequence[tuple[str, tuple[Any, ...]]], loop: int, *settings: str) -> Replayed:
    """Two brokers; the plain model makes the steps, of which the last one leads to state `loop`."""
    selected = resolve(Selection("kip_full", "two-brokers", settings))
    plain = PlainModel(model, selected.config)
    states, taken = [plain.initial()], [Label(*label) for label in labels]
    for label in taken:
        states.append(plain.step(states[-1], label))
    assert states[-1] == states[loop]
    if loop < len(taken):
        states.pop()
    origin = TraceOrigin.of(selected, source="here")
    return replay(model, selected.config, Behaviour(origin, tuple(states), tuple(taken), loop))


def ask(subject: Replayed, *properties: str, at: int | None = None) -> ExplainReport:
    report = run_explain(subject, ExplainQuestion(properties, None, at))
    jsonschema.validate(json.loads(json.dumps(as_data(report))), json.loads(SCHEMA.read_text()))
    return report


def step(report: ExplainReport, label: str) -> FairStep:
    assert report.cycle is not None
    return next(one for one in report.cycle.steps if one.label == label)


@pytest.fixture(scope="module")
def stuck(whole_model: Model) -> Replayed:
    """Broker 1 is fenced and returns. Nobody applies a record of the same leader epoch: both stay behind."""
    story = (("Fence", (1,)), ("Unfence", (1,)), ("Fetch", (1, 0, False)))
    return lasso(whole_model, story, 3, "applies_equal_epoch=false")


def test_a_behaviour_that_stops(stuck: Replayed) -> None:
    """From the first step on the partition has epoch 2, and brokers know epoch 1."""
    report = ask(stuck, "V-2")
    assert (report.verdict, report.at, report.exit_code) == ("violated", 3, 1)
    assert [one.witness for one in report.explained] == ["b=0", "b=1"]
    for b, one in enumerate(report.explained):
        assert one.wait is not None
        assert (one.wait.since, [goal.state for goal in one.wait.goals]) == (1, [3])
        looked = {(look.text, look.value) for look in every(one.wait.goals[0].clause)}
        assert {(f"broker[{b}].view.partition_epoch", "1"), ("partition.partition_epoch", "2")} <= looked
    assert report.cycle is not None and report.cycle.stops and report.cycle.fair
    applies = step(report, "ApplyMetadata(b=0)")
    assert (applies.never, applies.taken, applies.why) == (True, None, "it changes nothing")
    assert step(report, "Start(b=1)").why == "refused by: b is offline"
    page = render(report, "html")
    assert "The goal is false in state 3" in page and "Forever: nothing happens in state 3" in page
    assert "never enabled, refused by: b is offline" in page


def every(clause: Any) -> list[Any]:
    return [*clause.looked, *(look for part in clause.parts for look in every(part))]


def test_a_property_whose_waits_end_there(stuck: Replayed) -> None:
    """Broker 1 is fenced in state 1 and unfenced in state 2."""
    report = ask(stuck, "V-1")
    assert (report.verdict, report.exit_code, report.explained[0].wait) == ("holds", 0, None)


def test_a_stop_that_a_fair_behaviour_would_leave(whole_model: Model) -> None:
    """A fenced broker that runs has to be unfenced finally, so stopping there refutes nothing."""
    report = ask(lasso(whole_model, (("Fence", (1,)),), 1), "V-1")
    assert report.verdict == "holds" and report.explained[0].wait is not None
    assert report.cycle is not None and not report.cycle.fair
    unfence = step(report, "Unfence(b=1)")
    assert (unfence.taken, unfence.idle, unfence.never, unfence.settled) == (None, None, False, False)


def test_a_cycle_that_takes_a_step_that_stops_is_unfair(whole_model: Model) -> None:
    """The leader proposes a fenced broker again and again, which the controller refuses."""
    refused = (("ExpandIsr", (0, 1)), ("ControllerAlters", (0,)), ("LeaderLearns", (0,)))
    story = (("Fence", (1,)), ("ApplyMetadata", (0,)), ("ApplyMetadata", (1,)), ("Fetch", (1, 0, False)), *refused)
    report = ask(lasso(whole_model, (*story, *refused), len(story)), "V-10")
    expands = step(report, "ExpandIsr(leader=0, f=1)")
    assert (expands.again, expands.taken, expands.settled) == (8, None, False)
    assert report.verdict == "holds" and "assumed to stop there" in render(report, "html")


@pytest.fixture(scope="module")
def lost(whole_model: Model) -> Replayed:
    """Every answer to the leader's AlterPartition is lost: it asks, is refused, and asks again."""
    story = (
        ("Fence", (1,)),
        ("ApplyMetadata", (0,)),
        ("Unfence", (1,)),
        ("Fetch", (1, 0, False)),
        ("ExpandIsr", (0, 1)),
        ("ControllerAlters", (0,)),
        ("LoseResponse", (0,)),
        ("ControllerAlters", (0,)),
        ("LoseResponse", (0,)),
    )
    return lasso(whole_model, story, 7, "response_loss=true")


def test_a_cycle_and_what_it_owes(lost: Replayed) -> None:
    """LeaderLearns is strongly fair: possible again and again, in state 8, and never taken."""
    report = ask(lost, "V-3")
    (explained,) = report.explained
    assert explained.wait is not None and report.cycle is not None
    assert (explained.witness, explained.wait.since, [goal.state for goal in explained.wait.goals]) == (
        "b=0",
        5,
        [7, 8],
    )
    assert (report.cycle.loop, report.cycle.last, report.cycle.stops) == (7, 8, False)
    assert step(report, "ControllerAlters(leader=0)").taken == 8
    learns = step(report, "LeaderLearns(leader=0)")
    assert (learns.strong, learns.taken, learns.idle, learns.never) == (True, None, 7, False)
    assert learns.how == "never taken, although fairness requires it"
    applies = step(report, "ApplyMetadata(b=1)")
    assert not report.cycle.fair and report.verdict == "holds"
    assert applies.taken is None and not applies.settled, "broker 1 could apply the change of its ISR"


def test_questions_without_an_answer(stuck: Replayed, lost: Replayed) -> None:
    for question, says in (
        (ExplainQuestion(("V-2", "P-1")), "a whole behaviour"),
        (ExplainQuestion(("V-3",), None, 2), "not in the cycle, which consists of states 7 to 8"),
    ):
        with pytest.raises(UsageFault, match=says):
            run_explain(lost, question)
    assert ask(stuck, "P-1").explained[0].value


def test_the_command(stuck: Replayed, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "V-2.trace.json"
    write_trace(path, stuck.followed, stuck.model.state_ty)
    assert run(cli, ["explain", str(path), "-p", "V-2"]) == 1
    out = capsys.readouterr().out
    assert "FAIL  V-2 ViewCatchesUp for b=0: waits forever from state 1 on" in out
    assert "not reached in state 3:" in out and "nothing more happens in state 3" in out
    assert "never enabled, it changes nothing" in out
