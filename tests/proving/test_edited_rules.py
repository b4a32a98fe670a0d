"""What a wrong edit of a rule prints: root failures first, with a run or a lemma to try, also after an interrupt."""

from __future__ import annotations

import difflib
import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import z3
from msgspec.structs import replace as replaced

from elrcheck.base.errors import ExitCode
from elrcheck.base.progress import Event, ObligationDone, Silent
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.base.typed.configuration import config_values
from elrcheck.declared.select import resolve
from elrcheck.lang.plain import PlainModel
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Discharge, Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving import failures_by_root, prove
from elrcheck.proving.consecution_phase import ConsecutionPhase, Digests, ProofTask, Work, discharge
from elrcheck.proving.failures_by_root import enough_to_break, implied_failures, with_roots
from elrcheck.proving.prove import InductionProof, run_prove
from elrcheck.report.formats import render
from elrcheck.report.words.proof_failures import cell_blocks
from elrcheck.results.prove_report import (
    BrokenConjunct,
    CellReport,
    InductionFailure,
    ProveReport,
    ReachedFailure,
    RootFailure,
)
from elrcheck.results.trace_view import Argument
from elrcheck.traces.describe import spelled
from support.places import ROOT

WRONG = Selection("kip_full", "two-brokers", ("log_slots=1", "join_requires_epoch_start=false"))
"""F-11: a follower joins by the high watermark alone."""
RULE = "model/broker/isr_proposals.py"
GUARD = "require(leader not in out and out != EMPTY and out <= "
ONE_AT_A_TIME = "require(leader not in out and len(out) == 1 and out <= "
RUN = (
    "Produce(leader=0, acks=ALL)",
    "Fetch(f=1, leader=0, lost=false)",
    "Crash(b=0, keep=0)",
    "Start(b=0)",
    "Register(b=0)",
    "ApplyMetadata(b=0)",
    "ApplyMetadata(b=1)",
    "Fetch(f=0, leader=1, lost=true)",
    "ExpandIsr(leader=1, f=0)",
)


class Watched(Silent):
    """Progress that remembers refuted obligations, and may press Ctrl-C at the first."""

    def __init__(self, stops: bool = False) -> None:
        self.stops, self.refuted, self.stages = stops, list[ObligationDone](), list[str]()

    def stage(self, text: str) -> None:
        self.stages.append(text)

    def tell(self, event: Event) -> None:
        if isinstance(event, ObligationDone) and event.verdict == "refuted":
            self.refuted.append(event)
            if self.stops:
                raise KeyboardInterrupt


@pytest.fixture(scope="module")
def prover() -> Prover:
    selected = resolve(WRONG)
    config = selected.declared.widened(selected.config, selected.overrides, ())
    model = selected.declared.with_lemmas()
    return Prover(Transitions(model, config, any_order=True), lemmas_of(model), 60.0)


@pytest.fixture(scope="module")
def wrong() -> tuple[ProveReport, Watched]:
    progress = Watched()
    return run_prove(ProveRequest(WRONG, properties=("P-1",), workers=1), progress), progress


@pytest.mark.slow
def test_a_wrong_edit_is_one_root_failure_with_a_run(wrong: tuple[ProveReport, Watched]) -> None:
    report, _ = wrong
    (root,) = report.roots
    assert (root.lemma, root.actions) == ("JoinersCaughtUp", ("ExpandIsr",))
    assert root.implied == ("ExpandIsr x ContendersComplete",)
    reached = root.reached
    assert reached is not None and (reached.scope, reached.complete, reached.run) == ("two-brokers", True, RUN)
    assert {"P-1", "P-8"} <= set(reached.properties)
    failure = report.cells[0].failure
    assert failure is not None and failure.broken is not None
    assert failure.broken.text == "acked(s, leader, f) >= s.broker[leader].epoch_start"
    assert [(one.name, one.value) for one in failure.broken.members] == [("leader", "0"), ("f", "1")]


@pytest.mark.slow
def test_the_run_is_one_of_the_plain_model_to_a_state_without_the_lemma(wrong: tuple[ProveReport, Watched]) -> None:
    selected = resolve(WRONG)
    model = selected.declared.with_lemmas()
    plain, lemma = PlainModel(model, selected.config), model.fns["JoinersCaughtUp"]
    state: Any = plain.initial()
    for step in RUN:
        assert plain.holds(lemma, state)
        steps = ((spelled(model.fns[label.action], label.args), after) for label, after in plain.successors(state))
        state = next(after for name, after in steps if name == step)
    assert not plain.holds(lemma, state)


