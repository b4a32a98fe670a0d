"""`check`, `export` and `tlc` from the command line to the files they write."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.progress import Event, Silent
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.checking.engines import AFTERWARDS, PlannedRun, SearchSubject, explore, run_search
from elrcheck.checking.trace_notation import write_trace_module
from elrcheck.commands.export import export_trace
from elrcheck.declared.select import resolve, select_properties
from elrcheck.explorer.search.result import TraceableSearch
from elrcheck.stored_traces.recorded import of_repro
from elrcheck.stored_traces.tracefile import load_trace
from elrcheck.tla_export.tlc_process import TlcOptions, check_witness, find_tools
from support.following import refused_step
from support.invoked import Invoke

VARIES = {"states_per_second": 0, "bytes_per_state": 0, "peak_memory_bytes": 0}
SMALL = ("--scope", "two-brokers")
# Losing the last ISR member needs two removals besides the crash: this scope has just enough.
BREAKS = ("--variant", "legacy", "--scope", "two-brokers", "--set", "shrinks=1", "--set", "fences=0")


def run(folder: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "elrcheck", "--no-progress", *args]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, timeout=300, check=False
    )


def check(folder: Path, *args: str) -> tuple[int, dict[str, Any]]:
    done = run(folder, "check", "--fresh", *args, "--format", "json")
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def finding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the stored traces of a violated run."""
    folder = tmp_path_factory.mktemp("finding")
    code, report = check(folder, *BREAKS, "--run-dir", str(folder / "run"))
    assert code == 1 and report["verdict"] == "violated"
    return folder / "run"


def test_holds_and_is_complete(tmp_path: Path) -> None:
    code, report = check(tmp_path, *SMALL)
    assert (code, report["verdict"]) == (0, "holds")
    search = report["search"]
    assert (search["complete"], search["generated"], search["distinct"], search["diameter"]) == (
        True,
        218433,
        21105,
        26,
    )
    assert sum(search["levels"]) == 21105
    assert sum(a["new_states"] for a in report["actions"]) == 21104
    assert sum(a["fired"] for a in report["actions"]) == 218432
    assert sum(a["cut"] for a in report["actions"]) == search["cut"] > 0
    variables = {v["name"]: v["distinct"] for v in report["variables"]}
    assert variables["registration[0].fenced"] == 2
    assert not (tmp_path / ".elrcheck").exists(), "nothing is written without a finding"


def test_violation_is_shortest_explained_and_stored(finding: Path) -> None:
    stored = sorted(p.name for p in finding.glob("P-*.trace.json"))
    assert "P-1.trace.json" in stored
    loaded = load_trace(finding / "P-1.trace.json")
    assert refused_step(loaded) is None
    assert len(loaded.behaviour.labels) == 10


def test_report_names_conjunct_witness_and_changes(tmp_path: Path) -> None:
    _, report = check(tmp_path, *BREAKS, "--property", "P-1")
    (violated,) = report["properties"]
    assert (violated["verdict"], violated["conjunct"], violated["depth"]) == ("violated", "leader_holds_committed", 10)
    assert violated["witness"].startswith("b=")
    steps = violated["counterexample"]["steps"]
    assert len(steps) == 10 and steps[-1]["action"] == "Unfence"
    assert {"path": "partition.leader", "old": "none", "new": "0"} in steps[-1]["changes"]
    again = of_repro(violated["counterexample"]["repro"], Selection("legacy", "two-brokers", BREAKS[5::2]))
    assert again.behaviour.origin.property == "P-1"


@pytest.mark.slow
def test_engines_agree(tmp_path: Path) -> None:
    arguments = (*SMALL, "--set", "fences=0", "--set", "shrinks=0")
    _, local = check(tmp_path, *arguments, "--workers", "2")
    _, reference = check(tmp_path, *arguments, "--engine", "reference")
    _, numpy = check(tmp_path, *arguments, "--engine", "numpy")
    assert {**numpy["search"], "seconds": 0} | VARIES == {**local["search"], "seconds": 0} | VARIES
    for key in ("generated", "distinct", "diameter", "levels", "cut", "deadlocks"):
        assert local["search"][key] == reference["search"][key]
    strip = [{k: v for k, v in p.items() if k in ("id", "verdict", "depth")} for p in local["properties"]]
    assert strip == [{k: v for k, v in p.items() if k in ("id", "verdict", "depth")} for p in reference["properties"]]


