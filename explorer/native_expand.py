"""The expansion kernel: every successor of one packed state, as LLVM IR.

`emit_expand` builds the function

    expand(state*, out*, origin*, counters*) -> number of successors written

from the guard tree (`guard_trie`): guards first, shared prefixes once, values where they are cheapest.
A successor row is the state's words with the changed leaves replaced. counters is one array of
64-bit cells, laid out by `Counters`: transitions enabled and stored for each instance, overflows for
each leaf, hits for each check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import llvmlite.ir as ir

from elrcheck.explorer.guard_trie import Block, build_tree, place
from elrcheck.explorer.layout import Layout
from elrcheck.explorer.native_values import I64, PTR, Values, constant
from elrcheck.explorer.nodes import Node
from elrcheck.explorer.program import Program


@dataclass(frozen=True)
class Counters:
    """Where each count lies in the array of counters."""

    instances: int
    leaves: int
    checks: int

    @property
    def stored(self) -> int:
        return self.instances

    @property
    def overflow(self) -> int:
        return 2 * self.instances

    @property
    def hits(self) -> int:
        return 2 * self.instances + self.leaves

    @property
    def fresh(self) -> int:
        """New states first reached by each instance."""
        return self.hits + self.checks

    @property
    def deadlocks(self) -> int:
        return self.fresh + self.instances

    @property
    def size(self) -> int:
        return self.deadlocks + 1


def outputs(program: Program, index: int) -> list[Node]:
    """Nodes needed to build the successor of an instance and to check the step."""
    instance = program.instances[index]
    return [*instance.updates.values(), *instance.step_checks.values()]


class ExpandEmitter:
    """Emits `expand` into a module."""

    def __init__(self, module: Any, program: Program, layout: Layout, counters: Counters) -> None:
        self.module, self.program, self.layout, self.counters = module, program, layout, counters
        kind = ir.FunctionType(I64, [PTR, PTR, PTR, PTR])
        self.function = ir.Function(module, kind, "expand")
        self.function.attributes.add("noinline")
        self.state, self.out, self.origin, self.cells = self.function.args
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))

    def emit(self) -> Any:
        b = self.b
        self.written = b.alloca(I64)
        b.store(constant(0), self.written)
        self.enabled = b.alloca(I64)
        b.store(constant(0), self.enabled)
        words = [b.load(b.gep(self.state, [constant(w)])) for w in range(self.layout.words)]
        self.values = Values(b, self.layout, words, self.module)
        root = build_tree(self.program)
        place(root, lambda index: outputs(self.program, index))
        self._block(root, {})
        stuck = b.zext(b.icmp_unsigned("==", b.load(self.enabled), constant(0)), I64)
        where = b.gep(self.cells, [constant(self.counters.deadlocks)])
        b.store(b.add(b.load(where), stuck), where)
        b.ret(b.load(self.written))
        return self.function

    def _bump(self, cell: int) -> None:
        where = self.b.gep(self.cells, [constant(cell)])
        self.b.store(self.b.add(self.b.load(where), constant(1)), where)

    def _block(self, block: Block, outer: dict[int, Any]) -> None:
        env = dict(outer)
        if block.enters is not None:
            self._bump(block.enters)
            self.b.store(constant(1), self.enabled)
        for item in range(max(1, len(block.children))):
            for node in block.code.get(item, ()):
                self.values.value(node, env)
            if item < len(block.children):
                self._child(block.children[item], env)
        if block.stores is not None:
            self._store(block.stores, env)

    def _child(self, child: Block, env: dict[int, Any]) -> None:
        if not child.conditions:
            self._block(child, env)
            return
        holds = self.values.flag(child.conditions[0], env)
        for node in child.conditions[1:]:
            holds = self.b.and_(holds, self.values.flag(node, env))
        with self.b.if_then(holds):
            self._block(child, env)

    def _store(self, index: int, env: dict[int, Any]) -> None:
        program, b = self.program, self.b
        instance = program.instances[index]
        risky = program.risky(instance)
        fits: Any = None
        for leaf in risky:
            bounds = program.leaves[leaf]
            value = self.values.value(instance.updates[leaf], env)
            inside = b.icmp_unsigned("<=", b.sub(value, constant(bounds.lo)), constant(bounds.hi - bounds.lo))
            where = b.gep(self.cells, [constant(self.counters.overflow + leaf)])
            b.store(b.add(b.load(where), b.zext(b.not_(inside), I64)), where)
            fits = inside if fits is None else b.and_(fits, inside)
        if fits is None:
            self._write(index, env)
        else:
            with b.if_then(fits):
                self._write(index, env)

    def _write(self, index: int, env: dict[int, Any]) -> None:
        b, instance = self.b, self.program.instances[index]
        self._bump(self.counters.stored + index)
        for check, node in instance.step_checks.items():
            value = self.values.value(node, env)
            hit = value if self.program.checks[check].hit_value else b.xor(value, constant(1))
            where = b.gep(self.cells, [constant(self.counters.hits + check)])
            b.store(b.add(b.load(where), hit), where)
        for check in self.program.hits_without_node(instance):
            self._bump(self.counters.hits + check)
        number = b.load(self.written)
        row = b.mul(number, constant(self.layout.words))
        for word, value in enumerate(self.successor(index, env)):
            b.store(value, b.gep(self.out, [b.add(row, constant(word))]))
        b.store(constant(index), b.gep(self.origin, [number]))
        b.store(b.add(number, constant(1)), self.written)

    def successor(self, index: int, env: dict[int, Any]) -> list[Any]:
        """The words of the successor; unchanged words are the state's own."""
        b, instance = self.b, self.program.instances[index]
        changed: dict[int, list[tuple[Any, Any]]] = {}
        for leaf, node in instance.updates.items():
            slot = self.layout.slots[leaf]
            if slot.bits:
                changed.setdefault(slot.word, []).append((slot, self.values.value(node, env)))
        words = []
        for word in range(self.layout.words):
            value = self.values.word(word)
            if word in changed:
                mask = sum(slot.mask << slot.shift for slot, _ in changed[word])
                value = b.and_(value, constant(~mask))
                for slot, new in changed[word]:
                    stored = b.sub(new, constant(slot.lo)) if slot.lo else new
                    value = b.or_(value, b.shl(stored, constant(slot.shift)) if slot.shift else stored)
            words.append(value)
        return words
