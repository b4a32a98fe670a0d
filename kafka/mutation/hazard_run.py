"""Hazards and guards: a rule is broken on purpose, and the first property that breaks has caught it.

Each hazard of `catalogue/hazards.toml` is searched twice in its own configuration: completely without the
change, where the properties it is expected to break must hold, and with the change until the first of them
breaks. Only then is the change the cause of the finding. `guard_survey` drops guards.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec import structs

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.run_lock import in_another_folder
from elrcheck.base.runner.processors import processors
from elrcheck.base.typed.configuration import build_config, config_fields, find_scope
from elrcheck.catalogue.configured import find_variant
from elrcheck.catalogue.hazard import TABLE, Hazard, packaged_hazards
from elrcheck.catalogue.model_entries import change_text
from elrcheck.checking.runs.folders import reject_file
from elrcheck.declared.declared_model import declared
from elrcheck.declared.select import select_properties
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.ir import Fn, guard_names
from elrcheck.lang.load import Model
from elrcheck.model.config import Config
from elrcheck.model.knobs import plain
from elrcheck.mutation.guard_survey import run_guards
from elrcheck.mutation.mutation_run import Searches, dropped, lassos_of, outcome_of, unmutated
from elrcheck.results.mutation_report import HazardReport, MutateReport, MutateVerdict
from elrcheck.results.trace_view import Scalar
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.traces.behaviour import TraceOrigin, overridden
from elrcheck.traces.replay import Replayed, replay_finding


def run_hazards(request: MutateRequest, progress: Progress) -> MutateReport:
    """Run the selected hazards, and the guards if the request has both; raise UsageFault for unknown names."""
    started = time.perf_counter()
    model = declared(request.selection.source).whole()
    if request.selection.source is not None:
        message = "hazards are about Kafka's partition"
        raise UsageFault("usage-option", message, help="give --guards, which removes the guards of any model")
    reject_file(request.run_dir)
    chosen = select_hazards(request.hazards or ())
    for hazard in chosen:
        demand_known(model, hazard)
    every = (*model.always, *model.leads_to)
    named = select_properties(model, request.properties) if request.properties else every
    judged = frozenset(fn.ident for fn in named)
    searches = Searches(request, progress)
    guards = run_guards(request, progress) if request.guards else None
    hazards = tuple(
        run_hazard(model, hazard, judged, searches, f"[{number}/{len(chosen)}]", request.run_dir)
        for number, hazard in enumerate(chosen, start=1)
    )
    if request.proof:
        hazards = tuple(_by_proof(chosen, hazards, progress))
    stored = any(hazard.trace is not None for hazard in hazards)
    return MutateReport(
        verdict=_verdict(hazards, None if guards is None else guards.verdict),
        seconds=round(time.perf_counter() - started, 3),
        workers=request.workers or processors(),
        hazards=hazards,
        survey=None if guards is None else guards.survey,
        guards=() if guards is None else guards.guards,
        run_dir=str(request.run_dir) if stored else None,
    )


def select_hazards(requested: Sequence[str]) -> tuple[Hazard, ...]:
    """Return hazards by id, ignoring case; `F-3` includes F-3a and F-3b. Return all if no word is given."""
    if not requested:
        return packaged_hazards()
    chosen: list[Hazard] = []
    for word in requested:
        matches = [h for h in packaged_hazards() if word.lower() in (h.id.lower(), h.id.lower().rstrip("abc"))]
        if not matches:
            idents = [h.id for h in packaged_hazards()]
            raise UsageFault("unknown-hazard", f"unknown hazard `{word}`", help=did_you_mean(word, idents))
        chosen += [h for h in matches if h not in chosen]
    return tuple(chosen)


# ---------------------------------------------------------------------------- one hazard


@dataclass(frozen=True)
class Pair:
    """The two sides of a comparison, and the origin that a stored trace records."""

    base: Config
    changed: Config
    overrides: tuple[str, ...]


def sides(hazard: Hazard) -> Pair:
    """Return the configurations without and with the change; they are equal if the change drops a guard."""
    scope = find_scope(hazard.scope, files("elrcheck.catalogue") / "scopes", config_fields(Config))
    layers = (find_variant(hazard.variant).knobs, scope.values, hazard.settings)
    base = build_config(Config, *layers)
    changed = build_config(Config, *layers, hazard.knobs)
    return Pair(base, changed, (*hazard.settings, *hazard.knobs))


def demand_known(model: Model, hazard: Hazard) -> None:
    """Raise UsageFault if a hazard names an unknown property, action or guard."""
    action, guard = hazard.guard or (None, None)
    guards = {fn.name: guard_names(fn) for fn in model.actions}
    properties = [fn.ident for fn in (*model.always, *model.leads_to)]
    mentioned: list[tuple[str, str, Sequence[str]]] = [("property", p, properties) for p in hazard.expected]
    if action is not None and guard is not None:
        mentioned.append(("action", action, list(guards)))
        mentioned.append((f"guard of {action}", guard, guards.get(action, ())))
    for what, name, defined in mentioned:
        if name not in defined:
            raise UsageFault(
                "model-source",
                f"hazard {hazard.id}: there is no {what} `{name}`",
                where=f"catalogue/{TABLE}",
                help=did_you_mean(name, defined),
            )


def run_hazard(
    model: Model,
    hazard: Hazard,
    judged: frozenset[str],
    searches: Searches,
    place: str = "",
    run_dir: Path | None = None,
) -> HazardReport:
    """Search both sides. judged: properties that count; place: position in the run, for the progress line."""
    expected = tuple(ident for ident in hazard.expected if ident in judged)
    report = _described(hazard, expected)
    if hazard.left_out is not None:
        return structs.replace(report, reason=hazard.left_out)
    if not expected:
        return structs.replace(report, reason="not expected to break any of these properties")
    started = time.perf_counter()
    done = _search_both(model, hazard, expected, report, searches, place, run_dir)
    return structs.replace(done, seconds=round(time.perf_counter() - started, 3))


def _described(hazard: Hazard, expected: tuple[str, ...]) -> HazardReport:
    return HazardReport(
        id=hazard.id,
        issue=hazard.issue,
        title=hazard.title,
        mutation=change_text(hazard),
        verdict="skipped",
        expected=expected,
        variant=hazard.variant,
        scope=hazard.scope,
        settings=_scalars(hazard.settings),
        knobs=_scalars(hazard.knobs),
        guard=None if hazard.guard is None else f"{hazard.guard[0]}: {hazard.guard[1]}",
    )


def _scalars(values: Mapping[str, Any]) -> dict[str, Scalar]:
    return {name: plain(value) for name, value in values.items()}


def _search_both(
    model: Model,
    hazard: Hazard,
    expected: tuple[str, ...],
    report: HazardReport,
    searches: Searches,
    place: str,
    run_dir: Path | None,
) -> HazardReport:
    pair = sides(hazard)
    checks = select_properties(model, expected)
    searches.progress.stage(f"{place} {hazard.id} without the change")
    lives = any(fn.kind == "leads_to" for fn in checks)
    before = (
        lassos_of(model, pair.base, checks, searches)[0]
        if lives
        else outcome_of(model, pair.base, checks, searches, "complete")
    )
    report = structs.replace(report, unmutated=unmutated(before))
    if before.first:
        reason = f"also violated without the change: {', '.join(sorted(before.first))}"
        return structs.replace(report, verdict="not_found", reason=reason)
    if not before.complete:
        return structs.replace(report, verdict="inconclusive", reason=f"without the change: {before.reason}")
    searches.progress.stage(f"{place} {hazard.id} {report.mutation}")
    broken = model if hazard.guard is None else dropped(model, *hazard.guard)
    after, findings = (
        lassos_of(broken, pair.changed, checks, searches)
        if lives
        else _shortest(broken, pair.changed, checks, searches)
    )
    report = structs.replace(report, distinct=after.distinct, generated=after.generated, kept=after.kept)
    hits = [ident for ident in expected if ident in findings]
    if not hits:
        missed = "no expected property breaks" if after.complete else str(after.reason)
        return structs.replace(report, verdict="not_found" if after.complete else "inconclusive", reason=missed)
    first = min(hits, key=lambda ident: after.first[ident])
    return _detected(broken, pair, first, findings[first], report, hazard, run_dir)


def _shortest(
    model: Model, config: Config, checks: Sequence[Fn], searches: Searches
) -> tuple[SearchOutcome, dict[str, Replayed]]:
    """Search until a property breaks; return the replayed traces."""
    outcome = outcome_of(model, config, checks, searches, "first")
    traces = {fn: outcome.traces[fn.ident] for fn in checks if fn.ident in outcome.traces}
    return outcome, {fn.ident: replay_finding(model, config, fn, states) for fn, states in traces.items()}


def _detected(
    model: Model, pair: Pair, ident: str, finding: Replayed, report: HazardReport, hazard: Hazard, run_dir: Path | None
) -> HazardReport:
    """Return the report of a detected hazard. With a dropped guard it stores no trace: nothing could replay it."""
    name = None
    if run_dir is not None and hazard.guard is None:
        name = f"{hazard.id}-{ident}.trace.json"
        overrides = overridden(pair.changed, pair.overrides)
        origin = TraceOrigin(hazard.variant, hazard.scope, overrides, ident)
        with in_another_folder():
            write_trace(run_dir / name, replace(finding.followed, origin=origin), model.state_ty)
    return structs.replace(
        report,
        verdict="found",
        property=ident,
        depth=len(finding.labels) if finding.loop is None else finding.loop,
        conjunct=finding.broken.conjunct,
        witness=finding.broken.witness,
        trace=name,
        counterexample=finding.view,
    )


def _by_proof(hazards: Sequence[Hazard], reports: Sequence[HazardReport], progress: Progress) -> Iterator[HazardReport]:
    """Yield the reports, with the verdict of the proof on each hazard that breaks safety."""
    from elrcheck.kafka.mutation.rule_proof import HazardProofs

    proofs = HazardProofs()
    for hazard, report in zip(hazards, reports, strict=True):
        if report.verdict != "found" or not any(ident.startswith("P-") for ident in hazard.expected):
            yield report
            continue
        progress.stage(f"the proof, with {hazard.id}")
        judged = proofs.judge(hazard, sides(hazard).base)
        yield structs.replace(
            report, proof=judged.by_proof.answer, open=judged.by_proof.open, beyond=judged.beyond, hole=judged.hole
        )


# ---------------------------------------------------------------------------- the whole run


def _verdict(hazards: Sequence[HazardReport], guards: MutateVerdict | None) -> MutateVerdict:
    """Return the verdict of the run. Skipped hazards do not count; one that reached a limit is never a pass."""
    verdicts = {hazard.verdict for hazard in hazards}
    if "not_found" in verdicts or any(hazard.hole for hazard in hazards):
        return "not_found"
    if "inconclusive" in verdicts or (guards == "inconclusive"):
        return "inconclusive"
    if "found" in verdicts:
        return "found"
    return guards or "nothing_run"
