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
from elrcheck.explorer.kernel.ir_text import ir
from elrcheck.explorer.kernel.table_ir import ROW_BLOCK, Context, Shared, hash_function, hash_functions, insert_rows


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
    return ir(
        "fingerprints.insert",
        Context,
        Shared,
        row_block=ROW_BLOCK,
        bits=bits,
        second_hash=_second("second_hash", width),
        newest=(1 << bits) - 2,
        width=width,
        credits=1 << bits,
        equal="second" if width == 2 else "known",
        await_second=_second("await_second", width),
        store_second=_second("store_second", width),
        words=words,
        copy=copy,
    )


def _second(name: str, width: int) -> str:
    """Return the IR about the second word of a fingerprint; empty if it has one word."""
    return "\n" + ir(f"fingerprints.{name}") if width == 2 else ""


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
    return ir("fingerprints.rehash", width=width, move_second=_second("move_second", width))


def _settle(width: int, bits: int) -> str:
    """Return @settle, which counts the credits of slots first..last by instance and makes them OLD."""
    old = (1 << bits) - 1
    return ir("fingerprints.settle", width=width, old=old, newest=old - 1)
