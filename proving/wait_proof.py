"""`elrcheck prove --liveness`: the waits of each property, after the lemmas."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from elrcheck.base.errors import NothingChecked
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.proof.ended_waits import Rule, WaitObligation, WaitProof, Waits, stages_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.covered import RANK, verdict_of
from elrcheck.proving.step_failure import state_report, step_report
from elrcheck.results.prove_report import CellReport, ObligationReport, ProveReport, Skipped, WaitReport
from elrcheck.results.trace_view import as_call
from elrcheck.traces.describe import arguments


def demand_stages(model: Model, chosen: Sequence[Fn]) -> None:
    """Raise NothingChecked if the model declares stages for none of these liveness properties."""
    stages = stages_of(model)
    if not any(fn.name in stages for fn in chosen):
        names = ", ".join(fn.ident for fn in chosen)
        help = "name them in `waits` of the model's `Induction`, or use `elrcheck check --liveness`"
        raise NothingChecked("no-property", f"no stages are declared of how the waits of {names} end", help=help)


def with_waits(
    prover: Prover, report: ProveReport, chosen: Sequence[Fn], progress: Progress, partial: bool = False
) -> ProveReport:
    """Return the report of the lemmas with the proof of these liveness properties.

    prover: of these lemmas. partial: after an interrupt, the report has the properties that were decided until then.
    """
    transitions, waits = prover.ts, Waits(prover)
    declared = [fn for fn in chosen if fn.name in waits.stages]
    reports = []
    try:
        for done, fn in enumerate(declared, start=1):
            progress.stage(f"{fn.ident} {fn.name}")
            reports.append(_wait_report(transitions, waits.prove(fn)))
            last = reports[-1]
            progress.tell(ObligationDone("waits", done, len(declared), fn.ident, last.verdict, last.seconds))
    except KeyboardInterrupt:
        if not partial:
            raise
    interrupted = len(reports) < len(declared)
    undeclared = (fn for fn in chosen if fn.name not in waits.stages)
    skipped = (Skipped(fn.ident, fn.name, "no stages of its wait are declared") for fn in undeclared)
    assert report.possible is not None and report.coverage is not None
    left: list[CellReport | ObligationReport] = [*report.initiation, *report.cells]
    for wait in reports:
        left += [*wait.states, *wait.cells]
    every = len(transitions.model.leads_to)
    return structs.replace(
        report,
        verdict=verdict_of(left, None if interrupted else report.possible),
        skipped=(*skipped, *report.skipped),
        coverage=structs.replace(report.coverage, properties=len(reports), all_properties=every),
        waits=tuple(reports),
        seconds=round(report.seconds + sum(wait.seconds for wait in reports), 3),
        interrupted=interrupted,
    )


def _wait_report(transitions: Transitions, proof: WaitProof) -> WaitReport:
    model, config, fn = transitions.model, transitions.config, proof.fn
    states: list[ObligationReport] = []
    cells: list[CellReport] = []
    for one in proof.open:
        if one.step is not None and one.rule != "possible":
            cell = step_report(model, config, one.step, None, one.answer)
            cells.append(structs.replace(cell, lemma=_described(transitions, fn, one)))
        else:
            states.append(state_report(model, config, _described(transitions, fn, one), None, one.answer))
    verdicts = [one.verdict for one in states] + [one.verdict for one in cells]
    return WaitReport(
        fn.ident,
        fn.name,
        max(verdicts, key=lambda verdict: RANK[verdict], default="proved"),
        proof.proved + len(proof.open),
        round(proof.seconds, 3),
        tuple(name if when is None else f"{name} unless {when}" for name, when in proof.disturbances.items()),
        fn.place,
        tuple(states),
        tuple(cells),
    )


_OPEN: dict[Rule, str] = {
    "begins": "a wait may begin outside of all stages",
    "possible": "its step may be impossible",
    "ends": "its step may not end it",
    "stays": "this step may lead back to a later one",
    "remains": "this step may lead out of all stages",
}


def _described(transitions: Transitions, fn: Fn, one: WaitObligation) -> str:
    """Return what is open in words, such as `V-1, stage may_register(b=0): its step may be impossible`."""
    if not one.during:
        return f"{fn.ident}: {_OPEN[one.rule]}"
    stage = transitions.model.fns[one.during]
    values = arguments(stage, tuple(one.arguments[name] for name, _ in stage.params))
    return f"{fn.ident}, stage {as_call(one.during, values)}: {_OPEN[one.rule]}"
