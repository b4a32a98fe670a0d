"""The least image of a packed state under the renamings of a program, as LLVM IR, and in numpy as an oracle for that.

    internal void @canonical(ptr row)

replaces a state by its least image, word by word. It goes from image to image by swaps of two members
(`Symmetry.path`), each a function that moves what differs: bits that go equally far are moved together, and a
leaf that holds a member is looked at by itself.
"""

from __future__ import annotations

import numpy as np

from elrcheck.explorer.kernel.word_layout import Ints, Rows, WordLayout
from elrcheck.lang.lowering.program import LeafImage, Program, Symmetry


def canonical_function(symmetry: Symmetry, layout: WordLayout) -> str:
    """Return the IR of @canonical and of the swaps that it calls."""
    swaps = [_swap(number, swap, layout) for number, swap in enumerate(symmetry.swaps)]
    return "\n".join([*swaps, _canonical(symmetry, layout.words)])


def _canonical(symmetry: Symmetry, words: int) -> str:
    steps = ", ".join(f"i8 {swap}" for swap in symmetry.path)
    length = len(symmetry.path)
    cases = " ".join(f"i8 {number}, label %swap.{number}" for number in range(1, len(symmetry.swaps)))
    calls = "".join(
        f"\nswap.{number}:\n  call void @swap.{number}(ptr %now)\n  br label %compare"
        for number in range(len(symmetry.swaps))
    )
    starts = copy = ""
    for k in range(words):
        starts += f"""
  %row.{k} = getelementptr i64, ptr %row, i64 {k}
  %now.{k} = getelementptr i64, ptr %now, i64 {k}
  %start.{k} = load i64, ptr %row.{k}, align 8
  store i64 %start.{k}, ptr %now.{k}, align 8"""
        copy += f"\n  store i64 %new.{k}, ptr %row.{k}, align 8"
    compare, less = "", "false"
    for k in reversed(range(words)):
        compare += f"""
  %new.{k} = load i64, ptr %now.{k}, align 8
  %old.{k} = load i64, ptr %row.{k}, align 8
  %under.{k} = icmp ult i64 %new.{k}, %old.{k}
  %same.{k} = icmp eq i64 %new.{k}, %old.{k}
  %less.{k} = select i1 %same.{k}, i1 {less}, i1 %under.{k}"""
        less = f"%less.{k}"
    return f"""
@path = internal constant [{length} x i8] [{steps}], align 64
define internal void @canonical(ptr %row) {{
entry:
  %now = alloca [{words} x i64], align 8{starts}
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k1, %step ]
  %swap.p = getelementptr i8, ptr @path, i64 %k
  %swap = load i8, ptr %swap.p, align 1
  switch i8 %swap, label %swap.0 [ {cases} ]{calls}
compare:{compare}
  br i1 {less}, label %take, label %step
take:{copy}
  br label %step
step:
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, {length}
  br i1 %more, label %next, label %end
end:
  ret void
}}"""


def _swap(number: int, swap: tuple[LeafImage, ...], layout: WordLayout) -> str:
    """Return @swap.NUMBER, which replaces a state by its image."""
    moved: dict[tuple[int, int, int], int] = {}
    lines: list[str] = []
    parts: list[list[str]] = [[] for _ in range(layout.words)]
    for leaf, image in enumerate(swap):
        to = layout.slots[leaf]
        if image.values or image.source is None:
            value = _member(lines, f"m{leaf}", image, to.lo, layout)
            lines.append(f"  %m{leaf}.to = shl i64 {value}, {to.shift}")
            parts[to.word].append(f"%m{leaf}.to")
            continue
        source = layout.slots[image.source]
        bits = image.bits or range(source.bits)
        for bit, target in enumerate(bits):
            way = (source.word, to.word, to.shift + target - source.shift - bit)
            moved[way] = moved.get(way, 0) | 1 << (source.shift + bit)
    for number_of, ((source_word, word, far), mask) in enumerate(sorted(moved.items())):
        name = f"g{number_of}"
        lines.append(f"  %{name} = and i64 %w{source_word}, {mask}")
        if far:
            lines.append(f"  %{name}.to = {'shl' if far > 0 else 'lshr'} i64 %{name}, {abs(far)}")
            name += ".to"
        parts[word].append(f"%{name}")
    loads, stores = "", []
    for k in range(layout.words):
        loads += f"""
  %p{k} = getelementptr i64, ptr %row, i64 {k}
  %w{k} = load i64, ptr %p{k}, align 8"""
        total = "0"
        for at, part in enumerate(parts[k]):
            stores.append(f"  %t{k}.{at} = or i64 {total}, {part}")
            total = f"%t{k}.{at}"
        stores.append(f"  store i64 {total}, ptr %p{k}, align 8")
    body = "\n".join([*lines, *stores])
    return f"define internal void @swap.{number}(ptr %row) {{\nentry:{loads}\n{body}\n  ret void\n}}"


