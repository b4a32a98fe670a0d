"""Liveness of the protocol: what holds in small scopes, what breaks with one rule changed, and the lassos."""

from __future__ import annotations

import functools
import json
import signal
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from elrcheck.base.errors import Interrupted, UsageFault
from elrcheck.base.progress import Event, Silent
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.checking.check import run_check
from elrcheck.checking.check_liveness import explore_liveness
from elrcheck.checking.engines import PlannedRun, SearchSubject, run_search
from elrcheck.cli import cli
from elrcheck.commands.export import export_trace
from elrcheck.console.shell import run
from elrcheck.declared.select import resolve, select_properties
from elrcheck.explorer.graph.fair_cycles import FairGraph
from elrcheck.explorer.graph.graph import Graph, graph_of_plain, graph_of_search
from elrcheck.explorer.graph.lassos import Lasso, Waiting, check_leads_to, claims_of, fair_steps, replay_lasso
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.fairness import fair_actions
from elrcheck.lang.load import Model
from elrcheck.lang.marks import Fair, Strength
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.results.check_report import CheckReport, PropertyReport
from elrcheck.stored_traces.tracefile import load_trace, write_trace
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.replay import ReplayError
from support.following import refused_step
from support.places import SCHEMAS

QUIET = ("response_loss=false", "fetch_loss=false", "shrinks=0", "acks_one=0")
EVERY = tuple(f"V-{number}" for number in range(1, 12))


def check(*overrides: str, scope: str = "two-brokers", variant: str = "kip_full", **request: Any) -> CheckReport:
    selection = Selection(variant, scope, (*QUIET, *overrides))
    full = CheckRequest(selection=selection, liveness=True, **request)
    return run_check(full, Silent())


def verdicts(report: CheckReport) -> dict[str, str]:
    return {each.id: each.verdict for each in report.properties}


def named(report: CheckReport, ident: str) -> PropertyReport:
    return next(each for each in report.properties if each.id == ident)


# ---------------------------------------------------------------------------- what holds


def test_everything_holds_with_one_crash_and_one_fencing() -> None:
    report = check()
    assert report.verdict == "holds" and verdicts(report) == dict.fromkeys(EVERY, "holds")
    tested = {each.id for each in report.properties if each.waiting}
    assert tested == set(EVERY) - {"V-6", "V-8", "V-11"}, "no reassignment, a candidate is left, ELR is on"


def test_lost_answers_do_not_matter_if_they_are_lost_finitely_often() -> None:
    report = check("response_loss=true", "fetch_loss=true", "fences=0")
    assert verdicts(report) == dict.fromkeys(EVERY, "holds")


@pytest.mark.slow
def test_a_reassignment_ends() -> None:
    report = check("fences=0", "records=0", scope="four-brokers-reassign", properties=("V-6", "V-10"))
    assert verdicts(report) == {"V-6": "holds", "V-10": "holds"}
    assert named(report, "V-6").waiting


def test_the_whole_last_known_elr_being_back_is_enough() -> None:
    report = check("crashes=2", "fences=0", properties=("V-7", "V-8"))
    assert verdicts(report) == {"V-7": "holds", "V-8": "holds"}
    assert named(report, "V-8").waiting


# ---------------------------------------------------------------------------- what breaks

BREAKS = {
    "F-23": ("V-7", "kip_full", ("crashes=0", "clean_stops=1", "directory_changes=1", "dirs_wipe_elr=true")),
    "F-25": ("V-7", "kip_full", ("crashes=0", "fences=2", "min_isr_changes=1", "min_isr_change=ALWAYS")),
    "F-26": ("V-8", "code_4_1", ("elr_enabled=false", "feature_changes=1")),
    "strategy None": ("V-8", "kip_full", ("crashes=2", "fences=0", "unclean_recovery_strategy=NONE")),
    "feature off and on": ("V-8", "kip_full", ("crashes=0", "fences=2", "feature_changes=2")),
    "F-57": ("V-11", "kip_full", ("crashes=0", "fences=2", "feature_changes=1")),
    "F-34, what the leader knows": ("V-2", "kip_full", ("applies_equal_epoch=false",)),
    "F-34, the watermark": ("V-9", "kip_full", ("applies_equal_epoch=false", "response_loss=true")),
    "F-34, the ISR": ("V-10", "kip_full", ("applies_equal_epoch=false", "crashes=0")),
    "F-46": ("V-3", "kip_full", ("response_loss=true", "alter_retries=false")),
    "F-46, the producer": ("V-4", "kip_full", ("response_loss=true", "alter_retries=false")),
    "all copies lost": ("V-5", "kip_full", ("crashes=2", "fences=0")),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BREAKS)
