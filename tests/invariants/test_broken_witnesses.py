"""Which conjunct a violated property names, and for whom: a state or step made by hand for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import put
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.state import Acks, Entry, Stage
from elrcheck.traces.violation import BrokenPart, explain

FIRST, SECOND = Entry(1, 1, Acks.ALL), Entry(2, 2, Acks.ALL)
ISR = frozenset


class Case:
    """Three brokers, all in the ISR, broker 0 leads; `min.insync.replicas` is 2."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.config = resolve(Selection("kip_full", "three-brokers")).config
        self.start: Any = model.init.source(self.config)

    def partition(self, state: Any = None, **fields: Any) -> Any:
        base = state or self.start
        return replace(base, partition=replace(base.partition, **fields))

    def broker(self, b: int, state: Any = None, **fields: Any) -> Any:
        base = state or self.start
        return replace(base, broker=put(base.broker, b, replace(base.broker[b], **fields)))

    def view(self, b: int, state: Any = None, **fields: Any) -> Any:
        base = state or self.start
        return self.broker(b, base, view=replace(base.broker[b].view, **fields))

    def broken(self, ident: str, *states: Any, before: Any = None) -> BrokenPart:
        fn = next(fn for fn in self.model.always if fn.ident == ident)
        return explain(self.model, self.config, fn, states, before)


@pytest.fixture(scope="module")
def case() -> Case:
    return Case(load_checked_model())


