"""Random walks, as LLVM IR.

    i64 @walk(ptr shared, ptr context)

moves a few dozen walks (lanes) on by one step a round: expand the states of all lanes together, draw
one successor for each lane, evaluate the checks on what was reached. A walk that has reached its depth,
or has no step inside the bound, makes room for the next one, whose number comes from a cursor that all
workers share. The call ends after the rounds it was given, and returns how many lanes are still in use.

Chance is a function of (seed, walk, step): the splitmix64 generator, started for every walk from a mix
of seed and walk number. All that is kept about the walks together is a sum, a greatest or a least
value. So what comes out does not depend on the number of workers, nor on who took which walk.

The successors of one state come from @expand in an order of their own, which is the same whether it is
expanded alone or among others; `walk.py` follows single walks once more in that way.

A hit of a check is a key, the step above the walk number; the least key is the first place, and among
those the first walk. The sketch is a HyperLogLog: 2^14 bytes, each the greatest position of the first
set bit among the hashes that fall to it (`sketch.py`).
"""

from __future__ import annotations

from enum import IntEnum

from elrcheck.explorer.check_ir import check_function, choose_lanes, state_checks
from elrcheck.explorer.emit import Lanes
from elrcheck.explorer.expand_ir import INSTANCE_BITS, Record, expand_function
from elrcheck.explorer.layout import Layout
from elrcheck.explorer.program import Program

GOLDEN = 0x9E3779B97F4A7C15
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
WALK_BITS = 40
SKETCH_BITS = 14
ENDED = (1 << 64) - 1
"""The step of a lane without a walk."""


class Shared(IntEnum):
    """Fields all workers see."""

    CURSOR = 0  # the next walk that nobody has taken
    LAST = 1  # walks are taken below this number
    SEED = 2  # mixed once
    DEPTH = 3
    START = 4  # the initial state
    SIZE = 8


class Context(IntEnum):
    """Fields of one worker: two numbers, totals, and addresses of arrays."""

    LANES = 0
    ROUNDS = 1
    STEPS = 2
    DONE = 3  # walks that have ended
    BLOCKED = 4  # of these, by states whose every step leaves the budgets
    DEEPEST = 5
    STATES = 6  # one row for each lane
    WALK = 7  # for each lane, as the next four
    STEP = 8
    BASE = 9
    COUNT = 10
    PICK = 11
    FIRED = 12
    RECORDS = 13
    COUNTERS = 14
    TAKEN = 15  # steps, for each instance
    HITS = 16
    STATE_BEST = 17  # least key for each state check, in the order of @check
    STEP_BEST = 18  # least key for each check
    SKETCH = 19
    SIZE = 24


def walk_module(program: Program, layout: Layout, record: Record) -> str:
    """The text of a module with @walk, @expand and @check."""
    lanes = choose_lanes(program)
    return "\n".join(
        [
            _declarations(lanes),
            expand_function(program, layout),
            check_function(program, layout),
            _CHANCE,
            _sketch(layout.words),
            _NOTE,
            _refill(layout.words),
            _choose(record),
            _look(len(state_checks(program)), lanes.count),
            _walk(),
        ]
    )


def _declarations(lanes: Lanes) -> str:
    lines = [f"declare i64 @llvm.{name}.i64(i64, i64)" for name in ("umin", "umax")]
    lines += [f"declare i64 @llvm.{name}.i64(i64, i1)" for name in ("ctlz", "cttz")]
    for kind in dict.fromkeys([Lanes(), lanes]):
        number, suffix = kind.number, kind.suffix
        lines.append(f"declare {number} @llvm.ctpop.{suffix}({number})")
        lines += [f"declare {number} @llvm.{name}.{suffix}({number}, {number})" for name in ("smin", "smax")]
    return "\n".join(lines)


def _field(name: str, place: Context | Shared, kind: str = "ptr") -> str:
    """Loads a field; an address becomes a pointer."""
    base = "%c" if isinstance(place, Context) else "%s"
    text = f"""
  %{name}.f = getelementptr i64, ptr {base}, i64 {place:d}"""
    if kind == "i64":
        return f"{text}\n  %{name} = load i64, ptr %{name}.f, align 8"
    text += f"\n  %{name}.i = load i64, ptr %{name}.f, align 8"
    return f"{text}\n  %{name} = inttoptr i64 %{name}.i to ptr"


def _copy(words: int, tag: str, source: str, target: str) -> str:
    """One row to another place."""
    return "".join(
        f"""
  %{tag}.s{k} = getelementptr i64, ptr {source}, i64 {k}
  %{tag}.v{k} = load i64, ptr %{tag}.s{k}, align 8
  %{tag}.t{k} = getelementptr i64, ptr {target}, i64 {k}
  store i64 %{tag}.v{k}, ptr %{tag}.t{k}, align 8"""
        for k in range(words)
    )


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
}}
define internal i64 @draw(i64 %base, i64 %number, i64 %count) alwaysinline {{
  %far = mul i64 %number, {GOLDEN}
  %z = add i64 %base, %far
  %r = call i64 @mix(i64 %z)
  %x = zext i64 %r to i128
  %y = zext i64 %count to i128
  %p = mul i128 %x, %y
  %top = lshr i128 %p, 64
  %pick = trunc i128 %top to i64
  ret i64 %pick
}}"""


def _sketch(words: int) -> str:
    """@sketch: enter one row."""
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
    """@refill: new walks for the lanes whose walk has ended, and fewer lanes if there are no more walks."""
    return f"""
