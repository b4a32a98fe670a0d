"""Searches of one configuration with different events, sharing one compiled kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elrcheck.base.requests import Limits
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import SearchSettings
from elrcheck.explorer.search.family import KernelFamily
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.lang.load import Model
from elrcheck.model.config import Config


@dataclass(frozen=True)
class EventResult:
    """The result of one search. traces: property -> states of a shortest trace.

    complete: every state was searched, so that a property without a trace holds.
    """

    complete: bool
    distinct: int
    traces: Mapping[str, tuple[Any, ...]]


class EventSearch:
    """One compiled model whose searches each allow other events.

    most: how often each may happen at most. between: see `lower`.
    """

    def __init__(
        self,
        model: Model,
        config: Config,
        budgets: Sequence[str],
        most: int,
        workers: int,
        cache: KernelCache | None,
        between: Callable[[], object] = bool,
    ) -> None:
        self.budgets, self.workers = tuple(budgets), workers
        widest: dict[str, Any] = dict.fromkeys(budgets, most)
        self.family = KernelFamily(
            model,
            replace(config, **widest),
            model.always,
            least=dict.fromkeys(budgets, 0),
            cache=cache,
            between=between,
        )

    def search(self, allowed: Mapping[str, int], properties: Sequence[str], limits: Limits) -> EventResult:
        """Search with up to this many of each event, until one of these properties is violated."""
        bounds = {budget: allowed.get(budget, 0) for budget in self.budgets}
        checks = self.family.program.checks

        def violated() -> bool:
            return any(checks[number].name in properties for number in search.first)

        search = self.family.search(bounds, SearchSettings(limits, self.workers, interrupted=violated))
        result = search.run(None, "complete")
        broken = [number for number in result.first if checks[number].name in properties]
        traces = {
            checks[number].name: tuple(self.family.decode(row) for row in rows)
            for number, rows in Retrace(search).traces(broken).items()
        }
        return EventResult(result.complete, result.distinct, traces)
