"""`elrcheck tlc`: have TLC confirm stored traces, or compare its state counts with ours."""

from __future__ import annotations

import tempfile
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import TlcRequest
from elrcheck.base.requests import CheckRequest
from elrcheck.checking.engines import SearchSubject, demand_renamings, explore
from elrcheck.checking.trace_notation import write_trace_module
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.outcome import SearchOutcome
from elrcheck.lang.plain import Label
from elrcheck.results.tlc_report import Counts, TlcReport, TlcVerdict, TraceJudged
from elrcheck.stored_traces.tracefile import load_trace
from elrcheck.tla_export import tlc_process as tlc
from elrcheck.tla_export.spec import module_name, write_spec
from elrcheck.traces.loaded import Loaded, stored_traces

TIMEOUT = 600.0
VERDICTS: dict[str, TlcVerdict] = {
    "confirmed": "confirmed",
    "rejected": "rejected",
    "no-violation": "no_violation",
    "error": "failed",
}


def run_tlc(request: TlcRequest, progress: Progress) -> TlcReport:
    """Return TLC's verdict on traces, or the comparison of counts.

    Raises EnvironmentFault without Java or tla2tools.jar.
    """
    if request.count:
        return _count(request, tlc.find_tools(request.jar), progress)
    if request.symmetry:
        raise UsageFault("usage-option", "--symmetry goes with --count", help="leave it out to confirm traces")
    if request.run is None:
        raise UsageFault("usage-missing", "give a run folder or a stored trace")
    paths = stored_traces(request.run)
    return _confirm_all(paths, request, tlc.find_tools(request.jar), progress)


# ---------------------------------------------------------------------------- traces


def _confirm_all(paths: list[Path], request: TlcRequest, tools: tlc.TlcTools, progress: Progress) -> TlcReport:
    """Check the witnesses in turn, up to the first that TLC does not confirm, and report the last one."""
    seconds, judgements = 0.0, []
    for number, path in enumerate(paths, start=1):
        loaded = load_trace(path, request.selection)
        name = loaded.behaviour.origin.property
        progress.stage(f"[{number}/{len(paths)}] TLC checks the trace of {name}")
        witness, judged = _judge(loaded, request, tools)
        seconds += judged.run.seconds
        verdict = VERDICTS[judged.verdict]
        judgements.append(TraceJudged(path.name, name or "", witness, verdict, judged.detail, judged.run.exit_code))
        if verdict != "confirmed":
            break
    return TlcReport(
        verdict=verdict,
        module=witness,
        jar=str(tools.jar),
        version=judged.run.output.version,
        command=_command(tools, f"{witness}.tla"),
        tlc_exit_code=judged.run.exit_code,
        seconds=round(seconds, 3),
        output_tail=tuple(judged.run.output_tail.splitlines()),
        traces=tuple(judgements),
        stored=len(paths),
    )


def _judge(loaded: Loaded[Label], request: TlcRequest, tools: tlc.TlcTools) -> tuple[str, tlc.WitnessVerdict]:
    """Return (name of the witness module, TLC's verdict on it)."""
    with tempfile.TemporaryDirectory(prefix="elrcheck-tlc-") as folder:
        witness = write_trace_module(loaded, Path(folder))
        options = tlc.TlcOptions(timeout=request.timeout or TIMEOUT)
        return witness.module, tlc.check_witness(tools, witness, options)


# ---------------------------------------------------------------------------- counts


def _count(request: TlcRequest, tools: tlc.TlcTools, progress: Progress) -> TlcReport:
    selected = resolve(request.selection)
    model = selected.declared.checked()
    if request.symmetry:
        demand_renamings(model, selected.config)
    subject = SearchSubject(model, selected.config, model.checks, symmetry=request.symmetry)
    ours = explore(subject, CheckRequest(request.selection), progress)
    progress.stage("TLC counts the states of the exported module")
    name = module_name(selected.variant, selected.scope)
    with tempfile.TemporaryDirectory(prefix="elrcheck-tlc-") as folder:
        spec = write_spec(model, selected.config, Path(folder), name, symmetry=request.symmetry)
        cfg = Path(folder) / f"{name}Count.cfg"
        cfg.write_text(spec.count_cfg, encoding="utf-8")
        # One worker: several do not search strictly by level, so their depth varies.
        options = tlc.TlcOptions(heap="4g", timeout=request.timeout, deadlock=False)
        run = tlc.run_tlc(tools, Path(folder) / f"{name}.tla", cfg, options)
    mine = Counts(ours.generated, ours.distinct, len(ours.levels))
    theirs = None
    if run.output.generated is not None and run.output.distinct is not None:
        theirs = Counts(run.output.generated, run.output.distinct, run.output.depth)
    return TlcReport(
        verdict=_compared(ours, run, mine, theirs),
        module=name,
        jar=str(tools.jar),
        version=run.output.version,
        command=_command(tools, "-deadlock", f"{name}.tla"),
        tlc_exit_code=run.exit_code,
        seconds=round(run.seconds, 3),
        ours=mine,
        theirs=theirs,
        output_tail=((ours.reason or "",) if not ours.complete else ()) + tuple(run.output_tail.splitlines()),
    )


def _compared(ours: SearchOutcome, run: tlc.TlcRun, mine: Counts, theirs: Counts | None) -> TlcVerdict:
    """Return the verdict on the counts, which are comparable only if both searches are complete."""
    if run.exit_code != 0 or not ours.complete:
        return "failed"
    return "same" if theirs == mine else "different"


def _command(tools: tlc.TlcTools, *arguments: str) -> tuple[str, ...]:
    return ("java", "-cp", str(tools.jar), tlc.MAIN_CLASS, *arguments)
