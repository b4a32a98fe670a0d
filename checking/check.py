"""`elrcheck check`: explore a scope, replay the findings, and report.

The engine only reports where it hits a property. Every trace it returns is replayed in plain Python before it
is reported (`replay`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckFailOn, CheckRequest
from elrcheck.base.run_lock import alone_in
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.engines import SearchSubject, demand_renamings, explore
from elrcheck.checking.runs.folders import MANIFEST, REPORT, places_of_run
from elrcheck.checking.runs.planned_run import PlannedRun
from elrcheck.declared.select import Selected, resolve, select_properties
from elrcheck.explorer.search.outcome import SearchOutcome, projection_of
from elrcheck.lang.ir import Fn, guard_names
from elrcheck.lang.load import Model
from elrcheck.lang.symmetry.renamed_values import count_renamings
from elrcheck.results.check_report import (
    ActionReport,
    CheckReport,
    EngineReport,
    Failure,
    Overflow,
    PropertyReport,
    PropertyVerdict,
    SearchReport,
    VariableReport,
    Verdict,
)
from elrcheck.results.drawn_graph import MOST_STATES

if TYPE_CHECKING:
    from elrcheck.checking.runs.checkpoint import Saved
    from elrcheck.explorer.search.family import KernelFamily
    from elrcheck.traces.replay import Replayed


def run_check(request: CheckRequest, progress: Progress, ending: contextlib.ExitStack | None = None) -> CheckReport:
    """Search and report, also into the run folder if there is one; raise UsageFault for unknown names.

    ending: receives what is left to do once the user has the report: the removal of the checkpoint of a
    completed search. A process that is killed before it has shown its report can thus be resumed. By default
    that is done before the report is returned.
    """
    if ending is None:
        with contextlib.ExitStack() as own:
            return run_check(request, progress, own)
    if request.run_dir is not None and request.run_dir.exists() and not request.run_dir.is_dir():
        raise UsageFault("run-dir-is-file", f"{request.run_dir} is a file, not a folder")
    saved = None
    if request.resume is not None:
        if request.run_dir is not None:
            raise UsageFault("usage-resume", "--resume already names the run folder: leave out --run-dir")
        from elrcheck.checking.runs.checkpoint import as_saved, read_run

        place = request.resume
        ending.enter_context(alone_in(place, place.is_dir()))  # before it is read
        saved = read_run(place)
        request = as_saved(request, saved)
        selected = resolve(request.selection)
    else:
        selected = resolve(request.selection)
        place = _place(request, selected, ending)
    report = check_selected(request, selected, progress, place, saved, ending=ending, attribute=True)
    report = structs.replace(report, extent=selected.declared.extent(selected.variant, selected.config))
    if report.extent is not None and saved is None and not request.fingerprint and request.engine != "spark":
        from elrcheck.checking.no_effect import with_no_effect

        report = with_no_effect(report, request, selected, progress)
    if report.run_dir is not None:
        from elrcheck.report.json_report import to_json

        write_file(Path(report.run_dir) / REPORT, to_json(report))
    return report


def _place(request: CheckRequest, selected: Selected, ending: contextlib.ExitStack) -> Path:
    """Lock the folder of a new check and return it: the requested one, or one that no other run has.

    A resumable run keeps its folder, and so does one that another process is making.
    """
    if request.run_dir is not None:
        ending.enter_context(alone_in(request.run_dir))
        return request.run_dir
    for place in places_of_run(request, selected):
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(alone_in(place, optional=not request.fingerprint))
            except EnvironmentFault:  # it is in use
                continue
            if not (place / MANIFEST).exists():
                ending.enter_context(stack.pop_all())
                return place
    raise AssertionError("there is always another number")


def check_selected(
    request: CheckRequest,
    selected: Selected,
    progress: Progress,
    place: Path,
    saved: Saved | None = None,
    family: KernelFamily | None = None,
    ending: contextlib.ExitStack | None = None,
    attribute: bool = False,
) -> CheckReport:
    """Like `run_check`, for a configuration that is already resolved; traces go into the folder `place`.

    family: one of the whole model that the configuration is in, so that nothing is read or compiled. attribute: name
    the known findings that a counterexample is an instance of.
    """
    if ending is None:
        with contextlib.ExitStack() as own:
            return check_selected(request, selected, progress, place, saved, family, own, attribute)
    model = selected.whole_model() if family is None else family.model
    chosen = select_properties(model, request.properties, request.liveness)
    outcome, findings = _explore(model, selected, chosen, request, progress, place, saved, family, ending)
    folder = _run_dir(request, chosen, outcome, place)
    stored = store_findings(folder, selected, findings) if folder is not None else {}
    rendered = {fn.ident for fn in chosen if fn.kind != "sometimes"}
    findings |= _with_truths({ident: each for ident, each in findings.items() if ident in rendered})
    drawn = None
    if request.drawn and not request.symmetry and outcome.complete and outcome.distinct <= MOST_STATES:
        from elrcheck.explorer.graph.small_graph import small_graph

        traces = {ident: finding.states for ident, finding in findings.items() if ident in rendered}
        drawn = small_graph(model, selected.config, chosen, traces, None)
    properties = tuple(_property(fn, outcome, findings.get(fn.ident), stored.get(fn.ident)) for fn in chosen)
    if attribute:
        properties = tuple(
            structs.replace(
                each, instance_of=selected.declared.instance_of(model, selected.config, fn, findings[each.id].labels)
            )
            if each.verdict == "violated" and fn.kind == "always"
            else each
            for each, fn in zip(properties, chosen, strict=True)
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
        run_dir=None if folder is None else str(folder),
        small_graph=drawn,
        failures=failures(request.fail_on, properties, actions, outcome.complete),
        vacuous=selected.declared.vacuous(
            selected.config, [each.id for each in properties if each.verdict == "unreached"]
        ),
        kept=outcome.kept,
        model=selected.model,
        patch=selected.patch,
    )


# ---------------------------------------------------------------------------- findings


def _explore(
    model: Model,
    selected: Selected,
    chosen: Sequence[Fn],
    request: CheckRequest,
    progress: Progress,
    place: Path,
    saved: Saved | None,
    family: KernelFamily | None,
    ending: contextlib.ExitStack,
) -> tuple[SearchOutcome, dict[str, Replayed]]:
    """Search, and replay what was found."""
    config = selected.config
    run = PlannedRun(place, selected, chosen, request, saved)
    if request.symmetry:
        demand_renamings(model, config)
    if any(fn.kind == "leads_to" for fn in chosen):
        from elrcheck.checking.check_liveness import explore_liveness

        if request.fingerprint or saved is not None:
            raise UsageFault(
                "liveness-option", "--liveness keeps all states in memory: leave out --fingerprint and --resume"
            )
        if request.symmetry:
            message = "--symmetry cannot decide liveness: a cycle up to renaming need not be a behaviour"
            raise UsageFault("liveness-option", message, help="leave out --symmetry, or the liveness properties")
        if (fault := selected.declared.no_liveness(config)) is not None:
            raise fault
        return explore_liveness(model, config, chosen, request, progress, run if request.engine == "spark" else None)

    expected = selected.declared.estimated_states(config)
    subject = SearchSubject(model, config, chosen, family, symmetry=request.symmetry, expected=expected)
    outcome = explore(subject, request, progress, run)
    if outcome.resumable is None and run.folder is not None:
        ending.enter_context(run.folder.closing())
    if not outcome.traces:
        return outcome, {}
    from elrcheck.traces.replay import replay_finding

    return outcome, {
        fn.ident: replay_finding(model, config, fn, outcome.traces[fn.ident])
        for fn in chosen
        if fn.ident in outcome.traces
    }


def _with_truths(findings: dict[str, Replayed]) -> dict[str, Replayed]:
    if not findings:
        return {}
    from elrcheck.traces.truth import with_truths

    return {ident: with_truths(finding) for ident, finding in findings.items()}


def _property(fn: Fn, outcome: SearchOutcome, finding: Replayed | None, stored: str | None) -> PropertyReport:
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


# ---------------------------------------------------------------------------- the run folder


def _run_dir(request: CheckRequest, chosen: Sequence[Fn], outcome: SearchOutcome, place: Path) -> Path | None:
    """Return the folder for traces, if there are any or one was requested."""
    violated = any(fn.kind != "sometimes" and fn.ident in outcome.first for fn in chosen)
    return place if request.run_dir is not None or violated or outcome.resumable else None


def store_findings(folder: Path, selected: Selected, findings: dict[str, Replayed]) -> dict[str, str]:
    """Write one trace file for each finding, and return their paths inside the folder."""
    from elrcheck.stored_traces.tracefile import write_trace
    from elrcheck.traces.behaviour import TraceOrigin

    stored = {ident: f"{ident}.trace.json" for ident in findings}
    for ident, finding in findings.items():
        behaviour = replace(finding.followed, origin=TraceOrigin.of(selected, ident))
        write_trace(folder / stored[ident], behaviour, finding.model.state_ty)
    return stored


# ---------------------------------------------------------------------------- statistics


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