@pytest.mark.parametrize(
    ("limit", "message"), [(("--max-depth", "5"), "--max-depth 5"), (("--max-states", "1000"), "--max-states 1000")]
)
def test_a_limit_is_never_a_pass(tmp_path: Path, limit: tuple[str, ...], message: str) -> None:
    code, report = check(tmp_path, *SMALL, *limit)
    assert (code, report["verdict"], report["search"]["complete"]) == (3, "inconclusive", False)
    assert message in report["search"]["stopped_by"]
    assert "holds" not in {p["verdict"] for p in report["properties"]}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("check", "--variant", "kip_ful"), 2, "did you mean `kip_full`"),
        (("check", "--scope", "three-broker"), 2, "did you mean `three-brokers`"),
        (("check", "--scope", "missing.toml"), 2, "cannot read"),
        (("check", "--set", "crahes=1"), 2, "did you mean `crashes`"),
        (("check", "--set", "crashes=many"), 2, "whole number"),
        (("check", "--property", "LeaderCompletenes"), 2, "did you mean `LeaderCompleteness`"),
        (("check", "--property", "X-*"), 5, "no property matches"),
        (("prove", "--property", "W-*"), 5, "only `always` properties"),
        (("export", "trace", "nothing.json", "--out", "x"), 2, "nothing.json"),
        (("export", "trace", "--repro", "0/99", "--out", "x"), 2, "step 2"),
        (("tlc", "nothing.json", "--tla2tools", "no.jar"), 4, "no.jar"),
        (("show", "nobody"), 2, "nobody"),
    ],
)
def test_bad_input_is_one_message(
    tmp_path: Path, invoke: Invoke, arguments: tuple[str, ...], code: int, words: str
) -> None:
    ended, out, err = invoke(*arguments)
    assert ended == code, err
    assert words in err and "Traceback" not in err
    assert out == "" and list(tmp_path.iterdir()) == [], "nothing half-written"


