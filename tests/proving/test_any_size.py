"""Proofs for every size: what is proved of protocols and of the partition, what is refused, and that no fault is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import z3

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.lang.load import Model
from elrcheck.lang.plain import PlainModel
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proof.any_size.definitions import OF_TWO
from elrcheck.proof.any_size.step_tasks import StepTask, answers_of, every_choice, questions
from elrcheck.proof.any_size.steps import Unbounded, UnboundedStep, choices
from elrcheck.proof.z3_algebra import formula
from elrcheck.proving.prove import run_prove
from elrcheck.report.documents.proof_document import prove_blocks
from elrcheck.report.words.proof_failures import cell_blocks
from elrcheck.results.prove_report import ProveReport
from elrcheck.traces.describe import leaves
from support.edits import replaced
from support.invoked import Invoke
from support.places import protocol
from support.planted_knobs import FAULTS

CONFIG = Config(unclean_recovery_strategy=RecoveryStrategy.DISABLED, kills=1)
SECONDS = 4.0


VOTES = '''
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.domains import every
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import Map, action, always, config, init, lemma, put, require, sometimes, state
from elrcheck.lang.types import nat, sort

Node = Annotated[int, sort("Node", "nodes")]
Round = Annotated[int, nat("Round", hi="rounds")]
Ballot = tuple[Node, Round]


@config
class Config:
    nodes: int = 2
    rounds: int = 2


@state
class State:
    voted: Map[Ballot, bool]
    at: Round


@init
def Init(c: Config) -> State:
    return State(voted=Map({k: False for k in every(c, Ballot)}), at=0)


@action
def Vote(c: Config, s: State, n: Node) -> State:
    """A node votes in a round."""
    return replace(s, voted=put(s.voted, (n, s.at), True))


@action
def Next(c: Config, s: State) -> State:
    """The next round begins."""
    require(s.at < c.rounds, "there is a round left")
    return replace(s, at=s.at + 1)


@lemma
def NothingIsAhead(c: Config, s: State) -> bool:
    """Nobody has voted in a later round."""
    return all(k <= s.at + 1 or not s.voted[(n, k)] for n, k in every(c, Ballot))


@always("P-1")
def NothingIsFarAhead(c: Config, s: State) -> bool:
    """Nobody has voted two rounds ahead."""
    return all(k <= s.at + 1 or not s.voted[(n, k)] for n, k in every(c, Ballot))


@sometimes("W-1")
def Voted(c: Config, s: State) -> bool:
    """Somebody has voted."""
    return any(s.voted[k] for k in every(c, Ballot))


MODEL = ProtocolModel(State, Config)
'''


def proved(file: Path, seconds: float = SECONDS) -> ProveReport:
    return run_prove(ProveRequest(Selection(model=file), timeout=seconds, any_size=True), Silent())


def unbounded(name: str) -> Unbounded:
    selected = resolve(Selection(model=protocol(name)))
    return Unbounded(selected.declared.with_lemmas(), selected.config)


# ------------------------------------------------------------------------- what is proved


@pytest.mark.parametrize("name", ["two_phase", "transaction_commit", "ewd840", "chang_roberts", "crdt"])
def test_a_protocol_is_proved_for_every_size(name: str) -> None:
    report = proved(protocol(name))
    assert report.verdict == "proved"
    assert report.sizes == "any"
    assert all(cell.verdict == "proved" for cell in report.cells)
    assert report.coverage is not None
    assert report.coverage.sizes[0].startswith("any ")


def test_a_map_is_proved_for_every_size_and_a_key_outside_it_is_open(tmp_path: Path) -> None:
    file = tmp_path / "votes.py"
    file.write_text(VOTES)
    report = proved(file)
    assert report.verdict == "proved" and report.coverage is not None
    assert report.coverage.sizes[:2] == ("any nodes from 1", "any rounds from 0")
    file.write_text(replaced(VOTES, "(n, s.at), True", "(n, min(s.at + 1, 2)), True", 1))
    report = proved(file, 1.0)
    verdicts = {(cell.action, cell.lemma): cell.verdict for cell in report.cells}
    assert verdicts["Vote", "Types"] == "unknown", "the key is one of the map for two rounds, and not for one"


def test_the_claim_of_a_report_has_no_size_and_its_configuration_neither() -> None:
    report = proved(protocol("two_phase"))
    assert "rms" not in report.config
    assert report.coverage is not None
    assert report.coverage.sizes == ("any rms from 1",)


def test_what_is_open_is_named_and_makes_the_verdict_inconclusive() -> None:
    report = proved(protocol("peterson"), 1.0)
    left = [cell for cell in report.cells if cell.verdict != "proved"]
    assert left
    assert report.verdict == "inconclusive"
    text = "".join(str(block) for block in prove_blocks(report))
    assert all(cell.lemma in text for cell in left)
    assert f"{len(report.cells) - len(left)} of {len(report.cells)} cells proved" in text


def test_a_cell_that_is_false_for_the_given_sizes_has_its_counterexample() -> None:
    report = proved(protocol("lock_with_history"))
    failing = [cell for cell in report.cells if cell.verdict == "refuted"]
    assert report.verdict == "refuted"
    assert failing
    assert all(cell.failure is not None and cell.failure.replayed for cell in failing)
    selected = resolve(Selection(model=protocol("lock_with_history")))
    model = selected.declared.with_lemmas()
    initial = dict(leaves(PlainModel(model, selected.config).initial(), model.state_ty))
    for failure in (cell.failure for cell in failing if cell.failure is not None):
        other = {path for path, value in failure.before.items() if initial.get(path) != value}
        assert set(failure.differs) == other
        text = [str(block) for block in cell_blocks(next(cell for cell in failing if cell.failure is failure))]
        printed = {path for path in failure.before if any(f"'{path} = " in line for line in text)}
        assert printed == other


# ------------------------------------------------------------------------- what is refused


def test_a_sum_is_refused_with_its_place() -> None:
    with pytest.raises(UsageFault, match=r"ewd998\.py:\d+: a sum cannot be read for any size"):
        proved(protocol("ewd998"))


def test_what_is_about_given_sizes_is_refused() -> None:
    request = ProveRequest(Selection(model=protocol("two_phase")), needed=True, any_size=True)
    with pytest.raises(UsageFault, match="--needed"):
        run_prove(request, Silent())


# ------------------------------------------------------------------------- faults

EDITS: dict[str, tuple[str, str, str]] = {
    "commits without all": ("two_phase", 'require(s.prepared == frozenset(range(c.rms)), "all resource', "# "),
    "aborts after a commit": (
        "two_phase",
        'require(s.decision == Decision.OPEN, "nothing is decided")\n    return replace(s, decision=Decision.ABORTED',
        "return replace(s, decision=Decision.ABORTED",
    ),
    "the token forgets black": ("ewd840", "token_is_black=s.token_is_black or n in s.black", "token_is_black=False"),
    "nobody blackens": ("ewd840", "if m > n and c.blackens", "if m > n and not c.blackens"),
    "any set is a quorum": ("paxos_voting", "> c.acceptors\n", "> 0\n"),
    "a vote for two values": ("paxos_voting", "vote.ballot != b or vote.value == v for", "True for"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", EDITS)
def test_a_fault_of_a_protocol_is_not_proved(fault: str, tmp_path: Path) -> None:
    """The bounded proof does not help: only what the questions for every size answer is looked at."""
    name, before, after = EDITS[fault]
    text = protocol(name).read_text(encoding="utf-8")
    assert before in text
    file = tmp_path / "edited.py"
    file.write_text(text.replace(before, after), encoding="utf-8")
    selected = resolve(Selection(model=file))
    system = Unbounded(selected.declared.with_lemmas(), selected.config)
    answers = [
        questions(system, step.premises, [*system.lemmas]).prove(goal, 1.0).proved
        for choice in every_choice(system)
        if (step := UnboundedStep(system, choice)).possible
        for name in system.goals
        if (goal := step.goal(name)) is not None
    ]
    assert not all(answers)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_partition_is_not_proved(proof_model: Model, fault: str) -> None:
    knobs, action, lemma = FAULTS[fault]
    config = replace(CONFIG, **knobs)
    system = Unbounded(proof_model, config)
    goals = (
        answers_of(system, StepTask(config, (), "", number, (lemma,), {lemma: tuple(system.lemmas)}, SECONDS)).answers
        for number, choice in enumerate(every_choice(system))
        if choice.action.name == action
    )
    assert not all(answers[lemma].proved for answers in goals if answers is not None and lemma in answers)


# ------------------------------------------------------------------------- vacuity


@pytest.mark.parametrize("name", ["two_phase", "ewd840", "transaction_commit"])
@pytest.mark.parametrize("size", [2, 40])
def test_lemmas_and_each_guard_are_possible_for_few_and_for_many(name: str, size: int) -> None:
    """A state of the solver satisfies all lemmas, all axioms and the guard: no proof is one from a contradiction."""
    system = unbounded(name)
    (count,) = system.evaluator.sizes.arbitrary.values()
    for choice in every_choice(system):
        step = UnboundedStep(system, choice)
        formulas = [*step.premises, *(system.lemma(one) for one in system.lemmas), count == size]
        solver = z3.Solver()
        solver.set("timeout", 20_000)
        solver.add(*formulas, *system.scope.needed(formulas, OF_TWO))
        assert solver.check() == z3.sat, choice.action.name


@pytest.mark.slow
def test_no_step_of_the_partition_contradicts_the_lemmas(proof_model: Model) -> None:
    """For three brokers; `test_many_brokers` takes each step with sixty, which Z3 does not decide."""
    system = Unbounded(proof_model, CONFIG)
    count = system.evaluator.sizes.arbitrary["broker_count"]
    for choice in every_choice(system):
        step = UnboundedStep(system, choice)
        if step.possible:
            ask = questions(system, [*step.premises, count == 3], [*system.lemmas])
            assert not ask.prove(z3.BoolVal(False), 2.0).proved, choice.action.name


# ------------------------------------------------------------------------- cells of the partition


@pytest.fixture(scope="module")
def system(proof_model: Model) -> Unbounded:
    return Unbounded(proof_model, CONFIG)


def test_a_limit_of_zero_leaves_out_the_action_that_needs_it(system: Unbounded) -> None:
    assert sorted(system.evaluator.sizes.arbitrary) == ["broker_count", "log_slots", "min_isr"]
    fn = next(fn for fn in system.model.actions if fn.name == "ChangeUncleanElection")
    assert not any(UnboundedStep(system, choice).possible for choice in choices(fn))


CELLS = [
    ("Fence", "ControllerRecord"),
    ("Fence", "NothingPending"),
    ("Crash", "LogsMatch"),
    ("ShrinkIsr", "RequestShape"),
    ("Kill", "Frame"),
    ("Start", "Types"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("action", "goal"), CELLS)
def test_a_cell_of_the_partition_is_proved_without_a_hint(system: Unbounded, action: str, goal: str) -> None:
    fn = next(fn for fn in system.model.actions if fn.name == action)
    step = UnboundedStep(system, next(choices(fn)))
    negated = step.goal(goal)
    assert negated is not None
    assert not z3.is_true(z3.simplify(formula(negated))) or goal == "Frame"
    assert questions(system, step.premises, [goal]).prove(negated, 20.0).proved


def test_the_command_line_ends_with_3_where_a_cell_is_open(invoke: Invoke) -> None:
    code, out, _ = invoke("prove", "--model", protocol("peterson"), "--any-size", "--timeout", "1s")
    assert code == 3
    assert "cells proved for any processes from 1" in " ".join(out.split())
    assert "open" in out