@pytest.mark.slow
def test_failures_come_first_in_every_format(wrong: tuple[ProveReport, Watched]) -> None:
    report, _ = wrong
    verdicts = [cell.verdict for cell in report.cells]
    assert verdicts[:3] == ["refuted", "refuted", "proved"] and set(verdicts[2:]) == {"proved"}
    text = render(report, "text").splitlines()
    assert text[0].startswith("REFUTED  ExpandIsr does not preserve JoinersCaughtUp")
    assert text[-1].startswith("REFUTED  kip_full: 2 of ")
    assert len(text) < 45
    before = [line.split()[1] for line in text if line.strip().startswith("before ")]
    failure = report.cells[0].failure
    assert failure is not None and before == list(failure.differs) and len(before) < 10
    assert json.loads(render(report, "json"))["cells"][0]["lemma"] == "JoinersCaughtUp"
    cases = list(ElementTree.fromstring(render(report, "junit")).iter("testcase"))
    assert [case.find("failure") is not None for case in cases[:3]] == [True, True, False]
    assert RUN[-1] in "".join(cases[0].itertext())
    sarif = json.loads(render(report, "sarif"))
    assert sarif["runs"][0]["results"][0]["ruleId"] == "JoinersCaughtUp"
    for form in ("markdown", "github", "html"):
        page = render(report, form)
        first, second = (page.find(f"ExpandIsr {word} {name}") for word, name in _mentions(page))
        assert -1 < first < second, form


def _mentions(page: str) -> list[tuple[str, str]]:
    word = "does not preserve" if "ExpandIsr does not preserve JoinersCaughtUp" in page else "x"
    return [(word, "JoinersCaughtUp"), (word, "ContendersComplete")]


@pytest.mark.slow
def test_a_refutation_is_told_at_once_with_its_counterexample(wrong: tuple[ProveReport, Watched]) -> None:
    _, progress = wrong
    first, second = progress.refuted
    assert (first.subject, second.subject) == ("ExpandIsr x ContendersComplete", "ExpandIsr x JoinersCaughtUp")
    before, step, broken = first.counterexample
    assert "broker[0].epoch_start = " in before and "alter.isr: {} -> {0,1}" in step and "for b=1" in broken
    assert second.counterexample == (), "one for an action"


@pytest.mark.slow
def test_an_interrupt_leaves_what_was_refuted() -> None:
    request = ProveRequest(WRONG, properties=("P-1",), workers=1)
    report = run_prove(request, Watched(stops=True), partial=True)
    assert report.interrupted and report.verdict == "refuted" and report.exit_code == ExitCode.INTERRUPTED
    assert [root.lemma for root in report.roots] == ["ContendersComplete"]
    assert report.cells[0].failure is not None and report.cells[0].failure.differs
    assert "kip_full: interrupted, " in render(report, "text").splitlines()[-1]
    with pytest.raises(KeyboardInterrupt):
        run_prove(request, Watched(stops=True))


def test_an_interrupt_claims_nothing_of_an_action_that_is_not_decided_for_all_arguments(prover: Prover) -> None:
    numbers = [number for number, one in enumerate(prover.ts.instances) if one.action == "Produce"]
    assert len(numbers) > 1
    proved, refuted = Discharge("proved", 0.1), Discharge("refuted", 0.1)
    phase = ConsecutionPhase(Digests(prover), ("Processes",), Silent(), ())
    phase.answers = {number: {} for number in range(len(prover.ts.instances))}
    for number in numbers[1:]:
        phase.note(number, "Processes", proved)
    assert phase.reports() == []
    phase.note(numbers[0], "Processes", proved)
    assert [(cell.action, cell.verdict) for cell in phase.reports()] == [("Produce", "proved")]
    other = ConsecutionPhase(Digests(prover), ("Processes",), Silent(), ())
    other.answers = {number: {} for number in range(len(prover.ts.instances))}
    other.note(numbers[0], "Processes", refuted)
    assert [cell.verdict for cell in other.reports()] == ["refuted"], "one choice of arguments is enough"


@pytest.mark.slow
def test_without_a_lemma_the_search_says_that_one_may_be_missing() -> None:
    """The rules are right, so no run breaks what is open without RequestShape."""
    selected = resolve(Selection("kip_full", "two-brokers", ("log_slots=1",)))
    model = selected.declared.with_lemmas()
    fewer = replace(model, lemmas=tuple(fn for fn in model.lemmas if fn.name != "RequestShape"))
    config = selected.declared.widened(selected.config, selected.overrides, ())
    proof = InductionProof(fewer, config, [], 60.0, Silent())
    report = with_roots(selected, proof.steps, proof.run("kip_full"), Silent())
    assert report.roots
    for root in report.roots:
        assert root.reached is None or (root.reached.run, root.reached.complete) == ((), True)
    text = render(report, "text")
    assert "a lemma may be missing that excludes the state before" in text
    assert "try lemma" in text
    ahead = next(root for root in report.roots if root.lemma == "OvertakenIsStale")
    assert {"partition.partition_epoch", "broker[0].alter.partition_epoch"} <= set(ahead.enough)