def test_malformed_scope_and_trace(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("[budgets]\ncrashes = \n")
    done = run(tmp_path, "check", "--scope", "bad.toml")
    assert done.returncode == 2 and "bad.toml:2" in done.stderr
    bad.write_text("[budgets]\ncrashs = 1\n")
    done = run(tmp_path, "check", "--scope", "bad.toml")
    assert done.returncode == 2 and "bad.toml:2" in done.stderr and "crashes" in done.stderr
    trace = tmp_path / "bad.trace.json"
    trace.write_text('{"schema": "elrcheck.trace/1"')
    done = run(tmp_path, "export", "trace", "bad.trace.json", "--out", "out")
    assert done.returncode == 2 and "bad.trace.json" in done.stderr and not (tmp_path / "out").exists()


def test_no_java_for_tlc(tmp_path: Path, finding: Path) -> None:
    done = run(tmp_path, "tlc", str(finding / "P-1.trace.json"), PATH="/nonexistent", JAVA_HOME="")
    assert done.returncode == 4
    assert "java" in done.stderr.lower() and "Traceback" not in done.stderr


def test_exports(tmp_path: Path, finding: Path) -> None:
    selection = Selection()
    for form, suffix in (("itf", ".itf.json"), ("json", ".trace.json"), ("mermaid", ".mmd"), ("dot", ".dot")):
        (path,) = export_trace(finding / "P-1.trace.json", None, selection, form, tmp_path)
        assert path.name.endswith(suffix) and path.stat().st_size > 200
    assert (tmp_path / "LegacyTwoBrokers_P1.mmd").read_text().startswith("sequenceDiagram")
    again = load_trace(tmp_path / "LegacyTwoBrokers_P1.trace.json")
    assert again.behaviour == load_trace(finding / "P-1.trace.json").behaviour


def damaged(path: Path, folder: Path) -> Path:
    """The trace with one number in the middle changed."""
    document = json.loads(path.read_text())
    state = document["states"][len(document["states"]) // 2]
    state["partition"]["partition_epoch"] += 1
    target = folder / "damaged.trace.json"
    target.write_text(json.dumps(document))
    return target


@pytest.mark.tlc
@pytest.mark.slow
def test_tlc_confirms_every_finding_and_rejects_a_damaged_one(tmp_path: Path, finding: Path) -> None:
    tools = find_tools()
    for path in sorted(finding.glob("P-*.trace.json")):
        verdict = check_witness(tools, write_trace_module(load_trace(path), tmp_path / path.stem), TlcOptions())
        assert (verdict.verdict, verdict.run.exit_code) == ("confirmed", 12), path.name
    bad = damaged(finding / "P-1.trace.json", tmp_path)
    assert refused_step(load_trace(bad)) is not None
    verdict = check_witness(tools, write_trace_module(load_trace(bad), tmp_path / "bad"), TlcOptions())
    assert (verdict.verdict, verdict.run.exit_code) == ("rejected", 11)


@pytest.mark.slow
@pytest.mark.tlc
def test_tlc_command(tmp_path: Path, finding: Path) -> None:
    done = run(tmp_path, "tlc", str(finding / "P-1.trace.json"))
    assert done.returncode == 0 and "CONFIRMED" in done.stdout
    done = run(tmp_path, "tlc", str(damaged(finding / "P-1.trace.json", tmp_path)))
    assert done.returncode == 1 and "REJECTED" in done.stdout


@pytest.mark.tlc
@pytest.mark.slow
def test_tlc_counts_the_same(tmp_path: Path) -> None:
    few = ("--set", "fences=0", "--set", "shrinks=0")
    done = run(tmp_path, "tlc", "--count", "--scope", "two-brokers", *few, "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["verdict"] == "same"


@pytest.mark.slow
def test_reduced_is_smaller_and_finds_the_same(tmp_path: Path) -> None:
    code, whole = check(tmp_path, *BREAKS)
    reduced_code, reduced = check(tmp_path, *BREAKS, "--reduce")
    assert code == reduced_code == 1
    assert reduced["search"]["distinct"] < whole["search"]["distinct"]
    assert reduced["config"]["skips_no_news"] and reduced["config"]["forgets"]
    assert [(p["id"], p["verdict"], p["depth"]) for p in reduced["properties"]] == [
        (p["id"], p["verdict"], p["depth"]) for p in whole["properties"]
    ]
    refused = run(tmp_path, "check", *SMALL, "--liveness", "--reduce")
    assert refused.returncode == 2 and "leave out --reduce" in refused.stderr


def test_the_time_budget_pays_for_the_compilation_too() -> None:
    """The search stops at once if compiling has taken all of it, and the report has the limit as it was given."""
    selected = resolve(Selection("kip_full", "two-brokers"))
    model = selected.declared.whole()
    checks = select_properties(model, ("P-1",), liveness=False)
    for spent, reason in ((61.0, "--time-budget 60s"), (60.0 - AFTERWARDS + 0.1, "--time-budget 60s"), (0.0, None)):
        subject = SearchSubject(model, selected.config, checks, started=time.monotonic() - spent)
        outcome = explore(subject, CheckRequest(limits=Limits(time_budget=60.0)), Silent())
        assert outcome.reason == reason and outcome.complete == (reason is None)


def test_a_search_whose_traces_fail_leaves_no_levels(tmp_path: Path) -> None:
    selected = resolve(Selection("kip_full", "two-brokers-quiet"))
    model = selected.declared.whole()
    request, place = CheckRequest(fingerprint=64, limits=Limits(max_depth=5)), tmp_path / "run"

    def fails(search: TraceableSearch) -> None:
        assert list(place.rglob("*.parquet"))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run_search(
            SearchSubject(model, selected.config, ()),
            request,
            Silent(),
            PlannedRun(place, selected, (), request),
            fails,
        )
    assert not place.exists()


class _CtrlC(Silent):
    """Interrupts the process after the first level, once."""

    def __init__(self) -> None:
        self.levels = 0

    def tell(self, event: Event) -> None:
        self.levels += 1
        if self.levels == 1:
            signal.raise_signal(signal.SIGINT)


def test_an_engine_that_stops_at_no_signal_is_ended_by_it() -> None:
    selected = resolve(Selection("kip_full", "two-brokers"))
    subject = SearchSubject(selected.declared.whole(), selected.config, ())
    with pytest.raises(KeyboardInterrupt):
        explore(subject, CheckRequest(engine="numpy", limits=Limits(max_depth=5)), progress := _CtrlC())
    assert progress.levels == 1


RESET = ("--variant", "code_4_1", "--scope", "two-brokers-quiet", "--set", "broker_count=3")
F_51 = (*RESET, "--set", "elections=1", "--set", "fences=2", "-p", "P-2")


def test_a_search_says_what_a_setting_prevents(invoke: Invoke) -> None:
    """`reelection=RESET` repairs F-51; sizes and budgets are not compared."""
    code, out, _ = invoke("check", *F_51, "--set", "reelection=RESET", "-f", "json")
    assert code == 0
    extent = json.loads(out)["extent"]
    assert extent["effect"] == ["reelection=RESET: without it P-2 violated at 17"] and not extent.get("no_effect")
    code, out, _ = invoke("check", *F_51, "--set", "reelection=RESET")
    assert "effect    reelection=RESET: without it P-2 violated at 17" in out


def test_a_search_that_a_limit_stops_does_not_count_the_states_without_a_setting(invoke: Invoke) -> None:
    """There are 153,298 with it, and 155,302 without."""
    limited = ("check", *F_51[:-1], "P-1", "--set", "reelection=RESET", "--max-states", "153400", "-f", "json")
    code, out, _ = invoke(*limited)
    (effect,) = json.loads(out)["extent"]["effect"]
    assert code == 0 and effect.startswith("reelection=RESET: without it more than 153,")
