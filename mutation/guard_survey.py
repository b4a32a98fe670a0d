"""`mutate --guards` of any model: leave out one named guard at a time, and see whether any property notices.

The scope is first searched completely with all guards; only properties that hold there can notice a change.
Then each guard of every action that fires in the scope is dropped once, and the search stops at the first
violated property. `unnoticed` applies to this scope only: the guard may matter in a larger one or with other
disturbances, or it may merely keep the model small.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from elrcheck.base.errors import NothingChecked, UsageFault, did_you_mean
from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.runner.processors import processors
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.engines import no_collection
from elrcheck.checking.runs.folders import reject_file
from elrcheck.declared.declared_model import declared
from elrcheck.declared.patched import patch_applied
from elrcheck.declared.select import resolve, select_properties
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.ir import Fn, guard_names
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.relower import relowered
from elrcheck.mutation.mutation_run import Searches, dropped, outcome_of, unmutated
from elrcheck.results.mutation_report import GuardReport, MutateReport, MutateVerdict, SurveyReport
from elrcheck.traces.replay import ReplayError, replay_finding

# Errors that a step may raise once the guard that protected it is gone.
UNDEFINED = (ReplayError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
IDLE = "the action never fires within the budgets of this scope"
REDUNDANT = "it is never the only guard that refuses a step"
FRUITLESS = "the steps that only it refuses lead to no new state"


def run_guards(request: MutateRequest, progress: Progress) -> MutateReport:
    """Leave out the selected guards one by one; raise UsageFault for unknown names, or if the run folder is a file."""
    started = time.perf_counter()
    reject_file(request.run_dir)
    model = declared(request.selection.source).whole()
    surveyed, guards = survey(model, request, Searches(request, progress))
    return MutateReport(
        verdict=guard_verdict(surveyed, guards),
        seconds=round(time.perf_counter() - started, 3),
        workers=request.workers or processors(),
        hazards=(),
        survey=surveyed,
        guards=guards,
        run_dir=None,
        model=None if request.selection.model is None else str(request.selection.model),
        patch=patch_applied(request.selection.source),
    )


def guard_verdict(surveyed: SurveyReport | None, guards: Sequence[GuardReport]) -> MutateVerdict:
    """Return the verdict of a survey; a search that reached a limit never passes."""
    verdicts = {guard.verdict for guard in guards}
    if "inconclusive" in verdicts or (surveyed is not None and not surveyed.unmutated.complete):
        return "inconclusive"
    return "nothing_run" if verdicts <= {"skipped"} else "surveyed"


def survey(model: Model, request: MutateRequest, searches: Searches) -> tuple[SurveyReport, tuple[GuardReport, ...]]:
    """Drop the guards of the selected actions one by one; without reports if the search with all guards is useless.

    That is so if it reached a limit, or if every property is violated in it.
    """
    selected = resolve(request.selection)
    actions = select_actions(model, request.actions)
    searches.progress.stage(f"{selected.variant}, {selected.scope} with all guards")
    always = [fn for fn in select_properties(model, request.properties) if fn.kind == "always"]
    if not always:
        raise NothingChecked(
            "no-property", "only an `always` property can notice a missing guard, and none is selected"
        )
    with no_collection():
        lowered = lower(model, selected.config, always)
    base = outcome_of(model, selected.config, always, searches, "complete", lowered)
    holding = tuple(fn for fn in always if fn.ident not in base.first)
    report = SurveyReport(
        variant=selected.variant,
        scope=selected.scope,
        config=config_values(selected.config),
        properties=tuple(fn.ident for fn in holding),
        unmutated=unmutated(base),
    )
    if not base.complete:
        return replace(report, reason=base.reason), ()
    if not holding:
        return replace(report, reason="every property is violated even with all guards"), ()
    if len(holding) < len(always):
        with no_collection():
            lowered = lower(model, selected.config, holding)
    bench = _GuardBench(lowered, holding, base, searches)
    return report, tuple(_guards(bench, actions))


@dataclass(frozen=True)
class _GuardBench:
    """The scope with all guards: its program with the properties that hold, and the outcome of its search."""

    lowered: Lowered
    holding: tuple[Fn, ...]
    base: SearchOutcome
    searches: Searches


def select_actions(model: Model, requested: Sequence[str]) -> tuple[Fn, ...]:
    """Return actions by name, ignoring case; all actions if `requested` is empty."""
    if not requested:
        return model.actions
    names = {fn.name.lower(): fn for fn in model.actions}
    for word in requested:
        if word.lower() not in names:
            known_names = [fn.name for fn in model.actions]
            raise UsageFault("unknown-action", f"unknown action `{word}`", help=did_you_mean(word, known_names))
    return tuple(dict.fromkeys(names[word.lower()] for word in requested))


def _guards(bench: _GuardBench, actions: Sequence[Fn]) -> Iterator[GuardReport]:
    todo = [(fn, guard) for fn in actions for guard in guard_names(fn)]
    for number, (fn, guard) in enumerate(todo, start=1):
        report = GuardReport(fn.name, guard, "skipped")
        if bench.base.enabled.get(fn.name, 0) == bench.base.beyond.get(fn.name, 0):
            yield replace(report, reason=IDLE)
        else:
            bench.searches.progress.stage(f"[{number}/{len(todo)}] {fn.name} without: {guard}")
            started = time.perf_counter()
            done = _survey_guard(bench, report)
            yield replace(done, seconds=round(time.perf_counter() - started, 3))


def _survey_guard(bench: _GuardBench, report: GuardReport) -> GuardReport:
    """Search without the guard; a step that is undefined without it makes the search inconclusive."""
    config: Any = bench.lowered.config
    broken = dropped(bench.lowered.model, report.action, report.guard)
    try:
        with no_collection():  # everything but this action comes from the program with all guards
            lowered = relowered(bench.lowered, broken, frozenset((report.action,)))
        if lowered is not None and lowered.program is bench.lowered.program:
            return _unbroken(replace(report, same=True), bench.base, bench.base)
        after = outcome_of(broken, config, bench.holding, bench.searches, "first", lowered)
        report = replace(report, kept=after.kept)
        if not after.traces:
            return _unbroken(report, bench.base, after)
        first = min(after.traces, key=lambda ident: after.first[ident])
        fn = next(one for one in bench.holding if one.ident == first)
        finding = replay_finding(broken, config, fn, after.traces[first])
    except UNDEFINED as fault:
        reason = f"a step is undefined without it: {fault}"
        return replace(report, verdict="inconclusive", reason=reason)
    return replace(
        report,
        verdict="noticed",
        property=first,
        depth=len(finding.labels),
        distinct=after.distinct,
        generated=after.generated,
        conjunct=finding.broken.conjunct,
        witness=finding.broken.witness,
        counterexample=finding.view,
    )


def _unbroken(report: GuardReport, base: SearchOutcome, after: SearchOutcome) -> GuardReport:
    """Return the report if no property broke, in a complete or an incomplete search."""
    report = replace(report, distinct=after.distinct, generated=after.generated)
    if not after.complete:
        return replace(report, verdict="inconclusive", reason=after.reason)
    reason = None
    if after.distinct == base.distinct:
        reason = REDUNDANT if after.generated == base.generated else FRUITLESS
    return replace(report, verdict="unnoticed", reason=reason)
