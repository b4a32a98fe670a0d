"""The expansion function: the successors of a range of states, as LLVM IR.

    i64 @expand(ptr states, i64 first, i64 last, ptr out, ptr counters, ptr fired)

writes one record per successor inside the bound and returns the number of records; fired[k] becomes the
number of instances enabled in state first + k. A record is the packed state, a word with the position of
the predecessor (state - first) above the instance number, and one word per 64 step checks with a bit for
every check that the transition hits. `counters` is an array of i64 that is only added to; `Counters` is
its layout. The function knows nothing about visited states, so all callers use it alike.

`out` needs room for (last - first) * instances records.

Shape: the instances are divided into groups, each a function that loops over all states; this keeps the
functions small for the compiler and the working set of code small for the processor. The body of a
group's loop is the tree of `guard_trie`, one basic block per block, with the output pointer and the number
of enabled transitions threaded through as phi nodes. Only the words that an instance changes are rebuilt,
and a new value is compared with its leaf's bounds only if its interval does not already lie inside them.
The overflow code is out of line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from elrcheck.explorer.kernel.emit import Lanes, Writer
from elrcheck.explorer.kernel.guard_trie import Block, build_tree, place
from elrcheck.explorer.kernel.word_layout import Layout
from elrcheck.lang.lowering.nodes import Node, cone
from elrcheck.lang.lowering.program import Instance, Program

ALL_ONES = (1 << 64) - 1
INSTANCE_BITS = 16
GROUP_NODES = 2500
BRANCH_WEIGHTS = '!0 = !{!"branch_weights", i32 1, i32 2000}'


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


@dataclass(frozen=True)
class Record:
    """Layout of one successor record, in 64-bit words."""

    words: int
    flag_words: int

    @property
    def origin(self) -> int:
        return self.words

    @property
    def size(self) -> int:
        return self.words + 1 + self.flag_words


def flag_words(program: Program) -> int:
    """Return the number of words of step flags in a record."""
    return (len(program.checks) + 63) // 64 if any(check.scope == "step" for check in program.checks) else 0


def expand_functions(program: Program, layout: Layout) -> tuple[str, list[str]]:
    """Return the IR of @expand and of the functions it calls, one per group of instances."""
    groups = group_instances(program)
    size = Record(layout.words, flag_words(program)).size
    driver = _driver(len(groups), size)
    return driver, [_Group(program, layout, number, members).text() for number, members in enumerate(groups)]


def declared(number: int) -> str:
    """Return the declaration of a group's function, for modules that only call it."""
    return f"declare ptr @expand.{number}(ptr, i64, i64, ptr, ptr, ptr)"


def group_instances(program: Program) -> list[list[int]]:
    """Divide the instances into groups of neighbours, small enough to keep the code of each group small."""
    groups: list[list[int]] = []
    nodes: set[int] = set()
    for index, instance in enumerate(program.instances):
        roots = (
            *instance.guards,
            *instance.within,
            *instance.updates.values(),
            *instance.step_checks.values(),
        )
        mine = {node.id for node in cone(roots)}
        if not groups or len(nodes | mine) > GROUP_NODES:
            groups.append([])
            nodes = set()
        groups[-1].append(index)
        nodes |= mine
    return groups


