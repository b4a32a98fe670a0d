"""`elrcheck check`: explore a scope, replay the findings, and report.

An engine only reports where it hits a property; every trace is replayed in plain Python before it is reported
(`replay`). A rule that no reachable state uses might as well be absent; if a setting of `--set` only enables such a
rule, HOLDS says no more than without it. So a short search is repeated with each setting at its default, and counts,
levels, and the depth of each property are compared.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckRequest
from elrcheck.base.run_lock import alone_in, in_another_folder
from elrcheck.base.typed.configuration import setting_of, setting_text
from elrcheck.checking.engines import PlannedRun, SearchSubject, demand_renamings, explore
from elrcheck.checking.outcome_report import report_of
from elrcheck.checking.runs.folders import REPORT, free_place, reject_file
from elrcheck.declared.select import Selected, resolve, select_properties
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.results.check_report import CheckReport
from elrcheck.results.trace_view import MOST_STATES

if TYPE_CHECKING:
    from elrcheck.checking.runs.checkpoint import Saved
    from elrcheck.explorer.search.family import KernelFamily
    from elrcheck.traces.replay import Replayed


def run_check(request: CheckRequest, progress: Progress, ending: contextlib.ExitStack | None = None) -> CheckReport:
    """Search and report, also into the run folder if there is one; raise UsageFault for unknown names.

    ending: receives the removal of a completed search's checkpoint, to be done once the user has the report, so that
    a process that is killed earlier can be resumed. By default it is done before the report is returned.
    """
    if ending is None:
        with contextlib.ExitStack() as own:
            return run_check(request, progress, own)
    reject_file(request.run_dir)
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
    if saved is None:
        place = free_place(request, selected, ending)
    report = check_selected(request, selected, progress, place, saved, ending=ending, attribute=True)
    report = structs.replace(report, extent=selected.declared.extent(selected.variant, selected.config))
    settings = [name for name in selected.overrides if name not in selected.before.bounds]
    if settings and saved is None and not request.fingerprint and request.engine != "spark":
        report = with_no_effect(report, settings, request, selected, progress)
    if report.run_dir is not None:
        from elrcheck.report.json_report import to_json

        with in_another_folder():
            write_file(Path(report.run_dir) / REPORT, to_json(report))
    return report


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
    """Check a configuration that is already resolved; traces go into the folder `place`. Otherwise like `run_check`.

    family: a family of the whole model that contains the configuration, so that nothing is read or compiled.
    attribute: name the known findings that a counterexample is an instance of.
    """
    if ending is None:
        with contextlib.ExitStack() as own:
            return check_selected(request, selected, progress, place, saved, family, own, attribute)
    model = selected.declared.whole() if family is None else family.model
    chosen = select_properties(model, request.properties, request.liveness)
    run = PlannedRun(place, selected, chosen, request, saved)
    outcome, findings = _explore(run, model, progress, family, ending)
    folder = _run_dir(run, outcome)
    stored = store_findings(folder, selected, findings) if folder is not None else {}
    rendered = {fn.ident for fn in chosen if fn.kind != "sometimes"}
    if rendered & findings.keys():
        from elrcheck.traces.truth import with_truths

        findings |= {ident: with_truths(each) for ident, each in findings.items() if ident in rendered}
    instances = {
        fn.ident: selected.declared.instance_of(model, selected.config, fn, findings[fn.ident].labels)
        for fn in chosen
        if attribute and fn.kind == "always" and fn.ident in outcome.first
    }
    drawn = None
    if request.drawn and not request.symmetry and outcome.complete and outcome.distinct <= MOST_STATES:
        from elrcheck.explorer.graph.networkx_graph import small_graph

        traces = {ident: finding.states for ident, finding in findings.items() if ident in rendered}
        drawn = small_graph(model, selected.config, chosen, traces, None)
    report = report_of(run, model, outcome, findings, stored, instances)
    return structs.replace(report, run_dir=None if folder is None else str(folder), small_graph=drawn)


# ---------------------------------------------------------------------------- findings


def _explore(
    run: PlannedRun, model: Model, progress: Progress, family: KernelFamily | None, ending: contextlib.ExitStack
) -> tuple[SearchOutcome, dict[str, Replayed]]:
    """Search, and replay the trace of every finding."""
    request, selected, chosen, config = run.request, run.selected, run.chosen, run.selected.config
    if request.symmetry:
        demand_renamings(model, config)
    if any(fn.kind == "leads_to" for fn in chosen):
        from elrcheck.checking.check_liveness import explore_liveness

        if request.fingerprint or run.saved is not None:
            raise UsageFault(
                "liveness-option", "--liveness keeps all states in memory: leave out --fingerprint and --resume"
            )
        if request.symmetry:
            message = "--symmetry cannot decide liveness: a cycle up to renaming need not be a behaviour"
            raise UsageFault("liveness-option", message, help="leave out --symmetry, or the liveness properties")
        if selected.before.no_liveness is not None:
            raise selected.before.no_liveness
        return explore_liveness(model, config, chosen, request, progress, run if request.engine == "spark" else None)

    subject = SearchSubject(model, config, chosen, family, symmetry=request.symmetry, expected=selected.before.states)
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


# ---------------------------------------------------------------------------- the run folder


def _run_dir(run: PlannedRun, outcome: SearchOutcome) -> Path | None:
    """Return the folder for traces, if there are any or one was requested."""
    violated = any(fn.kind != "sometimes" and fn.ident in outcome.first for fn in run.chosen)
    return run.place if run.request.run_dir is not None or violated or outcome.resumable else None


def store_findings(folder: Path, selected: Selected, findings: dict[str, Replayed]) -> dict[str, str]:
    """Write one trace file for each finding, and return their paths inside the folder; raise EnvironmentFault."""
    from elrcheck.stored_traces.tracefile import write_trace
    from elrcheck.traces.behaviour import TraceOrigin

    stored = {ident: f"{ident}.trace.json" for ident in findings}
    for ident, finding in findings.items():
        behaviour = replace(finding.followed, origin=TraceOrigin.of(selected, ident))
        with in_another_folder():
            write_trace(folder / stored[ident], behaviour, finding.model.state_ty)
    return stored


SHORT = 1.0
"""Longest search, in seconds, that is repeated."""


def with_no_effect(
    report: CheckReport, settings: Sequence[str], request: CheckRequest, selected: Selected, progress: Progress
) -> CheckReport:
    """Return the report with the settings that make no difference, and what the others change.

    Only a short, complete search without violations is repeated: there, an unused setting would pass for a safe one.
    """
    searched = report.search
    lasting = any(each.kind == "leads_to" for each in report.properties)
    if report.extent is None or lasting or report.verdict != "holds" or searched.seconds > SHORT:
        return report
    idle, effect = list[str](), list[str]()
    for name in settings:
        difference = _without(name, report, request, selected, progress)
        pair = f"{name}={setting_text(report.config[name])}"
        if difference == "":
            idle.append(pair)
        elif difference is not None:
            effect.append(f"{pair}: without it {difference}")
    extent = structs.replace(report.extent, no_effect=tuple(idle), effect=tuple(effect))
    return structs.replace(report, extent=extent)


def _without(
    name: str, report: CheckReport, request: CheckRequest, selected: Selected, progress: Progress
) -> str | None:
    """Return what differs in the search without a setting: empty if nothing does, None if there is no such search."""
    overrides = tuple(each for each in request.selection.overrides if setting_of(each) != name)
    try:
        without = resolve(replace(request.selection, overrides=overrides))
    except UsageFault:  # another setting makes sense only together with this one
        return None
    if without.config == selected.config:
        return ""
    model = selected.declared.whole()
    chosen = select_properties(model, request.properties)
    progress.stage(f"searching again without {name}")
    plain = replace(request, run_dir=None, resume=None, drawn=False, fail_on=())
    outcome = explore(SearchSubject(model, without.config, chosen), plain, progress)
    depths = {each.id: each.depth for each in report.properties if each.depth is not None}
    before = (report.search.generated, report.search.levels, depths)
    if (outcome.generated, outcome.levels, outcome.first) == before:
        return ""
    broken = [f"{fn.ident} violated at {outcome.first[fn.ident]}" for fn in chosen if _broken(fn, outcome.first)]
    states = f"{outcome.distinct:,} distinct states"
    return ", ".join(broken) or (states if outcome.complete else f"more than {states}")


def _broken(fn: Fn, first: Mapping[str, int]) -> bool:
    return fn.kind == "always" and fn.ident in first
