"""The least image of a packed state under the renamings of a program, in numpy: an oracle for the native function."""

from __future__ import annotations

import numpy as np

from elrcheck.explorer.kernel.word_layout import Ints, Rows, WordLayout
from elrcheck.lang.lowering.program import LeafImage, Program, Symmetry


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
