"""One event, one place: what an action says of itself agrees with the proof, with `what-if` and the diagrams.

Whether an action is an event of the controller is read from the exported TLA+, not from what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from msgspec import structs

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.invariants.controller_events import EventKind
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.what_if.what_if_operations import OPERATIONS
from elrcheck.lang.ir import Fn
from elrcheck.lang.marks import NO_MARKS, Marks
from elrcheck.lang.runtime import action
from elrcheck.report.json_report import as_data
from elrcheck.results.trace_view import CONTROLLER, Argument, Step, Talk
from elrcheck.tla_export.spec import spec_text
from elrcheck.traces.describe import talk

DECIDES = ("partition", "registration", "settings")
"""The state variables that make a `Situation`, from which the controller decides."""
# An action that needs no event of the proof, and why.
NO_EVENT = {"ChangeUncleanElection": "the proof leaves unclean.leader.election.enable open: it covers either value"}
# Events and operations that no action is, and why.
NO_ACTION = {
    "CREATE_PARTITION": "a behaviour of the model starts with the partition created",
    "create_partition": "the same",
    "change": "the change builder by itself, which every event of the controller uses",
}


@pytest.fixture(scope="module")
def actions() -> dict[str, Fn]:
    return {fn.name: fn for fn in load_checked_model().actions}


@pytest.fixture(scope="module")
def decides(actions: dict[str, Fn]) -> dict[str, bool]:
    """Whether an action assigns to what the controller decides from."""
    config = resolve(Selection("kip_full", "two-brokers")).config
    spec = spec_text(load_checked_model(), config, "Marks").tla
    deciding = {}
    for name in actions:
        definition = re.search(rf"^{name}(\([^)]*\))? ==\n(.*?)(?=^\w|\Z)", spec, re.M | re.S)
        assert definition is not None, name
        deciding[name] = re.search(rf"\b({'|'.join(DECIDES)})' =", definition[2]) is not None
    return deciding


def mistakes(name: str, marks: Marks, decides: bool) -> Iterator[str]:
    """What is missing at an action, or said of it without need."""
    whole = bool(marks.events) and bool(marks.what_if)
    if decides and not marks.events and name not in NO_EVENT:
        yield f"{name} changes what the controller knows and has no event="
    if marks.events and not decides:
        yield f"{name} changes nothing that the controller decides from, and has event={marks.events}"
    if (marks.events or marks.what_if) and not whole and not marks.because:
        yield f"{name} has no {'what_if=' if marks.events else 'event='}, and no because="
    if marks.because and (whole or not (marks.events or marks.what_if)):
        yield f"{name} lacks nothing, and has because={marks.because!r}"


def test_every_event_of_the_controller_has_an_event_of_the_proof_and_an_operation(
    actions: dict[str, Fn], decides: dict[str, bool]
) -> None:
    assert sum(decides.values()) >= 18
    assert [mistake for name, fn in actions.items() for mistake in mistakes(name, fn.marks, decides[name])] == []


def test_one_that_lacks_them_is_noticed(actions: dict[str, Fn]) -> None:
    fence, learns = actions["Fence"].marks, actions["LeaderLearns"].marks
    assert list(mistakes("Fence", fence, True)) == list(mistakes("LeaderLearns", learns, False)) == []
    assert list(mistakes("Fence", NO_MARKS, True)) == ["Fence changes what the controller knows and has no event="]
    (mistake,) = mistakes("Fence", replace(fence, what_if=()), True)
    assert mistake == "Fence has no what_if=, and no because="
    assert list(mistakes("Fence", replace(fence, what_if=(), because="a reason"), True)) == []
    assert len(list(mistakes("Fence", replace(fence, because="a reason"), True))) == 1
    claims = replace(learns, events=("FENCE",), what_if=("fence",))
    assert len(list(mistakes("LeaderLearns", claims, False))) == 1


def test_every_event_of_the_proof_is_some_action(actions: dict[str, Fn]) -> None:
    claimed = [event for fn in actions.values() for event in fn.marks.events]
    assert len(set(claimed)) == len(claimed)
    assert set(claimed) | {name for name in NO_ACTION if name.isupper()} == {kind.name for kind in EventKind}
    assert not set(claimed) & set(NO_ACTION)


def test_every_operation_of_what_if_asks_for_some_action(actions: dict[str, Fn]) -> None:
    claimed = {operation for fn in actions.values() for operation in fn.marks.what_if}
    alone = {name for name in NO_ACTION if name.islower()}
    assert claimed | alone == set(OPERATIONS)
    assert not claimed & alone


# ---------------------------------------------------------------------------- messages


def test_messages_are_between_brokers_and_the_controller(actions: dict[str, Fn]) -> None:
    messages = {name: fn.marks.message for name, fn in actions.items() if fn.marks.message is not None}
    assert len(messages) == 20
    for name, message in messages.items():
        parties = {end for end in (message.sender, message.receiver) if end[0].isupper()}
        assert parties <= {CONTROLLER}, name


def test_a_step_says_who_talks_to_whom(actions: dict[str, Fn]) -> None:
    def of(name: str, **arguments: str) -> Talk | None:
        return talk(actions[name], [Argument(key, value) for key, value in arguments.items()])

    assert of("Fetch", f="1", leader="0", lost="false") == Talk("1", "0")
    assert of("Fetch", f="1", leader="0", lost="true") == Talk("1", "0", lost=True)
    assert of("LoseResponse", leader="2") == Talk(CONTROLLER, "2", lost=True)
    assert of("ShrinkIsr", leader="2", out="{1}") == Talk("2", CONTROLLER)
    assert of("Fence", b="1") is None


def test_no_document_has_it() -> None:
    step = Step(1, "Unfence", (Argument("b", "1"),), talk=Talk("1", CONTROLLER))
    assert as_data(step) == as_data(structs.replace(step, talk=None))
    assert set(as_data(step)) == {"index", "action", "arguments", "because", "changes", "source"}


# ---------------------------------------------------------------------------- the decorator


def test_one_name_or_several() -> None:
    @action(event="A", what_if=("b", "c"), because="d")
    def F() -> None: ...

    role = F.__elr_role__  # type: ignore[attr-defined]
    assert (role.kind, role.marks) == ("action", Marks(events=("A",), what_if=("b", "c"), because="d"))
