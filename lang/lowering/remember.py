"""An evaluator that memoises calls.

Lowering evaluates the same operators again and again: every instance starts from the same state and
leaves most of it unchanged. The key of a call is its operator, its arguments and the state variables it
reads, all compared by identity, because values are never changed in place. Keys stay referenced, so an
identity is never reused by another value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from elrcheck.lang.algebra import Algebra
from elrcheck.lang.evaluate import Evaluator
from elrcheck.lang.expr import Call, StateVariable
from elrcheck.lang.ir import Fn, fn_nodes
from elrcheck.lang.runtime import ModelConfig

Reads = tuple[tuple[int, str], ...]


class RememberingEvaluator(Evaluator):
    """`Evaluator`, for algebras whose terms are immutable."""

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
        """The state variables that an operator and all it calls may read: (which state parameter, name)."""
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
