"""The visited set of fingerprints, as LLVM IR.

The set stores a 64-bit or 128-bit hash of every state instead of the state, so two different states with the
same fingerprint count as one (hash compaction). The rows of the level being built go into a buffer from
which the next level is expanded; expanded rows are not kept in memory.

The table has n slots of one or two words, 0 meaning empty. With h the first hash of a state, its home is slot
number n * h / 2^64, and a slot holds

    the low 64 - c bits of h   |   credit, in c bits          (0 = empty)

and, if it has a second word, the second hash. The upper c bits of h are not lost, because they follow from
where the slot is: two hashes that differ in them alone have homes at least n / 2^c - 1 slots apart, and every
state lies fewer slots than that behind its home (`FingerprintSet.spacing`). So a slot stands for all 64
bits, growing the table can read and write both tables sequentially (`@rehash`), and the credit costs no
room. c is the least number of bits that has room for the credits (docs/adr/0024).

Threads. A slot is claimed by a compare-and-swap of its first word. With two words the winner then stores
the second; a worker that finds an equal first word waits the few instructions until the second is there.

Credit. OLD, all c bits, stands for a state of an earlier level; a state of the level being built has OLD - 1
minus the lowest instance that reached it from the level before, which is never 0. As it stands in the lowest
bits, an atomic maximum of the word maintains it. `@settle` counts these numbers after a level and sets
them to OLD. See `table_ir` for why the credit does not depend on the number of threads.
"""

from __future__ import annotations

from elrcheck.explorer.kernel.emit import copy_row
from elrcheck.explorer.kernel.hash_ir import hash_function, hash_functions
from elrcheck.explorer.kernel.ir_text import ir
from elrcheck.explorer.kernel.table_ir import ROW_BLOCK, Context, Shared, insert_rows


def credit_bits(instances: int) -> int:
    """Return c: the bits of a credit for this many action instances."""
    return (max(1, instances) + 1).bit_length()


def fingerprint_functions(words: int, width: int, instances: int) -> str:
    """Return the IR of @insert_rows, @rehash, @settle, and of @hash and @insert for the search loop.

    words: size of a row; width: size of a fingerprint, 1 or 2 words.
    """
    bits = credit_bits(instances)
    return "\n".join(
        [
            hash_functions(words),
            hash_function("second_hash", words, 3),
            ir("fingerprints.displaced", Context),
            _insert(words, width, bits),
            insert_rows(words, width),
            _origin(bits),
            _rehash(width, bits),
            _settle(width, bits),
        ]
    )


def _insert(words: int, width: int, bits: int) -> str:
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
    return ir(
        "fingerprints.insert",
        Context,
        Shared,
        row_block=ROW_BLOCK,
        bits=bits,
        second=second,
        newest=(1 << bits) - 2,
        width=width,
        credits=1 << bits,
        equal=equal,
        wait=wait,
        store=store,
        words=words,
        copy=copy,
    )


def _origin(bits: int) -> str:
    """Return @origin, the whole first hash of a word in slot %i of a table of %n slots.

    The upper bits are the largest ones whose home is not behind the slot. An estimate from the position is
    one off at most, either way; a slot at the start of the table may have its home at the end.
    """
    place = 64 - bits
    return ir("fingerprints.origin", bits=bits, place=place, credits=1 << bits)


def _rehash(width: int, bits: int) -> str:
    """Return @rehash, which moves slots first..last of an old table of n slots into a new one.

    Several workers may move ranges of their own at the same time.
    """
    store = ""
    if width == 2:
        store = """
  %second.p = getelementptr i64, ptr %slot.p, i64 1
  %second = load i64, ptr %second.p, align 8
  %to2.p = getelementptr i64, ptr %to.p, i64 1
  store i64 %second, ptr %to2.p, align 8"""
    return ir("fingerprints.rehash", width=width, store=store)


def _settle(width: int, bits: int) -> str:
    """Return @settle, which counts the credits of slots first..last by instance and makes them OLD."""
    old = (1 << bits) - 1
    return ir("fingerprints.settle", width=width, old=old, newest=old - 1)