def states_of(case: Case) -> dict[str, tuple[tuple[Any, ...], str, str]]:
    """Property -> a state or step that breaks it, the conjunct and the witness."""
    start, committed = case.start, replace(case.start, committed=(FIRST,))
    has_it = committed
    for b in (0, 1, 2):
        has_it = case.broker(b, has_it, log=(FIRST,))
    pending = replace(start.broker[0].alter, stage=Stage.IDLE, isr=ISR({1}))
    empty = case.partition(leader=None, isr=ISR(), elr=ISR({2}))
    leaving = replace(start.registration[0], in_controlled_shutdown=True)
    asked_to_stop = replace(start, registration=put(start.registration, 0, leaving))
    granted = replace(start, registration=put(start.registration, 0, replace(leaving, fenced=True)))
    reborn = replace(start, registration=put(start.registration, 1, replace(start.registration[1], epoch=2)))
    dirty = case.broker(1, start, clean_file=0)
    leaderless = case.partition(leader=None, isr=ISR())
    leaderless_with_elr = case.partition(leaderless, last_known_elr=ISR({1, 2}))
    recovering = replace(
        leaderless_with_elr, recovery=replace(leaderless_with_elr.recovery, strategy=RecoveryStrategy.BALANCED)
    )
    caught_up = tuple(replace(peer, log_end_offset=1) for peer in start.broker[0].peers)
    return {
        "P-1": ((committed,), "leader_holds_committed", "b=0"),
        "P-2": ((committed,), "isr_holds_committed", "b=0"),
        "P-3": (
            (case.partition(elr=ISR({2}), state=case.view(0, case.partition(isr=ISR({0, 1})), isr=ISR({0, 1}))),),
            "elr_covered",
            "b=0, eligible(c, s) - maximal_isr(s.broker[b])={2}",
        ),
        "P-3b": ((case.broker(0, alter=pending),), "nothing_pending", "b=0"),
        "P-4": (
            (case.broker(2, case.broker(0, log=(FIRST,), high_watermark=1), log=(SECOND,), high_watermark=1),),
            "same_records",
            "a=0, b=2, k=0",
        ),
        "P-5": (
            (case.broker(2, case.broker(0, log=(FIRST,)), log=(replace(FIRST, id=2),)),),
            "same_prefix",
            "a=0, b=2, k=0, j=0",
        ),
        "P-6": ((committed,), "leader_serves_committed", "b=0"),
        "P-7": ((case.broker(0, log=(FIRST,), high_watermark=1), case.broker(0, log=(FIRST,))), "never_back", "b=0"),
        "P-7b": ((case.broker(1, high_watermark=1),), "within_log", "b=1"),
        "P-8": ((committed,), "kept_somewhere", "k=0, b=nobody (0,1,2 before the step)"),
        "P-9": ((start, case.partition(isr=ISR({0}))), "stays", "after={0}, before={0,1,2}, min_isr_of(s)=2"),
        "P-10": ((case.partition(elr=ISR({2})),), "disjoint", "s.partition.isr & s.partition.elr={2}"),
        "P-11": (
            (case.partition(isr=ISR({0, 1}), elr=ISR({2})),),
            "below_min_isr",
            "partition.isr={0,1}, effective_min_isr(s.settings, s.partition.replicas)=2",
        ),
        "P-12": ((case.partition(replicas=(0, 1)),), "isr", "partition.isr - frozenset(s.partition.replicas)={2}"),
        "P-13": ((case.partition(committed, isr=ISR({0}), elr=ISR({1})),), "elr_complete", "b=1"),
        "P-14": ((dirty, replace(dirty, registration=reborn.registration)), "removed_at_registration", "b=1"),
        "P-15": (
            (case.partition(last_known_elr=ISR({1})),),
            "disjoint",
            "s.partition.last_known_elr & (s.partition.isr | s.partition.elr)={1}",
        ),
        "P-16": ((start, case.partition(isr=ISR({0}))), "stays", "after={0}, before={0,1,2}, min_isr_of(s)=2"),
        "P-17": ((case.partition(isr=ISR({1, 2})),), "leader_in_isr", "partition.leader=0, partition.isr={1,2}"),
        "P-18": (
            (case.partition(leader=None),),
            "leaderless_iff_empty",
            "partition.leader=none, partition.isr={0,1,2}",
        ),
        "P-19": (
            (replace(start, registration=put(start.registration, 2, replace(start.registration[2], fenced=True))),),
            "isr_active",
            "partition.isr - active(c, s.registration)={2}",
        ),
        "P-20": ((empty,), "elected_from_elr", "eligible(c, s) & may_lead(c, s.registration)={2}"),
        "P-21": (
            (case.partition(partition_epoch=3, leader_epoch=2), case.partition(partition_epoch=4)),
            "leader_epoch_never_back",
            "partition.leader_epoch=2, partition'.leader_epoch=1",
        ),
        "P-22": ((case.view(1, leader=1),), "one_leader", "a=0, b=1"),
        "P-23": ((case.view(1, partition_epoch=9),), "not_ahead", "b=1"),
        "P-24": ((case.view(1, partition_epoch=9), start), "never_older", "b=1"),
        "P-25": (
            (case.broker(0, log=(FIRST,)), case.broker(0, log=(FIRST,), high_watermark=1)),
            "min_isr_copies",
            "b=0, k=0, stored_by(c, s, leader, k)={0}",
        ),
        "P-26": ((has_it, case.broker(1, has_it, log=())), "keeps_committed", "b=1"),
        "P-27": ((case.partition(committed, isr=ISR({0, 1})), case.partition(committed)), "complete", "b=2"),
        "P-28": ((leaderless, case.partition(leader=2, isr=ISR({2}))), "marked", "partition'.recovery=RECOVERED, b=2"),
        "P-29": (
            (case.partition(has_it, adding=ISR({2})), case.partition(has_it, isr=ISR({0}))),
            "enough_copies",
            "k=0",
        ),
        "P-30": ((committed,), "survives", "k=0, b=nobody (0,1,2 before the step)"),
        "P-31": ((recovering, case.partition(recovering, leader=2, isr=ISR({2}))), "all_answered", "b=1"),
        "P-32": ((case.broker(0, log=(FIRST,), high_watermark=1),), "never_rewritten", "b=0"),
        "P-33": ((replace(start, acked=(FIRST,)),), "committed", "e=r1@1(all)"),
        "P-34": ((replace(has_it, acked=(SECOND,)),), "leader_holds_acked", "b=0, e=r2@2(all)"),
        "P-35": (
            (start, case.broker(0, log=(FIRST,), peers=caught_up, view=replace(start.broker[0].view))),
            "covers_what_the_isr_has",
            "b=0, k=0",
        ),
        "P-37": (
            (start, case.partition(leaderless, last_known_leader=1)),
            "led_until_now",
            "stored - (last_known(c, s.partition) | led_last(c, s.partition))={1}",
        ),
        "P-36": ((asked_to_stop, granted), "leads_nothing", "b=0"),
    }


def test_every_property_names_what_breaks_it(case: Case) -> None:
    expected = states_of(case)
    assert set(expected) == {fn.ident for fn in case.model.always}
    held = replace(case.start, committed=(FIRST,))
    for b in (0, 1, 2):
        held = case.broker(b, held, log=(FIRST,))
    for ident, (states, conjunct, witness) in expected.items():
        before = held if len(states) == 1 else None
        assert case.broken(ident, *states, before=before) == BrokenPart(conjunct, witness), ident


def test_without_the_state_before_nobody_is_said_to_be_gone(case: Case) -> None:
    assert case.broken("P-8", replace(case.start, committed=(FIRST,))) == BrokenPart("kept_somewhere", "k=0")
