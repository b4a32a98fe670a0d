"""Proves the goals of steps of any size, in this process or in several; each process builds the terms once."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import structs

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.runner.runner import each
from elrcheck.declared.declared_model import declared
from elrcheck.lang.runtime import ModelConfig
from elrcheck.proof.any_size.questions import GoalAnswer, Premises, Route
from elrcheck.proof.any_size.steps import ActionChoice, Unbounded, UnboundedStep, choices

Hints = Mapping[str, tuple[str, ...]]
"""Lemmas that may be enough, by the name of the goal."""


@dataclass(frozen=True)
class StepTask:
    """Goals of one step. number: of the choice in `every_choice`; origin: of the model (`Model.origin`).

    routes: how goals were proved before.
    """

    config: ModelConfig
    assumed: tuple[str, ...]
    origin: str
    number: int
    goals: tuple[str, ...]
    hints: Hints
    timeout: float
    routes: Mapping[str, Route] = field(default_factory=dict)


@dataclass(frozen=True)
class StepAnswers:
    """Answers about a step. answers: by goal, without goals that the step leaves alone; None if it is never enabled."""

    number: int
    answers: Mapping[str, GoalAnswer] | None


def every_choice(system: Unbounded) -> list[ActionChoice]:
    return [choice for fn in system.model.actions for choice in choices(fn)]


def answers_of(system: Unbounded, task: StepTask) -> StepAnswers:
    """Prove the goals of a step; those that fail once more, with names for the results of all operators."""
    step = UnboundedStep(system, every_choice(system)[task.number])
    if not step.possible:
        return StepAnswers(task.number, None)
    answers: dict[str, GoalAnswer] = {}
    for name in task.goals:
        route = task.routes.get(name)
        readings = (True, False) if route is not None and route.named else (False, True)
        spent = 0.0
        for named in readings:
            answer = _answer(step.with_all_names if named else step, name, task, route)
            if answer is None:
                break
            route, spent = None, spent + answer.seconds
            how = None if answer.route is None else structs.replace(answer.route, named=named)
            answers[name] = replace(answer, seconds=spent, route=how)
            if answer.proved:
                break
    return StepAnswers(task.number, answers)


def _answer(step: UnboundedStep, name: str, task: StepTask, route: Route | None) -> GoalAnswer | None:
    """Return the answer about a goal; None if the step changes nothing that the goal reads."""
    goal = step.goal(name)
    if goal is None:
        return None
    own = name if name in step.system.lemmas else None
    premises = questions(step.system, step.premises, (*task.hints.get(name, ()), *((own,) if own else ())), own)
    return replace(premises, arguments=step.members).prove(goal, task.timeout, route)


def questions(system: Unbounded, premises: Sequence[Any], hints: Sequence[str], own: str | None = None) -> Premises:
    return Premises(system.scope, premises, system.lemma, list(system.lemmas), hints, own)


def solved(system: Unbounded, tasks: Sequence[StepTask], workers: int) -> Iterator[StepAnswers]:
    """Yield the answers to all tasks; with several workers, which load the packaged model, in any order."""
    if workers > 1 and len(tasks) > 1:
        yield from each(_in_process, tasks, min(workers, len(tasks)), in_order=False)
        return
    for task in tasks:
        yield answers_of(system, task)


def _in_process(task: StepTask) -> StepAnswers:
    """Do a task in a worker process; raise EnvironmentFault if its model is another one."""
    config: Any = task.config  # frozen, and so hashable
    system = _system(config, task.assumed)
    if system.model.origin != task.origin:
        raise EnvironmentFault("model-changed", "a file of the model changed while the proof ran", help="run it again")
    return answers_of(system, task)


@functools.lru_cache(maxsize=1)
def _system(config: ModelConfig, assumed: tuple[str, ...]) -> Unbounded:
    return Unbounded(declared(None).with_lemmas(), config, assumed)
