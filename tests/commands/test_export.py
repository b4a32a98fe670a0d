"""`elrcheck export` and `elrcheck tlc`: specifications, traces in every notation, and TLC's verdict."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import TlcRequest
from elrcheck.base.requests import Selection
from elrcheck.checking.trace_notation import write_trace_module
from elrcheck.commands.export import export_spec, export_trace, run_tlc
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.reference import search
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.report.formats import blocks
from elrcheck.report.terminal import plain_text
from elrcheck.stored_traces.recorded import read_recorded
from elrcheck.stored_traces.tracefile import load_trace, write_trace
from elrcheck.tla_export.spec import module_name
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.loaded import Loaded, NamedSelection, stored_traces
from support.following import refused_step

LEGACY = Selection("legacy", "two-brokers")
IDENTS = ("P-8", "P-14", "W-5", "W-9")  # a property and a witness, of states and of steps


@pytest.fixture(scope="module")
def traces(checked_model: Model) -> dict[str, Behaviour[Label]]:
    """What the reference search finds first in a scope where `legacy` loses data."""
    config = resolve(LEGACY).config
    plain = PlainModel(checked_model, config)
    states_of = search(checked_model, config, max_states=1200).traces
    behaviours = {}
    for ident in IDENTS:
        states = states_of[ident]
        labels = []
        for before, after in itertools.pairwise(states):
            labels.append(next(label for label, successor in plain.successors(before) if successor == after))
        origin = TraceOrigin(LEGACY.variant, LEGACY.scope, property=ident)
        behaviours[ident] = Behaviour(origin, states, tuple(labels))
    return behaviours


@pytest.fixture
def folder(checked_model: Model, traces: dict[str, Behaviour[Label]], tmp_path: Path) -> Path:
    """A run folder with every trace."""
    for ident, trace in traces.items():
        write_trace(tmp_path / "run" / f"{ident}.trace.json", trace, checked_model.state_ty)
    return tmp_path / "run"


def damaged(trace: Behaviour[Label]) -> Behaviour[Label]:
    """The trace with one value changed in its last but one state."""
    last = trace.states[-2]
    wrong = replace(last, partition=replace(last.partition, leader_epoch=last.partition.leader_epoch + 1))
    return replace(trace, states=(*trace.states[:-2], wrong, trace.states[-1]))


# ---------------------------------------------------------------------------- specifications


def test_specification_of_a_selection(tmp_path: Path) -> None:
    tla, cfg = export_spec(Selection("code_4_0", "two-brokers", ("records=3",)), tmp_path / "new")
    assert (tla.name, cfg.name) == ("Code40TwoBrokers.tla", "Code40TwoBrokers.cfg")
    text = tla.read_text()
    assert "MODULE Code40TwoBrokers " in text
    assert "\\* Variant code_4_0, scope two-brokers." in text
    assert "    RECORDS = 3\n" in cfg.read_text()
    assert "LAST_KNOWN_LEADER" not in cfg.read_text(), "the variant decides it"
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [cfg.name, tla.name]
    export_spec(Selection("code_4_0", "two-brokers", ("records=3",)), tmp_path / "new", whole=True)
    assert '    LAST_KNOWN_LEADER = "ANY"\n' in cfg.read_text() and len(tla.read_text()) > 1.8 * len(text)


@pytest.mark.parametrize(
    ("variant", "scope", "name"),
    [("kip_full", "three-brokers", "KipFullThreeBrokers"), ("legacy", "dir/my scope.toml", "LegacyMy_scope")],
)
def test_module_names(variant: str, scope: str, name: str) -> None:
    assert module_name(variant, scope) == name


def test_unknown_variant_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="unknown variant"):
        export_spec(Selection("kip_ful", "two-brokers"), tmp_path / "new")
    assert not (tmp_path / "new").exists()


# ---------------------------------------------------------------------------- traces


@pytest.mark.slow
def test_trace_in_every_notation(
    checked_model: Model, folder: Path, traces: dict[str, Behaviour[Label]], tmp_path: Path
) -> None:
    path, trace = folder / "P-14.trace.json", traces["P-14"]
    out = tmp_path / "out"
    witness, *others = export_trace(path, None, Selection(), "tla", out)
    assert witness.name == "LegacyTwoBrokers_P14.tla"
    assert all(other.is_file() for other in others)
    assert f"A trace of {len(trace.states)} states of module LegacyTwoBrokers." in witness.read_text()
    (itf,) = export_trace(path, None, Selection(), "itf", out)
    read = read_recorded(itf, NamedSelection())
    assert (read.behaviour, read.behaviour.origin.form) == (trace, "itf")
    (stored,) = export_trace(path, None, Selection(), "json", out)
    assert load_trace(stored).behaviour == trace
    (mermaid,) = export_trace(path, None, Selection(), "mermaid", out)
    assert mermaid.read_text().startswith("sequenceDiagram\n")
    (dot,) = export_trace(path, None, Selection(), "dot", out)
    assert dot.read_text().count(" -> s") == len(trace.labels)


def test_repro_is_the_same_trace(checked_model: Model, traces: dict[str, Behaviour[Label]], tmp_path: Path) -> None:
    """Indices into the enabled actions of each state, instead of a stored trace."""
    config = resolve(LEGACY).config
    plain, trace = PlainModel(checked_model, config), traces["P-14"]
    indices = []
    for state, label in zip(trace.states, trace.labels, strict=False):
        indices.append(str([possible for possible, _ in plain.successors(state)].index(label)))
    (stored,) = export_trace(None, "/".join(indices), LEGACY, "json", tmp_path)
    assert load_trace(stored).behaviour.states == trace.states
    with pytest.raises(UsageFault, match=r"step 2: `99` is not one of the \d+ possible actions"):
        export_trace(None, f"{indices[0]}/99", LEGACY, "json", tmp_path)


def test_replayed_names_the_wrong_step(checked_model: Model, traces: dict[str, Behaviour[Label]]) -> None:
    config = resolve(LEGACY).config
    trace = traces["P-14"]
    assert refused_step(Loaded(checked_model, config, trace)) is None
    assert refused_step(Loaded(checked_model, config, damaged(trace))) == len(trace.labels) - 1


def test_run_folder_lists_violations_first(folder: Path, tmp_path: Path) -> None:
    names = [path.name for path in stored_traces(folder)]
    assert names == [f"{ident}.trace.json" for ident in IDENTS]
    assert load_trace(folder).behaviour.origin.property == "P-8"
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageFault, match="no stored trace"):
        stored_traces(tmp_path / "empty")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("property",), "P-99", "unknown property `P-99`"),
        (("steps", 0, "args", 0), 7, "there is no broker 7, only 0 to 1"),
        (("states", 1, "partition", "isr"), [0, 5], "there is no broker 5, only 0 to 1"),
        (("states", 1, "lossy"), [3], "there is no broker 3"),
        (("states", 0, "registration"), [], "expected one value for each of 2 brokers, not 0"),
        (("overrides",), {"recrods": 1}, "recrods"),
    ],
)
def test_traces_that_do_not_fit(folder: Path, place: tuple[str | int, ...], value: object, message: str) -> None:
    path = folder / "P-14.trace.json"
    document = json.loads(path.read_text())
    inside = document
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    path.write_text(json.dumps(document))
    with pytest.raises(UsageFault, match=message):
        load_trace(path)


# ---------------------------------------------------------------------------- TLC's verdict


@pytest.mark.slow
@pytest.mark.tlc
def test_tlc_confirms_every_trace_of_a_run(folder: Path) -> None:
    report = run_tlc(TlcRequest(run=folder), Silent())
    assert (report.verdict, report.exit_code) == ("confirmed", ExitCode.HOLDS), report.output_tail
    assert report.tlc_exit_code == 12
    assert [one.file for one in report.traces] == [f"{ident}.trace.json" for ident in IDENTS]
    assert report.stored == len(IDENTS)
    for one in report.traces:
        assert (one.verdict, one.exit_code) == ("confirmed", 12)
        assert "is violated after" in one.detail
    assert "IneligibleReplicaAnswered_Never is violated" in report.traces[2].detail
    printed = plain_text(blocks(report))
    assert all(f"{one.property} " in printed for one in report.traces)


@pytest.mark.slow
@pytest.mark.tlc
def test_tlc_rejects_one_changed_value(
    checked_model: Model, traces: dict[str, Behaviour[Label]], tmp_path: Path
) -> None:
    path = tmp_path / "wrong.json"
    write_trace(path, damaged(traces["P-14"]), checked_model.state_ty)
    report = run_tlc(TlcRequest(run=path), Silent())
    assert (report.verdict, report.exit_code) == ("rejected", ExitCode.FINDING), report.output_tail
    assert report.tlc_exit_code == 11
    steps = len(traces["P-14"].labels)
    (one,) = report.traces
    assert (one.file, one.detail) == ("wrong.json", f"step {steps - 1} of {steps} is not allowed")


@pytest.mark.slow
@pytest.mark.tlc
def test_tlc_finds_no_violation_in_a_behaviour(
    checked_model: Model, traces: dict[str, Behaviour[Label]], tmp_path: Path
) -> None:
    """The right steps under the name of a property they do not break."""
    path, trace = tmp_path / "harmless.json", traces["W-9"]
    named = replace(trace, origin=replace(trace.origin, property="P-1"))
    write_trace(path, named, checked_model.state_ty)
    report = run_tlc(TlcRequest(run=path), Silent())
    assert (report.verdict, report.tlc_exit_code) == ("no_violation", 0), report.output_tail
    assert report.exit_code == ExitCode.FINDING


@pytest.mark.slow
@pytest.mark.tlc
def test_tlc_counts_beside_ours() -> None:
    selection = Selection("legacy", "two-brokers", ("fences=0",))
    report = run_tlc(TlcRequest(selection=selection, count=True), Silent())
    assert report.verdict == "same", (report.ours, report.theirs, report.output_tail)
    assert report.ours == report.theirs is not None
    assert report.exit_code == ExitCode.HOLDS


@pytest.mark.tlc
def test_tlc_out_of_time_is_a_failure() -> None:
    selection = Selection("legacy", "two-brokers", ("fences=0",))
    report = run_tlc(TlcRequest(selection=selection, count=True, timeout=0.2), Silent())
    assert (report.verdict, report.tlc_exit_code) == ("failed", None)
    assert report.exit_code == ExitCode.ENVIRONMENT


def test_witness_module_name_can_be_chosen(
    checked_model: Model, traces: dict[str, Behaviour[Label]], tmp_path: Path
) -> None:
    loaded = Loaded(checked_model, resolve(LEGACY).config, traces["P-8"])
    witness = write_trace_module(loaded, tmp_path, "Chosen")
    assert (witness.module, witness.tla) == ("Chosen", tmp_path / "Chosen.tla")
    assert witness.invariants == {"Cex_NoCommittedRecordLost": "NoCommittedRecordLost"}
