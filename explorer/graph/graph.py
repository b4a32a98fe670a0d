"""The graph of all reachable states: states are numbers, steps are labelled edges in flat arrays.

A safety search forgets its edges, but liveness needs them. States are numbered level by level and within a
level by their packed words, or in order of discovery by the plain model. A step whose result lies outside
the bound is not an edge, because the budgets do not allow it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.graph.components import Bools, Ints
from elrcheck.explorer.kernel.word_layout import Words
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.explorer.search.result import TraceableSearch
from elrcheck.explorer.search.splitmix import row_keys
from elrcheck.explorer.search.vector import evaluate_columns
from elrcheck.lang.ir import Fn
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.plain import Label, PlainModel

BATCH = 4096
MIXERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


@dataclass(frozen=True)
class StateQuestion:
    """A predicate of one state: a function, its arguments, and a field of its result."""

    fn: Fn
    args: tuple[object, ...] = ()
    field: str = ""


@dataclass(frozen=True)
class Graph:
    """Reachable states 0..count-1 and the steps between them; the initial states come first.

    levels: first state of each level, then the number of states. offsets: the edges of state i are
    offsets[i]..offsets[i + 1]. targets, labels: the target of each edge and its index into `names`; the
    edges of a state are in ascending order of labels. state: maps a number to its plain state. ask: returns
    one row of answers, over all states, for each question.
    """

    names: tuple[Label, ...]
    levels: tuple[int, ...]
    offsets: npt.NDArray[np.int64]
    targets: Ints
    labels: Ints
    state: Callable[[int], object] = field(repr=False)
    ask: Callable[[Sequence[StateQuestion]], Bools] = field(repr=False)

    @property
    def count(self) -> int:
        return len(self.offsets) - 1

    @property
    def sources(self) -> Ints:
        """The source of each edge."""
        return np.repeat(np.arange(self.count, dtype=np.int32), np.diff(self.offsets))

    @property
    def depths(self) -> Ints:
        """The distance of each state from the nearest initial state."""
        sizes = np.diff(np.array(self.levels))
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


def graph_of_search(search: TraceableSearch, lowered: Lowered, depth: int) -> Graph:
    """Build the graph of a complete search with `depth` levels; expands every state once more."""
    starts, parts = [0], []
    for level in range(depth):
        rows = np.concatenate([np.array(part) for part in search.batches(level)])
        parts.append(rows[np.lexsort(rows.T[::-1])])
        starts.append(starts[-1] + len(rows))
    rows = np.concatenate(parts)
    find = _finder(rows)
    sources, targets, labels = [], [], []
    for start in range(0, len(rows), BATCH):
        after = search.successors(rows[start : start + BATCH])
        order = np.lexsort((after.instances, after.sources))
        sources.append((after.sources[order] + start).astype(np.int32))
        targets.append(find(after.rows[order]))
        labels.append(after.instances[order].astype(np.int32))
    names = tuple(Label(instance.action, instance.args) for instance in lowered.program.instances)
    counted = np.bincount(np.concatenate(sources), minlength=len(rows))

    def state(number: int) -> object:
        return lowered.decode(search.layout.unpack(rows[number]))

    def ask(questions: Sequence[StateQuestion]) -> Bools:
        nodes = [lowered.nodes(q.fn, q.args)[q.field] for q in questions]
        return _ask_rows(nodes, search, rows)

    return Graph(
        names,
        tuple(starts),
        np.concatenate([[0], np.cumsum(counted)]),
        np.concatenate(targets),
        np.concatenate(labels),
        state,
        ask,
    )


def _ask_rows(nodes: Sequence[DagNode], search: TraceableSearch, rows: Words) -> Bools:
    answers = np.zeros((len(nodes), len(rows)), np.bool_)
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        values = evaluate_columns(nodes, search.layout.columns(part), len(part))
        for place, column in enumerate(values):
            answers[place, start : start + len(part)] = column != 0
    return answers


def _finder(rows: Words) -> Callable[[Words], Ints]:
    """Return a function from packed states, all known to be in `rows`, to their numbers.

    It is exact, because the keys of `rows` are unique.
    """
    for mixer in MIXERS:
        keys = row_keys(rows, mixer)
        order = np.argsort(keys)
        ordered = keys[order]
        if not (ordered[1:] == ordered[:-1]).any():
            break
    else:
        raise RuntimeError("no key distinguishes all states")

    def find(states: Words) -> Ints:
        numbers = order[np.minimum(np.searchsorted(ordered, row_keys(states, mixer)), len(rows) - 1)]
        if not (rows[numbers] == states).all():
            raise RuntimeError("a complete search lacks the successor of one of its states")
        return numbers.astype(np.int32)

    return find


# ---------------------------------------------------------------------------- the plain model


def graph_of_plain(
    plain: PlainModel, *, max_states: int | None = None, deadline: float | None = None
) -> tuple[Graph | None, SearchOutcome]:
    """Explore with the model's own functions, without compiling anything; no graph if a limit was reached."""
    started = time.monotonic()
    numbers = {state: number for number, state in enumerate(dict.fromkeys(plain.starts))}
    states, starts = list(numbers), [0]
    place = {label: index for index, (label, _) in enumerate(plain.steps)}
    offsets, targets, labels = [0], list[int](), list[int]()
    counts = SearchOutcome(
        complete=True, reason=None, generated=len(plain.starts), distinct=len(numbers), levels=(), seconds=0.0
    )
    while counts.complete and starts[-1] < len(states):
        end = len(states)
        for source in range(starts[-1], end):
            quiet = True
            for label, after in plain.successors(states[source]):
                quiet = False
                counts.generated += 1
                counts.enabled[label.action] = counts.enabled.get(label.action, 0) + 1
                if not plain.within(after):
                    counts.cut += 1
                    continue
                if after not in numbers:
                    numbers[after] = len(states)
                    states.append(after)
                    counts.new_states[label.action] = counts.new_states.get(label.action, 0) + 1
                targets.append(numbers[after])
                labels.append(place[label])
            counts.deadlocks += quiet
            offsets.append(len(targets))
            over = max_states is not None and len(states) >= max_states
            if over or (deadline is not None and time.monotonic() > deadline):
                counts.complete = False
                break
        starts.append(end)
    counts.distinct, counts.seconds = len(states), time.monotonic() - started
    ends = starts if starts[-1] == len(states) else [*starts, len(states)]
    counts.levels = tuple(b - a for a, b in itertools.pairwise(ends))
    graph = _plain_graph(plain, states, starts, offsets, targets, labels) if counts.complete else None
    return graph, counts


def _plain_graph(
    plain: PlainModel,
    states: Sequence[object],
    starts: Sequence[int],
    offsets: Sequence[int],
    targets: Sequence[int],
    labels: Sequence[int],
) -> Graph:
    def ask(questions: Sequence[StateQuestion]) -> Bools:
        answers = np.zeros((len(questions), len(states)), np.bool_)
        for place, q in enumerate(questions):
            answers[place] = [plain.says(q.fn, state, q.args, q.field) for state in states]
        return answers

    names = tuple(label for label, _ in plain.steps)
    numbers = np.array(offsets, np.int64)
    return Graph(
        names, tuple(starts), numbers, np.array(targets, np.int32), np.array(labels, np.int32), states.__getitem__, ask
    )
