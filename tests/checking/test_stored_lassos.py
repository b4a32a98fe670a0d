"""Lassos in files: stored by a run, read and checked again, exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.checking.check import run_check
from elrcheck.commands.export import export_trace
from elrcheck.invariants.modules import load_whole_model
from elrcheck.stored_traces.tracefile import load_trace, write_trace
from support.following import refused_step

F_25 = ("crashes=0", "fences=2", "min_isr_changes=1", "min_isr_change=ALWAYS")
QUIET = ("response_loss=false", "fetch_loss=false", "shrinks=0", "acks_one=0")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with a stored lasso that stops: a partition that never gets a leader again."""
    folder = tmp_path_factory.mktemp("lassos")
    selection = Selection("kip_full", "two-brokers", (*QUIET, *F_25))
    run_check(CheckRequest(selection=selection, liveness=True, properties=("V-7",), run_dir=folder), Silent())
    return folder


def test_a_stored_lasso_is_exported(stored: Path, tmp_path: Path) -> None:
    path = stored / "V-7.trace.json"
    for form in ("json", "itf", "mermaid", "dot"):
        (written,) = export_trace(path, None, Selection(), form, tmp_path / form)
        assert written.read_text(encoding="utf-8")
    with pytest.raises(UsageFault, match="infinite"):
        export_trace(path, None, Selection(), "tla", tmp_path / "tla")
    assert not (tmp_path / "tla").exists()


def test_a_damaged_lasso_is_noticed(stored: Path, tmp_path: Path) -> None:
    document = json.loads((stored / "V-7.trace.json").read_text(encoding="utf-8"))
    document["steps"].append(document["steps"][-1])
    (tmp_path / "closed.json").write_text(json.dumps(document), encoding="utf-8")
    last = len(document["steps"])
    assert refused_step(load_trace(tmp_path / "closed.json")) == last, "the cycle must close"
    document["loop"] = 0
    document["steps"].pop()
    (tmp_path / "open.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageFault, match="need"):
        load_trace(tmp_path / "open.json")


def test_a_stop_is_written_and_read(stored: Path, tmp_path: Path) -> None:
    model = load_whole_model()
    loaded = load_trace(stored / "V-7.trace.json").behaviour
    assert loaded.loop == len(loaded.states) - 1 == len(loaded.labels)
    write_trace(tmp_path / "again.json", loaded, model.state_ty)
    assert load_trace(tmp_path / "again.json").behaviour == loaded
    assert (tmp_path / "again.json").read_bytes() == (stored / "V-7.trace.json").read_bytes()
