"""State checks and value statistics over ranges of stored states, as LLVM IR.

    void @check(ptr states, i64 first, i64 last, ptr out, i64 step)

evaluates all state checks. Unlike guards they are needed on every state, without early exits, so they
run on many states in parallel: one vector lane per state, with lanes as narrow as the intervals of the
nodes allow (usually 16 states in 256 bits). Block b of `lanes` states ORs one word per check into `out`,
at (b * step * checks + check): bit k is set if the block's k-th state hits. With step 0 all blocks share
one group of words, which shows only whether a check was hit; with step 1 every block has its own words,
so hits can be attributed to states. The last block repeats the last state to fill its lanes.

    void @values(ptr states, i64 first, i64 last, ptr seen)

ORs, for every leaf of at most NARROW bits, the set of its stored values as a bit mask into `seen`.

To read leaves, the words of a block are first cut into lane-wide pieces; a leaf is then a shift and a mask
of one or two pieces.
"""

from __future__ import annotations

from elrcheck.explorer.kernel.emit import Lanes, Writer
from elrcheck.explorer.kernel.word_layout import Layout
from elrcheck.lang.lowering.nodes import Node, cone
from elrcheck.lang.lowering.program import Program

VECTOR_BITS = 256
WORD_LANES = Lanes(64, VECTOR_BITS // 64)
NARROW = 6
LEAVES_AT_ONCE = 6


def state_checks(program: Program) -> list[int]:
    """Return the indices of the state checks, in the order of the words of @check."""
    return [index for index, check in enumerate(program.checks) if check.scope == "state"]


def choose_lanes(program: Program) -> Lanes:
    """Choose the narrowest integers that hold every value the state checks compute."""
    lo, hi = 0, 1
    for node in cone(_nodes(program)):
        lo, hi = min(lo, node.lo), max(hi, node.hi)
    for bits in (16, 32):
        if -(1 << bits - 1) <= lo and hi < 1 << bits - 1:
            return Lanes(bits, VECTOR_BITS // bits)
    return WORD_LANES


def _nodes(program: Program) -> list[Node]:
    return [check.node for check in program.checks if check.node is not None]


def check_function(program: Program, layout: Layout) -> str:
    """Return the IR of @check."""
    return _Checks(program, layout).text()


class _Checks:
    def __init__(self, program: Program, layout: Layout) -> None:
        self.program = program
        self.layout = layout
        self.lanes = choose_lanes(program)
        self.writer = Writer(self.lanes, self._leaf)
        self.pieces: dict[tuple[int, int], str] = {}
        self.words: dict[int, str] = {}

    def text(self) -> str:
        checks = state_checks(self.program)
        w, lanes = self.writer, self.lanes
        w.lines += [
            "define void @check(ptr noalias %states, i64 %first, i64 %last, ptr noalias %out, i64 %step) {",
            "entry:",
            "  %any = icmp ult i64 %first, %last",
            "  %end = sub i64 %last, 1",
            f"  %stride = mul i64 %step, {len(checks)}",
            "  br i1 %any, label %block, label %done",
            "block:",
            "  %i = phi i64 [ %first, %entry ], [ %i1, %block ]",
            "  %to = phi ptr [ %out, %entry ], [ %to1, %block ]",
        ]
        nodes = _nodes(self.program)
        for word in sorted({self.layout.slots[n.leaf].word for n in cone(nodes) if n.op == "var"}):
            self._load(word)
        for node in cone(nodes):
            if node.op not in ("const", "not"):
                w.compute(node)
        for place, index in enumerate(checks):
            self._record(place, index)
        w.lines += [
            "  %to1 = getelementptr i64, ptr %to, i64 %stride",
            f"  %i1 = add i64 %i, {lanes.count}",
            "  %more = icmp ult i64 %i1, %last",
            "  br i1 %more, label %block, label %done",
            "done:",
            "  ret void",
            "}",
        ]
        return "\n".join(w.lines)

    def _load(self, word: int) -> None:
        """Load one word of every state in the block, as a vector of i64."""
        w, kind = self.writer, f"<{self.lanes.count} x i64>"
        vector = "poison"
        for lane in range(self.lanes.count):
            ahead = w.let(f"add i64 %i, {lane}")
            row = w.let(f"call i64 @llvm.umin.i64(i64 {ahead}, i64 %end)")
            start = w.let(f"mul i64 {row}, {self.layout.words}")
            at = w.let(f"add i64 {start}, {word}")
            value = w.let(f"load i64, ptr {w.let(f'getelementptr i64, ptr %states, i64 {at}')}, align 8")
            vector = w.let(f"insertelement {kind} {vector}, i64 {value}, i32 {lane}")
        self.words[word] = vector

    def _piece(self, word: int, number: int) -> str:
        """Return a lane-wide piece of a word; pieces are numbered from the low end."""
        found = self.pieces.get((word, number))
        if found is None:
            w, kind = self.writer, f"<{self.lanes.count} x i64>"
            found = self.words[word]
            if number:
                amount = Lanes(64, self.lanes.count).const(number * self.lanes.bits)
                found = w.let(f"lshr {kind} {found}, {amount}")
            if self.lanes.bits < 64:
                found = w.let(f"trunc {kind} {found} to {self.lanes.number}")
            self.pieces[word, number] = found
        return found

    def _leaf(self, w: Writer, leaf: int) -> str:
        slot, lanes = self.layout.slots[leaf], self.lanes
        number, shift = divmod(slot.shift, lanes.bits)
        value = self._piece(slot.word, number)
        if shift:
            value = w.let(f"lshr {lanes.number} {value}, {lanes.const(shift)}")
        if shift + slot.bits > lanes.bits:
            above = self._piece(slot.word, number + 1)
            moved = w.let(f"shl {lanes.number} {above}, {lanes.const(lanes.bits - shift)}")
            value = w.let(f"or {lanes.number} {value}, {moved}")
        if shift + slot.bits != lanes.bits:
            value = w.let(f"and {lanes.number} {value}, {lanes.const(slot.mask)}")
        return w.let(f"add {lanes.number} {value}, {lanes.const(slot.lo)}") if slot.lo else value

    def _record(self, place: int, index: int) -> None:
        """OR the lanes that hit a check into its word."""
        w, check, count = self.writer, self.program.checks[index], self.lanes.count
        assert check.node is not None
        if check.node.is_const and check.node.lo != check.hit_value:
            return
        hit = w.flag(check.node) if check.hit_value else w.negate(w.flag(check.node))
        bits = w.let(f"bitcast {self.lanes.flag} {hit} to i{count}")
        wide = w.let(f"zext i{count} {bits} to i64")
        where = w.let(f"getelementptr i64, ptr %to, i64 {place}")
        old = w.let(f"load i64, ptr {where}, align 8")
        w.do(f"store i64 {w.let(f'or i64 {old}, {wide}')}, ptr {where}, align 8")


def values_function(layout: Layout) -> str:
    """Return the IR of @values: several states in parallel, few leaves at a time to stay in registers."""
    narrow = [leaf for leaf, slot in enumerate(layout.slots) if 0 < slot.bits <= NARROW]
    narrow.sort(key=lambda leaf: layout.slots[leaf].word)
    groups = [narrow[k : k + LEAVES_AT_ONCE] for k in range(0, len(narrow), LEAVES_AT_ONCE)]
    lines = [
        "define void @values(ptr noalias %states, i64 %first, i64 %last, ptr noalias %seen) {",
        "entry:",
        "  %any = icmp ult i64 %first, %last",
        "  %end = sub i64 %last, 1",
        "  br i1 %any, label %done0, label %return",
    ]
    for number, group in enumerate(groups):
        lines += _values_loop(layout, number, group)
    lines += [f"done{len(groups)}:", "  br label %return", "return:", "  ret void", "}"]
    return "\n".join(lines)


def _values_loop(layout: Layout, g: int, group: list[int]) -> list[str]:
    """Emit the loop of one group of leaves over all states; the last states may be read twice."""
    lanes = WORD_LANES
    kind = lanes.number
    lines = [f"done{g}:", f"  br label %loop{g}", f"loop{g}:"]
    lines.append(f"  %i{g} = phi i64 [ %first, %done{g} ], [ %n{g}, %loop{g} ]")
    start = lanes.const(0)
    lines += [f"  %s{leaf} = phi {kind} [ {start}, %done{g} ], [ %u{leaf}, %loop{g} ]" for leaf in group]
    for lane in range(lanes.count):
        lines += [
            f"  %k{g}.{lane} = add i64 %i{g}, {lane}",
            f"  %r{g}.{lane} = call i64 @llvm.umin.i64(i64 %k{g}.{lane}, i64 %end)",
            f"  %a{g}.{lane} = mul i64 %r{g}.{lane}, {layout.words}",
            f"  %p{g}.{lane} = getelementptr i64, ptr %states, i64 %a{g}.{lane}",
        ]
    for word in sorted({layout.slots[leaf].word for leaf in group}):
        vector = "poison"
        for lane in range(lanes.count):
            name = f"{g}.{word}.{lane}"
            lines += [
                f"  %q{name} = getelementptr i64, ptr %p{g}.{lane}, i64 {word}",
                f"  %l{name} = load i64, ptr %q{name}, align 8",
                f"  %w{name} = insertelement {kind} {vector}, i64 %l{name}, i32 {lane}",
            ]
            vector = f"%w{name}"
    for leaf in group:
        slot = layout.slots[leaf]
        lines += [
            f"  %x{leaf} = lshr {kind} %w{g}.{slot.word}.{lanes.count - 1}, {lanes.const(slot.shift)}",
            f"  %v{leaf} = and {kind} %x{leaf}, {lanes.const(slot.mask)}",
            f"  %b{leaf} = shl {kind} {lanes.const(1)}, %v{leaf}",
            f"  %u{leaf} = or {kind} %s{leaf}, %b{leaf}",
        ]
    lines += [
        f"  %n{g} = add i64 %i{g}, {lanes.count}",
        f"  %m{g} = icmp ult i64 %n{g}, %last",
        f"  br i1 %m{g}, label %loop{g}, label %store{g}",
        f"store{g}:",
    ]
    for leaf in group:
        lines += [
            f"  %z{leaf} = call i64 @llvm.vector.reduce.or.{lanes.suffix}({kind} %u{leaf})",
            f"  %y{leaf} = getelementptr i64, ptr %seen, i64 {leaf}",
            f"  %o{leaf} = load i64, ptr %y{leaf}, align 8",
            f"  %t{leaf} = or i64 %o{leaf}, %z{leaf}",
            f"  store i64 %t{leaf}, ptr %y{leaf}, align 8",
        ]
    return [*lines, f"  br label %done{g + 1}"]
