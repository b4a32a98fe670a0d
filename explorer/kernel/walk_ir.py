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
position of the first set bit among the hashes that select it (`sketch.py`).
"""

from __future__ import annotations

from elrcheck.explorer.kernel.check_ir import check_function
from elrcheck.explorer.kernel.emit import copy_row, load_field
from elrcheck.explorer.kernel.kernel import KernelShapes, spread_modules
from elrcheck.explorer.kernel.record_ir import RecordLayout
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
from elrcheck.explorer.kernel.walk_step_ir import choose_function, look_function
from elrcheck.lang.lowering.program import Program


def walk_modules(program: Program, shapes: KernelShapes) -> list[str]:
    """Return the IR modules with @walk, @expand and @check."""
    words = shapes.layout.words
    functions = [
        check_function(program, shapes.layout, shapes.lanes),
        _CHANCE,
        _sketch(words),
        _NOTE,
        _refill(words),
        choose_function(shapes.record),
        look_function(len(shapes.state_checks), shapes.lanes.count),
        _walk(shapes.record),
    ]
    return spread_modules(program, shapes, functions)


_CHANCE = f"""
define internal i64 @mix(i64 %z) alwaysinline {{
  %a = lshr i64 %z, 30
  %b = xor i64 %z, %a
  %c = mul i64 %b, {MIX_1}
  %d = lshr i64 %c, 27
  %e = xor i64 %c, %d
  %f = mul i64 %e, {MIX_2}
  %g = lshr i64 %f, 31
  %h = xor i64 %f, %g
  ret i64 %h
}}"""


def _sketch(words: int) -> str:
    """Return @sketch, which adds one row to the sketch."""
    lines = ["define internal void @sketch(ptr %sketch, ptr %row) alwaysinline {"]
    for k in range(words):
        before = f"%h{k - 1}" if k else "0"
        lines += [
            f"  %p{k} = getelementptr i64, ptr %row, i64 {k}",
            f"  %w{k} = load i64, ptr %p{k}, align 8",
            f"  %x{k} = xor i64 %w{k}, {before}",
            f"  %y{k} = add i64 %x{k}, {GOLDEN}",
            f"  %h{k} = call i64 @mix(i64 %y{k})",
        ]
    return "\n".join(
        [
            *lines,
            f"  %place = lshr i64 %h{words - 1}, {64 - SKETCH_BITS}",
            f"  %moved = shl i64 %h{words - 1}, {SKETCH_BITS}",
            f"  %rest = or i64 %moved, {1 << SKETCH_BITS - 1}",
            "  %zeros = call i64 @llvm.ctlz.i64(i64 %rest, i1 true)",
            "  %rank.w = add i64 %zeros, 1",
            "  %rank = trunc i64 %rank.w to i8",
            "  %at = getelementptr i8, ptr %sketch, i64 %place",
            "  %old = load i8, ptr %at, align 1",
            "  %up = icmp ugt i8 %rank, %old",
            "  %new = select i1 %up, i8 %rank, i8 %old",
            "  store i8 %new, ptr %at, align 1",
            "  ret void",
            "}",
        ]
    )


_NOTE = f"""
define internal void @note(ptr %best, i64 %check, i64 %step, i64 %walk) alwaysinline {{
  %high = shl i64 %step, {WALK_BITS}
  %key = or i64 %high, %walk
  %at = getelementptr i64, ptr %best, i64 %check
  %old = load i64, ptr %at, align 8
  %new = call i64 @llvm.umin.i64(i64 %old, i64 %key)
  store i64 %new, ptr %at, align 8
  ret void
}}
define internal void @note_all(ptr %best, i64 %first, i64 %bits, i64 %step, i64 %walk) noinline {{
entry:
  br label %next
next:
  %left = phi i64 [ %bits, %entry ], [ %rest, %hit ]
  %any = icmp ne i64 %left, 0
  br i1 %any, label %hit, label %finish
hit:
  %bit = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %below = sub i64 %left, 1
  %rest = and i64 %left, %below
  %check = add i64 %first, %bit
  call void @note(ptr %best, i64 %check, i64 %step, i64 %walk)
  br label %next
finish:
  ret void
}}"""


def _refill(words: int) -> str:
    """Return @refill: it starts new walks in lanes whose walk has ended, and drops lanes if none remain."""
    return f"""
