"""The graph of all reachable states: states are numbers, steps are labelled edges in flat arrays.

A safety search forgets its edges, but liveness needs them. States are numbered level by level and within a
level by their packed words, or in order of discovery by the plain model. A step whose result lies outside
the bound is not an edge, because the budgets do not allow it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from elrcheck.explorer.graph.components import Bools, Ints
from elrcheck.explorer.kernel.walk_memory import GOLDEN, MIX_1, MIX_2
from elrcheck.explorer.kernel.word_layout import Words
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.explorer.search.reference import PlainSearch
from elrcheck.explorer.search.result import BATCH, TraceableSearch
from elrcheck.explorer.search.splitmix import row_keys
from elrcheck.explorer.search.vector import evaluate_columns
from elrcheck.lang.ir import Fn
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.plain import Label, PlainModel

MIXERS = (GOLDEN, MIX_1, MIX_2)


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
    offsets[i]..offsets[i + 1]. targets, labels: the target of each edge and its index into `names`, in ascending
    order for the edges of a state. state: returns the plain state of a number. ask: returns one row of answers, over
    all states, for each question.
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


class _NumberedSearch(PlainSearch):
    """Numbers states in order of discovery, and records edges."""

    def __init__(self, plain: PlainModel) -> None:
        super().__init__(plain)
        self.states: list[object] = []
        self.numbers: dict[object, int] = {}
        self.place = {label: index for index, (label, _) in enumerate(plain.steps)}
        self.edges: list[tuple[int, int, int]] = []

    def is_new(self, state: object, before: object) -> bool:
        if state in self.numbers:
            return False
        self.numbers[state] = len(self.states)
        self.states.append(state)
        return True

    def step(self, state: object, label: Label, after: object) -> None:
        self.edges.append((self.numbers[state], self.numbers[after], self.place[label]))

    def ask(self, questions: Sequence[StateQuestion]) -> Bools:
        """See `Graph.ask`."""
        answers = np.zeros((len(questions), len(self.states)), np.bool_)
        for place, q in enumerate(questions):
            answers[place] = [self.plain.says(q.fn, state, q.args, q.field) for state in self.states]
        return answers


def graph_of_plain(
    plain: PlainModel, *, max_states: int | None = None, deadline: float | None = None
) -> tuple[Graph | None, SearchOutcome]:
    """Explore with the model's own functions, without compiling anything; no graph if a limit was reached."""
    search = _NumberedSearch(plain)
    outcome = search.run(max_states, deadline)
    if not outcome.complete:
        return None, outcome
    sources, targets, labels = np.array(search.edges, np.int32).reshape(-1, 3).T.copy()
    graph = Graph(
        names=tuple(search.place),
        levels=(0, *itertools.accumulate(outcome.levels)),
        offsets=np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=len(search.states)))]),
        targets=targets,
        labels=labels,
        state=search.states.__getitem__,
        ask=search.ask,
    )
    return graph, outcome
