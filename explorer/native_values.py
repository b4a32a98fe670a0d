"""LLVM values of graph nodes: how each operation of the `Dag` becomes machine code.

Everything is a 64-bit integer; booleans are 0 or 1. Nodes are computed once for each environment (a
block of the guard tree); reading a leaf is a shift and a mask of a word already in a register.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llvmlite.ir as ir

from elrcheck.explorer.layout import Layout
from elrcheck.explorer.nodes import Node

I64 = ir.IntType(64)
I32 = ir.IntType(32)
I1 = ir.IntType(1)
PTR = I64.as_pointer()


def constant(value: int) -> ir.Constant:
    """A 64-bit constant in two's complement."""
    return ir.Constant(I64, value & ((1 << 64) - 1))


class Values:
    """Emits nodes into the builder's current block, from the words of one packed state."""

    def __init__(self, builder: Any, layout: Layout, words: Sequence[Any], module: Any) -> None:
        self.b, self.layout, self.words = builder, layout, words
        self.ctpop = module.declare_intrinsic("llvm.ctpop", [I64])

    def word(self, index: int) -> Any:
        return self.words[index]

    def leaf(self, leaf: int) -> Any:
        slot = self.layout.slots[leaf]
        if slot.bits == 0:
            return constant(slot.lo)
        raw = self.words[slot.word]
        if slot.shift:
            raw = self.b.lshr(raw, constant(slot.shift))
        if slot.shift + slot.bits < 64:
            raw = self.b.and_(raw, constant(slot.mask))
        return self.b.add(raw, constant(slot.lo)) if slot.lo else raw

    def value(self, node: Node, env: dict[int, Any]) -> Any:
        """The 64-bit value of a node; operands not in env are computed here."""
        if node.is_const:
            return constant(node.lo)
        found = env.get(node.id)
        if found is None:
            found = env[node.id] = self._emit(node, env)
        return found

    def flag(self, node: Node, env: dict[int, Any]) -> Any:
        """A boolean node as an i1."""
        if node.op == "not":
            return self.b.not_(self.flag(node.args[0], env))
        return self.b.trunc(self.value(node, env), I1)

    def _emit(self, node: Node, env: dict[int, Any]) -> Any:
        b = self.b
        if node.op == "var":
            return self.leaf(node.leaf)
        if node.op == "ite":
            chosen, then, orelse = node.args
            return b.select(self.flag(chosen, env), self.value(then, env), self.value(orelse, env))
        args = [self.value(arg, env) for arg in node.args]
        match node.op:
            case "add":
                return b.add(*args)
            case "sub":
                return b.sub(*args)
            case "min":
                return b.select(b.icmp_signed("<", *args), *args)
            case "max":
                return b.select(b.icmp_signed(">", *args), *args)
            case "band":
                return b.and_(*args)
            case "bor":
                return b.or_(*args)
            case "andnot":
                return b.and_(args[0], b.not_(args[1]))
            case "lt":
                return b.zext(b.icmp_signed("<", *args), I64)
            case "eq":
                return b.zext(b.icmp_signed("==", *args), I64)
            case "not":
                return b.xor(args[0], constant(1))
            case "and":
                total = args[0]
                for arg in args[1:]:
                    total = b.and_(total, arg)
                return total
            case "card":
                return b.call(self.ctpop, args)
            case "shl1":
                return self._within(args[0], b.shl(constant(1), args[0]))
            case "bit":
                return self._within(args[1], b.and_(b.lshr(args[0], args[1]), constant(1)))
        raise ValueError(f"the kernel does not know the operation {node.op!r}")

    def _within(self, index: Any, value: Any) -> Any:
        """0 where the bit index is outside the word, as the plain evaluation says."""
        return self.b.select(self.b.icmp_unsigned("<", index, constant(64)), value, constant(0))