define internal i64 @refill(ptr noalias %s, ptr noalias %c) {{
entry:{load_field("lanes0", "%c", WalkContext.LANES, "i64")}{load_field("done0", "%c", WalkContext.DONE, "i64")}
  {load_field("states", "%c", WalkContext.STATES)}{load_field("walks", "%c", WalkContext.WALK)}
  {load_field("steps", "%c", WalkContext.STEP)}
  {load_field("bases", "%c", WalkContext.BASE)}{load_field("sketch", "%c", WalkContext.SKETCH)}
  {load_field("last", "%s", WalkShared.LAST, "i64")}{load_field("seed", "%s", WalkShared.SEED, "i64")}
  {load_field("depth", "%s", WalkShared.DEPTH, "i64")}{load_field("first", "%s", WalkShared.START)}
  {load_field("starts", "%s", WalkShared.STARTS, "i64")}
  %cursor = getelementptr i64, ptr %s, i64 {WalkShared.CURSOR:d}
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i, %drop ], [ %i1, %go ]
  %lanes = phi i64 [ %lanes0, %entry ], [ %lanes1, %drop ], [ %lanes.go, %go ]
  %done = phi i64 [ %done0, %entry ], [ %done1, %drop ], [ %done.go, %go ]
  %more = icmp ult i64 %i, %lanes
  br i1 %more, label %lane, label %finish
lane:
  %step.p = getelementptr i64, ptr %steps, i64 %i
  %step = load i64, ptr %step.p, align 8
  %over = icmp uge i64 %step, %depth
  br i1 %over, label %take, label %go
take:
  %full = icmp ne i64 %step, {ENDED}
  %full.n = zext i1 %full to i64
  %done1 = add i64 %done, %full.n
  %walk = atomicrmw add ptr %cursor, i64 1 monotonic
  %left = icmp ult i64 %walk, %last
  %walk.p = getelementptr i64, ptr %walks, i64 %i
  %base.p = getelementptr i64, ptr %bases, i64 %i
  %row.at = mul i64 %i, {words}
  %row = getelementptr i64, ptr %states, i64 %row.at
  br i1 %left, label %begin, label %drop
begin:
  store i64 %walk, ptr %walk.p, align 8
  store i64 0, ptr %step.p, align 8
  %spread = mul i64 %walk, {GOLDEN}
  %salted = xor i64 %seed, %spread
  %base = call i64 @mix(i64 %salted)
  store i64 %base, ptr %base.p, align 8
  %which = urem i64 %walk, %starts
  %start.at = mul i64 %which, {words}
  %start = getelementptr i64, ptr %first, i64 %start.at{copy_row(words, "b", "%start", "%row")}
  call void @sketch(ptr %sketch, ptr %row)
  br label %go
drop:
  %lanes1 = sub i64 %lanes, 1
  %step2.p = getelementptr i64, ptr %steps, i64 %lanes1
  %walk2.p = getelementptr i64, ptr %walks, i64 %lanes1
  %base2.p = getelementptr i64, ptr %bases, i64 %lanes1
  %step2 = load i64, ptr %step2.p, align 8
  %walk2 = load i64, ptr %walk2.p, align 8
  %base2 = load i64, ptr %base2.p, align 8
  store i64 %step2, ptr %step.p, align 8
  store i64 %walk2, ptr %walk.p, align 8
  store i64 %base2, ptr %base.p, align 8
  %row2.at = mul i64 %lanes1, {words}
  %row2 = getelementptr i64, ptr %states, i64 %row2.at{copy_row(words, "d", "%row2", "%row")}
  br label %next
go:
  %lanes.go = phi i64 [ %lanes, %lane ], [ %lanes, %begin ]
  %done.go = phi i64 [ %done, %lane ], [ %done1, %begin ]
  %i1 = add i64 %i, 1
  br label %next
finish:
  store i64 %lanes, ptr %lanes0.f, align 8
  store i64 %done, ptr %done0.f, align 8
  ret i64 %lanes
}}"""


def _walk(record: RecordLayout) -> str:
    return f"""
define i64 @walk(ptr noalias %s, ptr noalias %c) {{
entry:{load_field("rounds", "%c", WalkContext.ROUNDS, "i64")}{load_field("states", "%c", WalkContext.STATES)}
  {load_field("recs", "%c", WalkContext.RECORDS)}{load_field("counters", "%c", WalkContext.COUNTERS)}
  {load_field("fired", "%c", WalkContext.FIRED)}
  %seen = alloca [{max(1, record.flag_words)} x i64], align 8
  store [{max(1, record.flag_words)} x i64] zeroinitializer, ptr %seen, align 8
  br label %round
round:
  %r = phi i64 [ 0, %entry ], [ %rn, %step ]
  %lanes = call i64 @refill(ptr %s, ptr %c)
  %any = icmp ne i64 %lanes, 0
  %left = icmp ult i64 %r, %rounds
  %on = and i1 %any, %left
  br i1 %on, label %step, label %return
step:
  %made = call i64 @expand(ptr %states, i64 0, i64 %lanes, ptr %recs, ptr %counters, ptr %fired,
                           ptr %seen, ptr null, i64 0)
  call void @choose(ptr %c, i64 %lanes, i64 %made)
  call void @look(ptr %c, i64 %lanes)
  %rn = add i64 %r, 1
  br label %round
return:
  ret i64 %lanes
}}"""
