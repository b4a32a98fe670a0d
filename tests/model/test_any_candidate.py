"""`choice` ANY: each candidate of an election can win, and `kip_full` holds whoever does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.compiled import Search
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.runtime import NotEnabled
from elrcheck.model.choices import CandidateChoice
from elrcheck.model.config import Config
from elrcheck.model.control_plane.broker_events import Fence, Unfence
from elrcheck.model.control_plane.election_events import ElectUnclean, FavourReplica
from elrcheck.model.start import Init
from elrcheck.model.state import State

ANY = Config(min_isr=3, choice=CandidateChoice.ANY, unclean_elections=1)
ORDER = replace(ANY, choice=CandidateChoice.ORDER)


def favouring(c: Config, s: State) -> list[State]:
    """The state, and those in which one replica or another is favoured."""
    favoured = [s]
    for b in c.brokers:
        try:
            favoured.append(FavourReplica(c, s, b))
        except NotEnabled:
            continue
    return favoured


def fenced(c: Config, s: State, *brokers: int) -> State:
    for b in brokers:
        s = Fence(c, s, b)
    return s


def test_any_member_of_the_isr_may_be_elected() -> None:
    leaders = {fenced(ANY, s, 0).partition.leader for s in favouring(ANY, Init(ANY))}
    assert leaders == {1, 2}
    assert {fenced(ORDER, s, 0).partition.leader for s in favouring(ORDER, Init(ORDER))} == {1}


def test_the_present_leader_stays_and_so_does_the_choice() -> None:
    (chosen,) = (s for s in favouring(ANY, Init(ANY)) if s.favoured == 2)
    after = fenced(ANY, chosen, 1)
    assert (after.partition.leader, after.favoured) == (0, 2)
    elected = fenced(ANY, after, 0)
    assert (elected.partition.leader, elected.favoured) == (2, None)


def test_the_elr_waits_for_a_member_that_is_active() -> None:
    """Whoever is favoured: a fenced member is not a candidate."""
    lost = fenced(ANY, Init(ANY), 1, 2, 0)
    assert lost.partition.leader is None and lost.partition.elr == frozenset({0, 1, 2})
    assert {Unfence(ANY, s, 1).partition.leader for s in favouring(ANY, lost)} == {1}


def test_an_unclean_election_may_take_any_active_replica() -> None:
    """Kafka takes the first in the list, the KIP a random one."""
    s = Init(ANY)
    p = replace(s.partition, leader=None, isr=frozenset(), last_known_elr=frozenset({0}))
    down = tuple(replace(r, fenced=b == 0) for b, r in enumerate(s.registration))
    s = replace(s, partition=p, registration=down)
    assert {ElectUnclean(ANY, t).partition.leader for t in favouring(ANY, s)} == {1, 2}
    assert ElectUnclean(ORDER, s).partition.leader == 1


# Distinct states of three-brokers-tiny with these budgets; in the order of the list they are 7,948
# (test_counts), 9,415, 11,584, 95,608 and 281,211.
SEARCHED = {
    "crashes=1": 29673,
    "elections=1": 44418,
    "feature_changes=1": 45828,
    "min_isr_changes=1": 384186,
    "reassignments=1": 1048713,
}


@pytest.mark.slow
@pytest.mark.parametrize("budget", SEARCHED)
def test_kip_full_holds_whoever_is_elected(checked_model: Model, budget: str) -> None:
    quiet = () if budget.startswith("crashes") else ("crashes=0", "fences=1")
    chosen = Selection("kip_full", "three-brokers-tiny", (*quiet, budget, "choice=ANY"))
    lowered = lower(checked_model, resolve(chosen).config)
    result = Search(lowered.program).run(None, "complete")
    broken = {lowered.program.checks[c].name for c in result.first}
    assert result.complete and not {ident for ident in broken if ident.startswith("P-")}
    assert result.distinct == SEARCHED[budget]
