"""`elrcheck show E-1`: find a scenario, replay it, and store its runs as traces on request."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from elrcheck.base.requests import DEFAULT_SCOPE, Selection
from elrcheck.base.run_lock import in_another_folder
from elrcheck.base.typed.configuration import config_values
from elrcheck.catalogue.scenario_file import read_scenario, scenario_files
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.scenarios.scenario import ReplayedRun, first_hits, replay
from elrcheck.lang.load import Model
from elrcheck.results.scenario_report import RunReport, ScenarioReport
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.traces.behaviour import Behaviour, TraceOrigin


def run_scenario(file: str, run_dir: Path | None = None) -> ScenarioReport:
    """Replay the scenario in a TOML file, or a packaged one by its file name.

    run_dir: where to store a trace of each run that starts in the initial state, and of each violation.
    """
    packaged = {f.name: f for f in scenario_files()}
    scenario = read_scenario(packaged.get(file, Path(file)))
    model = load_checked_model()
    report, played = replay(scenario, model)
    if run_dir is None:
        return report
    stored = () if scenario.start else played
    runs = []
    for run in report.runs:
        traces = _store(run_dir, model, report.id, run, played[run.label]) if run.label in stored else run.traces
        runs.append(structs.replace(run, traces=traces))
    return structs.replace(report, runs=tuple(runs), run_dir=str(run_dir))


def _store(folder: Path, model: Model, ident: str, run: RunReport, replayed: ReplayedRun) -> tuple[str, ...]:
    """Store the whole run as one trace, and for each violated property the run up to the violation."""
    usual = config_values(resolve(Selection(run.variant, DEFAULT_SCOPE)).config)
    overrides = {key: value for key, value in config_values(replayed.config).items() if value != usual[key]}
    origin = TraceOrigin(run.variant, DEFAULT_SCOPE, overrides)
    whole = Behaviour(origin, tuple(replayed.states), tuple(replayed.labels))
    stem = re.sub(r"[^\w.-]+", "-", f"{ident}-{run.label}")
    hits = first_hits(model, replayed)
    parts = {f"{stem}.trace.json": ("", len(whole.labels))}
    parts |= {f"{stem}-{one.id}.trace.json": (one.id, hits[one.id]) for one in run.broken}
    for name, (prop, end) in parts.items():
        part = replace(whole.prefix(end), origin=replace(origin, property=prop))
        with in_another_folder():
            write_trace(folder / name, part, model.state_ty)
    return tuple(parts)
