"""Routes of proofs for any size: the packaged ones fit today's steps, and a proof along one asks nothing else."""

from __future__ import annotations

import pytest

from elrcheck.base.requests import Selection
from elrcheck.declared.declared_model import declared
from elrcheck.declared.select import resolve
from elrcheck.proof.any_size.questions import WAYS, PartRoute, Premises, Question, Route, routes_of
from elrcheck.proof.any_size.step_tasks import StepTask, answers_of, every_choice
from elrcheck.proof.any_size.steps import Unbounded
from elrcheck.proof.hypotheses import lemmas_of
from support.places import protocol


@pytest.fixture(scope="module")
def system() -> Unbounded:
    selected = resolve(Selection(model=protocol("two_phase")))
    return Unbounded(selected.declared.with_lemmas(), selected.config)


def test_the_packaged_routes_name_goals_lemmas_and_ways_of_today() -> None:
    file = declared(None).any_size_routes()
    assert file is not None
    routes = routes_of(file.read_text(encoding="utf-8"))
    model = declared(None).with_lemmas()
    lemmas = {fn.name for fn in lemmas_of(model)}
    goals = {"Frame", "Types", *lemmas, *(fn.name for fn in model.always)}
    actions = {fn.name for fn in model.actions}
    assert routes and {step.partition("(")[0] for step in routes} <= actions
    for of_step in routes.values():
        assert set(of_step) <= goals
        for route in of_step.values():
            assert set(route.hints) <= lemmas
            questions = [route.whole] if route.whole else [one for part in route.parts for one in part.questions]
            assert questions and all(one.way < len(WAYS) for one in questions)


def asked_along(system: Unbounded, route: Route | None, monkeypatch: pytest.MonkeyPatch) -> tuple[int, bool]:
    """Return how many questions a proof of one goal asks, and whether it is proved."""
    number = next(n for n, choice in enumerate(every_choice(system)) if choice.action.name == "ReceiveCommit")
    goal = "ManagersFollow"
    calls, ask = [], Premises.ask
    monkeypatch.setattr(Premises, "ask", lambda *arguments: calls.append(arguments) or ask(*arguments))
    routes = {} if route is None else {goal: route}
    task = StepTask(system.config, (), "", number, (goal,), {}, 4.0, routes)
    answers = answers_of(system, task).answers
    assert answers is not None
    answer = answers[goal]
    assert answer.route is not None
    return len(calls), answer.proved


def test_a_proof_asks_the_question_of_its_route_only(system: Unbounded, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Route(tuple(system.lemmas), whole=Question(0))
    assert asked_along(system, right, monkeypatch) == (1, True)


@pytest.mark.parametrize(
    "wrong",
    [
        Route((), whole=Question(len(WAYS))),
        Route((), parts=(PartRoute((Question(0),)),) * 40),
        Route((), parts=(PartRoute((Question(0),) * 50, "goal"),)),
        Route((), parts=(PartRoute((), "before"),)),
    ],
)
def test_a_wrong_route_costs_questions_and_proves_the_same(
    wrong: Route, system: Unbounded, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked_along(system, wrong, monkeypatch)[1]
    assert asked_along(system, replace_named(wrong), monkeypatch)[1]


def replace_named(route: Route) -> Route:
    """Return the route with names for all operators, which the proof then reads first."""
    return Route(route.hints, True, route.whole, route.parts)
