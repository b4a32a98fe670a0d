"""A goal by cases of its own lemma: what they say together, and what is proved by them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import z3

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.model.choices import Reregistration
from elrcheck.proof.any_size.goal_parts import cases_before
from elrcheck.proof.any_size.questions import GoalAnswer
from elrcheck.proof.any_size.step_tasks import StepTask, answers_of, every_choice
from elrcheck.proof.any_size.steps import Unbounded

NODE = z3.DeclareSort("Node")
X, Y = z3.Consts("x y", NODE)
ONE, OTHER = z3.Consts("some!2 some!10", NODE)
LEADS, CONTENDS = (z3.Function(name, NODE, z3.BoolSort()) for name in ("leads", "contends"))
COVERS = z3.Function("covers", NODE, NODE, z3.BoolSort())
LEMMA = z3.ForAll([X], z3.Or(z3.Not(LEADS(X)), z3.ForAll([Y], z3.Or(z3.Not(CONTENDS(Y)), COVERS(X, Y)))))
GOAL = z3.Or(z3.Not(LEADS(ONE)), COVERS(ONE, OTHER))


def valid(formula: Any) -> bool:
    solver = z3.Solver()
    solver.add(z3.Not(formula))
    return bool(solver.check() == z3.unsat)


def test_the_cases_together_imply_the_goal_and_none_alone() -> None:
    cases = cases_before(GOAL, LEMMA)
    assert [case.arg(0) for case in cases] == [
        z3.And(z3.Not(LEADS(ONE))),
        z3.And(LEADS(ONE), z3.Not(CONTENDS(OTHER))),
        z3.And(LEADS(ONE), CONTENDS(OTHER)),
    ]
    assert valid(z3.Implies(z3.And(cases), GOAL))
    for left_out in cases[1:]:
        assert not valid(z3.Implies(z3.And([case for case in cases if case is not left_out]), GOAL))


@pytest.mark.parametrize(
    "lemma",
    [
        LEADS(X),
        z3.ForAll([X], LEADS(X)),
        z3.ForAll([z3.Int("k")], z3.Or(z3.Not(z3.Int("k") > 0), LEADS(ONE))),
        z3.ForAll([X, Y, z3.Const("z", NODE)], z3.Or(z3.Not(COVERS(X, Y)), LEADS(X))),
    ],
)
def test_a_lemma_without_a_premise_or_about_others_has_no_cases(lemma: Any) -> None:
    assert cases_before(GOAL, lemma) == []


HINTS = (
    *("ControllerRecord", "Directories", "Processes", "ViewEpochs", "ViewCurrent", "ViewsAgree", "RoleShape"),
    *("RequestShape", "NothingPending", "AnswerIsRecord", "MemberEpochs", "AckWithinLog", "QuorumCovers"),
    *("LaggingInQuorum", "LaterLeaderCovers", "AckValid"),
)
"""What the proof for three brokers needs."""


def registration(**knobs: Any) -> GoalAnswer:
    """Whether registration preserves that contenders cover, for every number of brokers and records."""
    selected = resolve(Selection())
    config = replace(selected.declared.widened(selected.config, selected.overrides, ()), **knobs)
    system = Unbounded(selected.declared.with_lemmas(), config)
    number = next(n for n, one in enumerate(every_choice(system)) if one.action.name == "Register")
    goal = "ContendersCover"
    answers = answers_of(system, StepTask(config, (), "", number, (goal,), {goal: HINTS}, 20.0)).answers
    assert answers is not None
    return answers[goal]


@pytest.mark.slow
def test_registration_preserves_that_contenders_cover() -> None:
    answer = registration()
    assert answer.proved and answer.route is not None
    assert [part.cases for part in answer.route.parts] == ["before"]


@pytest.mark.slow
def test_registration_that_keeps_members_without_elr_is_not_proved() -> None:
    assert not registration(rereg_without_elr=Reregistration.IGNORE).proved
