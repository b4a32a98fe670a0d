"""The base of the expression arena: hash-consing, booleans and choices; see `dag` for the idea."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from elrcheck.lang.lowering.nodes import LIMIT, DagNode

Term = DagNode | int
WIDEST_FLAT_AND = 12
ARITY = {
    **dict.fromkeys(("not", "card", "shl1"), range(1, 2)),
    **dict.fromkeys(("add", "sub", "div", "mod", "min", "max"), range(2, 3)),
    **dict.fromkeys(("band", "bor", "andnot", "lt", "eq", "bit"), range(2, 3)),
    "ite": range(3, 4),
    "and": range(2, LIMIT),
}
"""Possible numbers of operands of each operation."""
DEPTH = 1


class NodeArena:
    """Hash-consing, constants, leaves and boolean operations; `Dag` adds the rest."""

    def __init__(self) -> None:
        self._nodes: list[DagNode] = []
        self._memo: dict[tuple[str, tuple[DagNode, ...]], DagNode] = {}
        self._consts: dict[int, DagNode] = {}
        self._vars: dict[int, DagNode] = {}
        self._bits: dict[tuple[int, int], DagNode] = {}
        self.zero = self.const(0)
        self.one = self.const(1)

    def __len__(self) -> int:
        return len(self._nodes)

    def owns(self, node: DagNode) -> bool:
        return node.id < len(self._nodes) and self._nodes[node.id] is node

    def _make(self, op: str, args: tuple[DagNode, ...], lo: int, hi: int) -> DagNode:
        """Return the node of an operation. Operands are compared by identity, so equal keys are equal nodes."""
        if lo == hi:
            return self.const(lo)
        key = (op, args)
        node = self._memo.get(key)
        if node is None:
            node = self._memo[key] = self._new(op, args, lo, hi, -1)
        return node

    def _new(self, op: str, args: tuple[DagNode, ...], lo: int, hi: int, leaf: int) -> DagNode:
        if lo > hi or lo <= -LIMIT or hi >= LIMIT:
            raise ValueError(f"interval {lo}..{hi} of {op} is empty or too wide")
        node = DagNode(len(self._nodes), op, args, lo, hi, leaf)
        self._nodes.append(node)
        return node

    def _term(self, x: Term) -> DagNode:
        return x if isinstance(x, DagNode) else self.const(x)

    def const(self, value: int) -> DagNode:
        node = self._consts.get(value)
        if node is None:
            value = int(value)
            node = self._consts[value] = self._new("const", (), value, value, -1)
        return node

    def var(self, leaf_index: int, lo: int, hi: int) -> DagNode:
        """Return the node of a leaf's current value; every use of a leaf must state the same bounds."""
        if lo == hi:
            return self.const(lo)
        node = self._vars.get(leaf_index)
        if node is None:
            node = self._vars[leaf_index] = self._new("var", (), lo, hi, leaf_index)
        if (node.lo, node.hi) != (lo, hi):
            raise ValueError(f"leaf {leaf_index} was declared with bounds {node.lo}..{node.hi}")
        return node

    def restore(self, op: str, args: tuple[DagNode, ...], lo: int, hi: int, leaf: int) -> DagNode:
        """Add a node of another arena, which was simplified there; raise ValueError if it cannot be a node."""
        if op == "const" and lo == hi and not args:
            return self.const(lo)
        if op == "var" and lo < hi and not args:
            return self.var(leaf, lo, hi)
        divides = op in ("div", "mod")
        if op not in ARITY or len(args) not in ARITY[op] or lo >= hi or (divides and args[1].lo < 1):
            raise ValueError(f"{op!r} with {len(args)} operands in {lo}..{hi} is not a node")
        return self._make(op, args, lo, hi)

    def renumber(self, numbers: Mapping[int, int]) -> None:
        """Give leaves other numbers: the leaf that was k becomes numbers[k]."""
        self._vars = {numbers[leaf]: node for leaf, node in self._vars.items()}
        for leaf, node in self._vars.items():
            node.leaf = leaf

    # -- booleans

    def lnot(self, a: Term) -> DagNode:
        x = self._bool(a)
        if x.is_const:
            return self.const(1 - x.lo)
        return x.args[0] if x.op == "not" else self._make("not", (x,), 0, 1)

    def land(self, items: Iterable[Term]) -> DagNode:
        parts: dict[int, DagNode] = {}
        for item in items:
            x = self._bool(item)
            inner = x.args if x.op == "and" and len(parts) + len(x.args) <= WIDEST_FLAT_AND else (x,)
            for part in inner:
                if part is self.zero:
                    return self.zero
                if part is not self.one:
                    parts[part.id] = part
        for part in list(parts.values()):
            if part.op != "not":
                continue
            negated = part.args[0]
            if negated.id in parts:
                return self.zero
            if negated.op == "and" and (left := self._resolve(negated, parts)) is not part:
                del parts[part.id]
                parts[left.id] = left
                return self.land(list(parts.values()))
        if not parts:
            return self.one
        ordered = tuple(parts[ident] for ident in sorted(parts))
        return ordered[0] if len(ordered) == 1 else self._make("and", ordered, 0, 1)

    def _resolve(self, clause: DagNode, facts: dict[int, DagNode], depth: int = DEPTH) -> DagNode:
        """Return `not clause`, where the clause is an `and`, simplified in a context where the facts hold."""
        left = []
        changed = False
        for part in clause.args:
            if part.id in facts:
                changed = True
                continue
            opposite = self._memo.get(("not", (part,))) if part.op != "not" else part.args[0]
            if opposite is not None:
                if opposite.id in facts:
                    return self.one
                if depth and opposite.op == "and" and part.op == "not":
                    simpler = self._resolve(opposite, facts, depth - 1)
                    if simpler is not part:
                        changed = True
                        if simpler is self.zero:
                            return self.one
                        if simpler is self.one:
                            continue
                        part = simpler
            left.append(part)
        return self.lnot(self.land(left) if changed else clause)

    def lor(self, items: Iterable[Term]) -> DagNode:
        return self.lnot(self.land([self.lnot(item) for item in items]))

    def ite(self, cond: Term, then: Term, orelse: Term) -> DagNode:
        c, a, b = self._bool(cond), self._term(then), self._term(orelse)
        if c.op == "not":
            c, a, b = c.args[0], b, a
        if c.is_const:
            return a if c.lo else b
        a, b = self._assume(a, c, True), self._assume(b, c, False)
        if a is b:
            return a
        if a.is_bool and b.is_bool:
            if a.is_const:
                return self.lor((c, b)) if a.lo else self.land((self.lnot(c), b))
            if b.is_const:
                return self.lor((self.lnot(c), a)) if b.lo else self.land((c, a))
        if c.op == "eq" and b in c.args and a in c.args:
            return b
        if a.op == "ite" and a.args[2] is b:
            return self.ite(self.land((c, a.args[0])), a.args[1], b)
        if b.op == "ite" and b.args[1] is a:
            return self.ite(self.lor((c, b.args[0])), a, b.args[2])
        return self._make("ite", (c, a, b), min(a.lo, b.lo), max(a.hi, b.hi))

    def _assume(self, x: DagNode, cond: DagNode, value: bool) -> DagNode:
        """Return x, with its outermost choices simplified where `cond` has this truth value."""
        while True:
            if x is cond:
                return self.one if value else self.zero
            if x.op == "not" and x.args[0] is cond:
                return self.zero if value else self.one
            if x.op != "ite":
                return x
            inner = x.args[0]
            if inner is cond:
                x = x.args[1] if value else x.args[2]
            elif value and cond.op == "and" and inner in cond.args:
                x = x.args[1]
            else:
                return x

    # -- operands

    def _bool(self, x: Term) -> DagNode:
        node = self._term(x)
        if not node.is_bool:
            raise ValueError(f"{node!r} with interval {node.lo}..{node.hi} is not a boolean")
        return node

    def _mask(self, x: Term) -> DagNode:
        node = self._term(x)
        if node.lo < 0:
            raise ValueError(f"{node!r} with interval {node.lo}..{node.hi} is not a bit mask")
        return node

    @staticmethod
    def _ordered(x: DagNode, y: DagNode) -> tuple[DagNode, DagNode]:
        """Sort the operands of a commutative operation by id, a constant last."""
        if y.is_const or (x.id < y.id and not x.is_const):
            return x, y
        return y, x
