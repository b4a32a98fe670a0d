"""The explorer on models of the user: any protocol is drawn by its fields, and walked through by the plain model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.cli import cli
from elrcheck.commands.new_model import write_fork
from elrcheck.commands.web.state_space import FollowedSpace
from elrcheck.commands.web.web_api import Explorer
from elrcheck.console.shell import run
from elrcheck.report.html.html_trace import legend_of, picture_of
from elrcheck.results.trace_view import DrawnFields, Fact
from elrcheck.traces.drawings import drawn_fields
from elrcheck.traces.loaded import NamedSelection
from support.edits import patch_file
from support.places import PROTOCOLS
from support.weaker import WEAKER
from support.web_client import Client, serving

TWO_PHASE = PROTOCOLS / "agreement" / "two_phase.py"
PETERSON = PROTOCOLS / "mutual_exclusion" / "peterson.py"
BEGIN = {"variant": "two_phase", "scope": "default"}


def explorer(model: Path, *overrides: str, trace: Path | None = None) -> Explorer:
    return Explorer(NamedSelection(Selection(model=model, overrides=overrides)), trace)


@pytest.mark.parametrize("file", sorted(PROTOCOLS.glob("*/*.py")), ids=lambda file: file.stem)
def test_every_protocol_can_be_walked_through(file: Path) -> None:
    """Each step that is offered first, or last, is taken by its words, and everything of the state is drawn."""
    with serving(explorer(file)) as client:
        model, path = client.get("/api/start")["model"], list[str]()
        for k in range(6):
            state = client.post("/api/state", {"model": model, "path": path})
            assert "error" not in state, state
            assert state["at"] == k and state["model"] == model
            for name in state["state"]:
                assert f">{name}" in state["picture"], name
            if not state["choices"]:
                break
            path.append(state["choices"][-(k % 2)]["step"])


def test_a_state_is_drawn_by_its_fields() -> None:
    space = FollowedSpace(Selection(model=TWO_PHASE))
    before, after = space.follow(["Prepare(r=1)"]).states
    drawn = drawn_fields(space.model.state_ty, after, before)
    assert Fact("decision", "OPEN", False) in drawn.facts and Fact("sent_prepared", "{1}", True) in drawn.facts
    (managers,) = drawn.sorts
    assert (managers.word, managers.columns) == ("manager", ("rm",))
    assert [(one.name, one.values[0].value, one.values[0].changed) for one in managers.members] == [
        ("manager 0", "WORKING", False),
        ("manager 1", "PREPARED", True),
        ("manager 2", "WORKING", False),
    ]


def test_texts_of_a_model_are_escaped() -> None:
    evil = DrawnFields((Fact("<b>", "<b>"),), ())
    assert "<b>" not in picture_of(evil)
    assert "&lt;" not in legend_of(evil) and "<li>" in legend_of(evil)


@pytest.fixture(scope="module")
def client() -> Any:
    with serving(explorer(TWO_PHASE)) as served:
        yield served


def test_the_page_offers_what_the_model_declares(client: Client) -> None:
    start = client.get("/api/start")
    assert start["model"] == {**BEGIN, "overrides": [], "start": 0}
    assert [one["name"] for one in start["scopes"]] == ["default", "five"]
    assert start["settings"] == {"rms": 3} and "committed" not in start["legend"]
    five = client.post("/api/state", {"model": {**BEGIN, "scope": "five"}, "path": ["Prepare(r=4)"]})
    assert "manager 4" in five["picture"]


def test_a_request_names_no_model(client: Client, tmp_path: Path) -> None:
    """A model runs as Python, so the command line names it, and no page."""
    for more in ({"model": str(PETERSON)}, {"patch": "x.diff"}, {"source": "x"}):
        answer = client.post("/api/state", {"model": {**BEGIN, **more}, "path": []})
        assert answer["error"]["code"] == "web-request"
    saved = client.post("/api/write", {"model": BEGIN, "path": ["Prepare(r=1)"]})
    assert saved["model"] == str(TWO_PHASE)
    again = {**saved, "model": str(PETERSON)}
    read = client.post("/api/read", {"text": json.dumps(again), "name": "walk", "model": BEGIN})
    assert read["path"] == ["Prepare(r=1)"]


@pytest.mark.slow
def test_a_search_from_a_state_finds_what_check_finds() -> None:
    with serving(explorer(PROTOCOLS / "agreement" / "two_phase.py")) as client:
        news = client.post("/api/search", {"model": BEGIN, "path": ["Prepare(r=1)"], "seconds": 60})
        while news["verdict"] == "searching":
            news = client.get("/api/search")
        assert news["verdict"] == "holds" and news["said"].startswith("no violation can be reached"), news


def test_each_initial_state_can_be_chosen(tmp_path: Path) -> None:
    file = PROTOCOLS / "networks" / "ewd840.py"
    with serving(explorer(file)) as client:
        model = client.get("/api/start")["model"]
        one, other = (client.post("/api/state", {"model": {**model, "start": k}, "path": []}) for k in (0, 191))
        assert one["starts"] == 192 and one["leaves"] != other["leaves"]
        choice = other["choices"][0]["step"]
        trace = client.post("/api/write", {"model": other["model"], "path": [choice]})
        refused = client.post("/api/state", {"model": {**model, "start": 192}, "path": []})
        assert refused["error"]["message"] == "there is no initial state 192"
    stored = tmp_path / "walk.trace.json"
    stored.write_text(json.dumps(trace))
    with serving(explorer(file, trace=stored)) as client:
        start = client.get("/api/start")
        assert start["model"]["start"] == 191 and start["trace"]["path"] == [choice]


def fenced(selection: Selection) -> dict[str, Any]:
    """The view of the state in which a broker is fenced."""
    with serving(Explorer(NamedSelection(selection))) as client:
        model = client.get("/api/start")["model"]
        view: dict[str, Any] = client.post("/api/state", {"model": model, "path": ["Fence(b=1)"]})
        return view


def test_a_patched_partition_has_the_picture_of_the_partition(tmp_path: Path) -> None:
    """A copy of Kafka's model has other classes, which say the same."""
    diff = tmp_path / "weaker.diff"
    diff.write_text(WEAKER)
    patched, original = (fenced(Selection("legacy", "two-brokers", patch=each)) for each in (diff, None))
    assert patched["picture"] == original["picture"] and "What the controller holds" in original["picture"]
    assert patched["sentence"] == original["sentence"] != ""


def test_a_copy_with_another_state_is_drawn_by_its_fields(tmp_path: Path) -> None:
    copy = tmp_path / "mine"
    write_fork(copy, None)
    for file, old, new in (
        (
            "model/state.py",
            "    metadata: Metadata\n    recovery:",
            "    metadata: Metadata\n    heard: bool\n    recovery:",
        ),
        ("model/start.py", "return State(", "return State(\n        heard=False,"),
    ):
        patch_file(copy / file, old, new)
    picture = fenced(Selection("legacy", "two-brokers", model=copy))["picture"]
    assert "high_watermark" in picture and "heard" in picture


def test_too_many_choices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="choices of its parameters"):
        FollowedSpace(Selection(model=PROTOCOLS / "agreement" / "paxos_voting.py", overrides=("acceptors=12",)))


def test_the_command_takes_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["web", "--no-open", "--model", str(TWO_PHASE), "--repro", "99"]) == 2
    assert "step 1, `99`: it is not one of the" in capsys.readouterr().err
