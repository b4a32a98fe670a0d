"""A program as instructions for the interpreter (`interpreter_ir.py`), which the quick kernel has instead of code.

The order of guards and the places where values are computed are those of compiled code (`guard_trie.py`), in one tree
of all instances. A value has a register while the block is open that computes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from elrcheck.explorer.kernel.check_ir import check_nodes, possible_hits, step_hits
from elrcheck.explorer.kernel.emit import Lanes, key_of
from elrcheck.explorer.kernel.group_ir import EDGE, Counters, changed_planes, outputs
from elrcheck.explorer.kernel.guard_trie import GuardBlock, build_tree, place
from elrcheck.explorer.kernel.planes_ir import plane_of, plane_parts
from elrcheck.explorer.kernel.quick.interpreter_ir import MASKS, PLANES, Op
from elrcheck.explorer.kernel.word_layout import WordLayout
from elrcheck.lang.lowering.independence import changes
from elrcheck.lang.lowering.nodes import DagNode, cone
from elrcheck.lang.lowering.program import Instance, Program

ALL, NONE, FIRST = 0, 1, 2
"""Mask registers: the lanes that have a state, no lane, and the first free one."""
CONSTANTS = 10
"""Binary logarithm of the number of registers for constants; no more than a lane has values."""
DIRECT = {op.name.lower(): op for op in Op if Op.ADD <= op <= Op.BIT}
"""The operations of nodes that are those of instructions, by name."""


class NotInterpreted(Exception):
    """A program has too many values, or too large ones, for the interpreter."""


@dataclass(frozen=True)
class Instructions:
    """code: the instructions, `FIELDS` numbers each. places: planes, for RECORD. registers: how many are needed."""

    code: bytes
    places: tuple[int, ...]
    registers: int


def expand_instructions(program: Program, layout: WordLayout, lanes: Lanes) -> Instructions:
    """Return the instructions for the successors of a block; raise NotInterpreted if the program is too large."""
    root = build_tree(program, None, EDGE)
    place(root, dict(enumerate(map(outputs, program.instances))))
    assembler = _Assembler(program, layout, lanes)
    assembler.block(root, ALL, FIRST)
    return assembler.finished()


def check_instructions(program: Program, layout: WordLayout, lanes: Lanes) -> Instructions:
    """Return the instructions that add the lanes that hit a state check to its word (`check_ir`)."""
    assembler = _Assembler(program, layout, lanes)
    for node in cone(check_nodes(program)):
        if node.op not in ("const", "not"):
            assembler.compute(node)
    for word, node, value in possible_hits(program):
        assembler.do(Op.HIT, d=word, a=assembler.hit(node, value))
    return assembler.finished()


@dataclass
class _Assembler:
    program: Program
    layout: WordLayout
    lanes: Lanes
    lines: list[list[int]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.lanes.bits > 32:
            raise NotInterpreted("numbers of more than 32 bits")
        self.counters = Counters(len(self.program.instances), len(self.program.leaves))
        self._constants: dict[int, int] = {}
        self._most = 1 << min(self.lanes.bits, CONSTANTS)
        self._registers: dict[int, int] = {}  # by the key of the value (`key_of`)
        self._open: list[int | None] = []
        self.room = self._most

    # -- registers

    def do(self, op: Op, d: int = 0, a: int = 0, b: int = 0, c: int = 0, e: int = 0) -> int:
        """Add an instruction; return its number."""
        self.lines.append([op, d, a, b, c, e])
        return len(self.lines) - 1

    def let(self, op: Op, a: int = 0, b: int = 0, c: int = 0, e: int = 0, key: int | None = None) -> int:
        """Add an instruction with a result; return its register. key: of the value, if it is that of a node."""
        register = self._most + len(self._open)
        self._open.append(key)
        if key is not None:
            self._registers[key] = register
        self.room = max(self.room, register + 1)
        self.do(op, register, a, b, c, e)
        return register

    def forget(self, mark: int) -> None:
        """Free all registers but the first `mark`."""
        for key in self._open[mark:]:
            if key is not None:
                del self._registers[key]
        del self._open[mark:]

    def constant(self, value: int) -> int:
        register = self._constants.setdefault(value, len(self._constants))
        if register >= self._most:
            raise NotInterpreted("too many constants")
        return register

    def register(self, node: DagNode) -> int:
        """Return the register of a node that is computed, constant, or the negation of such a node."""
        if node.is_const:
            return self.constant(node.lo)
        key = key_of(node)
        if key not in self._registers:
            self.let(Op.NOT, self._registers[~key], key=key)
        return self._registers[key]

    def hit(self, node: DagNode, value: int) -> int:
        """Return a register that is 1 where a boolean node has this value."""
        if value:
            return self.register(node)
        opposite = self._registers.get(~key_of(node))
        return self.let(Op.NOT, self.register(node)) if opposite is None else opposite

    def all_of(self, nodes: Sequence[DagNode], key: int | None = None) -> int:
        """Return a register with a conjunction; taking a part away needs no instruction for its negation."""
        taken = [node for node in nodes if node.op == "not" and key_of(node) not in self._registers]
        registers = [self.register(node) for node in nodes if node not in taken]
        if not registers:
            registers = [self.register(taken.pop(0))]
        more = [(Op.BAND, register) for register in registers[1:]]
        more += [(Op.ANDNOT, self.register(node.args[0])) for node in taken]
        return self._joined(registers[0], more, key)

    def any_of(self, registers: Sequence[int], key: int | None = None) -> int:
        return self._joined(registers[0], [(Op.BOR, register) for register in registers[1:]], key)

    def _joined(self, first: int, more: Sequence[tuple[Op, int]], key: int | None = None) -> int:
        result = first
        for number, (op, other) in enumerate(more, 1):
            result = self.let(op, result, other, key=key if number == len(more) else None)
        return result

    def compute(self, node: DagNode) -> None:
        """Compute a node whose operands have registers."""
        if node.id in self._registers or ~node.id in self._registers:
            return
        if node.op == "var":
            self._leaf(node)
        elif node.op == "and" and all(arg.op == "not" for arg in node.args):
            self.any_of([self.register(arg.args[0]) for arg in node.args], ~node.id)  # a disjunction
        elif node.op == "and":
            self.all_of(node.args, node.id)
        elif node.op in DIRECT:
            operands = [self.register(arg) for arg in node.args]
            a, b, c = (*operands, 0, 0, 0)[:3]
            self.let(DIRECT[node.op], a, b, c, key=node.id)
        else:
            raise NotInterpreted(f"the operation {node.op!r}")

    def _leaf(self, node: DagNode) -> None:
        slot, bits = self.layout.slots[node.leaf], self.lanes.bits
        if not slot.bits:
            self.let(Op.CONST, slot.lo, key=node.id)
            return
        number, shift = plane_of(slot, self.lanes)
        if shift + slot.bits <= bits:
            self.let(Op.FIELD, number, shift, self.signed(slot.mask), slot.lo, key=node.id)
            return
        low = self.let(Op.FIELD, number, shift, -1, 0)
        whole = self.let(Op.ORSHL, low, self.let(Op.LOAD, number + 1), bits - shift)
        stored = self.let(Op.ANDI, whole, self.signed(slot.mask))
        self.let(Op.ADDI, stored, slot.lo, key=node.id)

    def signed(self, mask: int) -> int:
        """Return the bits of a lane as a field of an instruction."""
        mask &= (1 << self.lanes.bits) - 1
        return mask - (1 << 32) if mask >> 31 else mask

    # -- blocks

    def block(self, block: GuardBlock, mask: int, free: int) -> None:
        """Add a block for the lanes of a mask register; mask registers from `free` on are unused."""
        if free + 2 > MASKS:
            raise NotInterpreted("guards nested too deeply")
        mark = len(self._open)
        if block.enters is not None:
            self.do(Op.ENTER, a=self.counters.enabled(block.enters), b=mask)
            if not block.children:
                self.do(Op.CUT, a=self.counters.cut(block.enters), b=mask, c=NONE)
        for item, child in enumerate(block.children):
            for node in block.code.get(item, ()):
                self.compute(node)
            if not child.conditions:
                self.block(child, mask, free)
                continue
            holds = self.all_of(child.conditions)
            if block.enters is not None:
                self.do(Op.GUARD, d=free, a=holds, b=mask, c=len(self.lines) + 1)
                self.do(Op.CUT, a=self.counters.cut(block.enters), b=mask, c=free)
            jump = self.do(Op.GUARD, d=free, a=holds, b=mask)
            self.block(child, free, free + 1)
            self.lines[jump][4] = len(self.lines)
        if block.stores is not None:
            for node in block.code.get(0, ()):
                self.compute(node)
            self._store(block.stores, mask, free)
        self.forget(mark)

    def _store(self, index: int, mask: int, free: int) -> None:
        instance = self.program.instances[index]
        updates = changes(instance)
        stored = {leaf: self._stored(leaf, node) for leaf, node in updates.items()}
        whole = mask
        for leaf in self.program.risky(instance):
            if leaf in updates:
                if mask == whole:
                    mask = free
                    self.do(Op.MOVE, d=mask, a=whole)
                bounds = self.program.leaves[leaf]
                most, counter = bounds.hi - bounds.lo, self.counters.overflow(leaf)
                self.do(Op.BOUND, d=mask, a=stored[leaf], b=whole, c=most, e=counter)
        planes = changed_planes(instance, self.layout, self.lanes)
        if len(planes) > PLANES:
            raise NotInterpreted("too many changes in one step")
        for position, number in enumerate(planes):
            self.do(Op.PUT, d=position, a=self._plane(number, updates, stored), b=number)
        self.do(Op.RECORD, a=index, b=mask, c=len(planes), e=len(self.places))
        self.places += planes
        self._flags(instance, mask)

    def _stored(self, leaf: int, node: DagNode) -> int:
        """Return a leaf's new value relative to the leaf's lower bound, as it is stored."""
        lo = self.program.leaves[leaf].lo
        if node.is_const:
            return self.constant(node.lo - lo)
        register = self.register(node)
        return self.let(Op.ADDI, register, -lo) if lo else register

    def _plane(self, number: int, updates: Iterable[int], stored: dict[int, int]) -> int:
        """Return a register with a plane that has the new values of the leaves in it (`InstanceGroup`)."""
        mask, leaves = plane_parts(number, updates, self.layout, self.lanes)
        result = self.let(Op.FIELD, number, 0, self.signed(mask), 0) if mask else self.constant(0)
        for leaf, shift in leaves:
            if shift >= 0:
                result = self.let(Op.ORSHL, result, stored[leaf], shift)
            else:
                result = self.let(Op.BOR, result, self.let(Op.SHRI, stored[leaf], -shift))
        return result

    def _flags(self, instance: Instance, mask: int) -> None:
        """Note the step checks that are hit; hits are rare, so all checks share a jump."""
        always, undecided = step_hits(self.program, instance)
        hits = [(check, self.constant(1)) for check in always]
        sometimes = [(check, self.hit(node, value)) for check, node, value in undecided]
        jump = None
        if sometimes and not hits:
            some = self.any_of([register for _, register in sometimes])
            jump = self.do(Op.SKIP, a=some, b=mask)
        for check, register in [*hits, *sometimes]:
            word, bit = divmod(check, 64)
            self.do(Op.FLAG, d=register, a=word, b=bit, c=mask)
        if jump is not None:
            self.lines[jump][4] = len(self.lines)

    def finished(self) -> Instructions:
        """Return the instructions, behind those that make the constants."""
        before = len(self._constants)
        for line in self.lines:
            if line[0] in (Op.GUARD, Op.SKIP):
                line[4] += before
        constants = [[Op.CONST, register, value, 0, 0, 0] for value, register in self._constants.items()]
        whole = np.array([*constants, *self.lines, [Op.END, 0, 0, 0, 0, 0]], np.int64)
        return Instructions(whole.astype("<i4").tobytes(), tuple(self.places), self.room)
