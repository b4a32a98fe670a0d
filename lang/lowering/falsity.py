"""The distance of a state from violating a property: the branch distance of search-based testing, as nodes.

The distance of a condition from being true is 0 where it holds. Otherwise it is the sum over the parts of a
conjunction, the least over those of a disjunction, a bounded difference for an order between numbers, and 1 for
anything else. It is built in the graph of the program, so whatever evaluates nodes evaluates it, too.

A distance is a hint for a search, never a verdict: 0 means that the condition holds, and every other value only that it
does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.lang.lowering.dag import Dag
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.lowering.program import Program

FAR = 30
"""The largest distance."""
APART = 4
"""The largest distance of two numbers from the other order."""


def falsities(program: Program, checks: Sequence[int]) -> list[DagNode]:
    """Return, for each of these checks, the distance of a state from hitting it; for a step check, over all steps."""
    distance = _Distance(program.dag)
    distances = []
    for number in checks:
        check = program.checks[number]
        holds = check.kind == "sometimes"
        if check.node is not None:
            distances.append(distance.to(check.node, holds))
            continue
        steps = [
            distance.both((*(distance.to(guard, True) for guard in instance.guards), distance.to(node, holds)))
            for instance in program.instances
            if (node := instance.step_checks.get(number)) is not None
        ]
        distances.append(distance.either(steps))
    return distances


class _Distance:
    """Distances in one graph, built once for each pair of a node and a truth value."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self._distances: dict[tuple[int, bool], DagNode] = {}

    def to(self, node: DagNode, truth: bool) -> DagNode:
        """Return the distance of a condition from this truth value."""
        key = (node.id, truth)
        distance = self._distances.get(key)
        if distance is None:
            distance = self._distances[key] = self._built(node, truth)
        return distance

    def both(self, parts: Sequence[DagNode]) -> DagNode:
        """Return the distance of a conjunction."""
        total = self.dag.zero
        for part in parts:
            total = self.dag.min(self.dag.add(total, part), FAR)
        return total

    def either(self, parts: Sequence[DagNode]) -> DagNode:
        """Return the distance of a disjunction."""
        least = self.dag.const(FAR)
        for part in parts:
            least = self.dag.min(least, part)
        return least

    def _built(self, node: DagNode, truth: bool) -> DagNode:
        dag = self.dag
        if node.is_const:
            return dag.const(0 if bool(node.lo) == truth else FAR)
        if node.op == "not":
            return self.to(node.args[0], not truth)
        if node.op == "and":
            parts = [self.to(arg, truth) for arg in node.args]
            return self.both(parts) if truth else self.either(parts)
        if node.op == "ite" and node.is_bool:
            cond, then, orelse = node.args
            return self.either(
                (
                    self.both((self.to(cond, True), self.to(then, truth))),
                    self.both((self.to(cond, False), self.to(orelse, truth))),
                )
            )
        if node.op == "lt":
            x, y = node.args
            gap = dag.add(dag.sub(x, y), 1) if truth else dag.sub(y, x)
            apart = dag.min(gap, APART)
            return dag.ite(node, 0, apart) if truth else dag.ite(node, apart, 0)
        return dag.ite(node, 0, 1) if truth else dag.ite(node, 1, 0)