define internal i64 @refill(ptr noalias %s, ptr noalias %c) {{
entry:{_field("lanes0", Context.LANES, "i64")}{_field("done0", Context.DONE, "i64")}
  {_field("states", Context.STATES)}{_field("walks", Context.WALK)}{_field("steps", Context.STEP)}
  {_field("bases", Context.BASE)}{_field("sketch", Context.SKETCH)}
  {_field("last", Shared.LAST, "i64")}{_field("seed", Shared.SEED, "i64")}
  {_field("depth", Shared.DEPTH, "i64")}{_field("start", Shared.START)}
  %cursor = getelementptr i64, ptr %s, i64 {Shared.CURSOR:d}
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
  store i64 %base, ptr %base.p, align 8{_copy(words, "b", "%start", "%row")}
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
  %row2 = getelementptr i64, ptr %states, i64 %row2.at{_copy(words, "d", "%row2", "%row")}
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


def _choose(record: Record) -> str:
    """@choose: one of `made` records for each lane; lanes without any have ended."""
    flags = "".join(_step_flags(record, k) for k in range(record.flag_words))
    return f"""
define internal void @choose(ptr noalias %c, i64 %lanes, i64 %made) {{
entry:{_field("states", Context.STATES)}{_field("walks", Context.WALK)}{_field("steps", Context.STEP)}
  {_field("bases", Context.BASE)}{_field("counts", Context.COUNT)}{_field("picks", Context.PICK)}
  {_field("fired", Context.FIRED)}{_field("recs", Context.RECORDS)}{_field("taken", Context.TAKEN)}
  {_field("best", Context.STEP_BEST)}{_field("sketch", Context.SKETCH)}
  {_field("total", Context.STEPS, "i64")}{_field("done", Context.DONE, "i64")}
  {_field("blocked", Context.BLOCKED, "i64")}{_field("deepest", Context.DEEPEST, "i64")}
  %some = icmp ne i64 %made, 0
  br label %clear
clear:
  %i0 = phi i64 [ 0, %entry ], [ %i0n, %clear ]
  %count0.p = getelementptr i64, ptr %counts, i64 %i0
  store i64 0, ptr %count0.p, align 8
  %i0n = add i64 %i0, 1
  %more0 = icmp ult i64 %i0n, %lanes
  br i1 %more0, label %clear, label %cleared
cleared:
  br i1 %some, label %count, label %draw
count:
  %k1 = phi i64 [ 0, %cleared ], [ %k1n, %count ]
  %rec1.at = mul i64 %k1, {record.size}
  %rec1.o = add i64 %rec1.at, {record.origin}
  %origin1.p = getelementptr i64, ptr %recs, i64 %rec1.o
  %origin1 = load i64, ptr %origin1.p, align 8
  %lane1 = lshr i64 %origin1, {INSTANCE_BITS}
  %count1.p = getelementptr i64, ptr %counts, i64 %lane1
  %count1 = load i64, ptr %count1.p, align 8
  %count1n = add i64 %count1, 1
  store i64 %count1n, ptr %count1.p, align 8
  %k1n = add i64 %k1, 1
  %more1 = icmp ult i64 %k1n, %made
  br i1 %more1, label %count, label %draw
draw:
  %i2 = phi i64 [ 0, %cleared ], [ 0, %count ], [ %i2n, %draw ]
  %base2.p = getelementptr i64, ptr %bases, i64 %i2
  %step2.p = getelementptr i64, ptr %steps, i64 %i2
  %count2.p = getelementptr i64, ptr %counts, i64 %i2
  %pick2.p = getelementptr i64, ptr %picks, i64 %i2
  %base2 = load i64, ptr %base2.p, align 8
  %step2 = load i64, ptr %step2.p, align 8
  %count2 = load i64, ptr %count2.p, align 8
  %number2 = add i64 %step2, 1
  %pick2 = call i64 @draw(i64 %base2, i64 %number2, i64 %count2)
  store i64 %pick2, ptr %pick2.p, align 8
  %i2n = add i64 %i2, 1
  %more2 = icmp ult i64 %i2n, %lanes
  br i1 %more2, label %draw, label %drawn
drawn:
  br i1 %some, label %select, label %move
select:
  %k3 = phi i64 [ 0, %drawn ], [ %k3n, %selected ]
  %rec3.at = mul i64 %k3, {record.size}
  %rec3 = getelementptr i64, ptr %recs, i64 %rec3.at
  %origin3.p = getelementptr i64, ptr %rec3, i64 {record.origin}
  %origin3 = load i64, ptr %origin3.p, align 8
  %lane3 = lshr i64 %origin3, {INSTANCE_BITS}
  %pick3.p = getelementptr i64, ptr %picks, i64 %lane3
  %pick3 = load i64, ptr %pick3.p, align 8
  %pick3n = sub i64 %pick3, 1
  store i64 %pick3n, ptr %pick3.p, align 8
  %this = icmp eq i64 %pick3, 0
  br i1 %this, label %accept, label %selected
accept:
  %row3.at = mul i64 %lane3, {record.words}
  %row3 = getelementptr i64, ptr %states, i64 %row3.at{_copy(record.words, "a", "%rec3", "%row3")}
  %instance = and i64 %origin3, {(1 << INSTANCE_BITS) - 1}
  %taken.p = getelementptr i64, ptr %taken, i64 %instance
  %taken0 = load i64, ptr %taken.p, align 8
  %taken1 = add i64 %taken0, 1
  store i64 %taken1, ptr %taken.p, align 8
  call void @sketch(ptr %sketch, ptr %row3)
  %step3.p = getelementptr i64, ptr %steps, i64 %lane3
  %step3.old = load i64, ptr %step3.p, align 8
  %step3 = add i64 %step3.old, 1
  %walk3.p = getelementptr i64, ptr %walks, i64 %lane3
  %walk3 = load i64, ptr %walk3.p, align 8{flags}
  br label %selected
selected:
  %k3n = add i64 %k3, 1
  %more3 = icmp ult i64 %k3n, %made
  br i1 %more3, label %select, label %move
move:
  %i4 = phi i64 [ 0, %drawn ], [ 0, %selected ], [ %i4n, %move ]
  %total4 = phi i64 [ %total, %drawn ], [ %total, %selected ], [ %total4n, %move ]
  %done4 = phi i64 [ %done, %drawn ], [ %done, %selected ], [ %done4n, %move ]
  %blocked4 = phi i64 [ %blocked, %drawn ], [ %blocked, %selected ], [ %blocked4n, %move ]
  %deepest4 = phi i64 [ %deepest, %drawn ], [ %deepest, %selected ], [ %deepest4n, %move ]
  %count4.p = getelementptr i64, ptr %counts, i64 %i4
  %fired4.p = getelementptr i64, ptr %fired, i64 %i4
  %step4.p = getelementptr i64, ptr %steps, i64 %i4
  %count4 = load i64, ptr %count4.p, align 8
  %fired4 = load i64, ptr %fired4.p, align 8
  %step4 = load i64, ptr %step4.p, align 8
  %moves = icmp ne i64 %count4, 0
  %could = icmp ne i64 %fired4, 0
  %ends = xor i1 %moves, true
  %stuck = and i1 %ends, %could
  %moves.n = zext i1 %moves to i64
  %ends.n = zext i1 %ends to i64
  %stuck.n = zext i1 %stuck to i64
  %step4n = add i64 %step4, %moves.n
  %step4.new = select i1 %moves, i64 %step4n, i64 {ENDED}
  store i64 %step4.new, ptr %step4.p, align 8
  %total4n = add i64 %total4, %moves.n
  %done4n = add i64 %done4, %ends.n
  %blocked4n = add i64 %blocked4, %stuck.n
  %deepest4n = call i64 @llvm.umax.i64(i64 %deepest4, i64 %step4n)
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


def _step_flags(record: Record, k: int) -> str:
    """Notes the step checks of one flag word of the record that was drawn."""
    return f"""
  %flags{k}.p = getelementptr i64, ptr %rec3, i64 {record.origin + 1 + k}
  %flags{k} = load i64, ptr %flags{k}.p, align 8
  call void @note_all(ptr %best, i64 {64 * k}, i64 %flags{k}, i64 %step3, i64 %walk3)"""


def _look(checks: int, width: int) -> str:
    """@look: the state checks on every lane. A check that was hit before any lane's step is passed over."""
    return f"""
define internal void @look(ptr noalias %c, i64 %lanes) {{
entry:{_field("states", Context.STATES)}{_field("walks", Context.WALK)}{_field("steps", Context.STEP)}
  {_field("hits", Context.HITS)}{_field("best", Context.STATE_BEST)}
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


def _walk() -> str:
    return f"""
define i64 @walk(ptr noalias %s, ptr noalias %c) {{
entry:{_field("rounds", Context.ROUNDS, "i64")}{_field("states", Context.STATES)}
  {_field("recs", Context.RECORDS)}{_field("counters", Context.COUNTERS)}{_field("fired", Context.FIRED)}
  br label %round
round:
  %r = phi i64 [ 0, %entry ], [ %rn, %step ]
  %lanes = call i64 @refill(ptr %s, ptr %c)
  %any = icmp ne i64 %lanes, 0
  %left = icmp ult i64 %r, %rounds
  %on = and i1 %any, %left
  br i1 %on, label %step, label %return
step:
  %made = call i64 @expand(ptr %states, i64 0, i64 %lanes, ptr %recs, ptr %counters, ptr %fired)
  call void @choose(ptr %c, i64 %lanes, i64 %made)
  call void @look(ptr %c, i64 %lanes)
  %rn = add i64 %r, 1
  br label %round
return:
  ret i64 %lanes
}}"""
