"""Proofs about sequences of any length, of which the solver sees a sample."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.invariants.modules import load_proof_model
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.choices import Propagation, RecoveryStrategy, ResponseRecords
from elrcheck.model.config import Config
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import TOO_SHORT, Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.prove import run_prove
from support.invoked import Invoke
from support.planted_rules import planted_rule, refuted

LEDGER = '''
from dataclasses import replace
from typing import Annotated

from elrcheck.lang.induction import Induction
from elrcheck.lang.load import ProtocolModel
from elrcheck.lang.runtime import action, always, config, implies, init, lemma, require, state
from elrcheck.lang.types import SeqMark, nat

Amount = Annotated[int, nat("Amount", cap=9)]
Number = Annotated[int, nat("Number", hi="slots")]
Ledger = Annotated[tuple[Amount, ...], SeqMark("slots")]


@config
class Config:
    slots: int = 3


@state
class State:
    ledger: Ledger
    total: Amount
    read: Amount
    read_from: Amount


@init
def Init(c: Config) -> State:
    nothing: Ledger = ()
    return State(ledger=nothing, total=0, read=0, read_from=0)


@action
def Write(c: Config, s: State) -> State:
    """The total is written, which has grown by then."""
    return replace(s, ledger=s.ledger + (s.total + 1,), total=s.total + 1)


@action
def Read(c: Config, s: State, number: Number) -> State:
    """A reader goes on to a later entry."""
    require(number > s.read_from and number <= len(s.ledger), "the entry is there, and not read yet")
    return replace(s, read=s.ledger[number - 1], read_from=number)


@lemma
def Written(c: Config, s: State) -> bool:
    """Entries are at most the total, and those that the reader has not reached are greater than what it has read."""
    return all(
        s.ledger[k] <= s.total and implies(k >= s.read_from, s.ledger[k] > s.read) for k in range(len(s.ledger))
    )


@lemma
def Ascending(c: Config, s: State) -> bool:
    """Entries ascend."""
    return all(
        all(implies(i < k, s.ledger[i] < s.ledger[k]) for i in range(len(s.ledger))) for k in range(len(s.ledger))
    )


@always("L-1")
def ReadOfTotal(c: Config, s: State) -> bool:
    """What the reader has read is at most the total."""
    return s.read <= s.total


@always("L-2")
def ReadsGrow(c: Config, s: State, t: State) -> bool:
    """The reader never reads less than before."""
    return s.read <= t.read


MODEL = ProtocolModel(state=State, config=Config, induction=Induction(any_length=("slots",)))
'''


def proof_of(invoke: Invoke, folder: Path, text: str, *options: str) -> tuple[int, str, str]:
    """Prove a model in a file with this text."""
    file = folder / "ledger.py"
    file.write_text(text)
    return invoke("prove", "--model", str(file), *options)


def test_a_sequence_of_any_length(invoke: Invoke, tmp_path: Path) -> None:
    """The limit of a search does not limit a proof: it also covers what is written after `slots` entries."""
    code, out, err = proof_of(invoke, tmp_path, LEDGER)
    assert code == 0, out + err
    assert "PROVED" in out


@pytest.mark.parametrize(
    ("right", "wrong", "cell"),
    [
        ("s.ledger + (s.total + 1,)", "s.ledger + (s.total,)", "Write"),
        ("number > s.read_from and", "number > 0 and", "Read"),
        ("s.ledger[number - 1], read_from=number", "s.total, read_from=number", "Read"),
    ],
)
def test_a_fault_is_refuted_by_a_whole_sequence(
    right: str, wrong: str, cell: str, invoke: Invoke, tmp_path: Path
) -> None:
    """A counterexample has all elements of the sequence, and plain Python takes its step."""
    assert right in LEDGER
    code, out, _ = proof_of(invoke, tmp_path, LEDGER.replace(right, wrong))
    assert code == 1
    assert "REFUTED" in out
    assert cell in out


def test_a_sample_is_no_counterexample(invoke: Invoke, tmp_path: Path) -> None:
    """A lemma that only long sequences break is open, not refuted: a sample of three places is not a sequence."""
    few = LEDGER.replace("s.ledger[k] <= s.total and", "(s.ledger[k] <= s.total and len(s.ledger) < 9) and")
    code, out, _ = proof_of(invoke, tmp_path, few)
    assert code == 3, out
    assert TOO_SHORT in " ".join(out.split())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "all(all(all(i < j or j < k or k < 9 for i in range(len(s.ledger)))"
            " for j in range(len(s.ledger))) for k in range(len(s.ledger)))",
            "needs 3 places",
        ),
        ("not all(s.ledger[k] > s.total for k in range(len(s.ledger)))", "may negate a loop"),
        ("any(s.ledger[k] <= s.total for k in range(len(s.ledger)))", "may negate a loop"),
        (
            "all(s.ledger[i] < 2 for i in range(len(s.ledger))) or all(s.ledger[j] < 3 for j in range(len(s.ledger)))"
            " or all(s.ledger[k] < 4 for k in range(len(s.ledger)))",
            "needs 3 places",
        ),
    ],
)
def test_what_a_sample_does_not_decide_is_refused(text: str, message: str, invoke: Invoke, tmp_path: Path) -> None:
    """Three places, or a loop that may be negated, would make a hypothesis too strong or a goal too weak."""
    code, _, err = proof_of(invoke, tmp_path, LEDGER.replace("return s.read <= s.total", f"return {text}"))
    assert code == 2
    assert message in " ".join(err.split())


USES = {
    "a range that begins later": (
        "return s.read <= s.total",
        "return all(s.ledger[k] != 7 for k in range(1, len(s.ledger)))",
    ),
    "a range that ends earlier": (
        "return s.read <= s.total",
        "return all(s.ledger[k] != 7 for k in range(len(s.ledger) - 1))",
    ),
    "a range up to a minimum": (
        "return s.read <= s.total",
        "return all(s.ledger[k] != 7 for k in range(min(len(s.ledger), 6)))",
    ),
    "a comparison": ("return s.read <= t.read", "return s.ledger == t.ledger or s.read <= t.read"),
    "a loop in a guard": (
        "and number <= len(s.ledger)",
        "and number <= len(s.ledger) and any(s.ledger[k] > 5 for k in range(len(s.ledger)))",
    ),
    "a loop in a value": (
        "read=s.ledger[number - 1]",
        "read=min((s.ledger[k] for k in range(len(s.ledger))), default=0)",
    ),
    "a loop over its elements": ("return s.read <= s.total", "return all(amount <= s.total for amount in s.ledger)"),
    "a number up to its limit": ("read_from: Amount", "read_from: Number"),
    "another sequence": ("ledger: Ledger", "ledger: Ledger\n    other: Ledger"),
    "a sequence in a record": ("ledger: Ledger", "ledger: Ledger\n    book: Book"),
}


@pytest.mark.parametrize("use", USES)
def test_a_use_that_a_sample_does_not_decide_is_refused(use: str, invoke: Invoke, tmp_path: Path) -> None:
    """The solver would see the elements at a few places, and take them for all."""
    before, after = USES[use]
    assert LEDGER.count(before) == 1
    text = LEDGER.replace(before, after)
    if "other" in text:
        text = text.replace("ledger=nothing", "ledger=nothing, other=nothing")
    if "Book" in text:
        book = "@record\nclass Book:\n    pages: Ledger\n\n\n@state"
        text = text.replace("lemma, require", "lemma, record, require").replace("@state", book)
        text = text.replace("ledger=nothing", "ledger=nothing, book=Book(pages=nothing)")
    code, out, err = proof_of(invoke, tmp_path, text)
    assert code == 2, out
    assert "any length" in " ".join(err.split()) or "a limit that a proof lifts" in " ".join(err.split())


@pytest.mark.parametrize("option", ["--any-size", "--certificate=certificate"])
def test_options_that_read_whole_sequences_are_refused(option: str, invoke: Invoke, tmp_path: Path) -> None:
    """They would take the sample of a sequence for the whole of it."""
    code, _, err = proof_of(invoke, tmp_path, LEDGER, option)
    assert code == 2
    assert "a proof knows no limit of slots" in " ".join(err.split())


# ---------------------------------------------------------------------------- the metadata log

LAGGING = Config(
    broker_count=2, log_slots=1, metadata=Propagation.LOG, kills=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED
)
AT_RECORD = "with_metadata(c, settings, broker, b, s.metadata[at - 1], at)"
AHEAD = "with_metadata(c, settings, broker, b, replace(s.metadata[at - 1], isr=s.partition.isr), at)"
OPERATED = replace(LAGGING, min_isr_changes=1, feature_changes=1)
MOVED = replace(LAGGING, reassignments=1)
FOLLOWS = "f in follower_broker.view.replicas and f in leader_broker.view.replicas"
ALL = ("metadata=LOG", "log_slots=1", "reassignments=1")
LATE = ("late_fetches=1", "response_records=ADMITTED")


@pytest.mark.slow
@pytest.mark.parametrize("late", [(), LATE], ids=["atomic fetches", "late fetches"])
def test_the_claim_where_brokers_lag_behind(late: tuple[str, ...]) -> None:
    """Brokers may stop at any record of the metadata log, whatever the default claim allows, and reassignments.

    Late fetches have the records that their leader had when it admitted them.
    """
    selection = Selection(scope="two-brokers", overrides=(*ALL, *late))
    report = run_prove(ProveRequest(selection=selection, workers=1, timeout=300.0, fresh=True), Silent())
    assert report.verdict == "proved"
    covered = {cell.action for cell in report.cells}
    assert {"ApplyOlderRecord", "ApplyMetadataFirst", "FailDirectory", "ChangeFeature", "Reassign"} <= covered
    assert ("LateFetchReturns" in covered) == bool(late)
    assert report.coverage is not None and len(report.coverage.assumed) == 3
    assert report.possible is not None
    assert not report.possible.impossible


@pytest.mark.slow
@pytest.mark.parametrize("cell", [("ApplyOlderRecord", "AckWithinLog"), ("Register", "CommittedInEpoch")])
def test_a_broker_that_acts_on_metadata_from_before_its_registration(proof_model: Model, cell: tuple[str, str]) -> None:
    """F-15: it goes back to an epoch that it has left, or leads in one although it has lost its log since."""
    right = Prover(Transitions(proof_model, LAGGING), lemmas_of(proof_model), None)
    wrong = Prover(
        Transitions(proof_model, replace(LAGGING, registration_catch_up=False)), lemmas_of(proof_model), None
    )
    assert refuted(wrong, *cell)
    assert not refuted(right, *cell)


@pytest.mark.slow
def test_a_divergence_in_flight_keeps_what_a_lagging_leader_will_commit(proof_model: Model) -> None:
    """A leader whose quorum shrinks with an unread record commits what a member of it acknowledged before it moved.

    With two brokers no such record is in doubt: the quorum cannot shrink and still have a member that moves.
    """
    config = replace(LAGGING, broker_count=3, late_fetches=1, response_records=ResponseRecords.ADMITTED)
    prover = Prover(Transitions(proof_model, config), lemmas_of(proof_model), None)
    goal = prover.goals["TruncationKeepsShared"]
    steps = [one for one in prover.ts.instances if one.action in ("ApplyOlderRecord", "ReadForLateFetch")]
    answers = [prover.consecution(prover.open_step(step), step, goal) for step in steps]
    assert {answer.verdict for answer in answers if answer is not None} == {"proved"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "action", "before", "after", "goal"),
    [
        (LAGGING, "ApplyOlderRecord", "broker.view.partition_epoch < at", "0 < at", "ContendersComplete"),
        (LAGGING, "ApplyOlderRecord", AT_RECORD, AHEAD, "ViewIsRecord"),
        (OPERATED, "ApplyOlderRecord", "without_values_of_brokers(c, s.settings)", "s.settings", "CommittedInEpoch"),
        (MOVED, "Fetch", FOLLOWS, "f in leader_broker.view.replicas", "MembersStay"),
    ],
)
def test_faults_of_lagging_brokers_are_refuted(
    proof_model: Model, config: Config, action: str, before: str, after: str, goal: str
) -> None:
    """A broker goes back in the log, or takes the newest ISR, or its newest min ISR, for that of an older record; or
    one fetches that has not read that it is a replica again.
    """
    changed, original, plain = planted_rule(proof_model, action, before, after)
    with planted(original, plain):
        assert refuted(Prover(Transitions(changed, config), lemmas_of(changed), None), action, goal)
    assert not refuted(Prover(Transitions(proof_model, config), lemmas_of(proof_model), None), action, goal)


def test_a_record_has_the_min_isr_of_its_leader() -> None:
    """A lagging leader counts with its own value at that position of the log, not with the newest one."""
    config = replace(OPERATED, topic_has_min_isr=False, elr_enabled=False)
    model = PlainModel(load_proof_model(), config)
    state = model.initial()
    steps = (
        Label("ChangeBrokerMinIsr", (0, 1)),
        Label("Fence", (1,)),
        Label("ChangeBrokerMinIsr", (0, 2)),
        Label("Unfence", (1,)),
    )
    for step in steps:
        state = model.step(state, step)
    assert [record.min_isr for record in state.metadata] == [2, 1]
