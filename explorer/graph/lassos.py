"""Lassos on the state graph that refute a `leads_to` property by a wait that never ends.

Such a wait is a path to a state that satisfies the premise, from there a path without the conclusion to a
fair part of the graph, and then a cycle in that part, or a state that enables no fair step, where the
behaviour stops. The wait with the fewest steps before the cycle is reported.

Before that, `replay_lasso` repeats the steps with the model's own functions, and the cycle has to close. The wait has
to begin and must not end, and fairness is checked on the states of the cycle by trying every fair step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elrcheck.explorer.graph.components import NONE, Bools, Ints
from elrcheck.explorer.graph.fair_cycles import Claims, FairGraph
from elrcheck.explorer.graph.graph import Graph, StateQuestion
from elrcheck.lang.fairness import fairness_of_step
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import instances
from elrcheck.lang.marks import Fair, Strength
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.describe import arguments
from elrcheck.traces.replay import Replayed, ReplayError, replay
from elrcheck.traces.violation import BrokenPart


@dataclass(frozen=True)
class FairInstance:
    """A fair action instance: the label of its steps, and the condition under which it is fair.

    stops: no cycle takes a step of it where the condition does not hold.
    """

    label: int
    strong: bool
    when: StateQuestion | None
    stops: bool


@dataclass(frozen=True)
class Lasso:
    """A behaviour that never ends and refutes a property. waits: index of the first state of the wait."""

    behaviour: Behaviour[Label]
    waits: int


@dataclass(frozen=True)
class Waiting:
    """The result for one choice of a property's parameters. waiting: number of states in which it waits."""

    args: tuple[object, ...]
    waiting: int
    lasso: Lasso | None


def fair_steps(graph: Graph, fair: Mapping[str, Fair], fns: Mapping[str, Fn]) -> tuple[FairInstance, ...]:
    """Return the fair steps among the labels of a graph."""
    steps = []
    for number, label in enumerate(graph.names):
        entry = fairness_of_step(label, fns, fair)
        if entry is not None:
            when = None if entry.when is None else StateQuestion(fns[entry.when.__name__], label.args)
            steps.append(FairInstance(number, entry.strength is Strength.STRONG, when, entry.stops))
    return tuple(steps)


def claims_of(graph: Graph, steps: Sequence[FairInstance]) -> Claims:
    """Return the fairness constraints on the edges of a graph."""
    claim: Ints = np.full(len(graph.labels), NONE, np.int32)
    stopping = np.zeros(len(graph.labels), np.bool_)
    conditions = [step.when for step in steps if step.when is not None]
    answers = iter(graph.ask(conditions)) if conditions else iter(())
    sources = graph.sources
    for number, step in enumerate(steps):
        mine = graph.labels == step.label
        if step.when is not None:
            holds = next(answers)[sources]
            stopping |= mine & ~holds & step.stops
            mine &= holds
        claim[mine] = number
    return Claims(claim, tuple(step.strong for step in steps), stopping)


def check_leads_to(arena: FairGraph, config: ModelConfig, fn: Fn) -> tuple[Waiting, ...]:
    """Check a `leads_to` property; return one result per choice of its parameters."""
    choices = list(instances(fn, config))
    fields = ("premise", "conclusion")
    answers = arena.graph.ask([StateQuestion(fn, args, field) for args in choices for field in fields])
    results = []
    for args, premise, conclusion in zip(choices, answers[::2], answers[1::2], strict=True):
        waits = premise & ~conclusion
        results.append(Waiting(args, int(waits.sum()), find_lasso(arena, waits, ~conclusion)))
    return tuple(results)


def find_lasso(arena: FairGraph, waits: Bools, still: Bools) -> Lasso | None:
    """Find a fair behaviour that reaches a state in `waits` and stays in `still` from there on."""
    inside = arena.reached(waits, still)
    part = arena.fair_parts(inside)
    goal: Bools = inside & (arena.at_rest | (part != NONE))
    if not goal.any():
        return None
    far = arena.distances(goal, inside)
    depths = arena.graph.depths
    begins = np.nonzero(waits & (far != NONE))[0]
    begin = int(begins[np.argmin(depths[begins] + far[begins])])
    walk = _Walk(arena, begin)
    waits_at = len(walk.path)
    while far[walk.last]:
        walk.go(lambda state: far[state] == far[walk.last] - 1)
    loop = len(walk.path)
    if not arena.at_rest[walk.last]:
        _close(arena, walk, part == part[walk.last])
    graph = arena.graph
    states = tuple(graph.state(number) for number in walk.states)
    labels = tuple(graph.names[graph.labels[edge]] for edge in walk.path)
    return Lasso(Behaviour(TraceOrigin(), states, labels, loop), waits_at)


