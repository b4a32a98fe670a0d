"""Simplifies local values behind a guard by what the guard implies.

An action may call an operator that returns a record, require something of it, and use the rest: behind
`require(decided.error == NONE)` only the other cases remain. So behind a guard every local value loses the outermost
choices that the guard decides. Looking below them would cost more than it saves.

Calls are memoised: every instance starts from the same state and leaves most of it unchanged, so lowering repeats many.
The key of a call is its operator, its arguments and the state variables it reads, compared by identity, because values
are never changed in place. Memo entries hold these objects, so no identity is reused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elrcheck.lang.algebra import Algebra
from elrcheck.lang.comprehensions import MEMO, Env
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.expr import Call, StateVariable
from elrcheck.lang.ir import Fn, fn_nodes
from elrcheck.lang.lowering.dag import Dag
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.structure import Entries, put_outside
from elrcheck.lang.types import Ty

Reads = tuple[tuple[int, str], ...]


class RememberingEvaluator(Evaluator):
    """An `Evaluator` with a memo of calls, for algebras with immutable terms."""

    def __init__(self, fns: Mapping[str, Fn], config: ModelConfig, algebra: Algebra[Any, Any]) -> None:
        super().__init__(fns, config, algebra)
        self._results: dict[tuple[object, ...], tuple[Any, list[Any]]] = {}
        self._reads: dict[Fn, Reads] = {}

    def call(self, fn: Fn, states: tuple[Mapping[str, Any], ...], args: Mapping[str, Any]) -> Any:
        """See `Evaluator.call`."""
        used = [*args.values(), *(states[which][name] for which, name in self.reads(fn))]
        key = (fn, *map(id, used))
        result = self._results.get(key)
        if result is None:
            result = self._results[key] = (super().call(fn, states, args), used)
        return result[0]

    def reads(self, fn: Fn) -> Reads:
        """Return the state variables that an operator and its callees may read: (number of the parameter, name)."""
        known_reads = self._reads.get(fn)
        if known_reads is None:
            reads: set[tuple[int, str]] = set()
            for node in fn_nodes(fn):
                match node:
                    case StateVariable():
                        reads.add((0 if node.moment == "now" else 1, node.name))
                    case Call():
                        at = [0 if moment == "now" else 1 for moment in node.states]
                        inside = self.reads(self.fns[node.function])
                        reads.update((at[which], field) for which, field in inside)
            known_reads = self._reads[fn] = tuple(sorted(reads))
        return known_reads


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
