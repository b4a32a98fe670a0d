"""The successors of a block of states by one group of action instances, as LLVM IR.

    ptr @expand.K(ptr words, ptr planes, ptr asleep, i64 valid, i64 position, i64 thin, ptr out,
                  ptr counters, ptr seen, ptr any, ptr fired)

One lane for each state of the block (`planes_ir`), so every operation is carried out for all of them at
once. The body is the tree of `guard_trie`, one basic block per block, entered if its guards hold in any
lane; a mask says in which. Where an instance is stored, the planes that it changes are computed for all
lanes, and one record is written for each lane of the mask (`record_ir`). A new value is compared with its
leaf's bounds only if its interval does not already lie inside them.

valid: the lanes that have a state. position: of lane 0 in the call of @expand. With thin, an instance is
not stored in lanes that it leaves as they are, nor in those where it may be left out (`independence`): its
bit in the planes `asleep` is set. Counters and `seen`, the step checks that were hit, do not depend on it.
any: the lanes in which an instance is enabled, to which this function adds. fired: if there is such an
array, the number of instances enabled in each lane.

    void @enter(ptr counter, i64 mask, ptr any, ptr fired)

notes that an instance is enabled in the lanes of a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elrcheck.explorer.kernel.check_ir import step_hits
from elrcheck.explorer.kernel.emit import Lanes
from elrcheck.explorer.kernel.guard_trie import GuardBlock, build_tree, place
from elrcheck.explorer.kernel.planes_ir import plane_of, plane_parts, plane_writer, read_plane
from elrcheck.explorer.kernel.record_ir import INSTANCE_BITS
from elrcheck.explorer.kernel.word_layout import Counts, WordLayout
from elrcheck.lang.lowering.independence import changes
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.lowering.program import Instance, Program

EDGE = 0.8
"""Estimated probability that a guard holds in at least one lane."""
ARGUMENTS = (
    "ptr noalias %words, ptr noalias %planes, ptr noalias %asleep, i64 %valid, i64 %position, i64 %thin, "
    "ptr noalias %out, ptr noalias %counters, ptr noalias %seen, ptr noalias %any, ptr noalias %fired"
)


@dataclass(frozen=True)
class Counters:
    """Layout of a worker's counters: deadlocks, then enabled and cut per instance, overflows per leaf."""

    instances: int
    leaves: int

    @property
    def size(self) -> int:
        return 1 + 2 * self.instances + self.leaves

    def enabled(self, instance: int) -> int:
        return 1 + instance

    def cut(self, instance: int) -> int:
        return 1 + self.instances + instance

    def overflow(self, leaf: int) -> int:
        return 1 + 2 * self.instances + leaf

    def totals(self, counters: Counts) -> tuple[list[int], list[int], dict[int, int]]:
        """Return how often each instance was enabled and how often it was cut, and the overflows by leaf."""
        first_cut, first_overflow = self.cut(0), self.overflow(0)
        numbers: list[int] = counters.tolist()
        overflow = {leaf: count for leaf, count in enumerate(numbers[first_overflow:]) if count}
        return numbers[1:first_cut], numbers[first_cut:first_overflow], overflow


def outputs(instance: Instance) -> Sequence[DagNode]:
    """Return the nodes that are computed where an instance is stored."""
    return [*changes(instance).values(), *instance.step_checks.values()]


def changed_planes(instance: Instance, layout: WordLayout, lanes: Lanes) -> list[int]:
    """Return the planes that an instance changes, in order."""
    numbers = set()
    for leaf in changes(instance):
        slot = layout.slots[leaf]
        if slot.bits:
            first, shift = plane_of(slot, lanes)
            numbers.add(first)
            if shift + slot.bits > lanes.bits:
                numbers.add(first + 1)
    return sorted(numbers)


