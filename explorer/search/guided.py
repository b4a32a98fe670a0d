"""Walks that continue from rarely visited states: a simulation guided by coverage.

Uniform walks spend their steps near the start and on frequent events. A guided run remembers every visited
state, sorts states into cells, and continues from cells that were rarely chosen and are close to a violation. The
states of a cell have the same actions enabled and the same distance to violating the properties
(`lang/lowering/falsity.py`).

A round draws cells, with a weight that falls with the number of earlier choices and with the distance, and takes the
states of a cell in turn. From each state a walk takes up to `STRIDE` steps, drawn as in `walk.py` among the unvisited
successors; it ends if there are none. A state without an unvisited successor is never chosen again, so a run ends
at the latest when every state has been visited. A new state is remembered with its predecessor, from which traces
are read; a shorter path to a remembered state replaces the longer one.

All of this depends on the seed only: there is one thread, and every choice is an integer hash or an integer
sum. When the memory is full, a walk ends at the first new state, which is judged and then forgotten.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import isqrt

import numpy as np
import numpy.typing as npt

from elrcheck.base.progress import WalksDone
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.kernel.walk_memory import GOLDEN, MIX_1, MIX_2, WalkShared
from elrcheck.explorer.kernel.word_layout import Ints, Rows, Successors
from elrcheck.explorer.search.result import violates
from elrcheck.explorer.search.splitmix import WORD, mix, mix_all
from elrcheck.explorer.search.vector import evaluate_columns
from elrcheck.explorer.search.walk import FirstHit, WalkResult, Walks
from elrcheck.lang.lowering.falsity import FAR, falsities
from elrcheck.lang.lowering.program import Program

LANES = 256
STRIDE = 16
APIECE = 4
"""Up to this many properties, a cell has the distance of each; with more, only that of the nearest."""
MOST_STATES = 4_000_000
"""States that are remembered, about 200 bytes each."""
WEIGHT = 1 << 20
NO_STATE = -1


@dataclass
class StateCell:
    """Bucket of similar states with unvisited successors. chosen: how often one of them was taken."""

    distance: int
    states: deque[int] = field(default_factory=deque)
    chosen: int = 0

    @property
    def weight(self) -> int:
        """Inversely proportional to the distance, and to the square root of the number of choices."""
        return WEIGHT // ((1 + self.distance) * isqrt(1 + self.chosen)) if self.states else 0


class Guided:
    """A guided simulation of one program; `run` it once. depth: the most steps of a trace."""

    def __init__(self, program: Program, seed: int, depth: int, *, cache: KernelCache | None = None) -> None:
        self.program, self.depth = program, depth
        self.walks = Walks(program, seed, depth, cache=cache)
        self.layout = self.walks.layout
        self.seed = int(self.walks._shared[WalkShared.SEED])
        goals = [k for k, check in enumerate(program.checks) if check.kind == "always"]
        self.distances = falsities(program, goals)
        names = sorted({one.action for one in program.instances})
        self.action = np.array([names.index(one.action) for one in program.instances], np.uint64)
        self.rows = np.zeros((1 << 12, self.layout.words), np.uint64)
        self.parent: list[int] = []
        self.steps_to: list[int] = []
        self.numbers: dict[bytes, int] = {}
        self.enabled: list[int] = []
        self.sorted = 0
        self.cells: dict[tuple[int, ...], StateCell] = {}
        self.first: dict[int, FirstHit] = {}
        self.counters = np.zeros(self.walks.counters.size, np.int64)
        self.taken = np.zeros(max(1, len(program.instances)), np.int64)
        self.states = self.steps = self.deepest = self.rounds = self.begun = 0

    def run(
        self,
        walks: int,
        *,
        seconds: float | None = None,
        stop_at_first: bool = False,
        progress: Callable[[WalksDone], None] | None = None,
    ) -> WalkResult:
        """Begin this many walks, or as many as the seconds allow; finish a round in any case."""
        started = time.perf_counter()
        reason = None
        start = self.walks._start
        self._judge_start(start)
        self._remember(start, np.array([NO_STATE]), np.zeros(1, np.int64), self._expand(start))
        self._sort()
        while True:
            now = time.perf_counter() - started
            if progress is not None:
                progress(WalksDone(self.begun, self.steps, now))
            if stop_at_first and violates(self.program, self.first):
                reason = "--stop-at-first"
            elif seconds is not None and now >= seconds:
                reason = f"--time-budget {seconds:g}s"
            elif self.begun >= walks:
                reason = None
            elif any(cell.states for cell in self.cells.values()):
                self._round()
                continue
            else:
                reason = f"no unvisited state within --depth {self.depth}"
            return self._result(time.perf_counter() - started, reason)

    # -- a round

    def _round(self) -> None:
        """Choose states to continue from, and walk."""
        cells = list(self.cells.values())
        total = list(accumulate(cell.weight for cell in cells))
        chosen: list[int] = []
        homes: list[StateCell] = []
        for lane in range(LANES):
            drawn = mix(self.seed + self.rounds * MIX_1 + lane * GOLDEN) % total[-1]
            cell = cells[bisect_right(total, drawn)]
            if cell.states:  # else this round has taken them all
                cell.chosen += 1
                chosen.append(cell.states.popleft())
                homes.append(cell)
        self.rounds += 1
        here = np.array(chosen, np.int64)
        self._walk(self.rows[here].copy(), here, homes)
        self.begun += len(chosen)
        self._sort()

    def _walk(self, rows: Rows, here: Ints, homes: Sequence[StateCell]) -> None:
        """Walk from these states; each returns to its cell if it has an unvisited successor."""
        lanes = np.arange(len(rows), dtype=np.uint64)
        depth = np.array([self.steps_to[k] for k in here.tolist()], np.int64)
        came = here
        for step in range(STRIDE + 1):
            if not len(rows):
                return
            after = self._expand(rows)
            if step:
                here = self._remember(rows, came, depth, after)
            new = np.nonzero(self._unvisited(after.rows))[0]
            if step == 0:
                for k in np.unique(after.sources[new]).tolist():
                    if depth[k] < self.depth:
                        homes[k].states.append(int(here[k]))
            if step == STRIDE:
                return
            picked = new[self._pick(lanes, step, after.sources[new], after.instances[new])]
            origin = after.sources[picked]
            going = (here[origin] != NO_STATE) & (depth[origin] < self.depth)
            picked, origin = picked[going], origin[going]
            self.taken += np.bincount(after.instances[picked], minlength=len(self.taken))
            came, depth, lanes = here[origin], depth[origin] + 1, lanes[origin]
            rows = np.ascontiguousarray(after.rows[picked])
            self.deepest = max(self.deepest, int(depth.max(initial=0)))
            self._judge(rows, after, picked, came, lanes)
            self.states += len(rows)
            self.steps += len(rows)

    def _unvisited(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which rows are unvisited states."""
        return np.array([key not in self.numbers for key in map(bytes, np.ascontiguousarray(rows))], np.bool_)

    def _expand(self, rows: Rows) -> Successors:
        return self.walks.native.successors(rows, self.counters)

    def _pick(self, lanes: Rows, step: int, source: Ints, instance: Ints) -> Ints:
        """Return the position of one successor of each row with successors: the one with the least key (`walk.py`)."""
        base = np.uint64(mix(self.seed ^ self.rounds * GOLDEN & WORD))
        chance = mix_all(base + (lanes << np.uint64(24)) + np.uint64((step + 1) * GOLDEN & WORD))
        keys = mix_all(chance[source] + instance.astype(np.uint64) * np.uint64(MIX_2))
        order = np.lexsort((instance, keys, source))
        first = np.ones(len(order), bool)
        first[1:] = source[order][1:] != source[order][:-1]
        return order[first]

    # -- the memory

    def _remember(self, rows: Rows, came: Ints, depth: Ints, after: Successors) -> Ints:
        """Add the new ones of these rows; return the number of each row, NO_STATE if there is no room.

        came: their predecessors. after: their successors.
        """
        here = np.full(len(rows), NO_STATE, np.int64)
        new: list[int] = []
        for k, key in enumerate(map(bytes, rows)):
            number = self.numbers.get(key, NO_STATE)
            if number == NO_STATE and len(self.parent) < MOST_STATES:
                number = self.numbers[key] = len(self.parent)
                self.parent.append(int(came[k]))
                self.steps_to.append(int(depth[k]))
                new.append(k)
            elif number != NO_STATE and depth[k] < self.steps_to[number]:
                self.parent[number], self.steps_to[number] = int(came[k]), int(depth[k])
            here[k] = number
        if new:
            while len(self.parent) > len(self.rows):
                self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
            self.rows[here[new]] = rows[new]
            actions = np.zeros(len(rows), np.uint64)
            bits = np.uint64(1) << (self.action[after.instances] % np.uint64(64))
            np.bitwise_or.at(actions, after.sources, bits)
            self.enabled += actions[new].tolist()
        return here

    def _sort(self) -> None:
        """Put the states added since the last call into their cells."""
        last, end = self.sorted, len(self.parent)
        if last == end:
            return
        self.sorted = end
        count = end - last
        columns = self.layout.columns(self.rows[last:end])
        away = np.full((1, count), FAR, np.int64)
        if self.distances:
            away = np.stack(evaluate_columns(self.distances, columns, count))
        least = away.min(axis=0).tolist()
        looks = away if len(away) <= APIECE else np.stack([away.argmin(axis=0), away.min(axis=0)])
        for number, look, distance in zip(range(last, end), looks.T.tolist(), least, strict=True):
            actions = self.enabled[number]
            if actions:  # no walk continues from a state without a step inside the bound
                cell = self.cells.setdefault((actions, *look), StateCell(distance))
                cell.states.append(number)

    # -- results

    def _judge_start(self, start: Rows) -> None:
        for check in self.walks.native.state_checks:
            if self.walks.native.state_hits(check, start)[0]:
                self.first[check] = FirstHit(0, 0, 1, (self._values(start[0]),))
        self.states = 1

    def _judge(self, rows: Rows, after: Successors, picked: Ints, came: Ints, lanes: Rows) -> None:
        """Record the checks that are hit for the first time, each with the first lane that hits it.

        rows: the `picked` ones of `after`. came: their predecessors.
        """
        if not len(rows):
            return
        for check in range(len(self.program.checks)):
            if check in self.first:
                continue
            if check in self.walks.native.state_checks:
                hits = self.walks.native.state_hits(check, rows)
            else:
                hits = after.hits(check)[picked]
            if hits.any():
                lane = int(np.argmax(hits))
                before = self._way_to(int(came[lane]))
                trace = (*before, self._values(rows[lane]))
                walk, states = self.begun + int(lanes[lane]), self.states + lane + 1
                self.first[check] = FirstHit(len(before), walk, states, trace)

    def _way_to(self, state: int) -> list[tuple[int, ...]]:
        """Return the leaf values of the states on the path to a remembered one."""
        way = []
        while state != NO_STATE:
            way.append(self._values(self.rows[state]))
            state = self.parent[state]
        return way[::-1]

    def _values(self, row: Rows) -> tuple[int, ...]:
        return self.layout.unpack(row.tolist())

    def _result(self, seconds: float, reason: str | None) -> WalkResult:
        enabled, cut, overflow = self.walks.counters.totals(self.counters)
        return WalkResult(
            begun=self.begun,
            ended=self.begun,
            steps=self.steps,
            states=self.states,
            deepest=self.deepest,
            deadlocks=int(self.counters[0]),
            blocked=0,
            enabled=enabled,
            cut=cut,
            taken=self.taken[: len(enabled)].tolist(),
            overflow=overflow,
            first=dict(sorted(self.first.items())),
            distinct=float(len(self.parent)),
            error=0.0,
            seconds=seconds,
            reason=reason,
            cells=len(self.cells),
        )
