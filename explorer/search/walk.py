"""Random walks over a program, on one thread or several; the native part is `walk_ir.py`.

Walks are done in blocks of a fixed size. A block ends when all its walks have ended, so what is known
after a block depends on the seed only, and a run that ends at its first violation ends with a block.
Only a time budget ends a run inside one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.kernel.check_ir import choose_lanes, state_checks
from elrcheck.explorer.kernel.expand_ir import INSTANCE_BITS, Counters, Record, flag_words
from elrcheck.explorer.kernel.native_code import KernelCache, compile_modules
from elrcheck.explorer.kernel.walk_ir import walk_modules
from elrcheck.explorer.kernel.walk_memory import (
    ENDED,
    GOLDEN,
    MIX_1,
    MIX_2,
    SKETCH_BITS,
    WALK_BITS,
    Context,
    Shared,
)
from elrcheck.explorer.kernel.word_layout import make_layout
from elrcheck.explorer.search.sketch import estimate, relative_error
from elrcheck.lang.lowering.program import Program

LANES = 64
BLOCK = 4096
ROUND_SECONDS = 0.05
MOST_WALKS = (1 << WALK_BITS) - 1
MOST_STEPS = 1 << 20
_WORD = (1 << 64) - 1
SIGNATURES = {"walk": 2, "expand": 6, "check": 5}


@dataclass(frozen=True)
class Place:
    """Where a check was first hit: after `step` steps of a walk, and there in the first such walk."""

    step: int
    walk: int


@dataclass(frozen=True)
class WalkStats:
    """Progress: walks begun, steps taken, seconds."""

    walks: int
    steps: int
    seconds: float


@dataclass
class WalkResult:
    """What all walks together have seen. Lists follow the program's instances.

    ended: walks that are over; begun: also those a time budget cut off. deadlocks: walks that ended where
    no action is enabled; blocked: where every enabled step leaves the budgets. enabled and cut count over
    all visited states that were expanded, repeated ones included; taken are the steps of the walks.
    first: for each check the place of least step, then least walk. distinct: an estimate of the number of
    different states, with its standard error. reason: what ended the run early, if anything.
    """

    begun: int
    ended: int
    steps: int
    deepest: int
    deadlocks: int
    blocked: int
    enabled: list[int]
    cut: list[int]
    taken: list[int]
    overflow: dict[int, int]
    first: dict[int, Place]
    distinct: float
    error: float
    seconds: float
    reason: str | None


class Walks:
    """Random walks of one program and one seed."""

    def __init__(
        self, program: Program, seed: int, depth: int, *, workers: int = 1, cache: KernelCache | None = None
    ) -> None:
        if not 1 <= depth <= MOST_STEPS:
            raise ValueError(f"a walk has 1 to {MOST_STEPS} steps, not {depth}")
        self.program, self.seed, self.depth, self.workers = program, seed, depth, workers
        self.layout = make_layout(program.leaves)
        self.record = Record(self.layout.words, flag_words(program))
        self.counters = Counters(len(program.instances), len(program.leaves))
        self.checks = state_checks(program)
        self.native = compile_modules(walk_modules(program, self.layout, self.record), SIGNATURES, cache)
        self._lanes = choose_lanes(program).count
        (start,) = program.init
        self._start = self.layout.pack_rows([start])
        self._shared = np.zeros(Shared.SIZE, np.uint64)
        self._shared[Shared.SEED] = _mix(seed & _WORD)
        self._shared[Shared.DEPTH] = depth
        self._shared[Shared.START] = self._start.ctypes.data
        self._owned = [_Worker(self) for _ in range(workers)]

    def run(
        self,
        walks: int,
        *,
        seconds: float | None = None,
        stop_at_first: bool = False,
        progress: Callable[[WalkStats], None] | None = None,
    ) -> WalkResult:
        """Do the walks 0..walks - 1, or as many as the seconds allow. To be called once."""
        started = time.perf_counter()
        deadline = None if seconds is None else started + seconds
        reason = None
        with ThreadPoolExecutor(self.workers) as pool:
            for block in range(0, walks, BLOCK):
                self._shared[Shared.CURSOR] = block
                self._shared[Shared.LAST] = min(block + BLOCK, walks)
                ended = self._block(pool, deadline, started, progress)
                last = block + BLOCK >= walks
                if ended and stop_at_first and self._violated():
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
        progress: Callable[[WalkStats], None] | None,
    ) -> bool:
        """All walks of a block; False if the deadline came first."""
        for worker in self._owned:
            worker.restart()
        while True:
            left = list(pool.map(_Worker.go, self._owned))
            now = time.perf_counter()
            if progress is not None:
                steps = sum(int(worker.context[Context.STEPS]) for worker in self._owned)
                progress(WalkStats(self._begun, steps, now - started))
            if not any(left):
                return True
            if deadline is not None and now >= deadline:
                return False  # `run` looks at the time too: a block may be shorter than one call

    @property
    def _begun(self) -> int:
        return int(min(self._shared[Shared.CURSOR], self._shared[Shared.LAST]))

    def _first(self) -> dict[int, Place]:
        keys = np.minimum.reduce([worker.step_best for worker in self._owned])
        for place, check in enumerate(self.checks):
            keys[check] = min(int(worker.state_best[place]) for worker in self._owned)
        first = {
            check: Place(int(key) >> WALK_BITS, int(key) & MOST_WALKS)
            for check, key in enumerate(keys[: len(self.program.checks)])
            if key != ENDED
        }
        for check in self.checks:
            if self.state_hits(check, self._start)[0]:
                first[check] = Place(0, 0)
        return first

    def _violated(self) -> bool:
        return any(self.program.checks[check].kind == "always" for check in self._first())

    def _result(self, seconds: float, reason: str | None) -> WalkResult:
        n, c = len(self.program.instances), self.counters
        total = np.sum([worker.counters for worker in self._owned], axis=0)
        taken = np.sum([worker.taken for worker in self._owned], axis=0)
        sketch = np.maximum.reduce([worker.sketch for worker in self._owned])

        def field(place: Context) -> list[int]:
            return [int(worker.context[place]) for worker in self._owned]

        distinct = estimate(sketch.tolist())
        return WalkResult(
            begun=self._begun,
            ended=sum(field(Context.DONE)),
            steps=sum(field(Context.STEPS)),
            deepest=max(field(Context.DEEPEST)),
            deadlocks=int(total[0]),
            blocked=sum(field(Context.BLOCKED)),
            enabled=[int(total[c.enabled(i)]) for i in range(n)],
            cut=[int(total[c.cut(i)]) for i in range(n)],
            taken=[int(x) for x in taken[:n]],
            overflow={i: int(total[c.overflow(i)]) for i in range(c.leaves) if total[c.overflow(i)]},
            first=dict(sorted(self._first().items())),
            distinct=distinct,
            error=distinct * relative_error(1 << SKETCH_BITS),
            seconds=seconds,
            reason=reason,
        )

    # -- single walks and states

    def state_hits(self, check: int, rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Which packed states a state check reports."""
        rows = np.ascontiguousarray(rows)
        out = np.zeros((-(-len(rows) // self._lanes), len(self.checks)), np.int64)
        self.native.functions["check"](rows.ctypes.data, 0, len(rows), out.ctypes.data, 1)
        bits = out[:, self.checks.index(check), None] >> np.arange(self._lanes) & 1
        hits: npt.NDArray[np.bool_] = (bits != 0).reshape(-1)[: len(rows)]
        return hits

    def again(self, walk: int, steps: int) -> list[tuple[int, ...]]:
        """Leaf values of the states of a walk: the initial one and `steps` more, or fewer if it ends."""
        row = self._start[0].copy()
        states = [self.layout.unpack(row.tolist())]
        worker, base = self._owned[0], self._base(walk)
        uncounted = np.zeros_like(worker.counters)
        for step in range(steps):
            made = self.native.functions["expand"](
                row.ctypes.data, 0, 1, worker.records.ctypes.data, uncounted.ctypes.data,
                worker.fired.ctypes.data,
            )  # fmt: skip
            if not made:
                break
            chance = _chance(base, step)
            origins = worker.records[:made, self.record.origin] & np.uint64((1 << INSTANCE_BITS) - 1)
            keys = [_key(chance, int(instance)) for instance in origins]
            row = worker.records[keys.index(min(keys)), : self.layout.words].copy()
            states.append(self.layout.unpack(row.tolist()))
        return states

    def _base(self, walk: int) -> int:
        return _mix(int(self._shared[Shared.SEED]) ^ (walk * GOLDEN & _WORD))


class _Worker:
    """The arrays of one worker and the struct through which native code sees them."""

    def __init__(self, walks: Walks) -> None:
        program, words = walks.program, walks.layout.words
        self._run = walks.native.functions["walk"]
        self._shared = walks._shared
        self.context = np.zeros(Context.SIZE, np.uint64)
        self.states = np.zeros((LANES, words), np.uint64)
        self.lanes = np.zeros((6, LANES), np.uint64)
        self.fired = np.zeros(LANES, np.int64)
        self.records = np.empty((LANES * max(1, len(program.instances)), walks.record.size), np.uint64)
        self.counters = np.zeros(walks.counters.size, np.int64)
        self.taken = np.zeros(max(1, len(program.instances)), np.int64)
        self.hits = np.zeros((-(-LANES // walks._lanes), max(1, len(walks.checks))), np.uint64)
        self.state_best = np.full(max(1, len(walks.checks)), ENDED, np.uint64)
        self.step_best = np.full(64 * max(1, -(-len(program.checks) // 64)), ENDED, np.uint64)
        self.sketch = np.zeros(1 << SKETCH_BITS, np.uint8)
        arrays = {
            Context.STATES: self.states,
            Context.WALK: self.lanes[0],
            Context.STEP: self.lanes[1],
            Context.BASE: self.lanes[2],
            Context.CHANCE: self.lanes[3],
            Context.KEY: self.lanes[4],
            Context.PICK: self.lanes[5],
            Context.FIRED: self.fired,
            Context.RECORDS: self.records,
            Context.COUNTERS: self.counters,
            Context.TAKEN: self.taken,
            Context.HITS: self.hits,
            Context.STATE_BEST: self.state_best,
            Context.STEP_BEST: self.step_best,
            Context.SKETCH: self.sketch,
        }
        for place, array in arrays.items():
            self.context[place] = array.ctypes.data
        self.context[Context.ROUNDS] = 16

    def restart(self) -> None:
        """All lanes free."""
        self.context[Context.LANES] = LANES
        self.lanes[1] = ENDED

    def go(self) -> int:
        """One native call; how many lanes are left."""
        started = time.perf_counter()
        left: int = self._run(self._shared.ctypes.data, self.context.ctypes.data)
        seconds = time.perf_counter() - started
        if left == LANES:
            rate = ROUND_SECONDS / max(seconds, 1e-6)
            rounds = int(self.context[Context.ROUNDS]) * min(4.0, rate)
            self.context[Context.ROUNDS] = max(1, min(1 << 20, int(rounds)))
        return left


def _mix(z: int) -> int:
    """The output function of splitmix64, as @mix."""
    z = (z ^ z >> 30) * MIX_1 & _WORD
    z = (z ^ z >> 27) * MIX_2 & _WORD
    return z ^ z >> 31


def _chance(base: int, step: int) -> int:
    """The number from which the step after `step` others follows."""
    return _mix(base + (step + 1) * GOLDEN & _WORD)


def _key(chance: int, instance: int) -> int:
    """The key of a successor; the least one is taken."""
    return _mix(chance + instance * MIX_2 & _WORD)
