"""Lowers a changed model by evaluating only the functions that depend on the change.

Both programs share one graph, in which equal expressions are one node. So comparing nodes shows the effect of the
change on an instance, and a change without effect in a configuration leaves the same program.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, instances
from elrcheck.lang.lowering.behind_guards import GuardedEvaluator
from elrcheck.lang.lowering.lower import EvaluatedStep, ModelLowering
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.lowering.program import Instance, Program
from elrcheck.lang.types import Ty


@dataclass(frozen=True)
class Relowered:
    """The program of the changed model, and its differences from the original.

    instances: pairs of an instance before and after, None where it is never enabled; checks: positions of the
    properties whose own node differs.
    """

    program: Program
    instances: tuple[tuple[Instance | None, Instance | None], ...]
    checks: tuple[int, ...]

    @property
    def same(self) -> bool:
        return not self.instances and not self.checks


class _Changed(GuardedEvaluator):
    """Evaluates the affected functions; others by the evaluator of the original, which remembers them."""

    def __init__(self, before: GuardedEvaluator, fns: Mapping[str, Fn], affected: frozenset[str]) -> None:
        super().__init__(fns, before.config, before.alg)
        self.structure = before.structure
        self.before, self.affected = before, affected

    def call(self, fn: Fn, states: tuple[Mapping[str, Any], ...], args: Mapping[str, Any]) -> Any:
        """See `Evaluator.call`."""
        if fn.name in self.affected:
            return super().call(fn, states, args)
        return self.before.call(fn, states, args)

    def setting(self, name: str, ty: Ty) -> Any:
        """See `Evaluator.setting`."""
        return self.before.setting(name, ty)


def relower(lowered: Lowered, model: Model, affected: frozenset[str]) -> Relowered | None:
    """Lower a changed model; return None if the change writes a constant of the state, so that `lower` is needed."""
    original = lowered.evaluation
    if lowered.parameters or not isinstance(original, ModelLowering):
        raise ValueError("only a closed program that was lowered in this process is changed")
    evaluation = copy.copy(original)
    evaluation.model = model
    evaluation.evaluator = _Changed(original.evaluator, model.fns, affected)
    old = {(step.fn.name, step.args): step for step in original.steps}
    steps: list[EvaluatedStep] = []
    changed: set[tuple[str, tuple[object, ...]]] = set()
    for fn in model.actions:
        if fn.name not in affected:
            steps += [step for step in original.steps if step.fn.name == fn.name]
            continue
        evaluation.steps = []
        for args in instances(fn, lowered.config):
            evaluation.evaluate(fn, args)
        steps += evaluation.steps
        now = {(step.fn.name, step.args): step for step in evaluation.steps}
        keys_before = {key for key in old if key[0] == fn.name}
        changed |= {key for key in keys_before | set(now) if not _same(old.get(key), now.get(key))}
    if any(evaluation.slots[position].index is None for step in steps for position in step.changed):
        return None
    evaluation.steps = steps
    program = lowered.program
    names = {check.name for check in program.checks}
    checks = [fn for fn in model.checks if fn.ident in names]
    judged = any(fn.is_step and fn.name in affected for fn in checks)
    before = {(instance.action, instance.args): instance for instance in program.instances}
    instances_now: list[Instance] = []
    for step in steps:
        key = (step.fn.name, step.args)
        unchanged = before.get(key) if key not in changed and not judged else None
        instances_now.append(unchanged or evaluation.instance(step, checks))
    after = {(instance.action, instance.args): instance for instance in instances_now}
    pairs = [
        (before.get(key), after.get(key))
        for key in dict.fromkeys([*before, *after])
        if key in changed or (judged and not _same_checks(before[key], after[key]))
    ]
    state_checks = tuple(
        replace(check, node=evaluation.check(fn).node) if check.node and fn.name in affected else check
        for check, fn in zip(program.checks, checks, strict=True)
    )
    differ = tuple(k for k, (x, y) in enumerate(zip(program.checks, state_checks, strict=True)) if x.node is not y.node)
    if not pairs and not differ:
        return Relowered(program, (), ())
    return Relowered(replace(program, instances=tuple(instances_now), checks=state_checks), tuple(pairs), differ)


def relowered(lowered: Lowered, model: Model, affected: frozenset[str]) -> Lowered | None:
    """Return the changed program as `Lowered`; None as of `relower`. Without an effect the program is the same."""
    change = relower(lowered, model, affected)
    if change is None:
        return None
    lowered_again = copy.copy(lowered)
    lowered_again.model, lowered_again.program = model, change.program
    return lowered_again


def _same(old: EvaluatedStep | None, new: EvaluatedStep | None) -> bool:
    if old is None or new is None:
        return old is new
    if len(old.guards) != len(new.guards) or set(old.changed) != set(new.changed):
        return False
    if not all(x is y for x, y in zip(old.guards, new.guards, strict=True)):
        return False
    return all(_equal(value, new.changed[position]) for position, value in old.changed.items())


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, DagNode) or isinstance(y, DagNode):
        return x is y
    return bool(x == y)


def _same_checks(old: Instance, new: Instance) -> bool:
    return old.step_checks.keys() == new.step_checks.keys() and all(
        node is new.step_checks[k] for k, node in old.step_checks.items()
    )
