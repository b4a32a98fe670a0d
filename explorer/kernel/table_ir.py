"""The visited set, as LLVM IR.

States are rows of one array, in the order of discovery. The set is an open-addressing table of n
slots of 8 bytes that refer to rows. With h the 64-bit hash of a state, and k bits for n, a slot holds

    the top 64 - k bits of h   |   row + 1, in k bits          (0 = empty)

and the state's home is slot number (those top bits) * n / 2^64. So a slot knows its own home, homes
are in the order of hashes, and n may be any number: growing the table reads and writes both tables
front to back and never touches a state. A probe compares the stored hash bits first; the row is read
only if they agree (a false agreement has probability 2^(2k - 64) per probe, 1 in 65536 at 16 million
slots). States are compared in full, so the set is exact.

Threads. Workers share rows and table. A new row is written into a block of rows that the worker
reserved, then published by a compare-and-swap of its slot; the loser inspects the slot again and finds
either the same state or another one, and continues probing. Slots are never cleared, so every state is
stored once whatever the interleaving. The caller closes the gaps of rows reserved and not used
(`@relocate` moves a row and its slot).

Credit. Every row of the level being built has a 16-bit number: the lowest instance that reaches it from
the level before. An atomic minimum over a set does not depend on order, so the number of new states per
action is the same with any number of workers.

The struct arguments are arrays of i64; `Shared` and `Context` name their fields.
"""

from __future__ import annotations

from enum import IntEnum

from elrcheck.explorer.kernel.emit import copy_row, load_field
from elrcheck.explorer.kernel.hash_ir import hash_functions

ROW_BLOCK = 64
INSERT_BATCH = 32


class Shared(IntEnum):
    """Fields shared by all workers. The two counters have cache lines of their own."""

    STATES = 0
    TABLE = 1
    SLOTS = 2  # n
    MASK = 3  # 2^k - 1; 0 if slots hold no row
    CREDIT = 4  # address of the credit of row 0
    NEW_BASE = 5  # first row of the level being built
    STOP = 6  # end of the rows to expand in this call
    LIMIT = 7  # end of the rows that may be reserved
    MARGIN = 8  # rows that all workers together might reserve between two checks
    SLICE = 9
    FRONTIER = 10  # address of the rows to expand
    FRONTIER_CREDIT = 11  # address of the credit of the first of them; 0 if they have none
    THIN = 12  # -1 to leave out steps into the state itself, else 0 (`expand_ir`)
    CURSOR = 16
    ROWS = 24  # reserved so far
    SIZE = 32


class Context(IntEnum):
    """Fields of one worker."""

    AT = 0  # the rest of its slice is AT..END
    END = 1
    ROW = 2  # the rest of its reserved rows is ROW..ROW_END
    ROW_END = 3
    RECORDS = 4
    HASHES = 5
    COUNTERS = 6
    DISPLACED = 7  # greatest distance of a slot from its home; fingerprints only
    LOOKED_UP = 8  # successors looked up in the set so far
    FLAGS = 9  # step flags seen, one word per 64 checks


def table_functions(words: int) -> str:
    """Return the IR of @insert_rows, @rehash, @relocate, and of @hash and @insert for the search loop."""
    return "\n".join(
        [hash_functions(words), _same(words), _insert(words), insert_rows(words), REHASH, _relocate(words)]
    )


NEXT_SLOT = """
  %j0 = add i64 %j, 1
  %wraps = icmp eq i64 %j0, %slots
  %j1 = select i1 %wraps, i64 0, i64 %j0"""


NEXT_ROW = f"""
  %next.p = getelementptr i64, ptr %c, i64 {Context.ROW:d}
  %next = load i64, ptr %next.p, align 8
  %last.p = getelementptr i64, ptr %c, i64 {Context.ROW_END:d}
  %last = load i64, ptr %last.p, align 8
  %none = icmp eq i64 %next, %last
  br i1 %none, label %reserve, label %write
reserve:
  %rows.p = getelementptr i64, ptr %s, i64 {Shared.ROWS:d}
  %got = atomicrmw add ptr %rows.p, i64 {ROW_BLOCK} monotonic
  %got.end = add i64 %got, {ROW_BLOCK}"""
"""Take the next of the rows that the worker has reserved, or reserve more: %next, or %got up to %got.end."""


