"""State checks and value statistics over ranges of stored states, as LLVM IR.

    void @check(ptr states, i64 first, i64 last, ptr out, i64 step)

evaluates all state checks on every state. Block b of states (`planes_ir`) ORs one word per check into `out`,
at (b * step * checks + check): bit k is set if the block's k-th state hits. With step 0 all blocks share one
group of words, which shows only whether a check was hit; with step 1 every block has its own words, so hits
can be attributed to states. The last block repeats the last state to fill its lanes.

    void @values(ptr states, i64 first, i64 last, ptr seen)

ORs, for every leaf of at most NARROW bits, the set of its stored values as a bit mask into `seen`. A lane
has room for as many values as it has bits, so some leaves need several vectors, which stay in memory until
the last block is done.
"""

from __future__ import annotations

from elrcheck.explorer.kernel.emit import Lanes, Writer
from elrcheck.explorer.kernel.ir_text import ir
from elrcheck.explorer.kernel.planes_ir import plane_writer, read_stored
from elrcheck.explorer.kernel.word_layout import WordLayout
from elrcheck.lang.lowering.nodes import DagNode, cone
from elrcheck.lang.lowering.program import Instance, Program

NARROW = 6


def state_checks(program: Program) -> list[int]:
    """Return the indices of the state checks, in the order of the words of @check."""
    return [index for index, check in enumerate(program.checks) if check.scope == "state"]


def check_nodes(program: Program) -> list[DagNode]:
    """Return the nodes of the state checks."""
    return [check.node for check in program.checks if check.node is not None]


def possible_hits(program: Program) -> list[tuple[int, DagNode, int]]:
    """Return (word of @check, node, value of a hit) for every state check that some state may hit."""
    checks = [check for check in program.checks if check.node is not None]
    return [
        (word, check.node, check.hit_value)
        for word, check in enumerate(checks)
        if check.node is not None and not (check.node.is_const and check.node.lo != check.hit_value)
    ]


def step_hits(program: Program, instance: Instance) -> tuple[list[int], list[tuple[int, DagNode, int]]]:
    """Return the step checks that every transition of an instance hits, and those that some may hit.

    The latter are given as (check, node, value of a hit).
    """
    always = sorted(program.hits_without_node(instance))
    sometimes: list[tuple[int, DagNode, int]] = []
    for check, node in sorted(instance.step_checks.items()):
        value = program.checks[check].hit_value
        if not node.is_const:
            sometimes.append((check, node, value))
        elif node.lo == value:
            always.append(check)
    return always, sometimes


def check_function(program: Program, layout: WordLayout, lanes: Lanes) -> str:
    """Return the IR of @check."""
    w = plane_writer(layout, lanes)
    for node in cone(check_nodes(program)):
        if node.op not in ("const", "not"):
            w.compute(node)
    for place, node, value in possible_hits(program):
        bits = w.let(f"bitcast {lanes.flag} {w.hit(node, value)} to i{lanes.count}")
        wide = w.let(f"zext i{lanes.count} {bits} to i64") if lanes.count < 64 else bits
        where = w.let(f"getelementptr i64, ptr %to, i64 {place}")
        old = w.let(f"load i64, ptr {where}, align 8")
        w.do(f"store i64 {w.let(f'or i64 {old}, {wide}')}, ptr {where}, align 8")
    return check_loop(len(check_nodes(program)), layout.words, lanes, "\n".join(w.lines))


def check_loop(checks: int, words: int, lanes: Lanes, body: str) -> str:
    """Return the IR of @check around `body`, which ORs the hits of the block in %planes into the words at %to."""
    room = words * lanes.count
    return ir("check.check", block_words=room, words=words, lanes=lanes.count, checks=checks, body=body)


def values_function(layout: WordLayout, lanes: Lanes) -> str:
    """Return the IR of @values."""
    low = lanes.bits.bit_length() - 1
    vector = lanes.number
    parts = [
        (leaf, part)
        for leaf, slot in enumerate(layout.slots)
        if 0 < slot.bits <= NARROW
        for part in range(1 << max(0, slot.bits - low))
    ]
    w = plane_writer(layout, lanes)
    marks: dict[int, tuple[str, str]] = {}
    for place, (leaf, part) in enumerate(parts):
        if leaf not in marks:
            marks[leaf] = _mark(w, layout.slots[leaf].bits, read_stored(w, layout, leaf), low)
        mark, high = marks[leaf]
        if high:
            here = w.let(f"icmp eq {vector} {high}, {lanes.const(part)}")
            mark = w.let(f"select {lanes.flag} {here}, {vector} {mark}, {vector} zeroinitializer")
        where = w.let(f"getelementptr {vector}, ptr %found, i64 {place}")
        old = w.let(f"load {vector}, ptr {where}, align {lanes.bytes}")
        w.do(f"store {vector} {w.let(f'or {vector} {old}, {mark}')}, ptr {where}, align {lanes.bytes}")
    return ir(
        "check.values",
        block_words=layout.words * lanes.count,
        words=layout.words,
        lanes=lanes.count,
        room=max(1, len(parts)),
        parts=len(parts),
        places=", ".join(f"i64 {leaf}" for leaf, _ in parts) or "i64 0",
        shifts=", ".join(f"i64 {part * lanes.bits}" for _, part in parts) or "i64 0",
        vector=vector,
        bytes=lanes.bytes,
        bits=lanes.bits,
        suffix=lanes.suffix,
        wide=f"zext i{lanes.bits} %some to i64" if lanes.bits < 64 else "or i64 %some, 0",
        body="\n".join(w.lines),
    )


def _mark(w: Writer, bits: int, value: str, low: int) -> tuple[str, str]:
    """Return 1 << (the low bits of a value), and its high bits; "" if it has no more than `low` bits."""
    lanes, high = w.lanes, ""
    if bits > low:
        high = w.let(f"lshr {lanes.number} {value}, {lanes.const(low)}")
        value = w.let(f"and {lanes.number} {value}, {lanes.const((1 << low) - 1)}")
    return w.let(f"shl {lanes.number} {lanes.const(1)}, {value}"), high
