"""Random walks over a program, on one or more threads; the native part is `walk_ir.py`.

Walks run in blocks of a fixed size. A block ends when all its walks have ended, so the results after a
block depend only on the seed, and a run that stops at its first violation stops at the end of a block.
Only a time budget stops a run within a block.

The distinct states are estimated from a HyperLogLog sketch. The native walks maintain its registers: the first p bits
of a 64-bit hash select one of 2^p registers, and the register keeps the greatest position of the first set bit among
the other 64 - p, which is 64 - p + 1 if none is set. The registers of several workers are merged by taking the maximum,
so the estimate depends only on the set of states. The estimator is algorithm 6 of "New cardinality estimation
algorithms for HyperLogLog sketches" by Otmar Ertl (2017): unbiased from the first element on, without tables and
without a choice between formulas.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from elrcheck.base.progress import WalksDone
from elrcheck.explorer.kernel.kernel import Kernel, shapes_of
from elrcheck.explorer.kernel.native_code import KernelCache, compile_modules
from elrcheck.explorer.kernel.walk_ir import walk_modules
from elrcheck.explorer.kernel.walk_memory import ENDED, GOLDEN, MIX_2, SKETCH_BITS, WALK_BITS, WalkContext, WalkShared
from elrcheck.explorer.search.result import violates
from elrcheck.explorer.search.splitmix import WORD, mix
from elrcheck.lang.lowering.program import Program

HASH_BITS = 64


def relative_error(registers: int) -> float:
    """Return the relative standard error of an estimate."""
    return 1.04 / math.sqrt(registers)


def estimate(registers: Sequence[int]) -> float:
    """Estimate the number of distinct hashes; the number of registers must be a power of two."""
    m = len(registers)
    q = HASH_BITS - (m.bit_length() - 1)
    counts = [0] * (q + 2)
    for value in registers:
        counts[value] += 1
    z = m * _tau(1 - counts[q + 1] / m)
    for k in range(q, 0, -1):
        z = 0.5 * (z + counts[k])
    z += m * _sigma(counts[0] / m)
    return 0.0 if math.isinf(z) else m * m / (2 * math.log(2) * z)


def _sigma(x: float) -> float:
    """Return x + the sum of x^(2^k) * 2^(k - 1) over k >= 1; infinite for x = 1 (all registers empty)."""
    if x == 1.0:
        return math.inf
    y, z = 1.0, x
    while True:
        x *= x
        before, z = z, z + x * y
        y += y
        if z == before:
            return z


def _tau(x: float) -> float:
    """Return a third of (1 - x minus the sum of (1 - x^(2^-k))^2 * 2^-k over k >= 1)."""
    if x in (0.0, 1.0):
        return 0.0
    y, z = 1.0, 1 - x
    while True:
        x = math.sqrt(x)
        y *= 0.5
        before, z = z, z - (1 - x) ** 2 * y
        if z == before:
            return z / 3


LANES = 64
BLOCK = 4096
ROUND_SECONDS = 0.05
MOST_WALKS = (1 << WALK_BITS) - 1
MOST_STEPS = 1 << 20
SIGNATURES = {"walk": 2, "expand": 9, "check": 5}


@dataclass(frozen=True)
class FirstHit:
    """The first hit of a check: after the fewest steps, and among those in the walk with the least number.

    In a guided run, the first in time; states: visited until then. trace: leaf values, if the walk cannot be repeated
    from its number.
    """

    step: int
    walk: int
    states: int | None = None
    trace: tuple[tuple[int, ...], ...] = ()


@dataclass
class WalkResult:
    """The combined result of all walks. Lists follow the program's instances.

    ended: walks that have ended; begun: also those cut off by a time budget. states: visits. deadlocks: walks that
    ended in a state without an enabled action; blocked: where every enabled step leaves the budgets. enabled and cut
    count over all expanded states, including repeated ones; taken counts the steps of the walks. first: by check.
    distinct: estimated number of distinct states; error: its standard error. reason: what stopped the run early, if
    anything.

    A guided run counts distinct states exactly; its deadlocks are expansions of states without an enabled action.
    cells: the number of its cells.
    """

    begun: int
    ended: int
    steps: int
    states: int
    deepest: int
    deadlocks: int
    blocked: int
    enabled: list[int]
    cut: list[int]
    taken: list[int]
    overflow: dict[int, int]
    first: dict[int, FirstHit]
    distinct: float
    error: float
    seconds: float
    reason: str | None
    cells: int | None = None


class Walks:
    """Random walks of one program and one seed."""

    def __init__(
        self, program: Program, seed: int, depth: int, *, workers: int = 1, cache: KernelCache | None = None
    ) -> None:
        if not 1 <= depth <= MOST_STEPS:
            raise ValueError(f"the depth of a walk is 1 to {MOST_STEPS} steps, not {depth}")
        self.program, self.seed, self.depth, self.workers = program, seed, depth, workers
        shapes = shapes_of(program)
        code = compile_modules(walk_modules(program, shapes), SIGNATURES, cache)
        self.native = Kernel(**vars(shapes), **vars(code))
        self.layout, self.counters = self.native.layout, self.native.counters
        self._start = self.layout.pack_rows(sorted(set(program.init)))
        self._shared = np.zeros(WalkShared.SIZE, np.uint64)
        self._shared[WalkShared.SEED] = mix(seed)
        self._shared[WalkShared.DEPTH] = depth
        self._shared[WalkShared.START] = self._start.ctypes.data
        self._shared[WalkShared.STARTS] = len(self._start)
        self._owned = [_Worker(self) for _ in range(workers)]

    def run(
        self,
        walks: int,
        *,
        seconds: float | None = None,
        stop_at_first: bool = False,
        progress: Callable[[WalksDone], None] | None = None,
    ) -> WalkResult:
        """Run the walks 0..walks - 1, or as many as `seconds` allows. Call it only once."""
        started = time.perf_counter()
        deadline = None if seconds is None else started + seconds
        reason = None
        with ThreadPoolExecutor(self.workers) as pool:
            for block in range(0, walks, BLOCK):
                self._shared[WalkShared.CURSOR] = block
                self._shared[WalkShared.LAST] = min(block + BLOCK, walks)
                ended = self._block(pool, deadline, started, progress)
                last = block + BLOCK >= walks
                if ended and stop_at_first and violates(self.program, self._first()):
                    reason = None if last else "--stop-at-first"
                    break
                late = deadline is not None and time.perf_counter() >= deadline
                if not ended or (late and not last):
                    reason = f"--time-budget {seconds:g}s"
                    break
        return self._result(time.perf_counter() - started, reason)

    def _block(
        self,
        pool: ThreadPoolExecutor,
        deadline: float | None,
        started: float,
        progress: Callable[[WalksDone], None] | None,
    ) -> bool:
        """Run all walks of a block; return False if the deadline came first."""
        for worker in self._owned:
            worker.restart()
        while True:
            left = list(pool.map(_Worker.go, self._owned))
            now = time.perf_counter()
            if progress is not None:
                steps = sum(int(worker.context[WalkContext.STEPS]) for worker in self._owned)
                progress(WalksDone(self._begun, steps, now - started))
            if not any(left):
                return True
            if deadline is not None and now >= deadline:
                return False  # `run` checks the time too, because a block may take less than one call

    @property
    def _begun(self) -> int:
        return int(min(self._shared[WalkShared.CURSOR], self._shared[WalkShared.LAST]))

    def _first(self) -> dict[int, FirstHit]:
        keys = np.minimum.reduce([worker.step_best for worker in self._owned])
        for place, check in enumerate(self.native.state_checks):
            keys[check] = min(int(worker.state_best[place]) for worker in self._owned)
        first = {
            check: FirstHit(int(key) >> WALK_BITS, int(key) & MOST_WALKS)
            for check, key in enumerate(keys[: len(self.program.checks)])
            if key != ENDED
        }
        for check in self.native.state_checks:
            walks = np.flatnonzero(self.native.state_hits(check, self._start))
            if len(walks) and walks[0] < self._begun:
                first[check] = FirstHit(0, int(walks[0]))
        return first

    def _result(self, seconds: float, reason: str | None) -> WalkResult:
        counters = np.sum([worker.counters for worker in self._owned], axis=0)
        enabled, cut, overflow = self.counters.totals(counters)
        taken = np.sum([worker.taken for worker in self._owned], axis=0)
        sketch = np.maximum.reduce([worker.sketch for worker in self._owned])

        def field(place: WalkContext) -> list[int]:
            return [int(worker.context[place]) for worker in self._owned]

        distinct = estimate(sketch.tolist())
        steps = sum(field(WalkContext.STEPS))
        return WalkResult(
            begun=self._begun,
            ended=sum(field(WalkContext.DONE)),
            steps=steps,
            states=self._begun + steps,
            deepest=max(field(WalkContext.DEEPEST)),
            deadlocks=int(counters[0]),
            blocked=sum(field(WalkContext.BLOCKED)),
            enabled=enabled,
            cut=cut,
            taken=taken[: len(enabled)].tolist(),
            overflow=overflow,
            first=dict(sorted(self._first().items())),
            distinct=distinct,
            error=distinct * relative_error(1 << SKETCH_BITS),
            seconds=seconds,
            reason=reason,
        )

    # -- single walks and states

    def replayed(self, walk: int, steps: int) -> list[tuple[int, ...]]:
        """Return the leaf values of the first `steps` + 1 states of a walk, fewer if it ends."""
        row = self._start[walk % len(self._start)].copy()
        states = [self.layout.unpack(row.tolist())]
        base = mix(int(self._shared[WalkShared.SEED]) ^ (walk * GOLDEN & WORD))
        uncounted = np.zeros(self.counters.size, np.int64)
        for step in range(steps):
            after = self.native.successors(row[None], uncounted)
            if not len(after.rows):
                break
            chance = mix(base + (step + 1) * GOLDEN)
            keys = [mix(chance + instance * MIX_2) for instance in after.instances.tolist()]
            row = after.rows[keys.index(min(keys))].copy()
            states.append(self.layout.unpack(row.tolist()))
        return states


class _Worker:
    """The arrays of one worker and the struct through which native code sees them."""

    def __init__(self, walks: Walks) -> None:
        program, words = walks.program, walks.layout.words
        self._run = walks.native.functions["walk"]
        self._shared = walks._shared
        self.context = np.zeros(WalkContext.SIZE, np.uint64)
        self.states = np.zeros((LANES, words), np.uint64)
        self.lanes = np.zeros((6, LANES), np.uint64)
        self.fired = np.zeros(LANES, np.int64)
        self.records = np.empty((LANES * max(1, len(program.instances)), walks.native.record.size), np.uint64)
        self.counters = np.zeros(walks.counters.size, np.int64)
        self.taken = np.zeros(max(1, len(program.instances)), np.int64)
        self.hits = np.zeros((-(-LANES // walks.native.lanes.count), max(1, len(walks.native.state_checks))), np.uint64)
        self.state_best = np.full(max(1, len(walks.native.state_checks)), ENDED, np.uint64)
        self.step_best = np.full(64 * max(1, -(-len(program.checks) // 64)), ENDED, np.uint64)
        self.sketch = np.zeros(1 << SKETCH_BITS, np.uint8)
        arrays = {
            WalkContext.STATES: self.states,
            WalkContext.WALK: self.lanes[0],
            WalkContext.STEP: self.lanes[1],
            WalkContext.BASE: self.lanes[2],
            WalkContext.CHANCE: self.lanes[3],
            WalkContext.KEY: self.lanes[4],
            WalkContext.PICK: self.lanes[5],
            WalkContext.FIRED: self.fired,
            WalkContext.RECORDS: self.records,
            WalkContext.COUNTERS: self.counters,
            WalkContext.TAKEN: self.taken,
            WalkContext.HITS: self.hits,
            WalkContext.STATE_BEST: self.state_best,
            WalkContext.STEP_BEST: self.step_best,
            WalkContext.SKETCH: self.sketch,
        }
        for place, array in arrays.items():
            self.context[place] = array.ctypes.data
        self.context[WalkContext.ROUNDS] = 16

    def restart(self) -> None:
        """Free all lanes."""
        self.context[WalkContext.LANES] = LANES
        self.lanes[1] = ENDED

    def go(self) -> int:
        """Make one native call; return the number of lanes in use."""
        started = time.perf_counter()
        left: int = self._run(self._shared.ctypes.data, self.context.ctypes.data)
        seconds = time.perf_counter() - started
        if left == LANES:
            rate = ROUND_SECONDS / max(seconds, 1e-6)
            rounds = int(self.context[WalkContext.ROUNDS]) * min(4.0, rate)
            self.context[WalkContext.ROUNDS] = max(1, min(1 << 20, int(rounds)))
        return left
