"""`mutate --rules`: changes the rules one at a time, and reports which check detects each change."""

from __future__ import annotations

import time

from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.runner.processors import processors
from elrcheck.checking.runs.folders import reject_file
from elrcheck.declared.select import select_properties
from elrcheck.invariants.modules import load_whole_model
from elrcheck.laboratory.rule_survey import run_rules
from elrcheck.results.mutation_report import MutateReport, MutateVerdict


def run_changed_rules(request: MutateRequest, progress: Progress) -> MutateReport:
    """Change the rules and return the report; a change that no check detects is a hole, unless it is explained."""
    started = time.perf_counter()
    model = load_whole_model()
    reject_file(request.run_dir)
    if request.properties:
        select_properties(model, request.properties)
    ran = run_rules(model, request, progress)
    verdicts = {mutant.verdict for mutant in ran.mutants}
    verdict: MutateVerdict = "found"
    if not ran.mutants:
        verdict = "nothing_run"
    elif verdicts & {"unaffected", "contradicted"} or any(mutant.hole for mutant in ran.mutants):
        verdict = "not_found"
    elif "inconclusive" in verdicts:
        verdict = "inconclusive"
    return MutateReport(
        verdict=verdict,
        seconds=round(time.perf_counter() - started, 3),
        workers=request.workers or processors(),
        run_dir=str(ran.run_dir),
        rule_survey=ran.survey,
        rules=ran.mutants,
    )