def _same(words: int) -> str:
    lines = ["define internal i1 @same(ptr %a, ptr %b) alwaysinline {"]
    total = "0"
    for k in range(words):
        lines += [
            f"  %p{k} = getelementptr i64, ptr %a, i64 {k}",
            f"  %q{k} = getelementptr i64, ptr %b, i64 {k}",
            f"  %x{k} = load i64, ptr %p{k}, align 8",
            f"  %y{k} = load i64, ptr %q{k}, align 8",
            f"  %d{k} = xor i64 %x{k}, %y{k}",
            f"  %t{k} = or i64 {total}, %d{k}",
        ]
        total = f"%t{k}"
    return "\n".join([*lines, f"  %r = icmp eq i64 {total}, 0", "  ret i1 %r", "}"])


def _insert(words: int) -> str:
    """Return @insert, which inserts one state, credited to the instance %who if it is new in this level."""
    copy = copy_row(words, "new", "%state", "%fresh")
    return f"""
define internal void @insert(ptr %s, ptr %c, ptr %state, i64 %h, i16 %who, ptr %states,
                             ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base) alwaysinline {{
entry:
  %upper = xor i64 %mask, -1
  %tag = and i64 %h, %upper
  %home = call i64 @home(i64 %tag, i64 %slots)
  br label %probe
probe:
  %j = phi i64 [ %home, %entry ], [ %j1, %step ], [ %j, %lost ]
  %slot.p = getelementptr i64, ptr %table, i64 %j
  %slot = load atomic i64, ptr %slot.p acquire, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %claim, label %taken
taken:
  %differ = xor i64 %slot, %h
  %maybe = icmp ule i64 %differ, %mask
  br i1 %maybe, label %compare, label %step
compare:
  %number = and i64 %slot, %mask
  %row = sub i64 %number, 1
  %row.at = mul i64 %row, {words}
  %row.p = getelementptr i64, ptr %states, i64 %row.at
  %equal = call i1 @same(ptr %row.p, ptr %state)
  br i1 %equal, label %known, label %step
step:{NEXT_SLOT}
  br label %probe
known:
  %recent = icmp uge i64 %row, %base
  br i1 %recent, label %share, label %end
share:
  %old.p = getelementptr i16, ptr %credit, i64 %row
  %old = load atomic i16, ptr %old.p monotonic, align 2
  %lower = icmp ult i16 %who, %old
  br i1 %lower, label %take, label %end
take:
  %was = atomicrmw umin ptr %old.p, i16 %who monotonic
  br label %end
claim:{NEXT_ROW}
  store i64 %got, ptr %next.p, align 8
  store i64 %got.end, ptr %last.p, align 8
  br label %write
write:
  %mine = phi i64 [ %next, %claim ], [ %got, %reserve ]
  %fresh.at = mul i64 %mine, {words}
  %fresh = getelementptr i64, ptr %states, i64 %fresh.at{copy}
  %credit.p = getelementptr i16, ptr %credit, i64 %mine
  store i16 %who, ptr %credit.p, align 2
  %mine1 = add i64 %mine, 1
  %new = or i64 %tag, %mine1
  %swap = cmpxchg ptr %slot.p, i64 0, i64 %new acq_rel acquire
  %won = extractvalue {{ i64, i1 }} %swap, 1
  br i1 %won, label %publish, label %lost
lost:
  br label %probe
publish:
  store i64 %mine1, ptr %next.p, align 8
  br label %end
end:
  ret void
}}"""


SETUP = "".join(
    load_field(name, "%s", field, kind)
    for name, field, kind in (
        ("states", Shared.STATES, "ptr"),
        ("table", Shared.TABLE, "ptr"),
        ("slots", Shared.SLOTS, "i64"),
        ("mask", Shared.MASK, "i64"),
        ("credit", Shared.CREDIT, "ptr"),
        ("base", Shared.NEW_BASE, "i64"),
    )
)
"""Load the fields of the set from the struct `Shared`."""