def _driver(groups: int, size: int) -> str:
    """Return @expand: it runs every group over the same states in turn, then counts deadlocks."""
    lines = [
        "define i64 @expand(ptr noalias %states, i64 %first, i64 %last, ptr noalias %out,"
        " ptr noalias %counters, ptr noalias %fired) {",
        "entry:",
        "  %count = sub i64 %last, %first",
        "  %any = icmp sgt i64 %count, 0",
        "  br i1 %any, label %clear, label %empty",
        "empty:",
        "  ret i64 0",
        "clear:",
        "  %k = phi i64 [ 0, %entry ], [ %k1, %clear ]",
        "  %mark = getelementptr i64, ptr %fired, i64 %k",
        "  store i64 0, ptr %mark, align 8",
        "  %k1 = add i64 %k, 1",
        "  %more = icmp slt i64 %k1, %count",
        "  br i1 %more, label %clear, label %groups",
        "groups:",
    ]
    at = "%out"
    for number in range(groups):
        lines.append(
            f"  %at{number} = call ptr @expand.{number}(ptr %states, i64 %first, i64 %last, ptr {at},"
            " ptr %counters, ptr %fired)"
        )
        at = f"%at{number}"
    lines += [
        "  br label %dead",
        "dead:",
        "  %d = phi i64 [ 0, %groups ], [ %d1, %dead ]",
        "  %total = phi i64 [ 0, %groups ], [ %total1, %dead ]",
        "  %fired.p = getelementptr i64, ptr %fired, i64 %d",
        "  %n = load i64, ptr %fired.p, align 8",
        "  %none = icmp eq i64 %n, 0",
        "  %one = zext i1 %none to i64",
        "  %total1 = add i64 %total, %one",
        "  %d1 = add i64 %d, 1",
        "  %again = icmp slt i64 %d1, %count",
        "  br i1 %again, label %dead, label %done",
        "done:",
        "  %old = load i64, ptr %counters, align 8",
        "  %new = add i64 %old, %total1",
        "  store i64 %new, ptr %counters, align 8",
        "  %out.int = ptrtoint ptr %out to i64",
        f"  %at.int = ptrtoint ptr {at} to i64",
        "  %bytes = sub i64 %at.int, %out.int",
        f"  %records = udiv exact i64 %bytes, {8 * size}",
        "  ret i64 %records",
        "}",
    ]
    return "\n".join(lines)


