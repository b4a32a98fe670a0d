"""The report of a search: its verdicts, its counts, and its failures by `--fail-on`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elrcheck.base.requests import CheckFailOn
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.engines import PlannedRun
from elrcheck.explorer.search.outcome import SearchOutcome, projection_of
from elrcheck.lang.ir import Fn, guard_names
from elrcheck.lang.load import Model
from elrcheck.lang.symmetry.alike_members import count_renamings
from elrcheck.results.check_report import (
    ActionReport,
    CheckReport,
    EngineReport,
    Failure,
    KnownFinding,
    Overflow,
    PropertyReport,
    PropertyVerdict,
    SearchReport,
    VariableReport,
    Verdict,
)

if TYPE_CHECKING:
    from elrcheck.traces.replay import Replayed


def report_of(
    run: PlannedRun,
    model: Model,
    outcome: SearchOutcome,
    findings: Mapping[str, Replayed],
    stored: Mapping[str, str],
    instances: Mapping[str, tuple[KnownFinding, ...]],
) -> CheckReport:
    """Return the report of a search.

    Each by property: findings: replayed traces; stored: their files in the run folder; instances: the known findings
    that they are instances of.
    """
    request, selected = run.request, run.selected
    at_stake = selected.declared.at_stake
    properties = tuple(
        _property(fn, outcome, findings.get(fn.ident), stored.get(fn.ident), instances.get(fn.ident, ()), at_stake)
        for fn in run.chosen
    )
    actions = _actions(model, outcome)
    return CheckReport(
        verdict=_verdict(properties, outcome),
        variant=selected.variant,
        scope=selected.scope,
        config=config_values(selected.config),
        engine=EngineReport(request.engine, outcome.workers, outcome.detail),
        search=_search(outcome, count_renamings(model.symmetric_sorts, selected.config) if request.symmetry else 1),
        properties=properties,
        actions=actions,
        variables=tuple(VariableReport(name, count) for name, count in outcome.variables.items()),
        failures=failures(request.fail_on, properties, actions, outcome.complete),
        vacuous=selected.declared.vacuous(
            selected.config, [each.id for each in properties if each.verdict == "unreached"]
        ),
        kept=outcome.kept,
        model=selected.model,
        patch=selected.patch,
    )


def _property(
    fn: Fn,
    outcome: SearchOutcome,
    finding: Replayed | None,
    stored: str | None,
    instance_of: tuple[KnownFinding, ...],
    at_stake: Callable[[str], str],
) -> PropertyReport:
    depth = outcome.first.get(fn.ident)
    hit = depth is not None
    verdict: PropertyVerdict
    if fn.kind != "sometimes":
        verdict = "violated" if hit else "holds" if outcome.complete else "inconclusive"
    else:
        verdict = "reached" if hit else "unreached" if outcome.complete else "inconclusive"
    violated = finding if fn.kind != "sometimes" else None
    kind: Any = fn.kind
    return PropertyReport(
        id=fn.ident,
        name=fn.name,
        kind=kind,
        verdict=verdict,
        depth=depth,
        conjunct=violated.broken.conjunct if violated else None,
        witness=violated.broken.witness if violated else None,
        trace=stored,
        counterexample=violated.view if violated else None,
        waiting=outcome.waiting.get(fn.ident),
        source=fn.place,
        statement=fn.doc.strip().partition("\n")[0],
        instance_of=instance_of,
        at_stake=at_stake(fn.ident) if verdict == "violated" else "",
    )


def _verdict(properties: Sequence[PropertyReport], outcome: SearchOutcome) -> Verdict:
    if any(p.verdict == "violated" for p in properties):
        return "violated"
    return "holds" if outcome.complete else "inconclusive"


def failures(
    fail_on: Sequence[CheckFailOn],
    properties: Sequence[PropertyReport],
    actions: Sequence[ActionReport],
    complete: bool,
) -> tuple[Failure, ...]:
    """Return the failures under `--fail-on`. In an incomplete search, anything not reached is undecided."""
    failing = {
        "unreached-action": [action.name for action in actions if complete and action.idle],
        "unreached-witness": [p.id for p in properties if p.verdict == "unreached"],
        "inconclusive": [p.id for p in properties if p.verdict == "inconclusive"],
    }
    return tuple(
        Failure(word, tuple(failing[word]))
        for word in dict.fromkeys(fail_on)
        if failing[word] or (word == "inconclusive" and not complete)
    )


def _search(outcome: SearchOutcome, renamings: int) -> SearchReport:
    return SearchReport(
        complete=outcome.complete,
        generated=outcome.generated,
        distinct=outcome.distinct,
        diameter=len(outcome.levels),
        levels=outcome.levels,
        seconds=round(outcome.seconds, 3),
        states_per_second=round(outcome.distinct / outcome.seconds, 1) if outcome.seconds > 0 else 0.0,
        bytes_per_state=outcome.bytes_per_state,
        stopped_by=outcome.reason,
        cut=outcome.cut,
        deadlocks=outcome.deadlocks,
        overflows=tuple(Overflow(path, count) for path, count in outcome.overflow.items()),
        fingerprint_bits=outcome.fingerprint_bits,
        collision_probability=outcome.collision_probability,
        peak_memory_bytes=outcome.peak_bytes,
        spilled=outcome.spilled,
        resumable=outcome.resumable,
        projection=projection_of(outcome),
        renamings=renamings,
    )


def _actions(model: Model, outcome: SearchOutcome) -> tuple[ActionReport, ...]:
    return tuple(
        ActionReport(
            fn.name,
            outcome.enabled.get(fn.name, 0),
            outcome.new_states.get(fn.name, 0),
            outcome.beyond.get(fn.name, 0),
            guard_names(fn),
            possible=fn.name in outcome.enabled,
        )
        for fn in model.actions
    )
