"""`elrcheck gate`: rerun the entries of a baseline with `run_check` and `run_prove`, and compare results."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from elrcheck.base.atomic import write_file
from elrcheck.base.caches import empty_cache
from elrcheck.base.errors import ElrError, NothingChecked, UsageFault, did_you_mean
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import ControllerRequest, GateRequest, MutateRequest, NewEntry, ProveRequest
from elrcheck.base.requests import CheckRequest, Limits
from elrcheck.base.run_lock import in_turn
from elrcheck.checking.baseline import (
    Baseline,
    BaselineEntry,
    SuiteEntry,
    baseline_text,
    check_name,
    read_baseline,
    recorded_runs,
)
from elrcheck.checking.check import run_check
from elrcheck.commands.gate.gate_diff import cut_off, differences, entry_verdict, found_in
from elrcheck.commands.gate.gate_suites import gated, run_gated
from elrcheck.commands.gate.named_models import NamedModels
from elrcheck.declared.declared_model import source_digest
from elrcheck.results.check_report import CheckReport
from elrcheck.results.gate_report import Difference, EntryReport, GatedSuite, GateReport, GateVerdict
from elrcheck.results.mutation_report import MutateReport
from elrcheck.results.proofs.controller_report import ControllerReport
from elrcheck.results.prove_report import ProveReport

Ran: TypeAlias = tuple[CheckReport, ProveReport | None, MutateReport | None, ControllerReport | None]
ProveController: TypeAlias = Callable[[ControllerRequest, Progress], ControllerReport]
TEETH_STATES = 1_000_000
"""State limit of each search with a guard removed: a time limit would depend on the machine."""


def run_gate(request: GateRequest, prove_controller: ProveController, progress: Progress) -> GateReport:
    """Run the selected entries and compare them with the baseline.

    prove_controller: proves the steps of Kafka's controller, for entries with `controller = true`. By default nothing
    that earlier runs stored is used, neither answers nor machine code: others may be able to write the cache that is
    restored for a gate (docs/adr/0027). Raises UsageFault without a baseline or for unknown names, NothingChecked if
    no entry is selected.
    """
    with contextlib.nullcontext() if request.kept else empty_cache():
        return _compared(request, prove_controller, progress)


def _compared(request: GateRequest, prove_controller: ProveController, progress: Progress) -> GateReport:
    started = time.perf_counter()
    if request.patch is not None and (request.update or request.add is not None):
        message = "a baseline has results of a model without --patch"
        raise UsageFault("usage-option", message, help="apply the diff to the files of the model first")
    models = NamedModels(request.baseline, request.models, request.patch)
    baseline, chosen = _chosen(request, models)
    runnable = [models.runnable(entry) for entry in chosen.entries]  # raises before anything runs
    runnable_suites = [models.runnable_suite(suite) for suite in chosen.suites]
    models.demand_patched((*(entry.selection.model for entry in runnable), *(suite.model for suite in runnable_suites)))
    written_entries = {entry.name: entry for entry in chosen.entries}
    written_suites = {suite.name: suite for suite in chosen.suites}
    update = request.update or request.add is not None
    total = len(chosen.names)
    done: list[EntryReport] = []
    suites: list[GatedSuite] = []
    entries_now: dict[str, BaselineEntry] = {}
    suites_now: dict[str, SuiteEntry] = {}
    for number, entry in enumerate(runnable, start=1):
        progress.stage(f"[{number}/{total}] {entry.name}")
        digest = source_digest(entry.selection.model)
        ran = _run(entry, request, prove_controller, progress)
        results = replace(found_in(*ran), model_digest=digest)
        done.append(_report(entry, ran, request.fail_on, update, digest))
        if entry.expected is not None and cut_off(entry.expected, ran[0]) and not done[-1].differences:
            results = replace(entry.expected, model_digest=digest)  # its counts are as good as this run's
        entries_now[entry.name] = replace(written_entries[entry.name], expected=results)
    for number, suite in enumerate(runnable_suites, start=len(runnable) + 1):
        progress.stage(f"[{number}/{total}] {suite.name}")
        result = run_gated(suite, models.patch_of(suite.model), request, progress)
        suites_now[suite.name] = replace(written_suites[suite.name], expected=recorded_runs(result))
        suites.append(gated(suite, result, request.fail_on, update))
    written = update and _write(request.baseline, baseline, entries_now, suites_now)
    return GateReport(
        verdict=_verdict(done, suites, update),
        baseline=str(request.baseline),
        fail_on=request.fail_on,
        seconds=round(time.perf_counter() - started, 3),
        entries=tuple(done),
        written=written,
        suites=tuple(suites),
        kept=KeptOrigin.oldest([*(part.check.kept for part in done), *(part.suite.kept for part in suites)]),
    )


def _chosen(request: GateRequest, models: NamedModels) -> tuple[Baseline, Baseline]:
    """Return all entries of the baseline, and those to run."""
    path, add = request.baseline, request.add
    baseline = read_baseline(path) if add is None or path.exists() else Baseline()
    if add is not None:
        name = check_name(add.name or "", f"--add {add.name}")
        if name in baseline.names:
            raise UsageFault(
                "baseline",
                f"the entry `{name}` exists already",
                where=str(path),
                help=f"use `--update-baseline --only {name}`, or another name",
            )
        if add.suite:
            model = models.only("--add")
            place = None if model is None else models.place(model)
            return baseline, Baseline(suites=(SuiteEntry(name, add.suite, model=place, place=str(path)),))
        return baseline, Baseline((_new(name, add, models),))
    if not baseline.names:
        raise NothingChecked("empty-baseline", f"{path} has no entries", help="add one: `elrcheck gate --add NAME`")
    models.demand_used(baseline.models)
    for name in request.only:
        if name not in baseline.names:
            help = did_you_mean(name, baseline.names)
            raise UsageFault("unknown-entry", f"no entry `{name}` in {path}", help=help)
    only = request.only or baseline.names
    return baseline, Baseline(
        tuple(entry for entry in baseline.entries if entry.name in only),
        tuple(suite for suite in baseline.suites if suite.name in only),
    )


def _new(name: str, add: NewEntry, models: NamedModels) -> BaselineEntry:
    model = models.only("--add")
    if model is not None and add.controller:
        raise UsageFault(
            "usage-option", "--controller is about Kafka's controller", help="leave out --controller, or --model"
        )
    if (add.proof or add.teeth) and add.liveness:
        option = "--proof" if add.proof else "--teeth"
        raise UsageFault("usage-option", f"{option} does not support liveness properties")
    return BaselineEntry(
        name=name,
        selection=models.written(replace(add.selection, model=model)),
        properties=add.properties,
        liveness=add.liveness,
        max_depth=add.max_depth,
        max_states=add.max_states,
        proof=add.proof,
        teeth=add.teeth,
        controller=add.controller,
        place=str(models.baseline),
    )


def _run(entry: BaselineEntry, request: GateRequest, prove_controller: ProveController, progress: Progress) -> Ran:
    workers = request.workers
    entry_request = replace(check_request(entry, workers), kept=True)
    try:
        check = run_check(entry_request, progress)
        return (
            check,
            _prove(entry, workers, progress),
            _mutate(entry, request, progress),
            _controller(entry, workers, prove_controller, progress),
        )
    except ElrError as fault:
        fault.where = fault.where or f"{entry.place} ({entry.name})"
        raise


def check_request(entry: BaselineEntry, workers: int | None) -> CheckRequest:
    """Return the request to `run_check` for an entry."""
    return CheckRequest(
        selection=entry.selection,
        properties=entry.properties,
        workers=workers,
        limits=Limits(max_depth=entry.max_depth, max_states=entry.max_states),
        liveness=entry.liveness,
    )


def _prove(entry: BaselineEntry, workers: int | None, progress: Progress) -> ProveReport | None:
    if not entry.proof:
        return None
    from elrcheck.proving.prove import run_prove

    timeout = None if entry.proof_timeout is None else float(entry.proof_timeout)
    return run_prove(ProveRequest(entry.selection, entry.properties, workers, timeout), progress)


def _mutate(entry: BaselineEntry, gate: GateRequest, progress: Progress) -> MutateReport | None:
    if not entry.teeth:
        return None
    from elrcheck.mutation.guard_survey import run_guards

    request = MutateRequest(
        hazards=None,
        guards=True,
        selection=entry.selection,
        properties=entry.properties,
        workers=gate.workers,
        max_states=entry.max_states or TEETH_STATES,
        kept=True,
    )
    return run_guards(request, progress)


def _controller(
    entry: BaselineEntry, workers: int | None, prove: ProveController, progress: Progress
) -> ControllerReport | None:
    if not entry.controller:
        return None
    timeout = None if entry.proof_timeout is None else float(entry.proof_timeout)
    return prove(ControllerRequest(entry.selection, workers=workers, timeout=timeout), progress)


def _report(entry: BaselineEntry, ran: Ran, fail_on: Sequence[str], update: bool, digest: str | None) -> EntryReport:
    check = ran[0]
    if entry.expected is None:
        summary = f"{check.verdict}, {check.search.distinct} distinct states"
        new = Difference("entry", entry.name, "nothing recorded", summary, "new", False, not update)
        return EntryReport(entry.name, entry.place, "same" if update else "drift", (new,), *ran)
    names = {one.id: one.name for one in check.properties}
    every = differences(entry.expected, found_in(*ran), names, fail_on)
    if cut_off(entry.expected, check):
        every = tuple(one for one in every if one.kind != "count")
    changed = None if digest is None else digest != entry.expected.model_digest
    return EntryReport(entry.name, entry.place, entry_verdict(every), every, *ran, model_changed=changed)


def _verdict(done: Sequence[EntryReport], suites: Sequence[GatedSuite], update: bool) -> GateVerdict:
    """Return the verdict of the run.

    An update accepts every difference from the baseline, but not a result that --fail-on rejects whatever the
    baseline expects, nor one that a suite does not explain: the explanation belongs in the suite.
    """
    parts: tuple[EntryReport | GatedSuite, ...] = (*done, *suites)
    if update:
        every = [one for part in parts for one in part.differences]
        absolute = any(one.fails and one.expected == one.found for one in every)
        return "drift" if absolute or any(suite.verdict == "drift" for suite in suites) else "updated"
    for verdict in ("drift", "inconclusive", "tolerated"):
        if any(part.verdict == verdict for part in parts):
            return verdict
    return "same"


def _write(
    path: Path, before: Baseline, entries: Mapping[str, BaselineEntry], suites: Mapping[str, SuiteEntry]
) -> bool:
    """Write what was run into the baseline as it is now; return whether the file changed.

    Somebody else may have changed the others meanwhile, which stay as they are. Raises UsageFault for a change of what
    was run. before: the baseline as it was read.
    """
    with in_turn(path.parent):
        now = read_baseline(path) if path.exists() else Baseline()
        for name in (*entries, *suites):
            if now.definition(name) != before.definition(name):
                message = f"`{name}` was changed in the baseline while it ran"
                raise UsageFault("baseline", message, where=str(path), help="run it again")
        entries = {entry.name: entry for entry in now.entries} | dict(entries)
        suites = {suite.name: suite for suite in now.suites} | dict(suites)
        text = baseline_text(entries.values(), suites.values())
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return False
        write_file(path, text)
        return True
