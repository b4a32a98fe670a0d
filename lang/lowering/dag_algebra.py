"""The algebra whose terms are nodes of the hash-consed graph: evaluating the IR over it builds the graph.

A set is a bit mask, an int or a node; with more than PACKED possible members it is a list of truths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from elrcheck.lang.algebra import PACKED, FlagsAlgebra
from elrcheck.lang.lowering.dag import Dag, Term
from elrcheck.lang.lowering.nodes import DagNode


class DagAlgebra(FlagsAlgebra[DagNode]):
    """Terms are nodes; constant nodes become Python values again."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self._conjunctions: dict[tuple[DagNode, ...], DagNode | bool] = {}
        self._comparisons: dict[tuple[str, Term, Term], DagNode | bool] = {}

    @staticmethod
    def _flag(node: DagNode) -> DagNode | bool:
        return bool(node.lo) if node.lo == node.hi else node

    @staticmethod
    def _number(node: DagNode) -> Term:
        return node.lo if node.lo == node.hi else node

    def AND(self, xs: Sequence[DagNode]) -> DagNode | bool:
        key = tuple(xs)
        node = self._conjunctions.get(key)
        if node is None:
            node = self._conjunctions[key] = self._flag(self.dag.land(xs))
        return node

    def OR(self, xs: Sequence[DagNode]) -> DagNode | bool:
        return self._flag(self.dag.lor(xs))

    def NOT(self, x: DagNode) -> DagNode | bool:
        return self._flag(self.dag.lnot(x))

    def IFF(self, a: DagNode, b: DagNode) -> DagNode | bool:
        return self._flag(self.dag.eq(a, b))

    def ITE(self, c: DagNode, a: Term, b: Term) -> Term:
        return self._number(self.dag.ite(c, a, b))

    def CMP(self, o: str, a: Term, b: Term) -> DagNode | bool:
        key = (o, a, b)
        node = self._comparisons.get(key)
        if node is None:
            node = self._comparisons[key] = self._flag(getattr(self.dag, o)(a, b))
        return node

    def ADD(self, a: Term, b: Term) -> Term:
        return self._number(self.dag.add(a, b))

    def SUB(self, a: Term, b: Term) -> Term:
        return self._number(self.dag.sub(a, b))

    def DIV(self, a: Term, b: Term) -> Term:
        return self._number(self.dag.div(a, b))

    def MOD(self, a: Term, b: Term) -> Term:
        return self._number(self.dag.mod(a, b))

    def least(self, x: Term) -> int:
        return x if isinstance(x, int) else x.lo

    def greatest(self, x: Term) -> int:
        return x if isinstance(x, int) else x.hi

    def s_const(self, members: Iterable[int], size: int) -> Any:
        return super().s_const(members, size) if size > PACKED else sum(1 << i for i in set(members))

    def s_from(self, flags: Sequence[DagNode | bool]) -> Any:
        if len(flags) > PACKED:
            return list(flags)
        mask: Term = 0
        for i, flag in enumerate(flags):
            if flag is True:
                mask = self.s_union(mask, 1 << i)
            elif flag is not False:
                mask = self.s_union(mask, self._number(self.dag.ite(flag, 1 << i, 0)))
        return mask

    def s_mem(self, s: Any, i: int) -> DagNode | bool:
        if isinstance(s, list):
            return super().s_mem(s, i)
        return bool(s >> i & 1) if isinstance(s, int) else self._flag(self.dag.bit(s, i))

    def s_union(self, a: Any, b: Any) -> Any:
        if isinstance(a, list):
            return super().s_union(a, b)
        return a | b if isinstance(a, int) and isinstance(b, int) else self._number(self.dag.bor(a, b))

    def s_inter(self, a: Any, b: Any) -> Any:
        if isinstance(a, list):
            return super().s_inter(a, b)
        return a & b if isinstance(a, int) and isinstance(b, int) else self._number(self.dag.band(a, b))

    def s_diff(self, a: Any, b: Any) -> Any:
        if isinstance(a, list):
            return super().s_diff(a, b)
        return a & ~b if isinstance(a, int) and isinstance(b, int) else self._number(self.dag.andnot(a, b))

    def s_subset(self, a: Any, b: Any) -> DagNode | bool:
        if isinstance(a, list):
            return super().s_subset(a, b)
        return not a & ~b if isinstance(a, int) and isinstance(b, int) else self._flag(self.dag.subset(a, b))

    def s_eq(self, a: Any, b: Any) -> DagNode | bool:
        if isinstance(a, list):
            return super().s_eq(a, b)
        return a == b if isinstance(a, int) and isinstance(b, int) else self._flag(self.dag.eq(a, b))

    def s_ite(self, c: DagNode | bool, a: Any, b: Any) -> Any:
        return super().s_ite(c, a, b) if isinstance(a, list) else self.ite(c, a, b)

    def s_card(self, a: Any) -> Term:
        if isinstance(a, list):
            return super().s_card(a)
        return a.bit_count() if isinstance(a, int) else self._number(self.dag.card(a))
