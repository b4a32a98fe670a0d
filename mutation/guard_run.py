"""`mutate --guards`: a report of the guards of any model, each left out once. `guard_survey` searches."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.runner.processors import processors
from elrcheck.declared.declared_model import declared
from elrcheck.declared.patched import patch_applied
from elrcheck.mutation.guard_survey import survey
from elrcheck.mutation.mutation_run import Searches
from elrcheck.results.mutation_report import GuardReport, MutateReport, MutateVerdict, SurveyReport


def run_guards(request: MutateRequest, progress: Progress) -> MutateReport:
    """Leave out the selected guards one by one; raise UsageFault for unknown names, or if the run folder is a file."""
    started = time.perf_counter()
    reject_file(request.run_dir)
    model = declared(request.selection.source).whole()
    surveyed, guards = survey(model, request, Searches(request, progress))
    return MutateReport(
        verdict=guard_verdict(surveyed, guards),
        seconds=round(time.perf_counter() - started, 3),
        workers=request.workers or processors(),
        hazards=(),
        survey=surveyed,
        guards=guards,
        run_dir=None,
        model=None if request.selection.model is None else str(request.selection.model),
        patch=patch_applied(request.selection.source),
    )


def reject_file(run_dir: Path | None) -> None:
    """Raise UsageFault if the folder for traces is a file."""
    if run_dir is not None and run_dir.is_file():
        raise UsageFault("run-dir-is-file", f"{run_dir} is a file, not a folder")


def guard_verdict(surveyed: SurveyReport | None, guards: Sequence[GuardReport]) -> MutateVerdict:
    """Return the verdict of a survey; a limit that was reached is never a pass."""
    verdicts = {guard.verdict for guard in guards}
    if "inconclusive" in verdicts or (surveyed is not None and not surveyed.unmutated.complete):
        return "inconclusive"
    return "nothing_run" if verdicts <= {"skipped"} else "surveyed"