class _Group:
    """The function of a group: its instances over a range of states; returns the pointer past its records."""

    def __init__(self, program: Program, layout: Layout, number: int, members: list[int]) -> None:
        self.program = program
        self.layout = layout
        self.number = number
        self.members = members
        self.record = Record(layout.words, flag_words(program))
        self.counters = Counters(len(program.instances), len(program.leaves))
        self.writer = Writer(Lanes(), self._leaf)
        self.cold: list[str] = []

    def text(self) -> str:
        root = build_tree(self.program, self.members)
        place(root, lambda index: self._outputs(self.program.instances[index]))
        w, words = self.writer, self.layout.words
        w.lines += [
            f"define ptr @expand.{self.number}(ptr noalias %states, i64 %first, i64 %last,"
            " ptr noalias %out, ptr noalias %counters, ptr noalias %fired) noinline {",
            "entry:",
            "  br label %state",
            "state:",
            "  %i = phi i64 [ %first, %entry ], [ %i.next, %next ]",
            "  %at = phi ptr [ %out, %entry ], [ AT, %next ]",
            f"  %offset = mul i64 %i, {words}",
            "  %source = sub i64 %i, %first",
            f"  %origin = shl i64 %source, {INSTANCE_BITS}",
        ]
        for k in range(words):
            w.lines += [
                f"  %o{k} = add i64 %offset, {k}",
                f"  %p{k} = getelementptr i64, ptr %states, i64 %o{k}",
                f"  %w{k} = load i64, ptr %p{k}, align 8",
            ]
        w.block = "state"
        at, enabled = self._block(root, "%at", "0")
        w.lines = [line.replace("[ AT,", f"[ {at},") if "[ AT," in line else line for line in w.lines]
        w.lines += [
            "  br label %next",
            "next:",
            "  %fired.p = getelementptr i64, ptr %fired, i64 %source",
            "  %fired.old = load i64, ptr %fired.p, align 8",
            f"  %fired.new = add i64 %fired.old, {enabled}",
            "  store i64 %fired.new, ptr %fired.p, align 8",
            "  %i.next = add i64 %i, 1",
            "  %more = icmp slt i64 %i.next, %last",
            "  br i1 %more, label %state, label %done",
            "done:",
            f"  ret ptr {at}",
        ]
        return "\n".join([*w.lines, *self.cold, "}"])

    def _leaf(self, writer: Writer, leaf: int) -> str:
        slot = self.layout.slots[leaf]
        name = f"%w{slot.word}"
        if slot.shift:
            name = writer.let(f"lshr i64 {name}, {slot.shift}")
        if slot.shift + slot.bits < 64:
            name = writer.let(f"and i64 {name}, {slot.mask}")
        return writer.let(f"add i64 {name}, {slot.lo}") if slot.lo else name

    def _changes(self, instance: Instance) -> dict[int, Node]:
        """Return the updates that change the value of a leaf."""
        return {
            leaf: node
            for leaf, node in sorted(instance.updates.items())
            if not (node.op == "var" and node.leaf == leaf)
        }

    def _outputs(self, instance: Instance) -> Iterable[Node]:
        yield from self._changes(instance).values()
        yield from instance.step_checks.values()

    # -- blocks

    def _block(self, block: Block, at: str, enabled: str) -> tuple[str, str]:
        """Emit a block; return the names of the output pointer and the enabled count after it."""
        w = self.writer
        mark = w.mark()
        if block.enters is not None:
            self._count(self.counters.enabled(block.enters), "1")
            enabled = w.let(f"add i64 {enabled}, 1")
            if not block.children:
                self._count(self.counters.cut(block.enters), "1")
        for item in range(len(block.children)):
            for node in block.code.get(item, ()):
                w.compute(node)
            child = block.children[item]
            if not child.conditions:
                at, enabled = self._block(child, at, enabled)
                continue
            holds = w.all_of([w.flag(node) for node in child.conditions])
            inside, after = w.new_label("then"), w.new_label("after")
            missed = w.new_label("cut") if block.enters is not None else after
            before = w.block
            w.do(f"br i1 {holds}, label %{inside}, label %{missed}")
            if missed != after:
                assert block.enters is not None
                w.start(missed)
                self._count(self.counters.cut(block.enters), "1")
                w.do(f"br label %{after}")
                before = missed
            w.start(inside)
            at_inside, enabled_inside = self._block(child, at, enabled)
            end = w.block
            w.do(f"br label %{after}")
            w.start(after)
            at = self._phi("ptr", (at, before), (at_inside, end))
            enabled = self._phi("i64", (enabled, before), (enabled_inside, end))
        if block.stores is not None:
            for node in block.code.get(0, ()):
                w.compute(node)
            at = self._store(block.stores, at)
        w.forget(mark)
        return at, enabled

    def _phi(self, kind: str, first: tuple[str, str], second: tuple[str, str]) -> str:
        if first[0] == second[0]:
            return first[0]
        return self.writer.let(f"phi {kind} [ {first[0]}, %{first[1]} ], [ {second[0]}, %{second[1]} ]")

    def _count(self, place_: int, amount: str) -> None:
        w = self.writer
        where = w.let(f"getelementptr i64, ptr %counters, i64 {place_}")
        old = w.let(f"load i64, ptr {where}, align 8")
        new = w.let(f"add i64 {old}, {amount}")
        w.do(f"store i64 {new}, ptr {where}, align 8")

    # -- one successor

    def _store(self, index: int, at: str) -> str:
        w, instance = self.writer, self.program.instances[index]
        changes = self._changes(instance)
        stored = {leaf: self._stored(leaf, node) for leaf, node in changes.items()}
        risky = [leaf for leaf in self.program.risky(instance) if leaf in changes]
        before = after = ""
        if risky:
            before, after = self._check_bounds(risky, stored)
        for word in range(self.layout.words):
            self._put(at, word, self._word(word, changes, stored))
        self._put(at, self.record.origin, w.let(f"or i64 %origin, {index}"))
        for k in range(self.record.flag_words):
            self._put(at, self.record.origin + 1 + k, self._flags(instance, k))
        following = w.let(f"getelementptr i64, ptr {at}, i64 {self.record.size}")
        if not risky:
            return following
        end = w.block
        w.do(f"br label %{after}")
        w.start(after)
        return self._phi("ptr", (at, before), (following, end))

    def _stored(self, leaf: int, node: Node) -> str:
        """Return a leaf's new value relative to the leaf's lower bound, as it is stored."""
        lo = self.program.leaves[leaf].lo
        if node.is_const:
            return str(node.lo - lo)
        name = self.writer.number(node)
        return self.writer.let(f"sub i64 {name}, {lo}") if lo else name

    def _check_bounds(self, risky: list[int], stored: dict[int, str]) -> tuple[str, str]:
        """Branch to out-of-line code if a value does not fit; return that code's last label and the join."""
        w = self.writer
        wrong = []
        for leaf in risky:
            bounds = self.program.leaves[leaf]
            wrong.append(w.let(f"icmp ugt i64 {stored[leaf]}, {bounds.hi - bounds.lo}"))
        any_wrong = wrong[0]
        for flag in wrong[1:]:
            any_wrong = w.let(f"or i1 {any_wrong}, {flag}")
        fits, dropped, after = w.new_label("fits"), w.new_label("dropped"), w.new_label("after")
        w.do(f"br i1 {any_wrong}, label %{dropped}, label %{fits}, !prof !0")
        hot, w.lines = w.lines, []
        w.start(dropped)
        for leaf, flag in zip(risky, wrong, strict=True):
            self._count(self.counters.overflow(leaf), w.let(f"zext i1 {flag} to i64"))
        w.do(f"br label %{after}")
        self.cold += w.lines
        w.lines = hot
        w.start(fits)
        return dropped, after

    def _word(self, word: int, changes: dict[int, Node], stored: dict[int, str]) -> str:
        """Return one word of the successor."""
        w = self.writer
        changed = [
            leaf for leaf in changes if self.layout.slots[leaf].word == word and self.layout.slots[leaf].bits
        ]
        if not changed:
            return f"%w{word}"
        kept, constant, parts = ALL_ONES, 0, []
        for leaf in changed:
            slot = self.layout.slots[leaf]
            kept &= ~(slot.mask << slot.shift)
            if changes[leaf].is_const:
                # The bounds check drops a constant out of range; its bits must not reach other leaves.
                constant |= (int(stored[leaf]) & slot.mask) << slot.shift
            else:
                parts.append(w.let(f"shl i64 {stored[leaf]}, {slot.shift}") if slot.shift else stored[leaf])
        result = w.let(f"and i64 %w{word}, {_signed(kept)}")
        for part in parts:
            result = w.let(f"or i64 {result}, {part}")
        return w.let(f"or i64 {result}, {_signed(constant)}") if constant else result

    def _put(self, at: str, word: int, value: str) -> None:
        where = self.writer.let(f"getelementptr i64, ptr {at}, i64 {word}") if word else at
        self.writer.do(f"store i64 {value}, ptr {where}, align 8")

    def _flags(self, instance: Instance, word: int) -> str:
        """Return the flag bits of the step checks from 64 * word on that the transition hits."""
        w = self.writer
        constant, result = 0, ""
        for index in self.program.hits_without_node(instance):
            if index // 64 == word:
                constant |= 1 << index % 64
        for index, node in sorted(instance.step_checks.items()):
            if index // 64 != word:
                continue
            hit = self.program.checks[index].hit_value
            if node.is_const:
                constant |= int(node.lo == hit) << index % 64
                continue
            flag = w.flag(node) if hit else w.negate(w.flag(node))
            part = w.let(f"zext i1 {flag} to i64")
            part = w.let(f"shl i64 {part}, {index % 64}") if index % 64 else part
            result = w.let(f"or i64 {result}, {part}") if result else part
        if not result:
            return str(_signed(constant))
        return w.let(f"or i64 {result}, {_signed(constant)}") if constant else result


def _signed(value: int) -> int:
    """Return a 64-bit pattern as the signed number that LLVM prints."""
    return value - (1 << 64) if value >> 63 else value
