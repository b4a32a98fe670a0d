"""States side by side: the rows of a block of states, cut into planes for vector code, as LLVM IR.

    void @columns(ptr rows, i64 n, ptr words)         n rows, from 1 to the number of lanes
    void @cut(ptr words, i64 count, ptr planes)

A block is as many states as a vector has lanes. `words` is the block word by word: word k of the state in
lane i is at k * lanes + i; lanes beyond the last state repeat it. A plane is a lane-wide piece of a word in
all lanes: piece p of word k is plane k * pieces + p, counted from the low end. A leaf is then a shift and a
mask of one or two planes, and no vector code needs 64 bits for a value of three.
"""

from __future__ import annotations

from collections.abc import Iterable

import llvmlite.binding as llvm

from elrcheck.explorer.kernel.emit import Lanes, Writer, copy_row
from elrcheck.explorer.kernel.ir_text import ir
from elrcheck.explorer.kernel.word_layout import WordLayout, WordSlot

WORD = 64


def vector_bits() -> int:
    """Return the size of this processor's vectors if they come with masks, or else a moderate one."""
    return 512 if llvm.get_host_cpu_features().get("avx512bw") else 256


def narrowest(lo: int, hi: int, vector: int) -> Lanes:
    """Return lanes with the narrowest signed integers that hold lo..hi.

    vector: bits of a vector. There are 8 to 64 lanes, for masks of one word.
    """
    for bits in (8, 16, 32):
        if -(1 << bits - 1) <= lo and hi < 1 << bits - 1:
            return Lanes(bits, max(8, vector // bits))
    return Lanes(WORD, 8)


def pieces(lanes: Lanes) -> int:
    """Return the number of planes of a word."""
    return WORD // lanes.bits


def plane_of(slot: WordSlot, lanes: Lanes) -> tuple[int, int]:
    """Return the plane with the lowest bit of a leaf, and the leaf's shift in it."""
    number, shift = divmod(slot.shift, lanes.bits)
    return slot.word * pieces(lanes) + number, shift


def read_plane(w: Writer, planes: str, number: int) -> str:
    """Emit the load of a plane."""
    where = w.let(f"getelementptr {w.lanes.number}, ptr {planes}, i64 {number}") if number else planes
    return w.let(f"load {w.lanes.number}, ptr {where}, align {w.lanes.bytes}")


def read_leaf(w: Writer, layout: WordLayout, leaf: int) -> str:
    """Emit the value of a leaf in all lanes."""
    slot, lanes = layout.slots[leaf], w.lanes
    if not slot.bits:
        return lanes.const(slot.lo)
    value = read_stored(w, layout, leaf)
    return w.let(f"add {lanes.number} {value}, {lanes.const(slot.lo)}") if slot.lo else value


def read_stored(w: Writer, layout: WordLayout, leaf: int) -> str:
    """Emit the bits of a leaf that has some, in all lanes."""
    slot, lanes = layout.slots[leaf], w.lanes
    number, shift = plane_of(slot, lanes)
    value = read_plane(w, "%planes", number)
    if shift:
        value = w.let(f"lshr {lanes.number} {value}, {lanes.const(shift)}")
    if shift + slot.bits > lanes.bits:
        above = read_plane(w, "%planes", number + 1)
        moved = w.let(f"shl {lanes.number} {above}, {lanes.const(lanes.bits - shift)}")
        value = w.let(f"or {lanes.number} {value}, {moved}")
    if shift + slot.bits != lanes.bits:
        value = w.let(f"and {lanes.number} {value}, {lanes.const(slot.mask)}")
    return value


def read_flag(w: Writer, layout: WordLayout, leaf: int) -> str:
    """Emit whether a leaf of the values 0 and 1 is 1, in all lanes."""
    slot, lanes = layout.slots[leaf], w.lanes
    if not slot.bits:
        return lanes.truth(bool(slot.lo))
    number, shift = plane_of(slot, lanes)
    plane = read_plane(w, "%planes", number)
    bit = w.let(f"and {lanes.number} {plane}, {lanes.const(1 << shift)}")
    return w.let(f"icmp ne {lanes.number} {bit}, zeroinitializer")


def plane_writer(layout: WordLayout, lanes: Lanes) -> Writer:
    """Return a writer whose leaves are read from %planes."""
    return Writer(lanes, lambda w, leaf: read_leaf(w, layout, leaf), lambda w, leaf: read_flag(w, layout, leaf))


def plane_parts(
    number: int, leaves: Iterable[int], layout: WordLayout, lanes: Lanes
) -> tuple[int, list[tuple[int, int]]]:
    """Return the mask of the bits of a plane that none of these leaves occupies, and (leaf, shift) for each leaf in it.

    A value is shifted left by `shift`; a negative one shifts to the right a leaf that begins in the plane before.
    """
    mask, parts = (1 << lanes.bits) - 1, []
    for leaf in leaves:
        slot = layout.slots[leaf]
        first, shift = plane_of(slot, lanes)
        if number == first + 1 and shift + slot.bits > lanes.bits:
            shift -= lanes.bits
        elif number != first or not slot.bits:
            continue
        mask &= ~(slot.mask << shift if shift >= 0 else slot.mask >> -shift)
        parts.append((leaf, shift))
    return mask, parts


def plane_functions(words: int, lanes: Lanes) -> str:
    """Return the IR of @columns and @cut."""
    return "\n".join([_columns(words, lanes), _cut(lanes)])


def _columns(words: int, lanes: Lanes) -> str:
    moves = copy_row(words, "column", "%row", "%to", target_step=lanes.count)
    return ir("planes.columns", words=words, moves=moves, lanes=lanes.count)


def _cut(lanes: Lanes) -> str:
    """Return @cut: eight lanes of a word at a time, one truncation for each of its planes."""
    size, part = lanes.bits // 8, f"<8 x i{lanes.bits}>"
    moves = ""
    for p in range(pieces(lanes)):
        moved = f"%s{p}"
        moves += f"\n  {moved} = lshr <8 x i64> %word, {Lanes(WORD, 8).const(p * lanes.bits)}"
        if lanes.bits < WORD:
            moves += f"\n  %t{p} = trunc <8 x i64> {moved} to {part}"
            moved = f"%t{p}"
        moves += f"\n  %p{p} = getelementptr i8, ptr %to, i64 {p * lanes.count * size}"
        moves += f"\n  store {part} {moved}, ptr %p{p}, align {size}"
    return ir("planes.cut", lanes=lanes.count, plane_bytes=8 * lanes.count, size=size, moves=moves)