def test_one_rule_changed_breaks(case: str, tmp_path: Path) -> None:
    ident, variant, overrides = BREAKS[case]
    report = check(*overrides, variant=variant, properties=(ident,), run_dir=tmp_path)
    (violated,) = report.properties
    assert (report.verdict, violated.verdict) == ("violated", "violated")
    loaded = load_trace(tmp_path / f"{ident}.trace.json")
    assert refused_step(loaded) is None
    last = loaded.behaviour.states[-1]
    assert violated.depth == loaded.behaviour.loop
    if ident in ("V-7", "V-8"):
        assert last.partition.leader is None
        assert all(broker.status.name == "RUNNING" for broker in last.broker), "nobody is down any more"
        assert not any(registration.fenced for registration in last.registration)


def test_the_same_without_the_changed_rule() -> None:
    for case in ("F-23", "F-25"):
        ident, variant, overrides = BREAKS[case]
        report = check(*overrides[:-1], variant=variant, properties=(ident,))
        assert verdicts(report) == {ident: "holds"} and named(report, ident).waiting


# ---------------------------------------------------------------------------- fairness


def test_every_action_is_fair_or_has_a_reason_not_to_be() -> None:
    actions = load_whole_model().actions
    assert [fn.name for fn in actions if fn.marks.fairness is None or not fn.marks.fairness.why] == []
    fair = fair_actions(actions)
    assert [name for name, mark in fair.items() if mark.strength is Strength.STRONG] == ["LeaderLearns"]
    assert {"Start", "Register", "Unfence", "ApplyMetadata", "ControllerAlters", "Fetch"} <= set(fair)
    assert not {"Crash", "CleanStop", "ShrinkIsr", "LoseResponse", "Produce", "Reassign"} & set(fair)


@pytest.fixture(scope="module")
def small() -> Iterator[tuple[Model, Any, Graph]]:
    """Two brokers, one crash, one record; answers of AlterPartition may be lost."""
    overrides = (*QUIET, "response_loss=true", "fences=0")
    config = resolve(Selection("kip_full", "two-brokers", overrides)).config
    model = load_whole_model()
    graph, _ = graph_of_plain(PlainModel(model, config))
    assert graph is not None
    yield model, config, graph


def broken(small: tuple[Model, Any, Graph], fair: Mapping[str, Fair]) -> dict[str, Waiting]:
    """The first refuted instance of each property under some fairness; each lasso is replayed."""
    model, config, graph = small
    steps = fair_steps(graph, fair, model.fns)
    arena = FairGraph(graph, claims_of(graph, steps))
    refuted: dict[str, Waiting] = {}
    for fn in model.leads_to:
        for answer in check_leads_to(arena, config, fn):
            if answer.lasso is not None:
                replay_lasso(PlainModel(model, config), graph, fn, answer, steps)
                refuted.setdefault(fn.ident, answer)
    return refuted


@functools.cache
def fair_ones() -> dict[str, Fair]:
    return fair_actions(load_whole_model().actions)


def without(*actions: str) -> dict[str, Fair]:
    return {action: fair for action, fair in fair_ones().items() if action not in actions}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unfair", "ident"),
    [
        ("Start", "V-2"),
        ("Register", "V-1"),
        ("Unfence", "V-1"),
        ("ApplyMetadata", "V-2"),
        ("ControllerAlters", "V-3"),
        ("Fetch", "V-4"),
        ("Fetch", "V-5"),
        ("Fetch", "V-9"),
        ("ExpandIsr", "V-10"),
    ],
)
def test_each_property_needs_its_fairness(small: tuple[Model, Any, Graph], unfair: str, ident: str) -> None:
    assert ident not in broken(small, fair_ones())
    assert ident in broken(small, without(unfair))


