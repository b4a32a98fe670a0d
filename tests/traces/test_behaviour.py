"""The one trace type: what cannot be one, a lasso's states in order, and a finding that is none."""

from __future__ import annotations

import pytest

from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import Label
from elrcheck.traces.behaviour import Behaviour, TraceOrigin, allows, of_states
from elrcheck.traces.loaded import Loaded
from elrcheck.traces.replay import ReplayError, replay, replay_finding
from support.lost_record import STORY, lost_record

A, B, C = (Label(name, ()) for name in "ABC")


@pytest.fixture(scope="module")
def story() -> Loaded[Label]:
    return lost_record()


@pytest.mark.parametrize(
    ("states", "labels", "loop", "says"),
    [
        (0, 0, None, "at least one state"),
        (2, 0, None, "2 states need 1 steps, got 0"),
        (2, 2, None, "2 states need 1 steps, got 2"),
        (3, 2, 1, "3 states need 3 steps, got 2"),
        (3, 1, 2, "3 states need 3 steps, got 1"),
        (2, 3, 1, "2 states need 2 steps, got 3"),
        (2, 2, 2, "there is no state 2, the last one is 1"),
        (2, 2, -1, "there is no state -1"),
    ],
)
def test_numbers_that_do_not_fit(states: int, labels: int, loop: int | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Behaviour(TraceOrigin(), tuple(range(states)), (A,) * labels, loop)


def test_states_in_the_order_of_the_steps() -> None:
    finite = Behaviour(TraceOrigin(), (1, 2, 3), (A, B))
    closed = Behaviour(TraceOrigin(), (1, 2, 3), (A, B, C), 1)
    stops = Behaviour(TraceOrigin(), (1, 2, 3), (A, B), 2)
    assert (finite.visited, finite.closes) == ((1, 2, 3), False)
    assert (closed.visited, closed.closes) == ((1, 2, 3, 2), True)
    assert (stops.visited, stops.closes) == ((1, 2, 3), False)
    assert closed.prefix(3) == Behaviour(TraceOrigin(), (1, 2, 3, 2), (A, B, C))
    assert stops.prefix(1) == Behaviour(TraceOrigin(), (1, 2), (A,))
    assert of_states([1, 2]) == Behaviour(TraceOrigin(), (1, 2), (None,))


def test_where_it_was_read_is_no_part_of_it() -> None:
    assert TraceOrigin("v", "s", source="a.json", form="itf") == TraceOrigin("v", "s")
    assert TraceOrigin("v", "s") != TraceOrigin("v", "s", property="P-1")


def test_an_origin_is_a_request() -> None:
    selection = TraceOrigin("legacy", "two-brokers", {"min_isr": 2, "response_loss": True}).selection()
    assert selection.overrides == ("min_isr=2", "response_loss=true")


def test_what_a_notation_says_of_a_step() -> None:
    fence = Label("Fence", (1,))
    assert allows(None, fence) and allows("Fence", fence) and allows(Label("Fence", (1,)), fence)
    assert not allows("Unfence", fence) and not allows(Label("Fence", (0,)), fence)


# ---------------------------------------------------------------------------- replayed


def test_labels_are_found_for_states_without_any(story: Loaded[Label]) -> None:
    replayed = replay(story.model, story.config, of_states(story.behaviour.states))
    assert replayed.rejection is None and replayed.labels == STORY
    again = replay(story.model, story.config, story.behaviour)
    assert again.repro == replayed.repro and again.followed == story.behaviour


def test_a_part_is_followed_up_to_its_refused_step(story: Loaded[Label]) -> None:
    states = story.behaviour.states
    replayed = replay(story.model, story.config, of_states((*states[:2], states[3])))
    assert replayed.rejection is not None and replayed.rejection.step == 2
    assert (replayed.states, replayed.labels, replayed.loop) == (states[:2], STORY[:1], None)
    with pytest.raises(ReplayError, match="step 2 of the trace is not a step of the model"):
        _ = replayed.followed
    replayed = replay(story.model, story.config, of_states(states[1:]))
    assert replayed.states == () and replayed.view.steps == ()
    with pytest.raises(ReplayError, match="does not start in the initial state"):
        _ = replayed.followed
    assert replay(story.model, story.config, of_states(states[1:]), anywhere=True).labels == STORY[1:]


def test_an_engine_s_finding_says_what_broke(story: Loaded[Label]) -> None:
    fn, states = named(story, "P-8"), story.behaviour.states
    replayed = replay_finding(story.model, story.config, fn, states)
    assert (replayed.broken.conjunct, replayed.broken.witness) == (
        "kept_somewhere",
        "k=0, b=nobody (0 before the step)",
    )
    assert (replayed.followed.labels, replayed.behaviour.origin.property) == (STORY, "P-8")
    with pytest.raises(ReplayError, match="P-8 is not hit at the end"):
        replay_finding(story.model, story.config, fn, states[:-1])


def named(story: Loaded[Label], ident: str) -> Fn:
    return next(fn for fn in story.model.always if fn.ident == ident)
