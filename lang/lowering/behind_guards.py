"""Simplifies local values behind a guard by what the guard implies.

An action may call an operator that returns a record, require something of it, and use the rest: behind
`require(decided.error == NONE)` only the other cases remain. So behind a guard every local value loses the outermost
choices that the guard decides. Looking below them would cost more than it saves.
"""

from __future__ import annotations

from typing import Any

from elrcheck.lang.comprehensions import MEMO, Env
from elrcheck.lang.lowering.dag import Dag
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.lowering.remember import RememberingEvaluator
from elrcheck.lang.structure import Entries, put_outside
from elrcheck.lang.types import Ty

FACTS = "$facts"
TYPES = "$types"
Facts = dict[int, bool]
"""Node id -> its truth value behind the guards."""


class GuardedEvaluator(RememberingEvaluator):
    """`RememberingEvaluator` over the graph, which simplifies local values behind guards."""

    def under(self, holds: Any, env: Env) -> Env:
        """See `Evaluator.under`."""
        if not isinstance(holds, DagNode):
            return env
        facts = dict(env.get(FACTS, {}))
        _learn(facts, holds, True)
        types: dict[str, Ty] = env.get(TYPES, {})
        settled = {name: self._settled(env[name], ty, facts) for name, ty in types.items()}
        if all(value is env[name] for name, value in settled.items()):
            return {**env, FACTS: facts}
        return {**env, **settled, MEMO: {}, FACTS: facts}

    def named(self, env: Env, name: str, value: Any, ty: Ty) -> Env:
        """See `Evaluator.named`."""
        settled = self._settled(value, ty, env[FACTS]) if FACTS in env else value
        return {**self.bind(env, name, settled), TYPES: {**env.get(TYPES, {}), name: ty}}

    def _settled(self, value: Any, ty: Ty, facts: Facts) -> Any:
        """Return a value without the outermost choices that the facts decide; the same object if they decide none."""
        match ty.kind:
            case "record":
                fields = {name: self._settled(value[name], part, facts) for name, part in ty.fields.items()}
                return fields if any(fields[name] is not value[name] for name in fields) else value
            case "vec":
                entries = self._each(value, ty.elem, facts)
                return Entries(entries, put_outside(value)) if put_outside(value) is not False else entries
            case "seq":
                length, slots = self._scalar(value[0], False, facts), self._each(value[1], ty.elem, facts)
                return value if length is value[0] and slots is value[1] else (length, slots)
            case _:
                return self._scalar(value, ty.kind == "bool", facts)

    def _each(self, values: list[Any], ty: Ty, facts: Facts) -> list[Any]:
        parts = [self._settled(value, ty, facts) for value in values]
        return parts if any(new is not old for new, old in zip(parts, values, strict=True)) else values

    def _scalar(self, value: Any, is_flag: bool, facts: Facts) -> Any:
        """Return a boolean, number or set without decided choices; a constant one is a Python value."""
        dag: Dag = self.alg.dag  # type: ignore[attr-defined]
        settled: dict[int, DagNode] = {}
        while isinstance(value, DagNode) and value.op == "ite":
            condition = _left_open(dag, facts, value.args[0], settled)
            if condition is value.args[0]:
                break
            value = dag.ite(condition, *value.args[1:])
        if isinstance(value, DagNode) and value.is_const:
            return bool(value.lo) if is_flag else value.lo
        return value


def _learn(facts: Facts, node: DagNode, truth: bool) -> None:
    """Record the truth value of a condition, and those that follow for its parts."""
    facts[node.id] = truth
    if node.op == "not":
        _learn(facts, node.args[0], not truth)
    elif node.op == "and" and truth:
        for part in node.args:
            _learn(facts, part, True)


def _left_open(dag: Dag, facts: Facts, node: DagNode, settled: dict[int, DagNode]) -> DagNode:
    """Return the part of a condition that the facts leave open; the same node if they decide nothing in it.

    settled: memo of the results, by node id.
    """
    if node.id in settled:
        return settled[node.id]
    left = node
    if node.id in facts:
        left = dag.const(int(facts[node.id]))
    elif node.op == "not":
        inner = _left_open(dag, facts, node.args[0], settled)
        left = node if inner is node.args[0] else dag.lnot(inner)
    elif node.op == "and":
        parts = [_left_open(dag, facts, part, settled) for part in node.args]
        left = node if all(new is old for new, old in zip(parts, node.args, strict=True)) else dag.land(parts)
    settled[node.id] = left
    return left
