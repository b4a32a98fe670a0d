"""`prove --liveness`: every wait ends, by WF1; the search of whole graphs agrees, and what is false is not proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.checking.check import run_check
from elrcheck.invariants.modules import load_wait_model
from elrcheck.lang.load import Model
from elrcheck.lang.marks import Fair, Strength, Unfair
from elrcheck.lang.source import ModelError
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proof.ended_waits import WaitProof, Waits, stages_of
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.prove import run_prove
from elrcheck.results.prove_report import ProveReport
from support.places import ROOT

PETERSON = ROOT / "protocols/mutual_exclusion/peterson.py"
EWD840 = ROOT / "protocols/networks/ewd840.py"


def selection(model: Path, *settings: str) -> Selection:
    return Selection(overrides=settings, model=model)


def proved(model: Path, *settings: str) -> ProveReport:
    return run_prove(ProveRequest(selection(model, *settings), liveness=True), Silent())


def searched(model: Path, *settings: str) -> str:
    """The verdict of a search of the whole graph."""
    return run_check(CheckRequest(selection=selection(model, *settings), liveness=True), Silent()).verdict


def of_the_partition(*settings: str) -> ProveReport:
    small = ("broker_count=2", "log_slots=1", *settings)
    return run_prove(ProveRequest(Selection("kip_full", "three-brokers", small), liveness=True), Silent())


def edited(folder: Path, file: Path, old: str, new: str) -> Path:
    text = file.read_text()
    assert text.count(old) == 1
    copy = folder / file.name
    copy.write_text(text.replace(old, new))
    return copy


# ---------------------------------------------------------------------------- other protocols


@pytest.mark.parametrize("file", [PETERSON, EWD840])
def test_every_wait_ends_and_the_search_agrees(file: Path) -> None:
    report = proved(file)
    assert report.verdict == "proved"
    assert [(wait.verdict, wait.disturbances) for wait in report.waits] == [("proved", ())]
    assert searched(file) == "holds"


def test_a_turn_that_is_not_given_starves_a_process() -> None:
    report = proved(PETERSON, "yields=false")
    assert report.verdict == "refuted"
    (wait,) = report.waits
    assert "V-1, stage gets_turn(p=1, q=0): its step may not end it" in [cell.lemma for cell in wait.cells]
    assert all(cell.failure is not None and cell.failure.replayed for cell in wait.cells)
    assert searched(PETERSON, "yields=false") == "violated"


EDITS = {
    "a measure without an end": (
        'Node:\n    """The nodes that the token has yet to pass."""\n    return s.at\n',
        'int:\n    """Less than nothing."""\n    return s.at - 9\n',
        "may not end it",
    ),
    "the token may stop": ("@action(fairness=MOVES)\ndef PassToken", "@action\ndef PassToken", "may be impossible"),
    "no last stage": ("        WaitStage(passes_white, PassToken, measure=distance),\n", "", "may not end it"),
    "no first stage": ("        WaitStage(passes, PassToken, measure=distance),\n", "", "outside of all stages"),
    "no measure": (
        "WaitStage(passes_last_black, PassToken, measure=distance)",
        "WaitStage(passes_last_black, PassToken)",
        "may not end it",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_stages_that_prove_nothing_are_refuted(edit: str, tmp_path: Path) -> None:
    old, new, words = EDITS[edit]
    report = proved(edited(tmp_path, EWD840, old, new))
    assert report.verdict == "refuted"
    opened = [state.name for state in report.waits[0].states] + [cell.lemma for cell in report.waits[0].cells]
    assert any(words in one for one in opened)


def test_without_weak_fairness_the_search_has_a_lasso_too(tmp_path: Path) -> None:
    old, new, _ = EDITS["the token may stop"]
    copy = edited(tmp_path, EWD840, old, new)
    assert searched(copy) == "violated"


WRONG: dict[str, tuple[str, str, str]] = {
    "parameter": (
        "WaitStage(passes_white, PassToken,",
        'WaitStage(passes_white, PassToken, {"n": "m"},',
        "no parameter `m`",
    ),
    "action": (
        "WaitStage(has_returned, InitiateProbe)",
        "WaitStage(has_returned, detected)",
        "detected is not an action",
    ),
    "measure": (
        "def distance(s: State) -> Node:",
        "def distance(s: State, n: Node) -> Node:",
        "has a parameter `n` that TerminationIsDetected does not have",
    ),
    "property": ("    TerminationIsDetected: (", "    Detected: (", "is not a @leads_to property"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_stages_is_an_error_of_the_model(case: str, tmp_path: Path) -> None:
    old, new, words = WRONG[case]
    with pytest.raises((ModelError, UsageFault), match=words):
        proved(edited(tmp_path, EWD840, old, new))


def test_a_property_without_stages_and_options_of_other_proofs() -> None:
    with pytest.raises(NothingChecked, match="how the waits of V-7 end"):
        run_prove(ProveRequest(properties=("V-7",), liveness=True), Silent())
    with pytest.raises(UsageFault, match="--any-size is about a proof of other properties"):
        run_prove(ProveRequest(any_size=True, liveness=True), Silent())


# ---------------------------------------------------------------------------- the partition


def waits_of(model: Model, *idents: str, **changes: object) -> dict[str, WaitProof]:
    """The obligations about these properties with two brokers; the lemmas are assumed, and proved elsewhere."""
    sizes = Config(
        broker_count=2, log_slots=1, records=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED, fences=2
    )
    budgets = {"kills": 1, "shutdowns": 1, "late_answers": 1, "unregistrations": 1}
    config = replace(sizes, **{**budgets, **changes})  # type: ignore[arg-type]
    waits = Waits(Prover(Transitions(model, config, any_order=True), lemmas_of(model, liveness=True), 60))
    return {fn.ident: waits.prove(fn) for fn in model.leads_to if fn.ident in idents}


def with_fairness(change: Callable[[Fair], Fair | Unfair], action: str) -> Model:
    """The model with the fairness of one action changed."""
    model = load_wait_model()
    fn = model.fns[action]
    assert isinstance(fn.marks.fairness, Fair)
    other = replace(fn, marks=replace(fn.marks, fairness=change(fn.marks.fairness)))
    actions = tuple(other if one.name == action else one for one in model.actions)
    return replace(model, actions=actions, fns={**model.fns, action: other})


FIRST = ("V-1", "V-2", "V-3")
REPLICATION = ("V-4", "V-9", "V-10")
PROCESSES_END = {"Crash", "Kill", "CleanStop"}


def is_open(answers: dict[str, WaitProof]) -> list[str]:
    return [ident for ident, proof in answers.items() if proof.open]


@pytest.mark.slow
def test_waits_of_the_partition_end() -> None:
    answers = waits_of(load_wait_model(), *FIRST, *REPLICATION)
    assert {ident: proof.open for ident, proof in answers.items()} == {key: [] for key in (*FIRST, *REPLICATION)}
    assert set(answers["V-1"].disturbances) == PROCESSES_END
    assert set(answers["V-2"].disturbances) == PROCESSES_END
    assert answers["V-3"].disturbances == {}, "lost responses need not stop: LeaderLearns is strongly fair"
    for ident in REPLICATION:
        assert not {"LoseResponse", "Fetch", "ApplyMetadataFirst", "Start"} & set(answers[ident].disturbances)
    assert answers["V-10"].disturbances["Fence"] == "session_is_over"
    assert {*PROCESSES_END, "Produce"} <= set(answers["V-10"].disturbances)
    assert {fn.ident for fn in load_wait_model().leads_to if fn.name in stages_of(load_wait_model())} == set(answers)


@pytest.mark.slow
def test_only_proposals_that_may_be_granted_go_on() -> None:
    """With a third broker, a leader that proposes one that may not join keeps the others out."""
    answers = waits_of(load_wait_model(), *REPLICATION, broker_count=3)
    assert is_open(answers) == []
    assert [proof.disturbances["ExpandIsr"] for proof in answers.values()] == ["may_be_granted"] * 3
    assert all({"ShrinkIsr", "Fence", *PROCESSES_END} <= set(proof.disturbances) for proof in answers.values())


@pytest.mark.slow
def test_a_record_of_an_equal_epoch_that_is_not_applied_is_refuted() -> None:
    """F-34, which breaks the same properties, except V-4, in a search of the whole graph of two brokers."""
    answers = waits_of(load_wait_model(), *FIRST, *REPLICATION, applies_equal_epoch=False)
    assert is_open(answers) == ["V-2", "V-3", *REPLICATION]
    assert {one.rule for ident in is_open(answers) for one in answers[ident].open} == {"ends"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "change", "broken"),
    [
        ("LeaderLearns", lambda fair: replace(fair, strength=Strength.WEAK), ["V-3", *REPLICATION]),
        ("ControllerAlters", lambda fair: Unfair("planted"), ["V-3", *REPLICATION]),
        ("Register", lambda fair: Unfair("planted"), ["V-1", "V-2", "V-4", "V-10"]),
        ("Unfence", lambda fair: Unfair("planted"), ["V-1", "V-4", "V-10"]),
        ("Fetch", lambda fair: Unfair("planted"), [*REPLICATION]),
        ("ExpandIsr", lambda fair: Unfair("planted"), ["V-4", "V-10"]),
    ],
)
def test_each_fairness_is_needed(action: str, change: Callable[[Fair], Fair | Unfair], broken: list[str]) -> None:
    answers = waits_of(with_fairness(change, action), *FIRST, *REPLICATION)
    assert is_open(answers) == broken
    assert "possible" in {one.rule for one in answers[broken[0]].open}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_each_measure_is_needed(number: int) -> None:
    model = load_wait_model()
    measures = {fn: (*all[:number], *all[number + 1 :]) for fn, all in model.induction.wait_measures.items()}
    fewer = replace(model, induction=replace(model.induction, wait_measures=measures))
    answers = waits_of(fewer, "V-10", broker_count=3 if number in (1, 2) else 2)
    assert {one.rule for one in answers["V-10"].open} & {"ends", "stays"}


def test_measures_are_of_properties_with_stages_and_have_their_parameters() -> None:
    model = load_wait_model()
    measures, fns = model.induction.wait_measures, {fn.__name__: fn for fn in model.induction.wait_measures}
    rejoins, lags = fns["ReplicaRejoinsIsr"], model.induction.waits[fns["ReplicaRejoinsIsr"]][1].during
    without = {fn: stages for fn, stages in model.induction.waits.items() if fn is not rejoins}

    def demand(words: str, **changes: object) -> None:
        with pytest.raises(ModelError, match=words):
            stages_of(replace(model, induction=replace(model.induction, **changes)))  # type: ignore[arg-type]

    demand("measures for ReplicaRejoinsIsr, for which `waits` has no stages", waits=without)
    demand("may_be_proposed has a parameter `leader`", wait_measures={rejoins: (*measures[rejoins], lags)})


@pytest.mark.slow
def test_the_command_proves_lemmas_and_waits() -> None:
    report = of_the_partition()
    assert report.verdict == "proved"
    assert [(wait.id, wait.verdict) for wait in report.waits] == [
        ("V-1", "proved"),
        ("V-2", "proved"),
        ("V-3", "proved"),
        ("V-4", "proved"),
        ("V-9", "proved"),
        ("V-10", "proved"),
    ]
    assert report.coverage is not None and (report.coverage.properties, report.coverage.all_properties) == (6, 11)
    cells = [(cell.action, cell.lemma) for cell in report.cells]
    assert len(set(cells)) == len(cells) and any(lemma == "answer_reaches_sender" for _, lemma in cells)
    left = [skipped.id for skipped in report.skipped if skipped.id.startswith("V-")]
    assert left == ["V-5", "V-6", "V-7", "V-8", "V-11"]


@pytest.mark.slow
def test_a_leader_that_does_not_retry_is_not_proved() -> None:
    """F-46: a lost response leaves the proposal pending, and breaks V-3 in a search of a whole graph."""
    report = of_the_partition("alter_retries=false")
    assert report.verdict == "refuted"
    assert any(cell.action == "LoseResponse" for cell in report.cells if cell.verdict == "refuted")