class _Walk:
    """A path from an initial state that can be extended. path: its edges."""

    def __init__(self, arena: FairGraph, target: int) -> None:
        """Begin with a shortest path to a state."""
        self.arena = arena
        self.states, self.path = [target], list[int]()
        depths = arena.graph.depths
        offsets, order = arena.back
        while depths[self.states[0]]:
            at = order[offsets[self.states[0]] : offsets[self.states[0] + 1]]
            nearer = at[depths[arena.sources[at]] < depths[self.states[0]]]
            self.states.insert(0, int(arena.sources[nearer[0]]))
            self.path.insert(0, int(nearer[0]))

    @property
    def last(self) -> int:
        return self.states[-1]

    def edges(self, state: int) -> range:
        return range(int(self.arena.graph.offsets[state]), int(self.arena.graph.offsets[state + 1]))

    def take(self, edge: int) -> None:
        self.path.append(edge)
        self.states.append(int(self.arena.targets[edge]))

    def go(self, arrived: Callable[[int], bool]) -> None:
        """Take one step to a state that satisfies `arrived`; one must exist."""
        self.take(next(e for e in self.edges(self.last) if arrived(int(self.arena.targets[e]))))

    def search(self, inside: Bools, arrived: Callable[[int], bool]) -> None:
        """Take a shortest path of a cycle within `inside` to a state that satisfies `arrived`; one must exist."""
        came: dict[int, int] = {}
        layer, end = [self.last], self.last if arrived(self.last) else None
        lasting, targets = self.arena.lasting, self.arena.targets
        while end is None:
            edges = [e for state in layer for e in self.edges(state) if lasting[e] and inside[targets[e]]]
            layer = []
            for edge in edges:
                after = int(self.arena.targets[edge])
                if after != self.last and after not in came:
                    came[after] = edge
                    layer.append(after)
            end = next((state for state in layer if arrived(state)), None)
        way: list[int] = []
        while end in came:
            way.insert(0, came[end])
            end = int(self.arena.sources[came[end]])
        for edge in way:
            self.take(edge)


def _close(arena: FairGraph, walk: _Walk, part: Bools) -> None:
    """Extend the walk by a cycle in a fair part that satisfies every constraint and returns to its start."""
    start, begin = walk.last, len(walk.path)

    def edge_of(state: int, claim: int) -> int | None:
        """Return the edge of a state that takes this fair step, None if the state does not enable it."""
        return next((e for e in walk.edges(state) if arena.claim[e] == claim), None)

    def stays(edge: int | None) -> bool:
        return edge is not None and bool(part[arena.targets[edge]])

    def owed(claim: int) -> bool:
        """Return True if the cycle so far violates the constraint of this step."""
        if any(arena.claim[edge] == claim for edge in walk.path[begin:]):
            return False
        possible = [edge_of(state, claim) is not None for state in walk.states[begin:]]
        return any(possible) if arena.claims.strong[claim] else all(possible)

    def settles(claim: int) -> Callable[[int], bool]:
        weak = not arena.claims.strong[claim]
        return lambda state: stays(edge_of(state, claim)) or (weak and edge_of(state, claim) is None)

    def next_owed() -> int | None:
        return next(filter(owed, range(len(arena.claims.strong))), None)

    while (claim := next_owed()) is not None or walk.last != start:
        if claim is None:  # the way back may enable another strongly fair step
            walk.search(part, lambda state: state == start)
            continue
        walk.search(part, settles(claim))
        edge = edge_of(walk.last, claim)
        if edge is not None:
            walk.take(edge)
    del walk.states[-1]


def replay_lasso(plain: PlainModel, graph: Graph, fn: Fn, waiting: Waiting, fair: Sequence[FairInstance]) -> Replayed:
    """Return the replayed lasso; raise ReplayError if plain Python disagrees in any point."""
    assert waiting.lasso is not None
    replayed = replay(plain.model, plain.config, waiting.lasso.behaviour)
    lasso = replayed.followed
    assert lasso.loop is not None
    if replayed.beyond is not None:
        raise ReplayError(f"step {replayed.beyond} of the lasso is not a step of the model within its bound")
    _check_wait(plain, fn, waiting.args, lasso.states, waiting.lasso.waits)
    cycle, taken = lasso.visited[lasso.loop :], lasso.labels[lasso.loop :]
    for step in fair:
        _check_fair(plain, graph.names[step.label], step, cycle, taken)
    named = ", ".join(f"{a.name}={a.value}" for a in arguments(fn, waiting.args))
    return replace(replayed, broken=BrokenPart(None, named or None))


def _check_wait(plain: PlainModel, fn: Fn, args: tuple[object, ...], states: Sequence[object], waits: int) -> None:
    if not plain.says(fn, states[waits], args, "premise"):
        raise ReplayError(f"{fn.ident} does not wait where its lasso claims")
    if any(plain.says(fn, state, args, "conclusion") for state in states[waits:]):
        raise ReplayError(f"the wait of {fn.ident} ends on its lasso")


def _check_fair(
    plain: PlainModel, label: Label, step: FairInstance, cycle: Sequence[object], taken: Sequence[Label]
) -> None:
    """Raise ReplayError if the cycle is unfair to a step.

    cycle: the states of the cycle; the first is repeated at the end unless the behaviour stops.
    """
    claimed = [step.when is None or plain.says(step.when.fn, state, step.when.args) for state in cycle]
    if step.stops and any(label == other and not here for other, here in zip(taken, claimed, strict=False)):
        raise ReplayError(f"the cycle takes {label.action}{label.args}, which stops")
    if any(label == other and here for other, here in zip(taken, claimed, strict=False)):
        return
    possible = [
        here and _after(plain, state, label) not in (None, state) for state, here in zip(cycle, claimed, strict=True)
    ]
    if any(possible) if step.strong else all(possible):
        raise ReplayError(f"the cycle is not fair to {label.action}{label.args}")


def _after(plain: PlainModel, state: object, label: Label) -> object:
    """Return the next state, None if the step is disabled or leaves the bound."""
    after = plain.attempt(state, label)
    return after if after is not None and plain.within(after) else None