def _member(lines: list[str], name: str, image: LeafImage, lo: int, layout: WordLayout) -> str:
    """Emit the new value of a leaf that holds a member, or is the image of a constant; return its name.

    lo: the least value of the leaf, which is subtracted where it is stored.
    """
    old, first = str(image.constant - lo), image.constant
    if image.source is not None:
        old, first = _stored(lines, f"{name}.old", image.source, layout), lo
    there = "true"
    for number, (leaf, least) in enumerate(image.behind):
        held = _stored(lines, f"{name}.b{number}", leaf, layout)
        enough = least - layout.slots[leaf].lo
        lines.append(f"  %{name}.c{number} = icmp uge i64 {held}, {max(0, enough)}")
        lines.append(f"  %{name}.a{number} = and i1 {there}, %{name}.c{number}")
        there = f"%{name}.a{number}"
    value = old
    for at, becomes in enumerate(image.values):
        if becomes != first + at:
            lines.append(f"  %{name}.e{at} = icmp eq i64 {old}, {first + at - lo}")
            lines.append(f"  %{name}.w{at} = and i1 {there}, %{name}.e{at}")
            lines.append(f"  %{name}.v{at} = select i1 %{name}.w{at}, i64 {becomes - lo}, i64 {value}")
            value = f"%{name}.v{at}"
    return value


def _stored(lines: list[str], name: str, leaf: int, layout: WordLayout) -> str:
    """Emit the number that a leaf stores; return its name."""
    slot = layout.slots[leaf]
    lines.append(f"  %{name}.s = lshr i64 %w{slot.word}, {slot.shift}")
    lines.append(f"  %{name} = and i64 %{name}.s, {slot.mask}")
    return f"%{name}"


class Canonical:
    """Replaces states by their least images; does nothing for a program without a symmetry."""

    def __init__(self, program: Program, layout: WordLayout) -> None:
        self.symmetry, self.layout = program.symmetry, layout

    def rows(self, rows: Rows) -> Rows:
        """Return the least image of each packed state, word by word."""
        return rows if self.symmetry is None or not len(rows) else self._least(rows, self.symmetry)

    def _least(self, rows: Rows, symmetry: Symmetry) -> Rows:
        best = rows.copy()
        columns = self.layout.columns(rows)
        for swap in symmetry.path:
            columns = [self._column(image, columns) for image in symmetry.swaps[swap]]
            packed = self.layout.pack_columns(columns, len(rows))
            less = np.zeros(len(rows), np.bool_)
            for word in reversed(range(rows.shape[1])):
                mine, theirs = packed[:, word], best[:, word]
                less = (mine < theirs) | ((mine == theirs) & less)
            best[less] = packed[less]
        return best

    def _column(self, image: LeafImage, columns: list[Ints]) -> Ints:
        if image.source is None:
            old, lo = np.full(len(columns[0]), image.constant, np.int64), image.constant
        else:
            old, lo = columns[image.source], self.layout.slots[image.source].lo
        if image.bits:
            bits: Ints = np.sum([(old >> k & 1) << to for k, to in enumerate(image.bits)], axis=0)
            return bits
        if not image.values:
            return old
        moved = np.array(image.values, np.int64)[old - lo]
        there = np.ones(len(old), np.bool_)
        for other, least in image.behind:
            there &= columns[other] >= least
        return np.where(there, moved, old)
