"""`elrcheck prove --liveness`: after the lemmas, the predicates that only waits need, then the waits themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from elrcheck.base.errors import NothingChecked
from elrcheck.base.progress import ObligationDone, Progress
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.proof.consecution import obligations
from elrcheck.proof.ended_waits import Rule, WaitObligation, WaitProof, Waits, stages_of
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.step_failure import state_report, step_report
from elrcheck.proving.verdicts import RANK, phase, verdict_of
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
    transitions: Transitions, timeout: float, report: ProveReport, chosen: Sequence[Fn], progress: Progress
) -> ProveReport:
    """Return the report of the lemmas with the proof of these liveness properties."""
    model, config = transitions.model, transitions.config
    more = tuple(model.fns[fn.__name__] for fn in model.induction.wait_lemmas)
    prover = Prover(transitions, (*lemmas_of(model), *more), timeout)
    waits = Waits(prover)
    declared = [fn for fn in chosen if fn.name in waits.stages]
    progress.stage("what waits need")
    initiation = [*report.initiation, *(state_report(model, config, fn.name, fn, prover.initiation(fn)) for fn in more)]
    cells = [*report.cells, *_preserved(prover, more)]
    reports = []
    for done, fn in enumerate(declared, start=1):
        progress.stage(f"{fn.ident} {fn.name}")
        reports.append(_wait_report(transitions, waits.prove(fn)))
        last = reports[-1]
        progress.tell(ObligationDone("waits", done, len(declared), fn.ident, last.verdict, last.seconds))
    undeclared = (fn for fn in chosen if fn.name not in waits.stages)
    skipped = (Skipped(fn.ident, fn.name, "no stages of its wait are declared") for fn in undeclared)
    assert report.possible is not None and report.coverage is not None
    left: list[CellReport | ObligationReport] = [*initiation, *cells]
    for wait in reports:
        left += [*wait.states, *wait.cells]
    coverage = structs.replace(
        report.coverage,
        properties=len(declared),
        all_properties=len(model.leads_to),
        assumed=tuple(fn.doc for fn in transitions.assumptions if fn.name in transitions.assumed),
    )
    return structs.replace(
        report,
        verdict=verdict_of(left, report.possible),
        phases=(phase("initiation", initiation), phase("consecution", cells)),
        initiation=tuple(initiation),
        cells=tuple(cells),
        skipped=(*skipped, *report.skipped),
        coverage=coverage,
        waits=tuple(reports),
        seconds=round(report.seconds + sum(wait.seconds for wait in reports), 3),
    )


def _preserved(prover: Prover, predicates: Sequence[Fn]) -> Iterator[CellReport]:
    """Yield an open cell of each step that does not preserve a predicate, or one that all steps preserve it."""
    model, config = prover.ts.model, prover.ts.config
    for instance in prover.ts.instances:
        for name, answer in obligations(prover, instance, [fn.name for fn in predicates]):
            if answer is not None:
                yield step_report(model, config, instance, prover.goals[name], answer)


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
