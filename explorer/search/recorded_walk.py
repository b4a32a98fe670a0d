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

from elrcheck.explorer.kernel.word_layout import Ints, Words
from elrcheck.explorer.search.splitmix import mix_all
from elrcheck.explorer.search.vector import evaluate_columns
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.lowering.program import Instance, Program

NEVER = np.uint64(2**64 - 1)


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

    def __init__(self, program: Program, seed: int, walks: int, steps: int) -> None:
        self.program, self.seed, self.walks, self.steps = program, seed, walks, steps
        self.factors = [_hashed(f"leaf {leaf.path}") | np.uint64(1) for leaf in program.leaves]
        self.labels = np.array([_hashed(_label(one)) for one in program.instances], np.uint64)
        actions = sorted({one.action for one in program.instances})
        self.action_words = np.array([_hashed(f"action {name}") for name in actions], np.uint64)
        self.action_of = [actions.index(one.action) for one in program.instances]
        self.roots: list[DagNode] = []
        self.conditions: list[range] = []
        self.updates: list[dict[int, int]] = []
        for one in program.instances:
            self.conditions.append(self._rooted((*one.guards, *one.within)))
            at = self._rooted(tuple(one.updates.values()))
            self.updates.append(dict(zip(one.updates, at, strict=True)))

    def _rooted(self, nodes: Sequence[DagNode]) -> range:
        start = len(self.roots)
        self.roots += nodes
        return range(start, len(self.roots))

    def run(self) -> WalkDigest:
        columns = [np.full(self.walks, value, np.int64) for value in self.program.init[0]]
        walk = np.arange(self.walks, dtype=np.uint64)
        visited: set[int] = set()
        new_columns: list[list[npt.NDArray[np.int32]]] = []
        generated, total, longest = 0, np.uint64(0), 0
        for step in range(self.steps + 1):
            words = self._words(columns)
            new = [k for k, word in enumerate(words.tolist()) if _is_new(visited, word)]
            new_columns.append([column[new].astype(np.int32) for column in columns])
            if step == self.steps:
                break
            chosen, after, edges, hashed = self._step(columns, words, walk, step)
            generated += edges
            total += hashed
            moves = chosen >= 0
            if not moves.any():
                break
            longest = step + 1
            columns = [column[moves] for column in after]
            walk = walk[moves]
        joined = tuple(np.concatenate(parts) for parts in zip(*new_columns, strict=True))
        return WalkDigest(generated, len(visited), longest, f"{int(total):016x}", joined)

    def _words(self, columns: Sequence[Ints]) -> Words:
        """Return a hash of each state: the sum of the terms of its leaves, 0 for a leaf with its initial value."""
        words = np.zeros(len(columns[0]), np.uint64)
        for leaf, column in enumerate(columns):
            words += self._term(leaf, column)
        return words

    def _term(self, leaf: int, column: Ints) -> Words:
        """Return the terms that the values of one leaf add to the hashes of their states."""
        return mix_all((column - self.program.init[0][leaf]).astype(np.uint64) * self.factors[leaf])

    def _step(
        self, columns: list[Ints], words: Words, walk: Words, step: int
    ) -> tuple[Ints, list[Ints], int, np.uint64]:
        """Return the step of each walk (-1: none), the states after it, the number of possible steps and their hash."""
        count = len(walk)
        values = evaluate_columns(self.roots, columns, count)
        turn = mix_all(walk * np.uint64(self.steps + 1) + np.uint64(step + (self.seed << 32)))
        best = np.full((2, count), NEVER)
        chosen = np.full(count, -1, np.int64)
        edges, hashed = 0, np.uint64(0)
        for index, conditions in enumerate(self.conditions):
            at = self._possible(index, conditions, values, count)
            if not len(at):
                continue
            edges += len(at)
            after = self._after(index, columns, values, at, words)
            hashed += mix_all(mix_all(words[at] ^ self.labels[index]) + after).sum(dtype=np.uint64)
            by_action = mix_all(turn[at] ^ self.action_words[self.action_of[index]])
            by_choice = mix_all(turn[at] ^ self.labels[index])
            wins = (by_action < best[0, at]) | ((by_action == best[0, at]) & (by_choice < best[1, at]))
            took = at[wins]
            best[0, took], best[1, took], chosen[took] = by_action[wins], by_choice[wins], index
        moved = [column.copy() for column in columns]
        for index, updates in enumerate(self.updates):
            took = np.nonzero(chosen == index)[0]
            for leaf, root in updates.items():
                moved[leaf][took] = values[root][took]
        return chosen, moved, edges, hashed

    def _possible(self, index: int, conditions: range, values: Sequence[Ints], count: int) -> Ints:
        """Return the walks in which an instance is enabled and its step stays inside the bounds."""
        holds = np.ones(count, np.bool_)
        for root in conditions:
            holds &= values[root] != 0
        for leaf, root in self.updates[index].items():
            bounds = self.program.leaves[leaf]
            holds &= (values[root] >= bounds.lo) & (values[root] <= bounds.hi)
        return np.nonzero(holds)[0]

    def _after(self, index: int, columns: Sequence[Ints], values: Sequence[Ints], at: Ints, words: Words) -> Words:
        """Return the hashes of the states after a step."""
        after = words[at].copy()
        for leaf, root in self.updates[index].items():
            after += self._term(leaf, values[root][at]) - self._term(leaf, columns[leaf][at])
        return after


def walked(program: Program, *, seed: int, walks: int, steps: int) -> WalkDigest:
    """Walk through a program; the result depends on the rules of the model and the arguments only.

    walks: number of walks, all from the initial state. steps: the length of each, unless it ends in a deadlock.
    """
    with np.errstate(over="ignore"):
        return Walker(program, seed, walks, steps).run()


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
