"""Traces that an older version wrote (data/before) are read, followed, and written again.

They lack what the state has gained since: counters, which start at 0, and fields that keep their default.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.checking.trace_notation import export_loaded
from elrcheck.commands.trace.show import run_replay
from elrcheck.stored_traces.recorded import read_recorded
from elrcheck.stored_traces.tracefile import load_trace, write_trace
from elrcheck.traces.loaded import NamedSelection
from elrcheck.traces.replay import replay
from support.places import TESTS

BEFORE = TESTS / "data" / "before"
STORED = {
    "P-8.trace.json": ("legacy", 6, None),
    "V-2.trace.json": ("kip_full", 4, 3),
    "V-3.trace.json": ("kip_full", 9, 7),
}


@pytest.mark.parametrize("name", STORED)
def test_a_stored_trace(name: str, tmp_path: Path) -> None:
    """One that violates, a lasso that stops, a lasso with a cycle."""
    loaded = load_trace(BEFORE / name)
    behaviour = loaded.behaviour
    assert (behaviour.origin.variant, len(behaviour.states), behaviour.loop) == STORED[name]
    assert behaviour.origin.property == name.removesuffix(".trace.json")
    assert behaviour.closes == (name == "V-3.trace.json")
    followed = replay(loaded.model, loaded.config, behaviour)
    assert followed.rejection is None and followed.followed == behaviour
    write_trace(tmp_path / name, followed.followed, loaded.model.state_ty)
    again, before = (json.loads((folder / name).read_text("utf-8")) for folder in (tmp_path, BEFORE))
    for state, old in zip(again["states"], before["states"], strict=True):
        gained = {key: state["spent"].pop(key) for key in state["spent"].keys() - old["spent"].keys()}
        assert set(gained.values()) <= {0}
    assert again == before


def test_the_same_trace_as_itf_and_as_tlc_printed_it(tmp_path: Path) -> None:
    """An ITF export, and what TLC 2.15 said of the witness; TLC has no names for the model's steps there."""
    stored = load_trace(BEFORE / "P-8.trace.json")
    itf = read_recorded(BEFORE / "P-8.itf.json", NamedSelection())
    assert (itf.behaviour, itf.behaviour.origin.form) == (stored.behaviour, "itf")
    (written,) = export_loaded(stored, "itf", tmp_path)
    assert read_recorded(written, NamedSelection()).behaviour == stored.behaviour
    of = stored.behaviour.origin.selection()
    tlc = read_recorded(BEFORE / "P-8.tlc.txt", NamedSelection(of, frozenset({"variant", "scope"})))
    assert (tlc.behaviour.states, tlc.behaviour.origin.form) == (stored.behaviour.states, "tlc-text")
    assert set(tlc.behaviour.labels) == {None}
    followed = replay(tlc.model, tlc.config, tlc.behaviour)
    assert followed.rejection is None and followed.labels == stored.behaviour.labels
    report = run_replay(BEFORE / "P-8.itf.json", NamedSelection())
    assert [(hit.id, hit.step) for hit in report.violated] == [("P-8", 5)]


@pytest.mark.parametrize("schema", ["elrcheck.trace/2", "elrcheck.report/1", None])
def test_another_schema_is_refused_with_a_remedy(schema: str | None, tmp_path: Path) -> None:
    document = json.loads((BEFORE / "P-8.trace.json").read_text(encoding="utf-8"))
    document["schema"] = schema
    path = tmp_path / "other.trace.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageFault) as fault:
        load_trace(path)
    assert "expected the schema elrcheck.trace/1" in fault.value.message
    assert fault.value.where == f"{path}:1: $" and fault.value.exit_code == 2
    assert fault.value.help is not None and "another version of elrcheck" in fault.value.help
