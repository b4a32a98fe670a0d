"""Fetches whose response waits in a socket: what breaks them in Kafka, and what is proved with a repair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.choices import ResponseRecords
from elrcheck.model.config import Config
from elrcheck.model.state import Acks
from elrcheck.model.variants import VARIANTS, Variant
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.prove import run_prove

REPLAYED = [variant for variant in VARIANTS if variant.kafka or variant.name == "kip_full"]


class Run:
    """A run of the plain model, step by step."""

    def __init__(self, model: Model, config: Config) -> None:
        self.model, self.config, self.plain = model, config, PlainModel(model, config)
        self.state = self.plain.initial()

    def take(self, action: str, *args: Any) -> None:
        self.state = self.plain.step(self.state, Label(action, args))

    def spread(self, *brokers: int) -> None:
        """These brokers, by default all, apply the newest metadata."""
        for b in brokers or self.config.brokers:
            if self.state.broker[b].view.partition_epoch < self.state.partition.partition_epoch:
                self.take("ApplyMetadata", b)

    def fetch(self, f: int, leader: int, times: int = 1) -> None:
        for _ in range(times):
            self.take("Fetch", f, leader, False)

    def expand(self, leader: int, f: int) -> None:
        """f joins the ISR of leader, which knows at once."""
        self.take("ExpandIsr", leader, f)
        self.take("ControllerAlters", leader)
        self.take("LeaderLearns", leader)

    def epochs(self, b: int) -> list[int]:
        return [entry.epoch for entry in self.state.broker[b].log]

    def broken(self) -> list[str]:
        properties = (fn for fn in self.model.always if not fn.is_step)
        return [fn.ident for fn in properties if not self.plain.holds(fn, self.state)]


def first_run(model: Model, config: Config, second: bool) -> Run:
    """F-63 up to the response: broker 0 truncates and copies older records while the response waits."""
    run = Run(model, config)
    run.take("Fence", 0)
    run.spread()
    run.take("Unfence", 0)
    run.spread()
    for f in (0, 2):
        run.fetch(f, 1)
    run.expand(1, 0)
    run.spread()
    for _ in range(2):
        run.take("Produce", 1, Acks.ONE)
    run.take("ElectPreferred")
    run.spread(0, 2)
    run.take("Produce", 0, Acks.ONE)
    run.fetch(2, 0)
    if second:
        run.take("Produce", 0, Acks.ONE)
    run.take("SendLateFetch", 2, 0)
    run.take("Fence", 0)
    run.spread(1, 0)
    run.fetch(0, 1, times=3)
    return run


def sizes_of_the_first_run(second: bool) -> dict[str, Any]:
    count = 4 if second else 3
    return {"log_slots": 2, "records": count, "acks_one": count, "fences": 3, "elections": 1, "late_fetches": 1}


@pytest.mark.parametrize("second", [False, True], ids=["empty-when-admitted", "not-empty"])
@pytest.mark.parametrize("variant", REPLAYED, ids=lambda variant: variant.name)
def test_late_fetches_cannot_be_proved(proof_model: Model, variant: Variant, second: bool) -> None:
    """F-63. No lemma helps: a late fetch may read a log that was cut, and then filled with older records.

    second: the leader had a record to send when it admitted the fetch, as Kafka needs.
    """
    run = first_run(proof_model, replace(Config(**variant.knobs), **sizes_of_the_first_run(second)), second)
    run.take("ReadForLateFetch")
    assert run.broken() == []
    run.take("LateFetchReturns")
    assert run.epochs(2) == [3, 2]
    assert run.broken() == ["P-5"]
    run.spread(2)
    run.fetch(2, 1)
    assert run.broken() == ["P-2", "P-4", "P-5"]
    run.take("Fence", 1)
    assert run.state.partition.leader == 2 and "P-1" in run.broken()
    assert run.state.spent.crashes == 0 and run.plain.within(run.state)


@pytest.mark.parametrize("repair", [ResponseRecords.IN_ORDER, ResponseRecords.ADMITTED])
def test_either_repair_stops_the_first_run(proof_model: Model, repair: ResponseRecords) -> None:
    config = replace(Config(), **sizes_of_the_first_run(True), response_records=repair)
    run = first_run(proof_model, config, second=True)
    if repair == ResponseRecords.IN_ORDER:
        run.take("ReadForLateFetch")
    run.take("LateFetchReturns")
    assert run.epochs(2) == ([3] if repair == ResponseRecords.IN_ORDER else [3, 3])
    assert run.broken() == []


SECOND_RUN = {"broker_count": 4, "log_slots": 2, "records": 4, "acks_one": 4, "fences": 5, "elections": 1}


def second_run(model: Model, config: Config) -> Run:
    """The same with four brokers, up to the response: the record in it is newer than the last one of the follower.

    Two branches grow in turn: 1 writes in epoch 2, 0 in epoch 3 (2 copies it), 1 in epoch 4 (3 copies both), and 2
    leads in epoch 5, followed by 0. Then 3 leads, and 2 copies the other branch while its response to 0 waits.
    """
    run = Run(model, config)
    run.take("Fence", 0)
    run.spread()
    run.take("Unfence", 0)
    run.spread()
    for f in (0, 2, 3):
        run.fetch(f, 1)
    run.expand(1, 0)
    run.spread()
    run.take("Produce", 1, Acks.ONE)
    run.take("ElectPreferred")
    run.spread(0, 2)
    run.take("Produce", 0, Acks.ONE)
    run.fetch(2, 0)
    run.take("Fence", 0)
    run.spread(1, 3)
    run.take("Produce", 1, Acks.ONE)
    run.fetch(3, 1, times=2)
    run.take("Fence", 1)
    run.spread(2, 0)
    run.fetch(0, 2)
    run.take("Produce", 2, Acks.ONE)
    run.take("SendLateFetch", 0, 2)
    run.take("Fence", 2)
    run.spread(3, 2)
    run.fetch(2, 3, times=4)
    assert [run.epochs(b) for b in config.brokers] == [[3], [2, 4], [2, 4], [2, 4]]
    return run


@pytest.mark.parametrize("variant", REPLAYED, ids=lambda variant: variant.name)
def test_that_epochs_rise_is_not_enough(proof_model: Model, variant: Variant) -> None:
    """F-63 with the check in the follower: no record of an earlier epoch is appended, and yet logs part unseen."""
    knobs: dict[str, Any] = {**SECOND_RUN, "late_fetches": 1, "response_records": ResponseRecords.IN_ORDER}
    run = second_run(proof_model, replace(Config(**variant.knobs), **knobs))
    run.take("ReadForLateFetch")
    assert run.broken() == []
    run.take("LateFetchReturns")
    assert run.epochs(0) == [3, 4]
    assert run.broken() == ["P-5"]
    run.take("Unfence", 0)
    run.spread(0)
    run.fetch(0, 3)
    run.expand(3, 0)
    assert len(run.state.committed) == 2 and "P-2" in run.broken()
    run.take("Fence", 3)
    assert run.state.partition.leader == 0 and "P-1" in run.broken()
    assert run.state.spent.crashes == 0 and run.plain.within(run.state)


def test_a_response_of_its_admission_stops_the_second_run(proof_model: Model) -> None:
    run = second_run(
        proof_model, replace(Config(), **SECOND_RUN, late_fetches=1, response_records=ResponseRecords.ADMITTED)
    )
    run.take("LateFetchReturns")
    assert run.epochs(0) == [3, 5]
    run.take("Unfence", 0)
    run.spread(0)
    run.fetch(0, 3, times=2)
    assert run.epochs(0) == []
    with pytest.raises(NotEnabled, match="f has caught up"):
        run.take("ExpandIsr", 3, 0)
    assert run.broken() == []


COMPOSED = ("log_slots=1", "late_fetches=1", "response_records=ADMITTED", "reassignments=1")


@pytest.mark.slow
def test_late_fetches_are_proved_with_the_repair() -> None:
    """Two brokers: late fetches, reassignments, changes of operators and directories in one claim."""
    selection = Selection("kip_full", "two-brokers", COMPOSED)
    report = run_prove(ProveRequest(selection, fresh=True), Silent())
    assert report.verdict == "proved"
    steps = {cell.action for cell in report.cells}
    assert {"SendLateFetch", "LateFetchReturns", "LoseLateFetch", "Reassign", "ChangeMinIsr", "ChangeFeature"} <= steps
    assert "ReadForLateFetch" not in steps


@pytest.mark.slow
@pytest.mark.parametrize("repair", [ResponseRecords.FILE, ResponseRecords.IN_ORDER])
def test_without_the_repair_a_step_is_refuted(proof_model: Model, repair: ResponseRecords) -> None:
    """What the network thread reads is then any record of the log of that moment."""
    config = replace(Config(), broker_count=2, log_slots=2, late_fetches=1, response_records=repair)
    prover = Prover(Transitions(proof_model, config), lemmas_of(proof_model), None)
    (reads,) = (instance for instance in prover.ts.instances if instance.action == "ReadForLateFetch")
    answer = prover.consecution(prover.open_step(reads), reads, prover.goals["ResponseMatches"])
    assert answer is not None and answer.verdict == "refuted"
