"""The scenes of a trace: a sentence for each step, what is enabled and what is not, and rules with their source."""

from __future__ import annotations

import pickle

import pytest

from elrcheck.base.requests import Selection
from elrcheck.results.trace_view import DrawnFields, DrawnPartition, TraceView
from elrcheck.stored_traces.recorded import of_repro
from support.places import PROTOCOLS


@pytest.fixture(scope="module")
def view() -> TraceView:
    """Broker 1 is fenced, and broker 0 commits a record alone."""
    return of_repro("1/5/2", Selection("legacy", "two-brokers")).view


def test_each_step_has_a_sentence_and_its_rule(view: TraceView) -> None:
    first, *others = view.drawn.scenes()
    assert first.sentence == "" and isinstance(first.drawn, DrawnPartition)
    assert [scene.sentence for scene in others] == [
        "Broker 1 is paused or cut off until its session ends, and fenced.",
        "A producer writes a record with acks=all to broker 0.",
        "Broker 0 reads the newest metadata.",
    ]
    rules = view.drawn.rules()
    assert set(rules) == {step.action for step in view.steps} and "def Fence(" in rules["Fence"]


def test_an_action_is_enabled_or_a_guard_refuses_it(view: TraceView) -> None:
    before, after, *_ = view.drawn.scenes()
    assert "Fence(b=1)" in before.enabled and "Fence(b=1)" not in after.enabled
    refusals = {(one.action, call): one.guard for one in after.refused for call in one.calls}
    assert refusals["Fence", "b=1"] == "b is unfenced"
    calls = {f"{action}({call})" for action, call in refusals}
    assert not calls & set(after.enabled) and len(calls) + len(after.enabled) == len(
        {*calls, *after.enabled, *before.enabled}
    )


def test_other_models_are_told_by_their_documentation() -> None:
    subject = of_repro("0", Selection(model=PROTOCOLS / "agreement" / "two_phase.py"))
    _, scene = subject.view.drawn.scenes()
    assert isinstance(scene.drawn, DrawnFields) and scene.sentence.endswith(".")


def test_scenes_are_for_pages_alone(view: TraceView) -> None:
    from elrcheck.report.json_report import as_data

    assert "drawn" not in as_data(view) and "-" not in as_data(view)


def test_a_trace_goes_to_another_process_without_its_scenes(view: TraceView) -> None:
    """A sweep checks a configuration in a process of its own; the functions of a model cannot be sent."""
    assert view.drawn is not None and pickle.loads(pickle.dumps(view)).drawn is None
