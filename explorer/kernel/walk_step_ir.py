"""One round of random walks, as LLVM IR: choose a successor for every lane, then check the states reached.

@choose takes the records of @expand; @look evaluates the state checks (`check_ir.py`). See `walk_ir.py`.
"""

from __future__ import annotations

from elrcheck.explorer.kernel.emit import copy_row, load_field
from elrcheck.explorer.kernel.record_ir import INSTANCE_BITS, RecordLayout
from elrcheck.explorer.kernel.walk_memory import ENDED, GOLDEN, MIX_2, WALK_BITS, WalkContext


def choose_function(record: RecordLayout) -> str:
    """Return @choose, which picks one of `made` records for each lane; a lane without records has ended."""
    flags = "".join(_step_flags(record, k) for k in range(record.flag_words))
    return f"""
define internal void @choose(ptr noalias %c, i64 %lanes, i64 %made) {{
entry:{load_field("states", "%c", WalkContext.STATES)}{load_field("walks", "%c", WalkContext.WALK)}
  {load_field("steps", "%c", WalkContext.STEP)}
  {load_field("bases", "%c", WalkContext.BASE)}{load_field("chances", "%c", WalkContext.CHANCE)}
  {load_field("keys", "%c", WalkContext.KEY)}{load_field("picks", "%c", WalkContext.PICK)}
  {load_field("fired", "%c", WalkContext.FIRED)}{load_field("recs", "%c", WalkContext.RECORDS)}
  {load_field("taken", "%c", WalkContext.TAKEN)}
  {load_field("best", "%c", WalkContext.STEP_BEST)}{load_field("sketch", "%c", WalkContext.SKETCH)}
  {load_field("total", "%c", WalkContext.STEPS, "i64")}{load_field("done", "%c", WalkContext.DONE, "i64")}
  {load_field("blocked", "%c", WalkContext.BLOCKED, "i64")}{load_field("deepest", "%c", WalkContext.DEEPEST, "i64")}
  br label %draw
draw:
  %i0 = phi i64 [ 0, %entry ], [ %i0n, %draw ]
  %base0.p = getelementptr i64, ptr %bases, i64 %i0
  %step0.p = getelementptr i64, ptr %steps, i64 %i0
  %chance0.p = getelementptr i64, ptr %chances, i64 %i0
  %key0.p = getelementptr i64, ptr %keys, i64 %i0
  %pick0.p = getelementptr i64, ptr %picks, i64 %i0
  %base0 = load i64, ptr %base0.p, align 8
  %step0 = load i64, ptr %step0.p, align 8
  %number0 = add i64 %step0, 1
  %far0 = mul i64 %number0, {GOLDEN}
  %z0 = add i64 %base0, %far0
  %chance0 = call i64 @mix(i64 %z0)
  store i64 %chance0, ptr %chance0.p, align 8
  store i64 {ENDED}, ptr %key0.p, align 8
  store i64 {ENDED}, ptr %pick0.p, align 8
  %i0n = add i64 %i0, 1
  %more0 = icmp ult i64 %i0n, %lanes
  br i1 %more0, label %draw, label %drawn
drawn:
  %some = icmp ne i64 %made, 0
  br i1 %some, label %compare, label %move
compare:
  %k1 = phi i64 [ 0, %drawn ], [ %k1n, %compare ]
  %rec1.at = mul i64 %k1, {record.size}
  %rec1.o = add i64 %rec1.at, {record.origin}
  %origin1.p = getelementptr i64, ptr %recs, i64 %rec1.o
  %origin1 = load i64, ptr %origin1.p, align 8
  %lane1 = lshr i64 %origin1, {INSTANCE_BITS}
  %instance1 = and i64 %origin1, {(1 << INSTANCE_BITS) - 1}
  %chance1.p = getelementptr i64, ptr %chances, i64 %lane1
  %key1.p = getelementptr i64, ptr %keys, i64 %lane1
  %pick1.p = getelementptr i64, ptr %picks, i64 %lane1
  %chance1 = load i64, ptr %chance1.p, align 8
  %spread1 = mul i64 %instance1, {MIX_2}
  %z1 = add i64 %chance1, %spread1
  %mine1 = call i64 @mix(i64 %z1)
  %key1 = load i64, ptr %key1.p, align 8
  %pick1 = load i64, ptr %pick1.p, align 8
  %less1 = icmp ule i64 %mine1, %key1
  %key1n = select i1 %less1, i64 %mine1, i64 %key1
  %pick1n = select i1 %less1, i64 %k1, i64 %pick1
  store i64 %key1n, ptr %key1.p, align 8
  store i64 %pick1n, ptr %pick1.p, align 8
  %k1n = add i64 %k1, 1
  %more1 = icmp ult i64 %k1n, %made
  br i1 %more1, label %compare, label %move
move:
  %i4 = phi i64 [ 0, %drawn ], [ 0, %compare ], [ %i4n, %step ]
  %total4 = phi i64 [ %total, %drawn ], [ %total, %compare ], [ %total4n, %step ]
  %done4 = phi i64 [ %done, %drawn ], [ %done, %compare ], [ %done4n, %step ]
  %blocked4 = phi i64 [ %blocked, %drawn ], [ %blocked, %compare ], [ %blocked4n, %step ]
  %deepest4 = phi i64 [ %deepest, %drawn ], [ %deepest, %compare ], [ %deepest4n, %step ]
  %pick4.p = getelementptr i64, ptr %picks, i64 %i4
  %step4.p = getelementptr i64, ptr %steps, i64 %i4
  %pick4 = load i64, ptr %pick4.p, align 8
  %step4 = load i64, ptr %step4.p, align 8
  %moves = icmp ne i64 %pick4, {ENDED}
  br i1 %moves, label %accept, label %end
accept:
  %rec3.at = mul i64 %pick4, {record.size}
  %rec3 = getelementptr i64, ptr %recs, i64 %rec3.at
  %row3.at = mul i64 %i4, {record.words}
  %row3 = getelementptr i64, ptr %states, i64 %row3.at{copy_row(record.words, "a", "%rec3", "%row3")}
  %origin3.p = getelementptr i64, ptr %rec3, i64 {record.origin}
  %origin3 = load i64, ptr %origin3.p, align 8
  %instance3 = and i64 %origin3, {(1 << INSTANCE_BITS) - 1}
  %taken.p = getelementptr i64, ptr %taken, i64 %instance3
  %taken0 = load i64, ptr %taken.p, align 8
  %taken1 = add i64 %taken0, 1
  store i64 %taken1, ptr %taken.p, align 8
  call void @sketch(ptr %sketch, ptr %row3)
  %step3 = add i64 %step4, 1
  %walk3.p = getelementptr i64, ptr %walks, i64 %i4
  %walk3 = load i64, ptr %walk3.p, align 8{flags}
  br label %step
end:
  %fired4.p = getelementptr i64, ptr %fired, i64 %i4
  %fired4 = load i64, ptr %fired4.p, align 8
  %stuck = icmp ne i64 %fired4, 0
  %stuck.n = zext i1 %stuck to i64
  br label %step
step:
  %step4n = phi i64 [ %step3, %accept ], [ {ENDED}, %end ]
  %deepest.now = phi i64 [ %step3, %accept ], [ 0, %end ]
  %moved4 = phi i64 [ 1, %accept ], [ 0, %end ]
  %ended4 = phi i64 [ 0, %accept ], [ 1, %end ]
  %stuck4 = phi i64 [ 0, %accept ], [ %stuck.n, %end ]
  store i64 %step4n, ptr %step4.p, align 8
  %total4n = add i64 %total4, %moved4
  %done4n = add i64 %done4, %ended4
  %blocked4n = add i64 %blocked4, %stuck4
  %deepest4n = call i64 @llvm.umax.i64(i64 %deepest4, i64 %deepest.now)
  %i4n = add i64 %i4, 1
  %more4 = icmp ult i64 %i4n, %lanes
  br i1 %more4, label %move, label %moved
moved:
  store i64 %total4n, ptr %total.f, align 8
  store i64 %done4n, ptr %done.f, align 8
  store i64 %blocked4n, ptr %blocked.f, align 8
  store i64 %deepest4n, ptr %deepest.f, align 8
  ret void
}}"""


