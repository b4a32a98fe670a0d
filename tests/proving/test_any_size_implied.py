"""Properties that the lemmas imply for every size: no step has to preserve them, and nothing false is implied."""

from __future__ import annotations

from pathlib import Path

import pytest
import z3

from elrcheck.base.progress import Silent
from elrcheck.base.proof_requests import ProveRequest
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.proof.any_size.instances import at_numbers, numbers_of
from elrcheck.proof.any_size.questions import Premises
from elrcheck.proof.any_size.steps import Unbounded
from elrcheck.proof.any_size.subterms import triggered_inside
from elrcheck.proving.prove import run_prove
from support.places import protocol

VOTING = protocol("paxos_voting")
ENOUGH = ("VotesAreJoined", "VotesAreSafe", "OneValuePerBallot")


def implied(file: Path, name: str, lemmas: tuple[str, ...]) -> bool:
    selected = resolve(Selection(model=file))
    system = Unbounded(selected.declared.with_lemmas(), selected.config)
    return Premises(system.scope, system.typed, system.lemma, lemmas, lemmas).imply(system.lemma(name), 6.0)


def edited(folder: Path, before: str, after: str) -> Path:
    text = VOTING.read_text(encoding="utf-8")
    assert text.count(before) == 1
    file = folder / "edited.py"
    file.write_text(text.replace(before, after), encoding="utf-8")
    return file


@pytest.mark.slow
def test_voting_is_proved_for_any_number_of_acceptors_values_and_ballots() -> None:
    report = run_prove(ProveRequest(Selection(model=VOTING), any_size=True), Silent())
    assert report.verdict == "proved"
    assert report.coverage is not None
    assert report.coverage.sizes == ("any acceptors from 1", "any last_ballot from 0", "any values from 1")
    assert {cell.lemma for cell in report.cells} & {"P-1", "P-2"} == {"P-2"}
    assert {one.name: one.core for one in report.implication}["OneValueChosen"] == tuple(sorted(ENOUGH))


def test_only_what_follows_is_implied() -> None:
    assert implied(VOTING, "OneValueChosen", ENOUGH)
    assert not implied(VOTING, "OneValuePerBallot", ENOUGH[:2])


@pytest.mark.parametrize("left_out", ENOUGH[1:])
def test_nothing_is_implied_without_a_lemma_that_is_needed(left_out: str) -> None:
    assert not implied(VOTING, "OneValueChosen", tuple(name for name in ENOUGH if name != left_out))


def test_quorums_that_need_not_meet_imply_nothing(tmp_path: Path) -> None:
    halves = edited(tmp_path, "> c.acceptors\n", ">= c.acceptors\n")
    assert not implied(halves, "OneValueChosen", ENOUGH)


def equivalent(one: z3.BoolRef, other: z3.BoolRef) -> bool:
    solver = z3.Solver()
    solver.add(one != other)
    return solver.check() == z3.unsat


def alike_but_for_triggers(one: z3.ExprRef, other: z3.ExprRef) -> bool:
    if not z3.is_quantifier(one):
        same = one.eq(other) or (z3.is_app(one) and z3.is_app(other) and one.decl().eq(other.decl()))
        return same and all(
            alike_but_for_triggers(*pair) for pair in zip(one.children(), other.children(), strict=True)
        )
    sorts = [[each.var_sort(k) for k in range(each.num_vars())] for each in (one, other)]
    return (
        one.is_forall() == other.is_forall()
        and sorts[0] == sorts[1]
        and alike_but_for_triggers(one.body(), other.body())
    )


def test_instances_and_triggers_say_nothing_new() -> None:
    member = z3.DeclareSort("Member")
    of, holds = z3.Function("of", member, z3.IntSort()), z3.Function("holds", member, z3.IntSort(), z3.BoolSort())
    x, y, n, k = z3.Const("x", member), z3.Const("y", member), z3.Int("n"), z3.Int("k")
    goal = holds(z3.Const("some!0", member), z3.Int("some!1"))
    lemma = z3.ForAll([x], z3.Implies(of(x) > 0, z3.ForAll([n], z3.Or(n < 0, n >= of(x), holds(x, n)))))
    more = at_numbers(lemma, numbers_of(goal))
    assert [one.decl().name() for one in numbers_of(goal)] == ["some!1"]
    assert not more.eq(lemma) and equivalent(more, lemma)
    inside = z3.Exists([y], z3.And(holds(y, k), z3.Not(z3.Exists([n], holds(y, n + 0)))))
    axiom = z3.ForAll([x, k], z3.Implies(of(x) > k, inside), patterns=[holds(x, k)])
    triggered = triggered_inside(axiom)
    assert triggered.num_patterns() == axiom.num_patterns() and alike_but_for_triggers(triggered, axiom)
    assert triggered.body().arg(1).num_patterns() == 1
    assert triggered_inside(lemma) is lemma
