"""`elrcheck tlc`: TLC's own opinion on a stored trace, or its state counts beside ours."""

from __future__ import annotations

import tempfile
from pathlib import Path

from elrcheck.errors import UsageFault
from elrcheck.explorer.outcome import explore
from elrcheck.explorer.select import load_checked_model, resolve
from elrcheck.report.model import Counts, TlcReport, TlcVerdict
from elrcheck.report.progress import Progress
from elrcheck.report.request import CheckRequest, TlcRequest
from elrcheck.tla_export import tlc
from elrcheck.tla_export.export import load_trace, module_name, write_spec, write_trace_module

VERDICTS: dict[str, TlcVerdict] = {
    "confirmed": "confirmed",
    "rejected": "rejected",
    "no-violation": "no_violation",
    "error": "failed",
}


def run_tlc(request: TlcRequest, progress: Progress) -> TlcReport:
    """Confirm a trace, or compare counts; EnvironmentFault without Java or a jar."""
    tools = tlc.find_tools(request.jar)
    if request.count:
        return _count(request, tools, progress)
    if request.run is None:
        raise UsageFault("usage-missing", "give a run folder or a stored trace")
    return _confirm(request.run, request, tools, progress)


def _confirm(path: Path, request: TlcRequest, tools: tlc.TlcTools, progress: Progress) -> TlcReport:
    loaded = load_trace(path)
    progress.stage(f"TLC checks the trace of {loaded.trace.property}")
    with tempfile.TemporaryDirectory(prefix="elrcheck-tlc-") as folder:
        witness = write_trace_module(loaded, Path(folder))
        options = tlc.TlcOptions(timeout=request.timeout or 600.0)
        judged = tlc.check_witness(tools, witness, options)
        run = judged.run
        return TlcReport(
            verdict=VERDICTS[judged.verdict],
            module=witness.module,
            jar=str(tools.jar),
            version=run.version,
            command=("java", "-cp", str(tools.jar), "tlc2.TLC", f"{witness.module}.tla"),
            tlc_exit_code=run.exit_code,
            seconds=round(run.seconds, 3),
            output_tail=(judged.detail, *run.output_tail.splitlines()),
        )


def _count(request: TlcRequest, tools: tlc.TlcTools, progress: Progress) -> TlcReport:
    selected = resolve(request.selection)
    model = load_checked_model()
    chosen = (*model.always, *model.sometimes)
    ours = explore(model, selected.config, chosen, CheckRequest(request.selection), progress)
    progress.stage("TLC counts the states of the exported module")
    name = module_name(selected.variant, selected.scope)
    with tempfile.TemporaryDirectory(prefix="elrcheck-tlc-") as folder:
        spec = write_spec(model, selected.config, Path(folder), name)
        cfg = Path(folder) / f"{name}Count.cfg"
        cfg.write_text(spec.count_cfg, encoding="utf-8")
        options = tlc.TlcOptions(workers=2, heap="4g", timeout=request.timeout, deadlock=False)
        run = tlc.run_tlc(tools, Path(folder) / f"{name}.tla", cfg, options)
    mine = Counts(ours.generated, ours.distinct, len(ours.levels))
    theirs = None
    if run.generated is not None and run.distinct is not None:
        theirs = Counts(run.generated, run.distinct, run.depth)
    verdict: TlcVerdict = "failed" if theirs is None else "same" if theirs == mine else "different"
    return TlcReport(
        verdict=verdict,
        module=name,
        jar=str(tools.jar),
        version=run.version,
        command=("java", "-cp", str(tools.jar), "tlc2.TLC", "-deadlock", f"{name}.tla"),
        tlc_exit_code=run.exit_code,
        seconds=round(run.seconds, 3),
        ours=mine,
        theirs=theirs,
        output_tail=tuple(run.output_tail.splitlines()),
    )
