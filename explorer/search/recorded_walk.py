"""Random walks with a digest of their steps, which reveals changes of the rules where no search could end.

A configuration with every operation and fault has far more states than can be searched, but walks through it
still exercise most of the rules. The digest covers every possible step in each state of each walk: its action, and
the state after it. So a model that allows one more step or one less, or leads elsewhere, has another digest.

The digest depends only on the paths of the state and on names of actions and arguments, not on how states are
packed or in which order steps are listed. A leaf that keeps its initial value adds nothing. The next step is drawn by
a hash of the seed, the walk and the step, first among the actions and then among their arguments, so that an action
with one choice is as likely as one with twenty.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.kernel.kernel import build_quick
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.kernel.word_layout import Ints, Words
from elrcheck.explorer.search.splitmix import mix_all
from elrcheck.lang.lowering.program import Instance, Program


@dataclass(frozen=True)
class WalkDigest:
    """The extent of all walks, and the digest of their steps.

    generated: number of possible steps; distinct: states; steps: of the longest walk. columns[i] has the values of
    leaf i in all distinct states.
    """

    generated: int
    distinct: int
    steps: int
    digest: str
    columns: tuple[npt.NDArray[np.int32], ...]


class Walker:
    """The walks of one program, which take their steps together."""

    def __init__(self, program: Program, seed: int, walks: int, steps: int, cache: KernelCache | None) -> None:
        self.program, self.seed, self.walks, self.steps = program, seed, walks, steps
        self.kernel = build_quick(program, cache)
        self.factors = [_hashed(f"leaf {leaf.path}") | np.uint64(1) for leaf in program.leaves]
        self.labels = np.array([_hashed(_label(one)) for one in program.instances], np.uint64)
        self.actions = np.array([_hashed(f"action {one.action}") for one in program.instances], np.uint64)
        self.written = [
            np.array([leaf in one.updates for one in program.instances]) for leaf in range(len(self.factors))
        ]

    def run(self) -> WalkDigest:
        layout = self.kernel.layout
        rows = np.repeat(layout.pack_rows(self.program.init[:1]), self.walks, axis=0)
        words = np.zeros(self.walks, np.uint64)
        walk = np.arange(self.walks, dtype=np.uint64)
        visited: set[int] = set()
        new_columns: list[list[npt.NDArray[np.int32]]] = []
        generated, total, longest = 0, np.uint64(0), 0
        for step in range(self.steps + 1):
            columns = layout.columns(rows)
            new = [k for k, word in enumerate(words.tolist()) if _is_new(visited, word)]
            new_columns.append([column[new].astype(np.int32) for column in columns])
            if step == self.steps:
                break
            moved, rows, words, edges, hashed = self._step(rows, columns, words, walk, step)
            generated += edges
            total += hashed
            if not len(moved):
                break
            longest = step + 1
            walk = walk[moved]
        joined = tuple(np.concatenate(parts) for parts in zip(*new_columns, strict=True))
        return WalkDigest(generated, len(visited), longest, f"{int(total):016x}", joined)

    def _term(self, leaf: int, column: Ints) -> Words:
        """Return what the values of one leaf add to the hashes of their states: nothing for the initial value."""
        return mix_all((column - self.program.init[0][leaf]).astype(np.uint64) * self.factors[leaf])

    def _step(
        self, rows: Words, columns: list[Ints], words: Words, walk: Words, step: int
    ) -> tuple[Ints, Words, Words, int, np.uint64]:
        """Return the walks that take a step, the states after it and their hashes; the number of possible steps, and
        their hash.

        words: a hash of each state, the sum of the terms of its leaves.
        """
        possible = self.kernel.successors(rows, np.zeros(self.kernel.counters.size, np.int64))
        sources, labels = possible.sources, self.labels[possible.instances]
        before = words[sources]
        after = before.copy()
        for leaf, written in enumerate(self.written):
            at = np.flatnonzero(written[possible.instances])
            if not len(at):
                continue
            new = self.kernel.layout.column(possible.rows[at], leaf)
            after[at] += self._term(leaf, new) - self._term(leaf, columns[leaf][sources[at]])
        hashed = mix_all(mix_all(before ^ labels) + after).sum(dtype=np.uint64)
        turn = mix_all(walk * np.uint64(self.steps + 1) + np.uint64(step + (self.seed << 32)))[sources]
        by_action, by_choice = mix_all(turn ^ self.actions[possible.instances]), mix_all(turn ^ labels)
        order = np.lexsort((by_choice, by_action, sources))
        moved, first = np.unique(sources[order], return_index=True)
        chosen = order[first]
        return moved, possible.rows[chosen], after[chosen], len(order), hashed


def walked(program: Program, *, seed: int, walks: int, steps: int, cache: KernelCache | None = None) -> WalkDigest:
    """Walk through a program; the result depends on the rules of the model and the arguments only.

    walks: number of walks, all from the initial state. steps: the length of each, unless it ends in a deadlock.
    """
    with np.errstate(over="ignore"):
        return Walker(program, seed, walks, steps, cache).run()


def _is_new(visited: set[int], word: int) -> bool:
    """Return True for a new state, and note it."""
    before = len(visited)
    visited.add(word)
    return len(visited) > before


def _hashed(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))


def _label(instance: Instance) -> str:
    return f"{instance.action}({', '.join(_texts(instance.args))})"


def _texts(args: Sequence[object]) -> Iterator[str]:
    for arg in args:
        if isinstance(arg, Enum):
            yield arg.name
        elif isinstance(arg, frozenset):
            yield str(sorted(arg))
        else:
            yield repr(arg)
