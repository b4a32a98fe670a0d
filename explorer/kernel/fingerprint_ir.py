"""The visited set of fingerprints, as LLVM IR.

The set stores a 64-bit or 128-bit hash of every state instead of the state, so two different states with the
same fingerprint count as one (hash compaction). The rows of the level being built go into a buffer from
which the next level is expanded; expanded rows are not kept in memory.

The table has n slots of one or two words, 0 meaning empty. The home slot of a fingerprint is
n * (its first word) / 2^64, so growing the table reads and writes both tables sequentially.

Threads. A slot is claimed by a compare-and-swap of its first word. With two words the winner then stores
the second; a worker that finds an equal first word waits the few instructions until the second is there.

Credit. Every slot has a 16-bit number: 0 if free, OLD for a state of an earlier level, otherwise OLD - 1
minus the lowest instance that reached the state from the level before, maintained by an atomic maximum.
`@settle` counts these numbers after a level and sets them to OLD. See `table_ir` for why the credit does not
depend on the number of threads.
"""

from __future__ import annotations

from elrcheck.explorer.kernel.emit import copy_row
from elrcheck.explorer.kernel.hash_ir import hash_function, hash_functions
from elrcheck.explorer.kernel.table_ir import NEXT_SLOT, ROW_BLOCK, Context, Shared, insert_rows

OLD = 0xFFFF


def fingerprint_functions(words: int, width: int) -> str:
    """Return the IR of @insert_rows, @rehash, @settle, and of @hash and @insert for the search loop.

    words: size of a row; width: size of a fingerprint, 1 or 2 words.
    """
    return "\n".join(
        [
            hash_functions(words),
            hash_function("second_hash", words, 3),
            _insert(words, width),
            insert_rows(words, width),
            _rehash(width),
            SETTLE,
        ]
    )


def _insert(words: int, width: int) -> str:
    copy = copy_row(words, "new", "%state", "%fresh")
    second = wait = store = ""
    equal = "known"
    if width == 2:
        second = """
  %b0 = call i64 @second_hash(ptr %state)
  %b = call i64 @llvm.umax.i64(i64 %b0, i64 1)"""
        equal = "second"
        wait = """
second:
  %second.p = getelementptr i64, ptr %slot.p, i64 1
  %other = load atomic i64, ptr %second.p acquire, align 8
  %written = icmp ne i64 %other, 0
  br i1 %written, label %compare, label %second
compare:
  %same = icmp eq i64 %other, %b
  br i1 %same, label %known, label %step"""
        store = """
  %rest.p = getelementptr i64, ptr %slot.p, i64 1
  store atomic i64 %b, ptr %rest.p release, align 8"""
    return f"""
define internal void @insert(ptr %s, ptr %c, ptr %state, i64 %h, i16 %who, ptr %states,
                             ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base) alwaysinline {{
entry:
  %a = call i64 @llvm.umax.i64(i64 %h, i64 1){second}
  %home = call i64 @home(i64 %h, i64 %slots)
  %credit.new = sub i16 {OLD - 1 - (1 << 16)}, %who
  br label %probe
probe:
  %j = phi i64 [ %home, %entry ], [ %j1, %step ], [ %j, %claim ]
  %slot.at = mul i64 %j, {width}
  %slot.p = getelementptr i64, ptr %table, i64 %slot.at
  %slot = load atomic i64, ptr %slot.p acquire, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %claim, label %taken
taken:
  %maybe = icmp eq i64 %slot, %a
  br i1 %maybe, label %{equal}, label %step{wait}
step:{NEXT_SLOT}
  br label %probe
known:
  %old.p = getelementptr i16, ptr %credit, i64 %j
  %old = load atomic i16, ptr %old.p monotonic, align 2
  %lower = icmp ult i16 %old, %credit.new
  br i1 %lower, label %take, label %end
take:
  %was = atomicrmw umax ptr %old.p, i16 %credit.new monotonic
  br label %end
claim:
  %swap = cmpxchg ptr %slot.p, i64 0, i64 %a acq_rel acquire
  %won = extractvalue {{ i64, i1 }} %swap, 1
  br i1 %won, label %mine, label %probe
mine:{store}
  %mine.p = getelementptr i16, ptr %credit, i64 %j
  %had = atomicrmw umax ptr %mine.p, i16 %credit.new monotonic
  %next.p = getelementptr i64, ptr %c, i64 {Context.ROW:d}
  %next = load i64, ptr %next.p, align 8
  %last.p = getelementptr i64, ptr %c, i64 {Context.ROW_END:d}
  %last = load i64, ptr %last.p, align 8
  %none = icmp eq i64 %next, %last
  br i1 %none, label %reserve, label %write
reserve:
  %rows.p = getelementptr i64, ptr %s, i64 {Shared.ROWS:d}
  %got = atomicrmw add ptr %rows.p, i64 {ROW_BLOCK} monotonic
  %got.end = add i64 %got, {ROW_BLOCK}
  store i64 %got.end, ptr %last.p, align 8
  br label %write
write:
  %row = phi i64 [ %next, %mine ], [ %got, %reserve ]
  %fresh.at = mul i64 %row, {words}
  %fresh = getelementptr i64, ptr %states, i64 %fresh.at{copy}
  %row1 = add i64 %row, 1
  store i64 %row1, ptr %next.p, align 8
  br label %end
end:
  ret void
}}"""