@pytest.mark.slow
def test_a_leader_proposes_a_replica_that_may_not_join_finitely_often() -> None:
    """If it proposed a broker in controlled shutdown again and again, no other replica would join."""
    overrides = (*QUIET, "crashes=0", "fences=1", "shutdowns=1", "records=0")
    selected = resolve(Selection("kip_full", "three-brokers", overrides))
    model, limits = load_whole_model(), CheckRequest(selection=Selection(), liveness=True)
    ended = run_search(SearchSubject(model, selected.config, ()), limits, Silent())
    graph = graph_of_search(ended.search, ended.lowered, len(ended.outcome().levels))
    declared = fair_ones()
    assert declared["ExpandIsr"].stops and "V-10" not in broken((model, selected.config, graph), declared)
    plain, rejoins = PlainModel(model, selected.config), next(fn for fn in model.leads_to if fn.ident == "V-10")
    for again in (replace(declared["ExpandIsr"], stops=False), replace(declared["ExpandIsr"], stops=False, when=None)):
        answer = broken((model, selected.config, graph), declared | {"ExpandIsr": again})["V-10"]
        assert answer.lasso is not None
        cycle = [label.action for label in answer.lasso.behaviour.labels[answer.lasso.behaviour.loop :]]
        assert cycle == ["ExpandIsr", "ControllerAlters", "LeaderLearns"]
        with pytest.raises(ReplayError, match=r"the cycle takes ExpandIsr.*, which stops"):
            replay_lasso(plain, graph, rejoins, answer, fair_steps(graph, declared, model.fns))


@pytest.mark.slow
def test_a_leader_whose_followers_are_all_gone_is_exempt() -> None:
    """After INELIGIBLE_REPLICA nothing advances its watermark, unless a follower fetches or a producer writes."""
    alone = ("min_isr=1", "crashes=0", "fences=0", "kills=1", "unregistrations=1", "shrinks=1")
    report = check(*alone, scope="two-brokers-quiet", properties=("V-9",))
    assert verdicts(report) == {"V-9": "holds"} and named(report, "V-9").waiting


def test_weak_fairness_of_an_answer_that_may_be_lost_is_not_enough(small: tuple[Model, Any, Graph]) -> None:
    weak = fair_ones() | {"LeaderLearns": Fair("weak")}
    lasso = broken(small, weak)["V-3"].lasso
    assert lasso is not None
    names = [label.action for label in lasso.behaviour.labels[lasso.behaviour.loop :]]
    assert sorted(names) == ["ControllerAlters", "LoseResponse"]


def test_a_lasso_that_is_none_is_refused(small: tuple[Model, Any, Graph]) -> None:
    model, config, graph = small
    weak = fair_ones() | {"LeaderLearns": Fair("weak")}
    answer = broken(small, weak)["V-3"]
    fn = next(fn for fn in model.leads_to if fn.ident == "V-3")
    lasso = answer.lasso
    assert lasso is not None
    plain = PlainModel(model, config)

    def refused(
        states: tuple[Any, ...],
        labels: tuple[Label, ...],
        waits: int,
        loop: int,
        words: str,
        fair: Mapping[str, Fair] = weak,
    ) -> None:
        changed = Lasso(Behaviour(TraceOrigin(), states, labels, loop), waits)
        steps = fair_steps(graph, fair, model.fns)
        with pytest.raises(ReplayError, match=words):
            replay_lasso(plain, graph, fn, Waiting(answer.args, 1, changed), steps)

    states, labels, waits, loop = (
        lasso.behaviour.states,
        lasso.behaviour.labels,
        lasso.waits,
        lasso.behaviour.loop or 0,
    )
    refused(states, labels, waits, loop, "not fair to LeaderLearns", fair_ones())
    refused(states[1:], labels[1:], waits - 1, loop - 1, "initial state")
    refused(states, labels[::-1], waits, loop, "not a step of the model")
    refused(states, labels, waits, loop - 1, "not a step of the model")
    refused(states, labels, 0, loop, "does not wait")
    refused(states[: loop + 1], labels[:loop], waits, loop, "not fair to ControllerAlters")


# ---------------------------------------------------------------------------- engines and limits


@pytest.mark.slow
def test_engines_agree() -> None:
    overrides = ("crashes=0", "fences=2", "feature_changes=2", "records=0")
    reports = [check(*overrides, engine=engine) for engine in ("local", "numpy", "reference")]
    assert named(reports[0], "V-8").verdict == "violated"
    for report in reports[1:]:
        for one, other in zip(reports[0].properties, report.properties, strict=True):
            assert (one.id, one.verdict, one.depth, one.waiting) == (
                other.id,
                other.verdict,
                other.depth,
                other.waiting,
            )
        for part in ("distinct", "generated", "levels", "cut", "deadlocks"):
            assert getattr(report.search, part) == getattr(reports[0].search, part)


@pytest.mark.parametrize("engine", ["local", "numpy", "reference"])
def test_a_graph_that_is_not_whole_says_nothing(engine: Any) -> None:
    report = check(engine=engine, limits=Limits(max_states=500))
    assert report.verdict == "inconclusive" and report.exit_code == 3
    assert verdicts(report) == dict.fromkeys(EVERY, "inconclusive")
    assert report.search.stopped_by == "--max-states 500" and not report.search.complete


