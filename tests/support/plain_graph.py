"""All states and steps of a random protocol by its plain functions, and the fair behaviours that wait for ever.

It uses no part of elrcheck but `NotEnabled`, so it can judge the reference search and the plain model too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any, TypeAlias

import networkx as nx

from elrcheck.lang.runtime import NotEnabled
from support.random_protocols import KINDS


def values_of(kind: str, module: ModuleType | SimpleNamespace, c: Any) -> list[Any]:
    """The values of a type of a parameter."""
    match kind:
        case "Node":
            return list(range(c.nodes))
        case "Place":
            return list(range(c.places))
        case "Mode":
            return list(module.Mode)
        case "bool":
            return [False, True]
        case "Vote":
            return [module.Vote(who=n, num=k) for n in range(c.nodes) for k in (0, 1)]
        case "Node | None":
            return [None, *range(c.nodes)]
    members = range(c.nodes)
    return [frozenset(each) for size in range(c.nodes + 1) for each in itertools.combinations(members, size)]


def fits(state: Any, c: Any) -> bool:
    """Whether the numbers and sequences of a state are within what their types allow."""
    limits = {"num": (0, c.top), "delta": (-2, 1), "turn": (0, c.places - 1), "epoch": (0, 7)}
    for name, (low, high) in limits.items():
        if hasattr(state, name) and not low <= getattr(state, name) <= high:
            return False
    bag = [count for _, count in state.bag.items()] if hasattr(state, "bag") else []
    counts = [*getattr(state, "per", ()), *bag]
    return all(0 <= count <= c.top for count in counts) and len(getattr(state, "log", ())) <= c.most


class TooLarge(Exception):
    """The protocol has more states than the test wants."""


@dataclass
class PlainGraph:
    """Every state and step of a random protocol, by its plain functions.

    first: depth of each property that was hit. overflow: a number, or an initial state, is beyond its limits.
    """

    module: ModuleType | SimpleNamespace
    config: Any
    actions: Mapping[str, tuple[str, ...]]
    most: int = 20_000
    generated: int = 0
    cut: int = 0
    deadlocks: int = 0
    levels: list[int] = field(default_factory=list)
    numbers: dict[Any, int] = field(default_factory=dict)
    edges: list[list[tuple[int, int]]] = field(default_factory=list)
    """For each state: (number of the label, number of the next state)."""
    labels: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)
    overflow: bool = False

    def __post_init__(self) -> None:
        module, c = self.module, self.config
        self._within = getattr(module, "Bound", lambda c, s: True)
        names = [name for name in vars(module) if re.fullmatch(r"[PW]\d+", name)]
        self._checks = {name: getattr(module, name) for name in names}
        self._pairs = {name for name in names if self._checks[name].__code__.co_argcount == 3}
        for name, free in self.actions.items():
            for args in itertools.product(*(values_of(KINDS[each][0], module, c) for each in free)):
                self.labels.append((name, args))
        code = module.Init.__code__
        kinds = [module.Init.__annotations__[each] for each in code.co_varnames[1 : code.co_argcount]]
        level: list[Any] = []
        for args in itertools.product(*(values_of(kind, module, c) for kind in kinds)):
            try:
                state = module.Init(c, *args)
            except NotEnabled:
                continue
            self.generated += 1
            self.overflow |= not self._within(c, state)
            if self._is_new(state):
                level.append(state)
        while level:
            self.levels.append(len(level))
            level = [after for state in level for after in self._next(state)]

    def _is_new(self, state: Any) -> bool:
        if state in self.numbers:
            return False
        if len(self.numbers) == self.most:
            raise TooLarge
        self.numbers[state] = len(self.numbers)
        self.edges.append([])
        for name in self._checks.keys() - self._pairs:
            self._judge(name, state)
        return True

    def _judge(self, name: str, *states: Any) -> None:
        if bool(self._checks[name](self.config, *states)) == name.startswith("W"):
            self.first.setdefault(f"{name[0]}-{name[1:]}", len(self.levels))

    def _next(self, state: Any) -> Iterator[Any]:
        enabled = False
        for number, (name, args) in enumerate(self.labels):
            try:
                after = getattr(self.module, name)(self.config, state, *args)
            except NotEnabled:
                continue
            enabled = True
            self.generated += 1
            if not self._within(self.config, after):
                self.cut += 1
                continue
            if not fits(after, self.config):
                self.overflow = True
                continue
            fresh = self._is_new(after)
            self.edges[self.numbers[state]].append((number, self.numbers[after]))
            for check in self._pairs:
                self._judge(check, state, after)
            if fresh:
                yield after
        self.deadlocks += not enabled

    @property
    def counts(self) -> tuple[int, int, tuple[int, ...]]:
        """Generated and distinct states, and the states of each level."""
        return self.generated, len(self.numbers), tuple(self.levels)

    def refuted(self, name: str, fair: Mapping[str, tuple[bool, str, bool]]) -> bool:
        """Whether some fair behaviour waits for ever. name: of a leads_to property; fair: see `RandomProtocol`."""
        claim = getattr(self.module, name)
        states = list(self.numbers)
        moves = self._moves(states, fair)
        enabled = {state: {label for label, _, claimed, _ in each if claimed} for state, each in enumerate(moves)}
        strong = {number for number, (action, _) in enumerate(self.labels) if fair.get(action, (False,))[0]}
        for args in itertools.product(*([range(self.config.nodes)] * (claim.__code__.co_argcount - 2))):
            values = [claim(self.config, state, *args) for state in states]
            still = {i for i, each in enumerate(values) if not each.conclusion}
            near = reached({i for i in still if values[i].premise}, still, moves)
            if has_fair_part(near, moves, enabled, strong):
                return True
        return False

    def _moves(self, states: list[Any], fair: Mapping[str, tuple[bool, str, bool]]) -> list[list[Move]]:
        moves: list[list[Move]] = []
        for number, state in enumerate(states):
            moves.append([])
            for label, after in self.edges[number]:
                action, args = self.labels[label]
                if after == number:
                    continue
                claimed, lasting = action in fair, True
                if claimed and fair[action][1]:
                    claimed = bool(getattr(self.module, fair[action][1])(self.config, state, *args))
                    lasting = claimed or not fair[action][2]
                moves[-1].append((label, after, claimed, lasting))
        return moves


Move: TypeAlias = tuple[int, int, bool, bool]
"""Number of the label, number of the next state, whether fairness asks for it, whether it may be taken for ever."""


def reached(start: set[int], inside: set[int], moves: list[list[Move]]) -> set[int]:
    seen, left = set(start), list(start)
    while left:
        for _, after, _, _ in moves[left.pop()]:
            if after in inside and after not in seen:
                seen.add(after)
                left.append(after)
    return seen


def has_fair_part(inside: set[int], moves: list[list[Move]], enabled: dict[int, set[int]], strong: set[int]) -> bool:
    """Whether a fair behaviour may stay among these states, or stop in one."""
    graph = nx.DiGraph()
    graph.add_nodes_from(inside)
    graph.add_edges_from((i, after) for i in inside for _, after, _, lasting in moves[i] if lasting and after in inside)
    for part in list(nx.strongly_connected_components(graph)):
        taken = {label for i in part for label, after, claimed, _ in moves[i] if claimed and after in part}
        owed = [enabled[i] - taken for i in part]
        if set.intersection(*owed) - strong:
            continue
        avoided = set.union(*owed) & strong
        if not avoided:
            return True
        rest = {i for i in part if not enabled[i] & avoided}
        if has_fair_part(rest, moves, enabled, strong):
            return True
    return False
