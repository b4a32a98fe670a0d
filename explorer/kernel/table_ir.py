"""The hash of a packed state, and the visited set, as LLVM IR.

    internal i64 @hash(ptr row)
    internal i64 @home(i64 hash, i64 slots)
    void @hashes(ptr rows, i64 n, ptr out)

The hash folds 64 x 64 bit multiplications of pairs of salted words, like wyhash; the last multiplication
spreads every input bit over the top bits. The home slot of a hash in a table of n slots is
hash * n / 2^64. It grows with the hash, so a table of any size is in the order of hashes, and growing one
reads and writes sequentially.

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

from elrcheck.explorer.kernel.emit import copy_row
from elrcheck.explorer.kernel.ir_text import ir

# Odd constants with about half of the bits set (digits of pi).
SALT = (
    0x243F6A8885A308D3,
    0x13198A2E03707345,
    0xA4093822299F31D1,
    0x082EFA98EC4E6C89,
    0x452821E638D01377,
    0xBE5466CF34E90C6D,
    0xC0AC29B7C97C50DD,
    0x3F84D5B5B5470917,
)


def hash_functions(words: int) -> str:
    """Return the IR of @hash, @home and @hashes, which computes the hashes of an array of rows."""
    return "\n".join(
        [ir("hash.fold"), hash_function("hash", words, 0), ir("hash.home"), ir("hash.hashes", words=words)]
    )


def hash_function(name: str, words: int, turn: int) -> str:
    """Return the IR of @name: folded multiplications of pairs of words, and one more to mix the top bits.

    turn: number of places by which the salts are rotated; each value yields a different hash.
    """
    salts = SALT[turn:] + SALT[:turn]
    lines = [f"define internal i64 @{name}(ptr %row) alwaysinline {{"]
    salted = []
    for k in range(words + words % 2):
        salt = salts[k % len(salts)] ^ (k // len(salts) << 32)
        if k < words:
            lines += [
                f"  %p{k} = getelementptr i64, ptr %row, i64 {k}",
                f"  %w{k} = load i64, ptr %p{k}, align 8",
                f"  %s{k} = xor i64 %w{k}, {salt}",
            ]
            salted.append(f"%s{k}")
        else:
            salted.append(str(salt))
    total = str(salts[7])
    for k in range(0, len(salted), 2):
        lines += [
            f"  %f{k} = call i64 @fold(i64 {salted[k]}, i64 {salted[k + 1]})",
            f"  %h{k} = xor i64 {total}, %f{k}",
        ]
        total = f"%h{k}"
    return "\n".join([*lines, f"  %r = call i64 @fold(i64 {total}, i64 {salts[6]})", "  ret i64 %r", "}"])


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
        [hash_functions(words), _same(words), _insert(words), insert_rows(words), ir("table.rehash"), _relocate(words)]
    )


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
    return ir("table.insert", Context, Shared, row_block=ROW_BLOCK, words=words, copy=copy)


def insert_rows(words: int, width: int = 1) -> str:
    """Return @insert_rows, which inserts rows, crediting row k to instance who[k]; the caller made room.

    It makes two passes over a few rows at a time, so that slots are prefetched before they are probed.
    width: words per slot.
    """
    return ir("table.insert_rows", Context, Shared, insert_batch=INSERT_BATCH, words=words, width=width)


def _relocate(words: int) -> str:
    """Return @relocate, which moves a row, its credit and the slot's reference; no other worker may run."""
    copy = copy_row(words, "moved", "%source", "%target")
    return ir("table.relocate", Shared, words=words, copy=copy)
