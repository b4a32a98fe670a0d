"""Proves the default claim for any size, and stores how.

Usage: `python docs/search_any_size.py [--timeout S] [--goal GOAL ..] [--lemma LEMMA ..] [STEP ..]`.

Writes catalogue/any_size_routes.json after each step, such as `Fence()`. Until a run has ended, the next one asks all
steps again, along the routes so far; after that, none as long as the rules are the same. `elrcheck prove --any-size`
begins with these routes; with a wrong one it takes longer, and proves the same. With names of steps, only these are
proved, again; with names of goals, only these of the steps. Lemmas are more hints: with more members than three, a step
may need one more.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import from_text, to_text
from elrcheck.base.runner.worker import useful_workers
from elrcheck.catalogue.kafka_partition import ROUTES
from elrcheck.declared.select import resolve
from elrcheck.proof.any_size.questions import Question, Route, RouteFile
from elrcheck.proof.any_size.step_tasks import StepAnswers, StepTask, solved
from elrcheck.proving.any_size import SECONDS, AnySizeProof
from elrcheck.proving.prove import DEFAULT_TIMEOUT, InductionProof

FILE = Path(__file__).resolve().parents[1] / "catalogue" / ROUTES
AT_ONCE = Question(0)
"""The first question of all: a goal that it proves needs no route."""


def main(names: list[str], timeout: float, goals: list[str], lemmas: list[str]) -> None:
    selected = resolve(Selection())
    model = selected.declared.with_lemmas()
    config = selected.declared.widened(selected.config, selected.overrides, ())
    proof = InductionProof(model, config, model.always, DEFAULT_TIMEOUT, Silent(), (), True)
    proof.keep(fresh=False)
    report = proof.run(selected.variant, useful_workers(None, len(proof.transitions.instances)))
    rules = selected.declared.digest()
    before = from_text(FILE.read_bytes(), RouteFile) if FILE.exists() else RouteFile("", "", {})
    whole = AnySizeProof(proof.with_sizes(report, before.steps), timeout, Silent())
    steps = dict(before.steps)
    numbers = [
        number
        for number, choice in enumerate(whole.choices)
        if (choice.name in names if names else before.rules != rules or choice.name not in steps)
    ]
    tasks = [_task(whole.task(number), goals, lemmas) for number in numbers]
    for one in solved(whole.system, tasks, useful_workers(None, len(tasks))):
        name = whole.choices[one.number].name
        steps[name] = {**(steps.get(name, {}) if goals else {}), **_routes(one, bool(lemmas))}
        answers = one.answers or {}
        left = [goal for goal, answer in answers.items() if not answer.proved]
        seconds = sum(answer.seconds for answer in answers.values())
        print(f"{name}: {len(answers) - len(left)} of {len(answers)}, {seconds:.0f} s", *left, flush=True)
        _write(before.rules, steps)
    if not names:  # else steps that are not asked again keep the rules that they were asked with
        _write(rules, steps)


def _write(rules: str, steps: dict[str, dict[str, Route]]) -> None:
    day = datetime.now(UTC).date().isoformat()
    write_file(FILE, to_text(RouteFile(rules, day, dict(sorted(steps.items())))) + "\n")


def _task(task: StepTask, goals: list[str], lemmas: list[str]) -> StepTask:
    """Return a task with more hints, for these goals if some are named."""
    hints = {goal: (*core, *lemmas) for goal, core in task.hints.items()}
    return replace(task, hints=hints, goals=tuple(goal for goal in task.goals if not goals or goal in goals))


def _routes(one: StepAnswers, more_hints: bool) -> dict[str, Route]:
    """Return the routes of a step, without those that are what a proof tries first anyway."""
    routes = {goal: answer.route for goal, answer in (one.answers or {}).items() if answer.route is not None}
    return {goal: route for goal, route in routes.items() if more_hints or route.named or route.whole != AT_ONCE}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", metavar="STEP")
    parser.add_argument("--timeout", type=float, default=SECONDS, metavar="SECONDS")
    parser.add_argument("--goal", action="append", default=[])
    parser.add_argument("--lemma", action="append", default=[])
    chosen = parser.parse_args()
    main(chosen.steps, chosen.timeout, chosen.goal, chosen.lemma)
