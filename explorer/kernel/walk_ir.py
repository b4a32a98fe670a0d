"""Random walks, as LLVM IR.

    i64 @walk(ptr shared, ptr context)

advances a few dozen walks (lanes) by one step per round: it expands the states of all lanes together, draws
one successor for each lane, and evaluates the checks on the states reached. A walk that has reached its
depth, or has no step inside the bound, gives its lane to the next walk, whose number comes from a cursor
shared by all workers. The call ends after the given number of rounds and returns the number of lanes in use.

Randomness is a function of (seed, walk, step): a splitmix64 generator, seeded for every walk from a mix
of seed and walk number. Each successor gets a key, mixed from the random number of the step and the number
of the successor's instance, and the least key wins; so the order in which @expand emits successors does
not matter, nor does the choice of checks, which affects that order. The combined result of the walks
consists of sums, maxima and minima, so it depends neither on the number of workers nor on which worker
takes which walk.

A hit of a check is encoded as one number, the step in the bits above the walk number, so the minimum is
the first walk among those with the fewest steps. The sketch is a HyperLogLog: 2^14 bytes, each the greatest
position of the first set bit among the hashes that select it (`walk.py`).
"""

from __future__ import annotations

from elrcheck.explorer.kernel.check_ir import check_function
from elrcheck.explorer.kernel.emit import copy_row
from elrcheck.explorer.kernel.ir_text import ir
from elrcheck.explorer.kernel.kernel import KernelShapes, spread_modules
from elrcheck.explorer.kernel.record_ir import INSTANCE_BITS, RecordLayout
from elrcheck.explorer.kernel.walk_memory import (
    ENDED,
    GOLDEN,
    MIX_1,
    MIX_2,
    SKETCH_BITS,
    WALK_BITS,
    WalkContext,
    WalkShared,
)
from elrcheck.lang.lowering.program import Program


def walk_modules(program: Program, shapes: KernelShapes) -> list[str]:
    """Return the IR modules with @walk, @expand and @check."""
    words = shapes.layout.words
    functions = [
        check_function(program, shapes.layout, shapes.lanes),
        ir("walk.mix", mix_1=MIX_1, mix_2=MIX_2),
        _sketch(words),
        ir("walk.note", walk_bits=WALK_BITS),
        _refill(words),
        _choose(shapes.record),
        _look(len(shapes.state_checks), shapes.lanes.count),
        _walk(shapes.record),
    ]
    return spread_modules(program, shapes, functions)


def _sketch(words: int) -> str:
    """Return @sketch, which adds one row to the sketch."""
    rounds = []
    for k in range(words):
        before = f"%h{k - 1}" if k else "0"
        rounds += [
            f"  %p{k} = getelementptr i64, ptr %row, i64 {k}",
            f"  %w{k} = load i64, ptr %p{k}, align 8",
            f"  %x{k} = xor i64 %w{k}, {before}",
            f"  %y{k} = add i64 %x{k}, {GOLDEN}",
            f"  %h{k} = call i64 @mix(i64 %y{k})",
        ]
    return ir(
        "walk.sketch",
        rounds="\n".join(rounds),
        hash=f"%h{words - 1}",
        index_bits=SKETCH_BITS,
        index_shift=64 - SKETCH_BITS,
        guard=1 << SKETCH_BITS - 1,
    )


def _refill(words: int) -> str:
    """Return @refill: it starts new walks in lanes whose walk has ended, and drops lanes if none remain."""
    return ir(
        "walk.refill",
        WalkContext,
        WalkShared,
        ended=ENDED,
        words=words,
        golden=GOLDEN,
        copy_b=copy_row(words, "b", "%start", "%row"),
        copy_d=copy_row(words, "d", "%row2", "%row"),
    )


def _walk(record: RecordLayout) -> str:
    return ir("walk.walk", WalkContext, flag_words=max(1, record.flag_words))


def _choose(record: RecordLayout) -> str:
    """Return @choose, which picks one of `made` records for each lane; a lane without records has ended."""
    flags = "".join(_step_flags(record, k) for k in range(record.flag_words))
    return ir(
        "walk.choose",
        WalkContext,
        golden=GOLDEN,
        ended=ENDED,
        record_size=record.size,
        origin=record.origin,
        instance_bits=INSTANCE_BITS,
        instance_mask=(1 << INSTANCE_BITS) - 1,
        mix_2=MIX_2,
        words=record.words,
        copy_a=copy_row(record.words, "a", "%rec3", "%row3"),
        flags=flags,
    )


def _step_flags(record: RecordLayout, k: int) -> str:
    """Return the IR that records the step checks in one flag word of the chosen record."""
    return f"""
  %flags{k}.p = getelementptr i64, ptr %rec3, i64 {record.origin + 1 + k}
  %flags{k} = load i64, ptr %flags{k}.p, align 8
  call void @note_all(ptr %best, i64 {64 * k}, i64 %flags{k}, i64 %step3, i64 %walk3)"""


def _look(checks: int, width: int) -> str:
    """Return @look, which runs the state checks on every lane; checks hit at an earlier step are skipped."""
    return ir(
        "walk.look",
        WalkContext,
        rest=width - 1,
        width=width,
        checks=checks,
        ended=ENDED,
        divisor=max(1, checks),
        walk_bits=WALK_BITS,
    )