def _rehash(width: int) -> str:
    """Return @rehash, which moves slots first..last of an old table, with their credits, into a new one."""
    load = store = ""
    if width == 2:
        load = """
  %second.p = getelementptr i64, ptr %slot.p, i64 1
  %second = load i64, ptr %second.p, align 8"""
        store = """
  %to2.p = getelementptr i64, ptr %to.p, i64 1
  store i64 %second, ptr %to2.p, align 8"""
    return f"""
define void @rehash(ptr noalias %old, ptr noalias %old.credit, i64 %first, i64 %last,
                    ptr noalias %table, ptr noalias %credit, i64 %slots) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %i1, %next ]
  %slot.at = mul i64 %i, {width}
  %slot.p = getelementptr i64, ptr %old, i64 %slot.at
  %slot = load i64, ptr %slot.p, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %next, label %move
move:{load}
  %mark.p = getelementptr i16, ptr %old.credit, i64 %i
  %mark = load i16, ptr %mark.p, align 2
  %home = call i64 @home(i64 %slot, i64 %slots)
  br label %probe
probe:
  %j = phi i64 [ %home, %move ], [ %j1, %step ]
  %to.at = mul i64 %j, {width}
  %to.p = getelementptr i64, ptr %table, i64 %to.at
  %to = load i64, ptr %to.p, align 8
  %empty = icmp eq i64 %to, 0
  br i1 %empty, label %put, label %step
step:{NEXT_SLOT}
  br label %probe
put:
  store i64 %slot, ptr %to.p, align 8{store}
  %credit.p = getelementptr i16, ptr %credit, i64 %j
  store i16 %mark, ptr %credit.p, align 2
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}}"""


SETTLE = f"""
define void @settle(ptr noalias %credit, i64 %first, i64 %last, ptr noalias %counts) {{
entry:
  %any = icmp ult i64 %first, %last
  br i1 %any, label %four, label %end
four:
  %i = phi i64 [ %first, %entry ], [ %i4, %skip ], [ %i4d, %done ]
  %p = getelementptr i16, ptr %credit, i64 %i
  %v = load i64, ptr %p, align 8
  %i4 = add i64 %i, 4
  %none = icmp eq i64 %v, 0
  %all = icmp eq i64 %v, -1
  %dull = or i1 %none, %all
  br i1 %dull, label %skip, label %one
skip:
  %more = icmp ult i64 %i4, %last
  br i1 %more, label %four, label %end
one:
  %k = phi i64 [ %i, %four ], [ %k1, %after ]
  %q = getelementptr i16, ptr %credit, i64 %k
  %mark = load i16, ptr %q, align 2
  %minus = sub i16 %mark, 1
  %new = icmp ult i16 %minus, {OLD - 1 - (1 << 16)}
  br i1 %new, label %count, label %after
count:
  %who = sub i16 {OLD - 1 - (1 << 16)}, %mark
  %who64 = zext i16 %who to i64
  %count.p = getelementptr i64, ptr %counts, i64 %who64
  %had = load i64, ptr %count.p, align 8
  %now = add i64 %had, 1
  store i64 %now, ptr %count.p, align 8
  store i16 -1, ptr %q, align 2
  br label %after
after:
  %k1 = add i64 %k, 1
  %again = icmp ult i64 %k1, %i4
  br i1 %again, label %one, label %done
done:
  %i4d = add i64 %i, 4
  %more.d = icmp ult i64 %i4d, %last
  br i1 %more.d, label %four, label %end
end:
  ret void
}}"""
"""Slots first..last, both multiples of 4."""