def test_the_next_lemma_excludes_few_values_or_says_what_must_hold_after_the_step() -> None:
    broken = BrokenConjunct("x <= y", (Argument("b", "0"),), (Argument("x", "2"), Argument("y", "1")))
    failure = InductionFailure({"x": "1", "y": "1"}, (Argument("b", "0"),), (), differs=("x",), broken=broken)
    cell = CellReport("Step", "Below", "refuted", 0.1, failure=failure)
    reached = ReachedFailure("two-brokers", 218, True)

    def text(root: RootFailure) -> str:
        return " ".join(str(block) for block in cell_blocks(cell, root))

    few = text(RootFailure("Below", ("Step",), (), ("x", "y"), reached))
    assert "where Step(b=0) is possible, never all of: x = 1, y = 1" in few
    assert "Below holds in all 218 states of two-brokers: a lemma may be missing" in few
    many = text(RootFailure("Below", ("Step",), (), ("x",) * 7, reached))
    assert "where Step(b=0) is possible, this is true after it: x <= y" in many
    too_strong = text(RootFailure("Below", ("Step",), (), ("x",), replaced(reached, run=("Step(b=0)",))))
    assert "a rule is at fault, or the lemma too strong" in too_strong and "try lemma" not in too_strong
    assert "no property is; a rule" in too_strong
    in_part = text(RootFailure("Below", ("Step",), (), (), replaced(reached, run=("Step(b=0)",), complete=False)))
    assert "no property is in the first 218 states; a rule" in in_part
    at_fault = text(RootFailure("Below", ("Step",), (), (), replaced(reached, run=("Step(b=0)",), properties=("P-1",))))
    assert (
        "a rule is at fault, no lemma is missing: Below is false after 1 step of two-brokers; also false there: P-1"
        in at_fault
    )
    own = replaced(reached, run=("Step(b=0)",), properties=("Below",))
    assert "Below is false after 1 step of two-brokers'" in text(RootFailure("Below", ("Step",), (), (), own))


@pytest.mark.slow
def test_a_worker_tells_what_is_refuted_before_it_is_done(prover: Prover) -> None:
    digests, instances = Digests(prover), prover.ts.instances
    number = next(k for k, one in enumerate(instances) if one.action == "ExpandIsr")
    goals = ("ContendersComplete", "JoinersCaughtUp", "Processes")
    news: list[Any] = []
    task = ProofTask(Work(number, goals, digests.work(instances[number], goals)), prover.ts.config, 60.0)
    answers = discharge(task, news.append)[1]
    assert [[goal for goal, _ in each] for each in news] == [[goals[0]], [goals[0], goals[1]]]
    assert [answer and answer.verdict for _, answer in answers] == ["refuted", "refuted", None]


def test_a_failure_that_another_implies_is_no_root(prover: Prover) -> None:
    """After ExpandIsr, that joiners have caught up implies that contenders are complete, and not the reverse."""
    instance = next(one for one in prover.ts.instances if one.action == "ExpandIsr")
    goals, implied = ("ContendersComplete", "JoinersCaughtUp"), {"ContendersComplete": ("JoinersCaughtUp",)}
    later = time.perf_counter() + 60
    assert implied_failures(prover, instance, goals, later) == implied
    assert implied_failures(prover, instance, goals[::-1], later) == implied
    assert implied_failures(prover, instance, goals, time.perf_counter() - 1) == {}
    assert implied_failures(prover, instance, goals[:1], later) == {}


def test_what_of_a_state_is_enough_for_a_failure(prover: Prover) -> None:
    """From every state with these values ExpandIsr breaks the lemma, if it is possible; from others it need not."""
    instance = next(one for one in prover.ts.instances if one.action == "ExpandIsr")
    failed = prover.consecution(prover.open_step(instance), instance, prover.goals["JoinersCaughtUp"])
    assert failed is not None
    paths = enough_to_break(prover, instance, "JoinersCaughtUp", failed.before)
    assert {"broker[0].epoch_start", "broker[0].peers[1].log_end_offset"} <= set(paths)
    assert len(paths) < 20 < len(prover.ts.slots)
    assert enough_to_break(prover, instance, "Processes", failed.before) == (), "the step does not break it"


