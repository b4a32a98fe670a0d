"""The expansion function: the successors of a range of states, as LLVM IR.

    i64 @expand(ptr states, i64 first, i64 last, ptr out, ptr counters, ptr fired, ptr seen,
                ptr credits, i64 thin)

writes one record per successor inside the bound and returns the number of records; fired[k] becomes the
number of instances enabled in state first + k, unless `fired` is null. A record is the packed state, a word
with the position of the predecessor (state - first) above the instance number, and one word per 64 step
checks with a bit for every check that the transition hits; `seen` has as many words, into which all of them
are ORed. `counters` is an array of i64 that is only added to; `Counters` is its layout. The function knows
nothing about visited states, so all callers use it alike.

With thin = -1 instead of 0, successors equal to their state are left out. With `credits`, an array of the
instance credited with each state, so are successors that another order of the same steps reaches
(`independence`). Neither changes `counters` or `seen`.

`out` needs room for (last - first) * instances records.

Shape: states are taken a block at a time, one vector lane per state (`planes_ir`). The instances are
divided into groups, each a function over one block (`group_ir`); this keeps the functions small for the
compiler.
"""

from __future__ import annotations

from collections.abc import Sequence

from elrcheck.explorer.kernel.check_ir import check_nodes
from elrcheck.explorer.kernel.emit import Lanes, copy_row
from elrcheck.explorer.kernel.group_ir import ARGUMENTS, InstanceGroup
from elrcheck.explorer.kernel.ir_text import ir
from elrcheck.explorer.kernel.planes_ir import narrowest, plane_functions, vector_bits
from elrcheck.explorer.kernel.record_ir import RecordLayout, flag_words, record_functions
from elrcheck.explorer.kernel.word_layout import WordLayout
from elrcheck.lang.lowering.independence import asleep, changes
from elrcheck.lang.lowering.nodes import DagNode, cone
from elrcheck.lang.lowering.program import Program

GROUP_NODES = 2500
SMALL = 750
"""A program with at most this many nodes compiles in 0.4 s (measured)."""
INSTANCE_NODES = 10
"""The code of an instance, apart from its nodes, is as large as that of this many nodes."""
BRANCH_WEIGHTS = '!0 = !{!"branch_weights", i32 1, i32 2000}'
DECLARED = """declare ptr @records(ptr, i64, ptr, ptr, ptr, i64, i64)
declare void @flag(ptr, ptr, i64, i64, ptr, i64, i64)
declare void @enter(ptr, i64, ptr, ptr)"""
"""Declarations of what groups call, for modules that do not define it."""


def kernel_lanes(program: Program, vector: int | None = None) -> Lanes:
    """Return lanes that hold the value of every node, and of a stored one also minus its leaf's lower bound.

    vector: bits of a vector, by default of this processor.
    """
    bounds = [(node.lo, node.hi) for node in _nodes(program)]
    bounds += [(0, leaf.hi - leaf.lo) for leaf in program.leaves]
    for instance in program.instances:
        for leaf, node in changes(instance).items():
            lower = program.leaves[leaf].lo
            bounds.append((node.lo - lower, node.hi - lower))
    lo, hi = min((lo for lo, _ in bounds), default=0), max((hi for _, hi in bounds), default=1)
    return narrowest(lo, hi, vector or vector_bits())


def is_small(program: Program) -> bool:
    """Return whether the optimised kernel of a program compiles in about the time of a quick one."""
    return INSTANCE_NODES * len(program.instances) <= SMALL and program_size(program) <= SMALL


def program_size(program: Program) -> int:
    """Return the approximate number of nodes to compile."""
    return INSTANCE_NODES * len(program.instances) + len(_nodes(program))


def _nodes(program: Program) -> Sequence[DagNode]:
    roots = [node for instance in program.instances for node in instance.nodes]
    return cone([*roots, *check_nodes(program)])


def expand_functions(program: Program, layout: WordLayout, lanes: Lanes) -> tuple[str, list[str]]:
    """Return the IR of @expand and its helpers, and that of each group's function."""
    groups = group_instances(program)
    texts = [InstanceGroup(program, layout, lanes, number, members).text() for number, members in enumerate(groups)]
    return expand_driver(program, layout, lanes, len(groups)), texts


def expand_driver(program: Program, layout: WordLayout, lanes: Lanes, groups: int) -> str:
    """Return the IR of @expand, which calls the functions of `groups` groups, and of the helpers of all."""
    parts = [
        plane_functions(layout.words, lanes),
        record_functions(RecordLayout(layout.words, flag_words(program)), lanes),
        ir("expand.enter"),
        _asleep_table(program, lanes),
        _driver(program, layout.words, lanes, groups),
    ]
    return "\n".join(parts)


def declared(number: int) -> str:
    """Return the declaration of a group's function, for modules that only call it."""
    kinds = ", ".join(part.split()[0] for part in ARGUMENTS.split(", "))
    return f"declare ptr @expand.{number}({kinds})"


def group_instances(program: Program) -> list[list[int]]:
    """Divide the instances into groups of neighbours, small enough to keep the code of each group small."""
    groups: list[list[int]] = []
    nodes: set[int] = set()
    for index, instance in enumerate(program.instances):
        mine = {node.id for node in cone(instance.nodes)}
        if not groups or len(nodes | mine) > GROUP_NODES:
            groups.append([])
            nodes = set()
        groups[-1].append(index)
        nodes |= mine
    return groups


def _asleep_words(program: Program) -> int:
    return max(1, -(-len(program.instances) // 64))


def _asleep_table(program: Program, lanes: Lanes) -> str:
    """Return two constants: for each instance a mask of those it puts to sleep, and planes in which none sleeps."""
    words = _asleep_words(program)
    masks = asleep(program) or [0]
    numbers = ", ".join(f"i64 {_signed(mask >> 64 * k & (1 << 64) - 1)}" for mask in masks for k in range(words))
    return (
        f"@asleep = internal constant [{len(masks) * words} x i64] [{numbers}], align 64\n"
        f"@awake = internal constant [{8 * words * lanes.count} x i8] zeroinitializer, align 64"
    )


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _driver(program: Program, words: int, lanes: Lanes, groups: int) -> str:
    """Return @expand: for every block, it cuts the states into planes and runs every group over them."""
    count, sleep_words = lanes.count, _asleep_words(program)
    size = RecordLayout(words, flag_words(program)).size
    rows = copy_row(sleep_words, "mark", "%a.row", "%a.to", target_step=count)
    calls, at = "", "%at"
    for number in range(groups):
        calls += f"""
  %at{number} = call ptr @expand.{number}(ptr %words, ptr %planes, ptr %sleeping, i64 %valid,
    i64 %position, i64 %thin, ptr {at}, ptr %counters, ptr %seen, ptr %any, ptr %mine)"""
        at = f"%at{number}"
    return ir(
        "expand.expand",
        block_words=words * count,
        words=words,
        marks=sleep_words * count,
        at=at,
        sleep_words=sleep_words,
        rows=rows,
        lanes=count,
        calls=calls,
        record_bytes=8 * size,
    )
