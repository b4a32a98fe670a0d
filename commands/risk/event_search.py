"""Searches of one configuration that differ only in which events may happen, by one compiled kernel.

The kernel is compiled with the same budget for every kind of event. A search in which fewer may happen starts
in a state in which the others have happened already, as far as its counters say: no rule reads these counters
but the bound of the search. Traces are handed back as they would be with nothing used up.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from elrcheck.explorer.kernel.kernel import build
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.result import Limits
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.model.config import Config

COUNTERS = "spent."


@dataclass(frozen=True)
class Searched:
    """What one search found. traces: property -> states of a shortest trace; reason: why it is incomplete.

    decided: the search was complete, or found a violation of every property that it was asked for.
    """

    decided: bool
    distinct: int
    seconds: float
    traces: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    reason: str | None = None


class EventSearch:
    """One compiled model whose searches each allow other events. most: how often each may happen at most."""

    def __init__(
        self, model: Model, config: Config, budgets: Sequence[str], most: int, workers: int,
        cache: KernelCache | None,
    ) -> None:  # fmt: skip
        self.model, self.most, self.budgets = model, most, tuple(budgets)
        more: dict[str, Any] = dict.fromkeys(budgets, most)
        self.config = replace(config, **more)
        self.properties: tuple[Fn, ...] = model.always
        self.workers, self.cache = workers, cache
        collecting = gc.isenabled()
        gc.disable()  # lowering creates a million small objects, none of which becomes garbage
        try:
            self.lowered = lower(model, self.config, self.properties)
            self.program = self.lowered.program
            self.native = build(self.program, cache)
        finally:
            if collecting:
                gc.enable()
        self._at = {leaf.path: index for index, leaf in enumerate(self.program.leaves)}

    def search(self, allowed: Mapping[str, int], wanted: Sequence[str], limits: Limits) -> Searched:
        """Search with so many of each event, until each of the wanted properties is violated."""
        unused = {budget: self.most - allowed.get(budget, 0) for budget in self.budgets}
        search = Search(
            replace(self.program, init=(self._start(unused),)), workers=self.workers, cache=self.cache,
            limits=limits, native=self.native, interrupted=lambda: self._broken(search) >= set(wanted),
        )  # fmt: skip
        result = search.run(None, "complete")
        broken = self._broken(search)
        checks = [number for number in result.first if self.program.checks[number].name in broken]
        traces = {
            self.program.checks[number].name: tuple(self._state(row, unused) for row in rows)
            for number, rows in Retrace(search).traces(checks).items()
        }
        decided = result.complete or broken >= set(wanted)
        return Searched(
            decided, result.distinct, result.seconds, traces, None if decided else result.reason or "a limit"
        )

    def _broken(self, search: Search) -> set[str]:
        return {self.program.checks[number].name for number in search.first}

    def _start(self, unused: Mapping[str, int]) -> tuple[int, ...]:
        values = list(self.program.init[0])
        for budget, count in unused.items():
            if (at := self._at.get(COUNTERS + budget)) is not None:
                values[at] = count
        return tuple(values)

    def _state(self, row: Sequence[int], unused: Mapping[str, int]) -> Any:
        """The plain state, with nothing used up before the search."""
        state = self.lowered.decode(row)
        used = {
            budget: getattr(state.spent, budget) - count
            for budget, count in unused.items()
            if COUNTERS + budget in self._at
        }
        return replace(state, spent=replace(state.spent, **used))
