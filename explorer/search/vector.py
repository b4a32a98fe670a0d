"""The search in numpy: a portable engine, and an independent check of the native kernel.

No code is generated: nodes are evaluated over whole columns, one value per state, and the visited set is
a Python set. This search shares only the program, the packed layout and the rebuilding of traces with the
compiled one, so equal results are evidence for both. It is ten to fifty times slower.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from elrcheck.base.progress import LevelDone, Progress
from elrcheck.base.requests import Limits
from elrcheck.explorer.kernel.symmetry.canonical_ir import Canonical
from elrcheck.explorer.kernel.word_layout import Ints, Rows, Successors, make_layout
from elrcheck.explorer.search.outcome import LevelProgress
from elrcheck.explorer.search.result import SearchResult, violates
from elrcheck.lang.lowering.nodes import MAX_BIT, DagNode, cone
from elrcheck.lang.lowering.program import Program

BATCH = 8192


def evaluate_columns(nodes: Sequence[DagNode], columns: Sequence[Ints], count: int) -> list[Ints]:
    """Evaluate nodes in `count` states; columns[i] holds the values of leaf i."""
    values: dict[int, Ints] = {}
    for node in cone(nodes):
        if node.op == "const":
            values[node.id] = np.full(count, node.lo, np.int64)
        elif node.op == "var":
            values[node.id] = columns[node.leaf]
        else:
            values[node.id] = _apply(node, [values[arg.id] for arg in node.args])
    return [values[node.id] for node in nodes]


def _apply(node: DagNode, args: list[Ints]) -> Ints:
    a, b = args[0], args[-1]
    result: npt.NDArray[np.generic]
    match node.op:
        case "add":
            result = a + b
        case "sub":
            result = a - b
        case "div":
            result = a // b
        case "mod":
            result = a % b
        case "min":
            result = np.minimum(a, b)
        case "max":
            result = np.maximum(a, b)
        case "band":
            result = a & b
        case "bor":
            result = a | b
        case "andnot":
            result = a & ~b
        case "lt":
            result = a < b
        case "eq":
            result = a == b
        case "not":
            result = 1 - a
        case "and":
            result = np.logical_and.reduce([arg != 0 for arg in args])
        case "ite":
            result = np.where(a != 0, args[1], b)
        case "card":
            result = np.sum([a >> i & 1 for i in range(node.args[0].hi.bit_length())], axis=0)
        case "shl1":
            result = np.where((a >= 0) & (a <= MAX_BIT), 1 << np.clip(a, 0, MAX_BIT), 0)
        case "bit":
            result = np.where((b >= 0) & (b <= MAX_BIT), a >> np.clip(b, 0, MAX_BIT) & 1, 0)
        case _:
            raise ValueError(f"unknown operation {node.op!r}")
    return result.astype(np.int64)


class VectorSearch:
    """Breadth-first search with the methods and results of `compiled.Search`."""

    def __init__(self, program: Program, *, limits: Limits) -> None:
        self.program, self.limits = program, limits
        self.layout = make_layout(program.leaves)
        self.canonical = Canonical(program, self.layout)
        self.first: dict[int, int] = {}
        self.levels: list[Rows] = []
        self.generated = len(program.init)
        n = len(program.instances)
        self.enabled, self.cut, self.new_states = np.zeros((3, max(1, n)), np.int64)
        self.deadlocks = 0
        self.overflow: dict[int, int] = {}

    def run(self, progress: Progress | None, stop: str) -> SearchResult:
        started = time.perf_counter()
        reason = self._explore(None if progress is None else LevelProgress(progress), stop, started)
        seconds = time.perf_counter() - started
        if self.overflow and reason is None:
            paths = ", ".join(self.program.leaves[leaf].path for leaf in sorted(self.overflow))
            reason = f"values out of range: {paths}"
        distinct = sum(map(len, self.levels))
        rows = np.concatenate(self.levels)
        n = len(self.program.instances)
        return SearchResult(
            complete=reason is None,
            reason=reason,
            generated=self.generated,
            distinct=distinct,
            levels=tuple(map(len, self.levels)),
            seconds=seconds,
            compile_seconds=0.0,
            bytes_per_state=8 * self.layout.words,
            workers=1,
            enabled=[int(x) for x in self.enabled[:n]],
            cut=[int(x) for x in self.cut[:n]],
            new_states=[int(x) for x in self.new_states[:n]],
            deadlocks=self.deadlocks,
            overflow=dict(sorted(self.overflow.items())),
            first=dict(sorted(self.first.items())),
            leaf_values=[len(np.unique(column)) for column in self.layout.columns(rows)],
        )

    def _explore(self, progress: LevelProgress | None, stop: str, started: float) -> str | None:
        frontier = np.unique(self.canonical.rows(self.layout.pack_rows(self.program.init)), axis=0)
        visited = {row.tobytes() for row in frontier}
        for depth in itertools.count():
            if not len(frontier):
                return None
            self.levels.append(frontier)
            for check in range(len(self.program.checks)):
                if self.program.checks[check].scope == "state" and self.state_hits(check, frontier).any():
                    self.first.setdefault(check, depth)
            if stop == "first" and self._failed():
                return "--stop-at-first"
            if self.limits.max_depth is not None and depth >= self.limits.max_depth:
                return f"--max-depth {self.limits.max_depth}"
            reason = self._limit(len(visited), started)
            if reason is not None:
                return reason
            frontier = self._next(depth, frontier, visited)
            if progress is not None:
                seconds = time.perf_counter() - started
                progress.tell(LevelDone(depth + 1, len(self.levels[-1]), self.generated, len(visited), seconds))
        raise AssertionError("a level follows every level")

    def _failed(self) -> bool:
        """Return True once the search has hit a violation that `--stop-at-first` waits for."""
        return violates(self.program, self.first)

    def _limit(self, distinct: int, started: float) -> str | None:
        limits = self.limits
        reason = limits.reached(distinct, time.perf_counter() - started)
        if reason is None and limits.memory is not None and distinct * (16 * self.layout.words + 120) > limits.memory:
            return f"--memory {limits.memory}"
        return reason

    def _next(self, depth: int, frontier: Rows, visited: set[bytes]) -> Rows:
        """Return the new states reached from a level, and count its transitions."""
        credit: dict[bytes, int] = {}
        for start in range(0, len(frontier), BATCH):
            after = self._expand(frontier[start : start + BATCH], count=True)
            self.generated += int(after.enabled.sum())
            self.deadlocks += int((after.enabled == 0).sum())
            flags = np.bitwise_or.reduce(after.flags, axis=0)
            for check in range(len(self.program.checks)):
                if int(flags[check // 64]) >> check % 64 & 1:
                    self.first.setdefault(check, depth + 1)
            for row, instance in zip(self.canonical.rows(after.rows), after.instances, strict=True):
                key = row.tobytes()
                if key not in visited:
                    credit[key] = min(int(instance), credit.get(key, int(instance)))
        for instance in credit.values():
            self.new_states[instance] += 1
        visited.update(credit)
        fresh = np.frombuffer(b"".join(sorted(credit)), np.uint64)
        return fresh.reshape(-1, self.layout.words)

    # -- states and transitions

    def batches(self, depth: int) -> Iterator[Rows]:
        """Yield the states of a level."""
        yield self.levels[depth]

    def state_hits(self, check: int, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which packed states hit a state check."""
        node, value = self.program.checks[check].node, self.program.checks[check].hit_value
        assert node is not None
        hits: npt.NDArray[np.bool_] = evaluate_columns([node], self.layout.columns(rows), len(rows))[0] == value
        return hits

    def successors(self, rows: Rows) -> Successors:
        """Expand packed states."""
        return self._expand(rows, count=False)

    def _expand(self, rows: Rows, count: bool) -> Successors:
        columns = self.layout.columns(rows)
        enabled = np.zeros(len(rows), np.int64)
        nothing = np.zeros(0, np.int64)
        parts = [(rows[:0], nothing, nothing, np.zeros((0, self._flag_words), np.uint64))]
        for index, instance in enumerate(self.program.instances):
            holds = all_hold(instance.guards, columns, len(rows))
            enabled += holds
            at = np.nonzero(holds)[0]
            inside = all_hold(instance.within, [column[at] for column in columns], len(at))
            if count:
                self.enabled[index] += len(at)
                self.cut[index] += len(at) - int(inside.sum())
            at = at[inside]
            if len(at):
                parts.append(self._apply_instance(index, rows[at], at, count))
        return successors_of(parts, enabled)

    @property
    def _flag_words(self) -> int:
        return (len(self.program.checks) + 63) // 64

    def _apply_instance(self, index: int, rows: Rows, at: Ints, count: bool) -> tuple[Rows, Ints, Ints, Rows]:
        """Return the successors by one instance: rows, sources, instances and flags, as of `Successors`."""
        instance = self.program.instances[index]
        columns = self.layout.columns(rows)
        leaves = list(instance.updates)
        steps = list(instance.step_checks)
        nodes = [*instance.updates.values(), *instance.step_checks.values()]
        values = evaluate_columns(nodes, columns, len(rows))
        fits = np.ones(len(rows), np.bool_)
        for leaf, value in zip(leaves, values[: len(leaves)], strict=True):
            bounds = self.program.leaves[leaf]
            wrong = (value < bounds.lo) | (value > bounds.hi)
            if count and wrong.any():
                self.overflow[leaf] = self.overflow.get(leaf, 0) + int(wrong.sum())
            fits &= ~wrong
            columns[leaf] = np.where(wrong, bounds.lo, value)
        packed = self.layout.pack_columns(columns, len(rows))
        flags = np.zeros((len(rows), self._flag_words), np.uint64)
        for check in self.program.hits_without_node(instance):
            flags[:, check // 64] |= np.uint64(1 << check % 64)
        for check, value in zip(steps, values[len(leaves) :], strict=True):
            hit = (value == self.program.checks[check].hit_value).astype(np.uint64)
            flags[:, check // 64] |= hit << np.uint64(check % 64)
        instances = np.full(int(fits.sum()), index, np.int64)
        return packed[fits], at[fits], instances, flags[fits]


def successors_of(parts: Sequence[tuple[Rows, Ints, Ints, Rows]], enabled: Ints) -> Successors:
    """Join the successors by several instances (`VectorSearch._apply_instance`)."""
    rows, sources, instances, flags = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Successors(rows, sources, instances, flags, enabled)


def all_hold(nodes: Sequence[DagNode], columns: Sequence[Ints], count: int) -> npt.NDArray[np.bool_]:
    """Return for each state whether all conjuncts hold."""
    holds = np.ones(count, np.bool_)
    for value in evaluate_columns(nodes, columns, count):
        holds &= value != 0
    return holds