def _step_flags(record: RecordLayout, k: int) -> str:
    """Return the IR that records the step checks in one flag word of the chosen record."""
    return f"""
  %flags{k}.p = getelementptr i64, ptr %rec3, i64 {record.origin + 1 + k}
  %flags{k} = load i64, ptr %flags{k}.p, align 8
  call void @note_all(ptr %best, i64 {64 * k}, i64 %flags{k}, i64 %step3, i64 %walk3)"""


def look_function(checks: int, width: int) -> str:
    """Return @look, which runs the state checks on every lane; checks hit at an earlier step are skipped."""
    return f"""
define internal void @look(ptr noalias %c, i64 %lanes) {{
entry:{load_field("states", "%c", WalkContext.STATES)}{load_field("walks", "%c", WalkContext.WALK)}
  {load_field("steps", "%c", WalkContext.STEP)}
  {load_field("hits", "%c", WalkContext.HITS)}{load_field("best", "%c", WalkContext.STATE_BEST)}
  %end = sub i64 %lanes, 1
  %rounded = add i64 %lanes, {width - 1}
  %blocks = udiv i64 %rounded, {width}
  %words = mul i64 %blocks, {checks}
  %some = icmp ne i64 %words, 0
  br i1 %some, label %clear, label %return
clear:
  %i0 = phi i64 [ 0, %entry ], [ %i0n, %clear ]
  %hit0.p = getelementptr i64, ptr %hits, i64 %i0
  store i64 0, ptr %hit0.p, align 8
  %i0n = add i64 %i0, 1
  %more0 = icmp ult i64 %i0n, %words
  br i1 %more0, label %clear, label %soonest
soonest:
  %i1 = phi i64 [ 0, %clear ], [ %i1n, %soonest ]
  %least = phi i64 [ {ENDED}, %clear ], [ %least.n, %soonest ]
  %step1.p = getelementptr i64, ptr %steps, i64 %i1
  %step1 = load i64, ptr %step1.p, align 8
  %least.n = call i64 @llvm.umin.i64(i64 %least, i64 %step1)
  %i1n = add i64 %i1, 1
  %more1 = icmp ult i64 %i1n, %lanes
  br i1 %more1, label %soonest, label %evaluate
evaluate:
  call void @check(ptr %states, i64 0, i64 %lanes, ptr %hits, i64 1)
  br label %word
word:
  %k = phi i64 [ 0, %evaluate ], [ %kn, %word.next ]
  %hit.p = getelementptr i64, ptr %hits, i64 %k
  %hit = load i64, ptr %hit.p, align 8
  %any = icmp ne i64 %hit, 0
  br i1 %any, label %known, label %word.next
known:
  %place = urem i64 %k, {max(1, checks)}
  %block = udiv i64 %k, {max(1, checks)}
  %offset = mul i64 %block, {width}
  %best.p = getelementptr i64, ptr %best, i64 %place
  %old = load i64, ptr %best.p, align 8
  %old.step = lshr i64 %old, {WALK_BITS}
  %useful = icmp ule i64 %least.n, %old.step
  br i1 %useful, label %bit, label %word.next
bit:
  %bits = phi i64 [ %hit, %known ], [ %rest, %bit.next ]
  %number = call i64 @llvm.cttz.i64(i64 %bits, i1 true)
  %below = sub i64 %bits, 1
  %rest = and i64 %bits, %below
  %lane0 = add i64 %offset, %number
  %lane = call i64 @llvm.umin.i64(i64 %lane0, i64 %end)
  %step.p = getelementptr i64, ptr %steps, i64 %lane
  %step = load i64, ptr %step.p, align 8
  %old.now = load i64, ptr %best.p, align 8
  %old.now.step = lshr i64 %old.now, {WALK_BITS}
  %sooner = icmp ule i64 %step, %old.now.step
  br i1 %sooner, label %note, label %bit.next
note:
  %walk.p = getelementptr i64, ptr %walks, i64 %lane
  %walk = load i64, ptr %walk.p, align 8
  call void @note(ptr %best, i64 %place, i64 %step, i64 %walk)
  br label %bit.next
bit.next:
  %again = icmp ne i64 %rest, 0
  br i1 %again, label %bit, label %word.next
word.next:
  %kn = add i64 %k, 1
  %more = icmp ult i64 %kn, %words
  br i1 %more, label %word, label %return
return:
  ret void
}}"""