# ---------------------------------------------------------------------------- choosing


def test_words_choose_one_kind_or_the_other() -> None:
    model = load_whole_model()

    def chosen(*words: str, liveness: bool = False) -> set[str]:
        return {fn.ident for fn in select_properties(model, words, liveness)}

    assert chosen(liveness=True) == set(EVERY) == chosen("V-*")
    assert not chosen() & set(EVERY) and not chosen("*") & set(EVERY)
    assert chosen("v-7", "ReplicaRejoinsIsr") == {"V-7", "V-10"}
    assert chosen("*Leader*", liveness=True) == {"V-7", "V-8", "V-11"}
    with pytest.raises(UsageFault, match="run of their own"):
        chosen("P-1", "V-7")
    with pytest.raises(UsageFault, match="P-1 is not a liveness property"):
        chosen("P-1", liveness=True)


def test_first_violation_is_for_safety() -> None:
    with pytest.raises(UsageFault, match="safety properties"):
        check(stop_at_first=True)


# ---------------------------------------------------------------------------- files and reports


def test_json_fits_its_schema_and_text_says_for_ever(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [f"--set={word}" for word in (*QUIET, *BREAKS["F-25"][2])]
    where = ["--scope", "two-brokers", "-p", "V-7", "--run-dir", str(tmp_path / "run"), *options]
    target = tmp_path / "report.json"
    assert run(cli, ["--no-progress", "check", *where, "--output", str(target)]) == 1
    text = capsys.readouterr().out
    assert "V-7 EligibleReplicaEndsLeaderlessness  violated" in text
    assert "forever   nothing more happens" in text and "waiting states" in text
    document = json.loads(target.read_text(encoding="utf-8"))
    schema = json.loads((SCHEMAS / "elrcheck.report-1.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    (violated,) = document["properties"]
    assert violated["counterexample"]["loop"] == violated["depth"] == len(violated["counterexample"]["steps"])


def test_a_cycle_is_stored_replayed_and_drawn(small: tuple[Model, Any, Graph], tmp_path: Path) -> None:
    model, config, graph = small
    weak = fair_ones() | {"LeaderLearns": Fair("weak")}
    answer = broken(small, weak)["V-3"]
    fn = next(fn for fn in model.leads_to if fn.ident == "V-3")
    plain = PlainModel(model, config)
    behaviour = replay_lasso(plain, graph, fn, answer, fair_steps(graph, weak, model.fns)).followed
    assert behaviour.loop is not None and len(behaviour.labels) == len(behaviour.states) == behaviour.loop + 2
    changed = {"fences": 0, "fetch_loss": False, "shrinks": 0, "acks_one": 0}
    trace = replace(behaviour, origin=TraceOrigin("kip_full", "two-brokers", changed, "V-3"))
    write_trace(tmp_path / "V-3.trace.json", trace, model.state_ty)
    loaded = load_trace(tmp_path / "V-3.trace.json")
    assert loaded.behaviour == trace and refused_step(loaded) is None
    drawn = {}
    for form in ("itf", "mermaid", "dot"):
        (written,) = export_trace(tmp_path / "V-3.trace.json", None, Selection(), form, tmp_path)
        drawn[form] = written.read_text(encoding="utf-8")
    assert json.loads(drawn["itf"])["loop"] == behaviour.loop
    assert drawn["mermaid"].count("loop forever") == 1 and drawn["mermaid"].endswith("    end\n")
    assert f"s{behaviour.loop + 1} -> s{behaviour.loop} [" in drawn["dot"]
    assert f"s{behaviour.loop + 2}" not in drawn["dot"]


class _CtrlC(Silent):
    """Interrupts the process, once."""

    def __init__(self) -> None:
        self.pressed = False

    def tell(self, event: Event) -> None:
        if not self.pressed:
            self.pressed = True
            signal.raise_signal(signal.SIGINT)


def test_an_interrupted_check_of_liveness_leaves_nothing_to_resume(tmp_path: Path) -> None:
    """On Spark it has a folder for the levels; `--resume` would refuse it."""
    selected = resolve(Selection("kip_full", "two-brokers", QUIET))
    model = selected.declared.whole()
    chosen = select_properties(model, ("V-1",), liveness=True)
    request, place = CheckRequest(liveness=True), tmp_path / "run"
    place.mkdir()
    with pytest.raises(Interrupted) as stopped:
        explore_liveness(
            model, selected.config, chosen, request, _CtrlC(), PlannedRun(place, selected, chosen, request)
        )
    assert stopped.value.help is None and not place.exists()
