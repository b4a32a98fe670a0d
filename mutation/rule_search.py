"""One change of a rule in one configuration, which is searched without the change first.

If the program stays the same, or every reachable state has the same steps, no search is needed. Otherwise the changed
program is searched until it breaks a property that holds without the change. Each finding is replayed in plain Python.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from elrcheck.base.requests import Limits
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.changed_search import ChangedSearch, differs
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.result import SearchResult
from elrcheck.explorer.search.retrace import Retrace
from elrcheck.explorer.search.vector import VectorSearch
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model, initial_states
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.lowering.relower import Relowered, relower
from elrcheck.lang.runtime import ModelConfig
from elrcheck.mutation.rule_answer import ChangeVerdict
from elrcheck.mutation.rule_mutants import ChangedModel
from elrcheck.traces.replay import replay_finding

SAME = ChangeVerdict("unaffected", reason="the same program")
MANY = 100_000
"""Distinct states from which the changed program is compiled, because evaluating it in numpy would take longer."""


@dataclass(frozen=True)
class Searched:
    """A configuration without the change, and its complete search. reaches: witnesses that must stay reachable."""

    lowered: Lowered
    search: Search
    result: SearchResult
    reaches: tuple[str, ...]

    @property
    def first(self) -> dict[str, int]:
        """The depth at which each property first breaks, or each witness is first reached, by id."""
        checks = self.lowered.program.checks
        return {checks[check].name: depth for check, depth in self.result.first.items()}


def searched(model: Model, config: ModelConfig, limits: Limits, reaches: Collection[str] | None = None) -> Searched:
    """Search a configuration without a change. reaches: by default, the witnesses that are reached in it."""
    lowered = lower(model, config)
    search = Search(lowered.program, SearchSettings(limits, cache=KernelCache()))
    result = search.run(None, "complete")
    base = Searched(lowered, search, result, ())
    hit = [fn.ident for fn in model.sometimes if fn.ident in base.first]
    return Searched(lowered, search, result, tuple(hit if reaches is None else reaches))


def judged(base: Searched, changed: ChangedModel, seconds: float) -> ChangeVerdict | None:
    """Return the verdict on a change: None if every step leads to the same state, SAME if the program is the same.

    seconds: time limit of the search.
    """
    change = _lowered_again(base, changed)
    limits = Limits(max_states=max(10_000, 2 * base.result.distinct), time_budget=seconds)
    broken = frozenset(check for check in base.result.first if base.lowered.program.checks[check].kind == "always")
    search: VectorSearch | Search
    lowered = base.lowered
    if change is None:
        with planted(changed.original, changed.plain):
            lowered = lower(changed.model, base.lowered.config)
        search = Search(lowered.program, SearchSettings(limits))
    elif change.same:
        return SAME
    elif not differs(base.search, change):
        return None
    elif base.result.distinct > MANY:
        search = Search(change.program, SearchSettings(limits))
    else:
        search = ChangedSearch(base.search, change, limits=limits, broken=broken)
    first = isinstance(search, ChangedSearch) or not broken
    return _verdict(base, changed, lowered, search, search.run(None, "first" if first else "complete"))


def _lowered_again(base: Searched, changed: ChangedModel) -> Relowered | None:
    """Return the changed parts of the program; None if all of it has to be lowered again."""
    if changed.model.bound.name in changed.affected or _starts_elsewhere(base, changed):
        return None
    return relower(base.lowered, changed.model, changed.affected)


def _starts_elsewhere(base: Searched, changed: ChangedModel) -> bool:
    """Return whether the change alters the initial states."""
    if changed.model.init.name not in changed.affected:
        return False
    with planted(changed.original, changed.plain):
        after = initial_states(changed.model, base.lowered.config)
    return after != initial_states(base.lowered.model, base.lowered.config)


def _verdict(
    base: Searched, changed: ChangedModel, lowered: Lowered, search: VectorSearch | Search, result: SearchResult
) -> ChangeVerdict:
    program: Program = search.program
    names = {k: program.checks[k].name for k in result.first}
    before = base.first
    always = {check.name for check in program.checks if check.kind == "always"}
    new = [k for k, name in names.items() if name in always and name not in before]
    if new:
        check = min(new, key=lambda k: result.first[k])
        ident, depth = names[check], result.first[check]
        rows = Retrace(search).traces([check])[check]
        fn = next(one for one in changed.model.always if one.ident == ident)
        with planted(changed.original, changed.plain):
            states = tuple(lowered.decode(row) for row in rows)
            replay_finding(changed.model, base.lowered.config, fn, states)
        return ChangeVerdict("found", ident, depth)
    old = base.result
    if not result.complete and (result.reason or "").startswith("values out of range"):
        return ChangeVerdict("undefined", reason=result.reason)
    if not result.complete and result.distinct > old.distinct:
        why = f"more distinct states than the {old.distinct:,} before"
        return ChangeVerdict("counted", reason=why, complete=False)
    if not result.complete:
        return ChangeVerdict("inconclusive", reason=result.reason)
    hit = set(names.values())
    gone = sorted(name for name in before if name in always and name not in hit)
    dead = [ident for ident in base.reaches if ident not in hit]
    if gone or dead:
        ident = (gone or dead)[0]
        why = f"{ident} no longer breaks" if gone else f"{ident} is no longer reached"
        return ChangeVerdict("found", ident, None, why)
    if result.size != old.size:
        return ChangeVerdict("counted", reason=f"{result.size}; without the change: {old.size}")
    return ChangeVerdict("unaffected", reason="other steps, as many as without the change")
