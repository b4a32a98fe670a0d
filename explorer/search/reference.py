"""The reference search: plain Python on the model's own functions.

Every other engine must produce the same counts. The search is breadth-first, level by level, so the first
trace it finds to anything is a shortest one.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.symmetry.alike_members import all_renamings, renamed


class PlainSearch(ABC):
    """A search with the functions of a plain model; run it once. outcome: the counts so far."""

    def __init__(self, plain: PlainModel) -> None:
        self.plain = plain
        starts = len(plain.starts)
        self.outcome = SearchOutcome(complete=True, reason=None, generated=starts, distinct=0, levels=(), seconds=0.0)

    @abstractmethod
    def is_new(self, state: object, before: object) -> bool:
        """Note a state; return whether it is reached for the first time. before: None for an initial state."""

    @abstractmethod
    def step(self, state: object, label: Label, after: object) -> None:
        """Note a step inside the bound."""

    def run(self, max_states: int | None, deadline: float | None) -> SearchOutcome:
        """Explore everything within the bound. The outcome is incomplete, without a reason, if a limit was reached."""
        outcome, started = self.outcome, time.monotonic()
        level = [state for state in self.plain.starts if self.is_new(state, None)]
        outcome.distinct = len(level)
        while level and outcome.complete:
            outcome.levels += (len(level),)
            level = self._next(level, max_states, deadline)
        if level:
            outcome.levels += (len(level),)
        outcome.seconds = time.monotonic() - started
        return outcome

    def _next(self, level: list[object], max_states: int | None, deadline: float | None) -> list[object]:
        """Return the new states one step after a level, as far as the limits allow."""
        outcome, plain = self.outcome, self.plain
        fresh: list[object] = []
        for state in level:
            enabled = False
            for label, after in plain.successors(state):
                enabled = True
                action = label.action
                outcome.generated += 1
                outcome.enabled[action] = outcome.enabled.get(action, 0) + 1
                if not plain.within(after):
                    outcome.cut += 1
                    outcome.beyond[action] = outcome.beyond.get(action, 0) + 1
                    continue
                if self.is_new(after, state):
                    fresh.append(after)
                    outcome.distinct += 1
                    outcome.new_states[action] = outcome.new_states.get(action, 0) + 1
                self.step(state, label, after)
            outcome.deadlocks += not enabled
            over = max_states is not None and outcome.distinct >= max_states
            if over or (deadline is not None and time.monotonic() > deadline):
                outcome.complete = False
                break
        return fresh


class _Reference(PlainSearch):
    """Evaluates the properties, and remembers predecessors for traces."""

    def __init__(self, model: Model, config: ModelConfig, symmetry: bool) -> None:
        super().__init__(PlainModel(model, config))
        self.ty = model.state_ty
        self.renamings = tuple(all_renamings(model.symmetric_sorts, config)) if symmetry else ()
        self.images: set[object] = set()
        self.parents: dict[object, object] = {}
        self.state_checks = [fn for fn in model.checks if not fn.is_step]
        self.step_checks = [fn for fn in model.checks if fn.is_step]

    def is_new(self, state: object, before: object) -> bool:
        if state in self.parents or state in self.images:
            return False
        self.images.update(renamed(state, self.ty, to) for to in self.renamings)
        self.parents[state] = before
        for fn in self.state_checks:
            self._check(fn, state)
        return True

    def step(self, state: object, label: Label, after: object) -> None:
        for fn in self.step_checks:
            self._check(fn, state, after)

    def _check(self, fn: Fn, *states: object) -> None:
        """Note the first hit of a property, on a state or a step, with its trace."""
        outcome = self.outcome
        if fn.ident not in outcome.first and self.plain.holds(fn, *states) == (fn.kind == "sometimes"):
            outcome.first[fn.ident] = len(outcome.levels)
            path = list(states[::-1])
            while (parent := self.parents[path[-1]]) is not None:
                path.append(parent)
            outcome.traces[fn.ident] = tuple(path[::-1])


def search(
    model: Model,
    config: ModelConfig,
    *,
    max_states: int | None = None,
    deadline: float | None = None,
    symmetry: bool = False,
) -> SearchOutcome:
    """Return the outcome of a search (`PlainSearch.run`), with the first hits of all properties.

    symmetry: the first state reached stands for all its images under renaming of members of symmetric sorts.
    """
    return _Reference(model, config, symmetry).run(max_states, deadline)
