"""A cell that `prove --any-size` leaves open, proved for every size with cases and instances chosen by hand.

Each lemma that is assumed is one of the proof; an instance at the two brokers of the goal follows from its lemma.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import z3

from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from elrcheck.model.choices import Reregistration
from elrcheck.proof.any_size.goal_parts import Splitting
from elrcheck.proof.any_size.step_tasks import every_choice
from elrcheck.proof.any_size.steps import Unbounded, UnboundedStep
from elrcheck.proof.z3_algebra import formula

AT_WITNESSES = ("ContendersCover", "QuorumCovers")
WHOLE = (
    *("RoleShape", "Processes", "ViewEpochs", "RequestShape", "AnswerIsRecord", "MemberEpochs", "Directories"),
    "ControllerRecord",
)


def system_with(**knobs: Any) -> Unbounded:
    selected = resolve(Selection())
    config = selected.declared.widened(selected.config, selected.overrides, ())
    return Unbounded(selected.declared.with_lemmas(), replace(config, **knobs))


def instances(term: Any, witnesses: list[Any]) -> Any:
    """Instantiate the outer universal quantifiers over brokers at the witnesses."""
    if z3.is_quantifier(term) and term.is_forall():
        if any(term.var_sort(k) != witnesses[0].sort() for k in range(term.num_vars())):
            return term
        chosen = itertools.product(witnesses, repeat=term.num_vars())
        return z3.And([instances(z3.substitute_vars(term.body(), *values), witnesses) for values in chosen])
    if z3.is_and(term) or z3.is_or(term):
        parts = [instances(part, witnesses) for part in term.children()]
        return z3.And(parts) if z3.is_and(term) else z3.Or(parts)
    return term


def answers(system: Unbounded) -> Iterator[Any]:
    """The answer for a leader that is not the current one, and for one that is, as the step raises its epoch or not."""
    choice = next(one for one in every_choice(system) if one.action.name == "Register")
    step = UnboundedStep(system, choice)
    (part,) = Splitting().parts(step.goal("ContendersCover"))
    broker = system.structure.sort_of(choice.action.params[0][1])
    witnesses = [z3.Const(f"some!{k}", broker) for k in range(2)]
    now, after = (state["partition"]["leader_epoch"] for state in (system.now, step.after))
    current = formula(system.evaluator.call(system.model.fns["leads_now"], (system.now,), {"b": witnesses[0]}))
    lemmas = [instances(system.lemma(name), witnesses) for name in AT_WITNESSES]
    lemmas += [system.lemma(name) for name in WHOLE]
    for case in ([z3.Not(current)], [current, now < after], [current, z3.Not(now < after)]):
        formulas = [*step.premises, *lemmas, *case, z3.Not(part)]
        solver = z3.Solver()
        solver.set("auto_config", False)
        solver.set("mbqi", False)
        solver.set("timeout", 60_000)
        solver.add(*formulas, *system.scope.needed(formulas, (), both_sides=True))
        yield solver.check()


@pytest.mark.slow
def test_registration_preserves_that_contenders_cover() -> None:
    assert list(answers(system_with())) == [z3.unsat] * 3


@pytest.mark.slow
def test_registration_that_keeps_members_without_elr_is_not_proved() -> None:
    assert any(answer != z3.unsat for answer in answers(system_with(rereg_without_elr=Reregistration.IGNORE)))