class InstanceGroup:
    """Writes @expand.K of one group of instances, which returns the place after its last record."""

    def __init__(self, program: Program, layout: WordLayout, lanes: Lanes, number: int, members: list[int]) -> None:
        self.program, self.layout, self.lanes, self.number = program, layout, lanes, number
        self.members = members
        self.counters = Counters(len(program.instances), len(program.leaves))
        self.writer = plane_writer(layout, lanes)
        self.mask = f"i{lanes.count}"
        self.constants: dict[str, str] = {}

    def text(self) -> str:
        root = build_tree(self.program, self.members, EDGE)
        place(root, {index: outputs(self.program.instances[index]) for index in self.members})
        w = self.writer
        most = max((len(self._planes(k)) for k in self.members), default=0)
        w.lines += [
            f"define ptr @expand.{self.number}({ARGUMENTS}) {{",
            "entry:",
            f"  %fresh = alloca [{max(1, most)} x {self.lanes.number}], align {self.lanes.bytes}",
            f"  %origin = shl i64 %position, {INSTANCE_BITS}",
        ]
        start = w.let(f"trunc i64 %valid to {self.mask}") if self.lanes.count < 64 else "%valid"
        at = self._block(root, "%out", start)
        w.do(f"ret ptr {at}")
        return "\n".join([*self.constants.values(), *w.lines, "}"])

    # -- masks of lanes, as integers

    def _bits(self, flag: str) -> str:
        """Return a vector of booleans as a mask."""
        return self.writer.let(f"bitcast {self.lanes.flag} {flag} to {self.mask}")

    def _wide(self, mask: str) -> str:
        return self.writer.let(f"zext {self.mask} {mask} to i64") if self.lanes.count < 64 else mask

    def _count(self, place_: int, mask: str) -> None:
        """Add the number of lanes of a mask to a counter."""
        w = self.writer
        amount = w.let(f"call i64 @llvm.ctpop.i64(i64 {self._wide(mask)})")
        where = w.let(f"getelementptr i64, ptr %counters, i64 {place_}")
        old = w.let(f"load i64, ptr {where}, align 8")
        w.do(f"store i64 {w.let(f'add i64 {old}, {amount}')}, ptr {where}, align 8")

    # -- blocks

    def _block(self, block: GuardBlock, at: str, mask: str) -> str:
        """Emit a block for the lanes of a mask; return the name of the output pointer after it."""
        w = self.writer
        mark = w.mark()
        if block.enters is not None:
            where = w.let(f"getelementptr i64, ptr %counters, i64 {self.counters.enabled(block.enters)}")
            w.do(f"call void @enter(ptr {where}, i64 {self._wide(mask)}, ptr %any, ptr %fired)")
            if not block.children:
                self._count(self.counters.cut(block.enters), mask)
        for item in range(len(block.children)):
            for node in block.code.get(item, ()):
                w.compute(node)
            child = block.children[item]
            if not child.conditions:
                at = self._block(child, at, mask)
                continue
            holds = self._bits(w.all_of([w.flag(node) for node in child.conditions]))
            within = w.let(f"and {self.mask} {mask}, {holds}")
            if block.enters is not None:
                self._count(self.counters.cut(block.enters), w.let(f"xor {self.mask} {mask}, {within}"))
            then, after, before = w.new_label("then"), w.new_label("after"), w.block
            none = w.let(f"icmp eq {self.mask} {within}, 0")
            w.do(f"br i1 {none}, label %{after}, label %{then}")
            w.start(then)
            reached = self._block(child, at, within)
            end = w.block
            w.do(f"br label %{after}")
            w.start(after)
            if reached != at:
                at = w.let(f"phi ptr [ {at}, %{before} ], [ {reached}, %{end} ]")
        if block.stores is not None:
            for node in block.code.get(0, ()):
                w.compute(node)
            at = self._store(block.stores, at, mask)
        w.forget(mark)
        return at

    # -- one instance

    def _planes(self, index: int) -> list[int]:
        return changed_planes(self.program.instances[index], self.layout, self.lanes)

    def _store(self, index: int, at: str, mask: str) -> str:
        w, instance = self.writer, self.program.instances[index]
        updates = changes(instance)
        stored = {leaf: self._stored(leaf, node) for leaf, node in updates.items()}
        whole = mask
        for leaf in self.program.risky(instance):
            if leaf in updates:
                mask = w.let(f"and {self.mask} {mask}, {self._in_bounds(leaf, stored[leaf], whole)}")
        changed = self._planes(index)
        idle = None
        for place_, number in enumerate(changed):
            old = read_plane(w, "%planes", number)
            new = self._plane(number, old, updates, stored)
            self._put(place_, new)
            same = w.let(f"icmp eq {self.lanes.number} {new}, {old}")
            idle = same if idle is None else w.let(f"and {self.lanes.flag} {idle}, {same}")
        unwanted = self._wide(self._bits(idle)) if idle is not None else "-1"
        thin = w.let(f"and i64 {unwanted}, %thin")
        left_out = w.let(f"or i64 {thin}, {self._wide(self._asleep(index))}")
        keep = w.let(f"and i64 {self._wide(mask)}, {w.let(f'xor i64 {left_out}, -1')}")
        first = w.let(f"or i64 %origin, {index}")
        end = w.let(
            f"call ptr @records(ptr {at}, i64 {keep}, ptr %words, ptr %fresh, ptr {self._places(changed)},"
            f" i64 {len(changed)}, i64 {first})"
        )
        self._flags(index, mask, at, end)
        return end

    def _places(self, changed: list[int]) -> str:
        """Return the name of a constant with the numbers of these planes."""
        name = f"@planes.{self.number}.{'.'.join(map(str, changed))}"
        self.constants[name] = (
            f"{name} = internal constant [{len(changed)} x i64] [{', '.join(f'i64 {k}' for k in changed)}]"
        )
        return name

    def _stored(self, leaf: int, node: DagNode) -> str:
        """Return a leaf's new value relative to the leaf's lower bound, as it is stored."""
        lo = self.program.leaves[leaf].lo
        if node.is_const:
            return self.lanes.const(node.lo - lo)
        name = self.writer.number(node)
        return self.writer.let(f"sub {self.lanes.number} {name}, {self.lanes.const(lo)}") if lo else name

    def _in_bounds(self, leaf: int, stored: str, mask: str) -> str:
        """Return the lanes of a mask in which a value fits its leaf; count the others as overflows."""
        w, bounds = self.writer, self.program.leaves[leaf]
        fits = self._bits(w.let(f"icmp ule {self.lanes.number} {stored}, {self.lanes.const(bounds.hi - bounds.lo)}"))
        inside = w.let(f"and {self.mask} {mask}, {fits}")
        self._count(self.counters.overflow(leaf), w.let(f"xor {self.mask} {mask}, {inside}"))
        return inside

    def _plane(self, number: int, old: str, updates: dict[int, DagNode], stored: dict[int, str]) -> str:
        """Return a plane with the new values of the leaves in it."""
        w, lanes = self.writer, self.lanes
        mask, leaves = plane_parts(number, updates, self.layout, lanes)
        parts = []
        for leaf, shift in leaves:
            word = f"{'shl' if shift > 0 else 'lshr'} {lanes.number} {stored[leaf]}, {lanes.const(abs(shift))}"
            parts.append(w.let(word) if shift else stored[leaf])
        result = w.let(f"and {lanes.number} {old}, {lanes.const(mask)}") if mask else parts.pop()
        for part in parts:
            result = w.let(f"or {lanes.number} {result}, {part}")
        return result

    def _put(self, place_: int, vector: str) -> None:
        w = self.writer
        where = w.let(f"getelementptr {self.lanes.number}, ptr %fresh, i64 {place_}")
        w.do(f"store {self.lanes.number} {vector}, ptr {where}, align {self.lanes.bytes}")

    def _asleep(self, index: int) -> str:
        """Return the lanes in which an instance is asleep (`independence`)."""
        w, lanes = self.writer, self.lanes
        plane = read_plane(w, "%asleep", index // lanes.bits)
        bit = w.let(f"and {lanes.number} {plane}, {lanes.const(1 << index % lanes.bits)}")
        return self._bits(w.let(f"icmp ne {lanes.number} {bit}, zeroinitializer"))

    # -- step checks

    def _flags(self, index: int, mask: str, at: str, end: str) -> None:
        """Note the step checks that are hit in a lane of the mask, in `seen` and in the records at..end.

        Hits are rare, so all checks share a branch.
        """
        w = self.writer
        always, undecided = step_hits(self.program, self.program.instances[index])
        sometimes = [(check, w.hit(node, value)) for check, node, value in undecided]
        if not always and not sometimes:
            return
        some = mask
        if not always:
            total = sometimes[0][1]
            for _, flag in sometimes[1:]:
                total = w.let(f"or {self.lanes.flag} {total}, {flag}")
            some = w.let(f"and {self.mask} {mask}, {self._bits(total)}")
        hit_label, after = w.new_label("found"), w.new_label("after")
        w.do(f"br i1 {w.let(f'icmp ne {self.mask} {some}, 0')}, label %{hit_label}, label %{after}, !prof !0")
        w.start(hit_label)
        for check, flag in [*((check, "") for check in always), *sometimes]:
            lanes = self._wide(w.let(f"and {self.mask} {mask}, {self._bits(flag)}") if flag else mask)
            word, bit = divmod(check, 64)
            w.do(f"call void @flag(ptr {at}, ptr {end}, i64 {lanes}, i64 %position, ptr %seen, i64 {word}, i64 {bit})")
        w.do(f"br label %{after}")
        w.start(after)
