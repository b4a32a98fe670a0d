"""The searches of a mutation run, and a model without one of its guards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from elrcheck.base.progress import Event, LevelDone, Progress, Silent
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.requests import CheckRequest, Limits
from elrcheck.checking.engines import SearchSubject, explore
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.guards import without_guard
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.runtime import ModelConfig
from elrcheck.results.mutation_report import Unmutated
from elrcheck.traces.replay import Replayed


class Searches:
    """Settings that all searches of a run share: limits, workers, progress, and the use of stored answers."""

    def __init__(self, request: MutateRequest, progress: Progress) -> None:
        self.progress = progress
        self.workers = request.workers
        self.limits = Limits(max_states=request.max_states, time_budget=request.timeout)
        self.stored, self.fresh = request.kept, request.fresh


class _LevelsOnly(Silent):
    """Progress of one search among many: reports its levels, not its stages."""

    def __init__(self, outer: Progress) -> None:
        self._outer = outer

    def tell(self, event: Event) -> None:
        if isinstance(event, LevelDone):
            self._outer.tell(replace(event, passing=True))


def outcome_of(
    model: Model,
    config: ModelConfig,
    checks: Sequence[Fn],
    searches: Searches,
    stop: Literal["first", "complete"],
    lowered: Lowered | None = None,
) -> SearchOutcome:
    """Search with the compiled engine; a limit is named after the option of `mutate` that sets it.

    lowered: the program with these checks, if it has been lowered already.
    """
    request = CheckRequest(
        workers=searches.workers,
        limits=searches.limits,
        stop_at_first=stop == "first",
        kept=searches.stored,
        fresh=searches.fresh,
    )
    levels = _LevelsOnly(searches.progress)
    return _named_limit(explore(SearchSubject(model, config, checks, lowered=lowered), request, levels))


def lassos_of(
    model: Model, config: ModelConfig, checks: Sequence[Fn], searches: Searches
) -> tuple[SearchOutcome, dict[str, Replayed]]:
    """Return the same for liveness properties, which need the whole graph, and a replayed lasso of each that breaks."""
    from elrcheck.checking.check_liveness import explore_liveness

    request = CheckRequest(workers=searches.workers, limits=searches.limits)
    outcome, lassos = explore_liveness(model, config, checks, request, _LevelsOnly(searches.progress))
    return _named_limit(outcome), lassos


def _named_limit(outcome: SearchOutcome) -> SearchOutcome:
    if outcome.reason is not None:
        outcome.reason = outcome.reason.replace("--time-budget", "--timeout")
    return outcome


def unmutated(outcome: SearchOutcome) -> Unmutated:
    """Return the report of the search without the change; seconds cover only the search itself."""
    return Unmutated(
        complete=outcome.complete,
        distinct=outcome.distinct,
        generated=outcome.generated,
        diameter=len(outcome.levels),
        seconds=round(outcome.seconds, 3),
        violated=tuple(sorted(outcome.first)),
        kept=outcome.kept,
    )


def dropped(model: Model, action: str, guard: str) -> Model:
    """Return the model with this guard removed from the action."""
    return replace(model, actions=tuple(without_guard(fn, guard) if fn.name == action else fn for fn in model.actions))
