"""Scenario files: what is refused and how the message points to it, and the notation of values."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.catalogue.scenario_file import read_scenario, scenario_files
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.scenario import LOGS, read_log, replay
from elrcheck.lang.plain import Label
from elrcheck.model.config import Config
from elrcheck.model.state import Acks, Entry, Recovery
from elrcheck.stored_traces.written_values import Unreadable, format_place, place, read_call, read_value
from support.edits import replaced

GOOD = """\
id = "X-1"
title = "A fencing"
source = "nowhere"

[config]
broker_count = 2
min_isr = 2

[[step]]
note = "1 is fenced"
do = "Fence(b=1)"
[step.expect]
partition.isr = [0]
registration.1.fenced = true

[[run]]
variants = ["kip_full"]
safe = true
expect.partition.elr = [1]

[[run]]
variants = ["legacy"]
safe = true
[[run.step]]
do = ["Produce(leader=0, acks=ONE)"]
[run.step.expect]
broker.0.log = "r1@1(1)"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "story.toml"
    path.write_text(text)
    return path


def test_a_file_becomes_a_scenario(tmp_path: Path) -> None:
    scenario = read_scenario(written(tmp_path, GOOD))
    assert (scenario.id, scenario.title, dict(scenario.config)) == (
        "X-1",
        "A fencing",
        {"broker_count": 2, "min_isr": 2},
    )
    (step,) = scenario.steps
    assert (step.actions, step.note) == (("Fence(b=1)",), "1 is fenced")
    assert [(c.path, c.value) for c in step.expect] == [("partition.isr", [0]), ("registration.1.fenced", True)]
    assert [run.variants for run in scenario.runs] == [("kip_full",), ("legacy",)]
    assert scenario.runs[1].steps[0].actions == ("Produce(leader=0, acks=ONE)",)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("title =", "tittle =", 2, "`tittle`|did you mean `title`"),
        ('source = "nowhere"\n', "", None, "`source` is missing"),
        ("min_isr = 2", "min_isrs = 2", 7, "`min_isrs` in [config]|did you mean `min_isr`"),
        ("min_isr = 2", "fences = 2", 7, "`fences` is a budget|budgets follow"),
        ("min_isr = 2", 'min_isr = "two"', 7, "`min_isr`: expected a whole number"),
        ("note = ", "notes = ", 10, "`notes` in [step]|did you mean `note`"),
        ('do = "Fence(b=1)"', "do = 3", 11, "`do`: expected a text or a list of texts"),
        ('["kip_full"]', '["kip_ful"]', 17, "unknown variant `kip_ful`|did you mean `kip_full`"),
        ("safe = true\nexpect", "expect", 16, "exactly one verdict"),
        ("safe = true\nexpect", 'safe = true\nbreaks = ["P-1"]\nexpect', 16, "exactly one verdict"),
        ("safe = true\nexpect", "safe = false\nexpect", 18, "`safe` can only be true"),
        ("safe = true\nexpect", "breaks = []\nexpect", 18, "names no property"),
        ("safe = true\n[[", 'safe = true\nalso_breaks = ["P-1"]\n[[', 24, "`also_breaks` needs `breaks`"),
        ('do = ["Produce(leader=0, acks=ONE)"]\n[run.step.expect]\nbroker.0.log = "r1@1(1)"', "", 24, "`do`"),
    ],
)
def test_a_bad_frame_is_refused(tmp_path: Path, old: str, new: str, line: int | None, words: str) -> None:
    assert old in GOOD
    path = written(tmp_path, replaced(GOOD, old, new, 1))
    with pytest.raises(UsageFault) as caught:
        read_scenario(path)
    assert caught.value.where == (str(path) if line is None else f"{path}:{line}")
    for word in words.split("|"):
        assert word in caught.value.render()


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("Fence(b=1)", "Fense(b=1)", 9, "unknown action `Fense`|did you mean `Fence`"),
        ("Fence(b=1)", "Fence(c=1)", 9, "Fence has no argument `c`"),
        ("Fence(b=1)", "Fence(1)", 9, "`1` has no name|takes b"),
        ("Fence(b=1)", "Fence(b=2)", 9, "there is no broker 2, only 0 to 1"),
        ("Fence(b=1)", "Fence()", 9, "Fence needs `b`"),
        ("acks=ONE", "acks=TWO", 24, "Acks has no member `TWO`"),
        ("partition.isr", "partition.isrs", 13, "there is no `isrs`|did you mean `isr`"),
        ("registration.1.", "registration.2.", 14, "there is no broker `2`"),
        ("partition.isr = [0]", "partition = 3", 13, "`partition` is not a leaf"),
        ("partition.isr = [0]", "partition.isr = 0", 13, "expected a set of brokers, not 0"),
        ("r1@1(1)", "r1", 27, "`r1` is not a record|write r2@1"),
        ("safe = true\nexpect", 'breaks = ["P-99"]\nexpect', 16, "unknown property `P-99`"),
        ('["legacy"]', '["kip_full"]', 21, "two runs have the label `kip_full`|a `name`"),
    ],
)
def test_what_only_the_model_knows_is_refused_too(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    path = written(tmp_path, replaced(GOOD, old, new, 1))
    with pytest.raises(UsageFault) as caught:
        replay(read_scenario(path), load_checked_model())
    assert caught.value.where == f"{path}:{line}"
    for word in words.split("|"):
        assert word in caught.value.render()


def test_calls() -> None:
    actions = {fn.name: fn for fn in load_checked_model().actions}
    assert read_call("Fetch(f=1, leader=0)", actions, Config()) == Label("Fetch", (1, 0, False))
    assert read_call("Fetch(leader=0, lost=true, f=1)", actions, Config()) == Label("Fetch", (1, 0, True))
    assert read_call("ShrinkIsr(leader=0, out={1, 2})", actions, Config()) == Label("ShrinkIsr", (0, frozenset({1, 2})))
    assert read_call(" Produce( leader=2,acks=one ) ", actions, Config()) == Label("Produce", (2, Acks.ONE))
    with pytest.raises(Unreadable, match="given twice"):
        read_call("Fence(b=1, b=2)", actions, Config())


def test_values_and_places() -> None:
    state = load_checked_model().state_ty
    ty, keys = place(state, "broker.1.peers.2.broker_epoch", Config())
    assert (ty.name, keys, format_place(keys)) == (
        "BrokerEpoch",
        ("broker", 1, "peers", 2, "broker_epoch"),
        "broker[1].peers[2].broker_epoch",
    )
    assert read_log("r1@1 r3@2(1) r4@2(all)") == (
        Entry(id=1, epoch=1, acks=Acks.ALL),
        Entry(id=3, epoch=2, acks=Acks.ONE),
        Entry(id=4, epoch=2, acks=Acks.ALL),
    )
    fields = state.fields["partition"].fields
    assert read_value(fields["leader"], "none", Config(), LOGS) is None
    assert read_value(fields["recovery"], "recovering", Config(), LOGS) is Recovery.RECOVERING
    assert read_value(fields["replicas"], [2, 0], Config(), LOGS) == (2, 0)
    for raw in (True, -1, "1", None):
        with pytest.raises(Unreadable):
            read_value(fields["leader_epoch"], raw, Config(), LOGS)
    with pytest.raises(Unreadable, match="listed twice"):
        read_value(fields["isr"], [1, 1], Config(), LOGS)


def test_every_packaged_file_is_named_after_its_scenario() -> None:
    ids = {file.name: read_scenario(file).id for file in scenario_files()}
    assert len(ids) >= 15
    for name, ident in ids.items():
        assert name == f"E-{int(ident.removeprefix('E-')):02}.toml"