def test_a_question_about_a_failure_that_times_out_is_no_interrupt(
    prover: Prover, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Z3 may call a timeout `canceled`; `ask` tells it from Ctrl-C by the time limit, which is the solver's own."""
    limits = []

    def gives_up(solver: Any, timeout: int, *assumptions: Any) -> Any:
        limits.append(timeout)
        return z3.unknown

    monkeypatch.setattr(failures_by_root, "ask", gives_up)
    instance = next(one for one in prover.ts.instances if one.action == "ExpandIsr")
    state = PlainModel(prover.ts.model, prover.ts.config).initial()
    assert enough_to_break(prover, instance, "JoinersCaughtUp", state) == ()
    assert implied_failures(prover, instance, ("ContendersComplete", "JoinersCaughtUp"), math.inf) == {}
    assert limits == [1000 * failures_by_root.QUESTION_SECONDS] * 3


def test_a_patched_partition_is_proved_with_the_settings_of_the_shipped_one(tmp_path: Path) -> None:
    """Without them a right edit was refuted, by steps of recoveries that no proof covers."""
    text = (ROOT / RULE).read_text(encoding="utf-8")
    assert text.count(GUARD) == 1
    before, after = (each.splitlines(keepends=True) for each in (text, text.replace(GUARD, ONE_AT_A_TIME)))
    diff = "".join(difflib.unified_diff(before, after, f"a/{RULE}", f"b/{RULE}"))
    (tmp_path / "diff").write_text(diff, encoding="utf-8")
    for overrides in ((), ("late_answers=0", "log_slots=1"), ("elr_enabled=false",)):
        shipped, patched = (resolve(Selection(overrides=overrides, patch=patch)) for patch in (None, tmp_path / "diff"))
        one, other = (each.declared.widened(each.config, each.overrides, ()) for each in (shipped, patched))
        assert config_values(one) == config_values(other) != config_values(shipped.config)


def hasty_commit(folder: Path, *edits: tuple[str, str]) -> Selection:
    """Two-phase commit whose coordinator no longer waits for all, with more edits."""
    guard = '    require(s.prepared == frozenset(range(c.rms)), "all resource managers are prepared")\n'
    text = (ROOT / "protocols" / "agreement" / "two_phase.py").read_text(encoding="utf-8")
    for old, new in ((guard, ""), *edits):
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "edited.py").write_text(text, encoding="utf-8")
    return Selection(model=folder / "edited.py")


def test_a_model_of_a_user_is_searched_in_its_own_scope(tmp_path: Path) -> None:
    report = run_prove(ProveRequest(hasty_commit(tmp_path)), Silent())
    (root,) = report.roots
    reached = root.reached
    assert (root.lemma, root.actions) == ("CommitNeedsAll", ("Commit",)) and reached is not None
    assert (reached.scope, reached.run, reached.properties) == ("default", ("Commit()",), ("P-1",))


def test_a_run_that_the_proof_assumes_away_is_no_evidence(tmp_path: Path) -> None:
    """No manager aborts by assumption, and only with such a step is the property false."""
    assumed = """
@op
def NobodyAborts(c: Config, s: State, t: State) -> bool:
    \"\"\"no resource manager aborts\"\"\"
    return all(t.rm[r] != Status.ABORTED for r in range(c.rms))


MODEL = ProtocolModel(State, Config, induction=Induction(assumptions=(NobodyAborts,)), """
    more = "from elrcheck.lang.induction import Induction\nfrom elrcheck.lang.runtime import op\n"
    edits = (("\nMODEL = ProtocolModel(State, Config, ", assumed), ("from dataclasses", f"{more}from dataclasses"))
    (root,) = run_prove(ProveRequest(hasty_commit(tmp_path, *edits)), Silent()).roots
    assert root.reached is not None and (root.reached.run, root.reached.properties) == (("Commit()",), ())


def test_an_interrupt_of_the_search_for_roots_leaves_the_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def presses_ctrl_c(*_: Any) -> ProveReport:
        raise KeyboardInterrupt

    monkeypatch.setattr(prove, "with_roots", presses_ctrl_c)
    request = ProveRequest(hasty_commit(tmp_path))
    report = run_prove(request, Silent(), partial=True)
    assert (report.verdict, report.roots, report.exit_code) == ("refuted", (), ExitCode.INTERRUPTED)
    assert [(cell.action, cell.lemma) for cell in report.cells if cell.verdict == "refuted"] == [
        ("Commit", "CommitNeedsAll")
    ]
    with pytest.raises(KeyboardInterrupt):
        run_prove(request, Silent())
