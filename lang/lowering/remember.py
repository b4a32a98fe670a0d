"""An evaluator that memoises calls.

Every instance starts from the same state and leaves most of it unchanged, so lowering repeats many calls. The key of a
call is its operator, its arguments and the state variables it reads, compared by identity, because values are never
changed in place. Memo entries hold these objects, so no identity is reused.
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
