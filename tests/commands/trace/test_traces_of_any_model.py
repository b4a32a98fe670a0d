"""Traces of a model of the user: other notations, cycles, and traces from another initial state than the first."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from elrcheck.commands.new_model import write_new
from support.edits import patch_file
from support.invoked import Invoke

EARLY = """@init
def Init(c: Config, early: bool) -> State:
    at = tuple(At.TESTED if early else At.OUTSIDE for p in range(c.processes))
    return State(at=at, locked=False)
"""
"""A second initial state, in which every process has tested already: the lock breaks after two steps."""


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_new("lock", Path())[0]


def early(lock: Path) -> Path:
    before = lock.read_text()
    init = before[before.index("@init") : before.index("@action")]
    patch_file(lock, init, f"{EARLY}\n\n")
    return lock


@pytest.mark.parametrize("notation", ["trace", "tla", "itf", "mermaid", "dot"])
def test_every_notation(lock: Path, invoke: Invoke, notation: str) -> None:
    walk = ("--model", str(lock), "--seed", "1", "--depth", "3")
    code, out, err = invoke("trace", "sample", *walk, "--as", notation)
    assert code == 0 and "Test" in out, err
    assert invoke("trace", "sample", *walk, "--save", "walk.trace.json")[0] == 0
    form = "json" if notation == "trace" else notation
    code, _, err = invoke("export", "trace", "walk.trace.json", "--model", str(lock), "-f", form, "--out", "out")
    assert code == 0, err


def test_a_cycle_in_a_model_without_liveness_properties(lock: Path, invoke: Invoke) -> None:
    """Quint and Apalache write lassos of any model."""
    assert invoke("check", "--model", str(lock), "--run-dir", "run")[0] == 1
    code, out, _ = invoke("trace", "show", "run/W-1.trace.json", "--model", str(lock), "--as", "itf")
    assert code == 0
    lasso = json.loads(out)
    lasso["loop"] = len(lasso["states"]) - 1
    Path("lasso.itf.json").write_text(json.dumps(lasso))
    code, out, err = invoke("explain", "lasso.itf.json", "--model", str(lock), "-p", "P-1")
    assert code == 0 and "P-1 MutualExclusion" in out, err
    code, _, err = invoke("explain", "lasso.itf.json", "--model", str(lock), "-p", "V-1")
    assert code == 2 and "unknown property `V-1`" in err


def test_a_walk_is_not_stored_in_place_of_its_model(
    lock: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = lock.read_text()
    monkeypatch.setattr("sys.stdin", io.StringIO("0\ns ./lock.py\n"))
    code, _, err = invoke("trace", "step", "--model", str(lock))
    assert code == 2 and "lock.py is the model" in err and lock.read_text() == before


def test_a_setting_of_the_settings_file_is_no_part_of_a_trace(invoke: Invoke, tmp_path: Path) -> None:
    """Like a variant there, it is a default; the trace names its own. `--set` still adds to them."""
    legacy = ("check", "--variant", "legacy", "--scope", "two-brokers", "-p", "P-1", "--run-dir", "run")
    assert invoke(*legacy, "--set", "strict_hwm=false")[0] == 1
    (tmp_path / "elrcheck.toml").write_text('variant = "kip_full"\nset = ["strict_hwm=true"]\n')
    for verb in ("replay", "trace show", "explain"):
        code, _, err = invoke(*verb.split(), "run/P-1.trace.json")
        assert code == (verb == "explain"), err
    assert invoke("replay", "run/P-1.trace.json", "--set", "strict_hwm=true")[0] == 1


def test_a_trace_from_the_second_initial_state(lock: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--repro` starts in the first one, so no report names it for another."""
    model = ("--model", str(early(lock)))
    code, out, _ = invoke("check", *model, "--run-dir", "run", "-p", "P-1")
    assert code == 1 and "violated at depth 2" in out and "repro" not in out
    assert "repro" not in invoke("trace", "show", "run/P-1.trace.json", *model)[1]
    code, out, err = invoke("trace", "minimise", "run/P-1.trace.json", *model)
    assert code == 0 and "Enter(p=1)" in out, err
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    code, out, err = invoke("trace", "step", "run/P-1.trace.json", *model)
    assert code == 0 and "VIOLATED P-1" in out and "--repro" not in out, err


def test_a_trace_of_one_step_may_be_longer_than_needed(tmp_path: Path, invoke: Invoke) -> None:
    """Another initial state breaks the property at once."""
    model = tmp_path / "lamp.py"
    text = """
from dataclasses import replace
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, init, require, state

@config
class Config:
    lit: bool = False

@state
class State:
    on: bool

@init
def Init(c: Config, on: bool) -> State:
    require(not on, "it is off")
    return State(on=on)

@action
def Switch(c: Config, s: State) -> State:
    return replace(s, on=not s.on)

@always("P-1")
def Off(c: Config, s: State) -> bool:
    return not s.on

MODEL = ProtocolModel(State, Config)
"""
    model.write_text(text)
    assert invoke("check", "--model", str(model), "--run-dir", "run")[0] == 1
    trace = ("trace", "minimise", "run/P-1.trace.json", "--search", "--model", str(model), "-f", "json")
    assert json.loads(invoke(*trace)[1])["shortened"]["steps"] == 1
    model.write_text(text.replace('    require(not on, "it is off")\n', ""))
    assert json.loads(invoke(*trace)[1])["shortened"]["steps"] == 0