def insert_rows(words: int, width: int = 1) -> str:
    """Return @insert_rows, which inserts rows, crediting row k to instance who[k]; the caller made room.

    It makes two passes over a few rows at a time, so that slots are prefetched before they are probed.
    width: words per slot.
    """
    return f"""
define void @insert_rows(ptr noalias %s, ptr noalias %c, ptr noalias %rows, i64 %n, ptr noalias %whos) {{
entry:{SETUP}{load_field("hashes", "%c", Context.HASHES)}
  %upper = xor i64 %mask, -1
  br label %batch
batch:
  %from = phi i64 [ 0, %entry ], [ %to, %batch.next ]
  %to0 = add i64 %from, {INSERT_BATCH}
  %to = call i64 @llvm.umin.i64(i64 %to0, i64 %n)
  %some = icmp ult i64 %from, %to
  br i1 %some, label %ahead, label %end
ahead:
  %i = phi i64 [ %from, %batch ], [ %i1, %ahead ]
  %i.at = mul i64 %i, {words}
  %i.state = getelementptr i64, ptr %rows, i64 %i.at
  %i.h = call i64 @hash(ptr %i.state)
  %i.k = sub i64 %i, %from
  %i.p = getelementptr i64, ptr %hashes, i64 %i.k
  store i64 %i.h, ptr %i.p, align 8
  %i.tag = and i64 %i.h, %upper
  %i.home = call i64 @home(i64 %i.tag, i64 %slots)
  %i.slot.at = mul i64 %i.home, {width}
  %i.slot = getelementptr i64, ptr %table, i64 %i.slot.at
  call void @llvm.prefetch.p0(ptr %i.slot, i32 1, i32 3, i32 1)
  %i1 = add i64 %i, 1
  %i.more = icmp ult i64 %i1, %to
  br i1 %i.more, label %ahead, label %loop
loop:
  %k = phi i64 [ %from, %ahead ], [ %k1, %loop ]
  %at = mul i64 %k, {words}
  %state = getelementptr i64, ptr %rows, i64 %at
  %h.k = sub i64 %k, %from
  %h.p = getelementptr i64, ptr %hashes, i64 %h.k
  %h = load i64, ptr %h.p, align 8
  %who.p = getelementptr i16, ptr %whos, i64 %k
  %who = load i16, ptr %who.p, align 2
  call void @insert(ptr %s, ptr %c, ptr %state, i64 %h, i16 %who,
                    ptr %states, ptr %table, i64 %slots, i64 %mask, ptr %credit, i64 %base)
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %to
  br i1 %more, label %loop, label %batch.next
batch.next:
  br label %batch
end:
  ret void
}}"""


REHASH = """
define void @rehash(ptr noalias %old, i64 %first, i64 %last, i64 %old.mask,
                    ptr noalias %table, i64 %slots, i64 %mask) {
entry:
  %old.upper = xor i64 %old.mask, -1
  %upper = xor i64 %mask, -1
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %i1, %next ]
  %slot.p = getelementptr i64, ptr %old, i64 %i
  %slot = load i64, ptr %slot.p, align 8
  %free = icmp eq i64 %slot, 0
  br i1 %free, label %next, label %move
move:
  %row = and i64 %slot, %old.mask
  %tag = and i64 %slot, %upper
  %new = or i64 %tag, %row
  %home = call i64 @home(i64 %tag, i64 %slots)
  br label %probe
probe:
  %j = phi i64 [ %home, %move ], [ %j1, %step ]
  %to.p = getelementptr i64, ptr %table, i64 %j
  %to = load i64, ptr %to.p, align 8
  %empty = icmp eq i64 %to, 0
  br i1 %empty, label %put, label %step
step:NEXT_SLOT
  br label %probe
put:
  store i64 %new, ptr %to.p, align 8
  br label %next
next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}""".replace("NEXT_SLOT", NEXT_SLOT)


def _relocate(words: int) -> str:
    """Return @relocate, which moves a row, its credit and the slot's reference; no other worker may run."""
    copy = copy_row(words, "moved", "%source", "%target")
    return f"""
define void @relocate(ptr noalias %s, i64 %from, i64 %to) {{
entry:{SETUP}
  %source.at = mul i64 %from, {words}
  %source = getelementptr i64, ptr %states, i64 %source.at
  %target.at = mul i64 %to, {words}
  %target = getelementptr i64, ptr %states, i64 %target.at
  %h = call i64 @hash(ptr %source)
  %upper = xor i64 %mask, -1
  %tag = and i64 %h, %upper
  %home = call i64 @home(i64 %tag, i64 %slots)
  %from1 = add i64 %from, 1
  %to1 = add i64 %to, 1
  %old = or i64 %tag, %from1
  %new = or i64 %tag, %to1
  br label %probe
probe:
  %j = phi i64 [ %home, %entry ], [ %j1, %step ]
  %slot.p = getelementptr i64, ptr %table, i64 %j
  %slot = load i64, ptr %slot.p, align 8
  %found = icmp eq i64 %slot, %old
  br i1 %found, label %move, label %step
step:{NEXT_SLOT}
  br label %probe
move:
  store i64 %new, ptr %slot.p, align 8{copy}
  %credit.from = getelementptr i16, ptr %credit, i64 %from
  %credit.moved = load i16, ptr %credit.from, align 2
  %credit.to = getelementptr i16, ptr %credit, i64 %to
  store i16 %credit.moved, ptr %credit.to, align 2
  ret void
}}"""
