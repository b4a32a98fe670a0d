"""`elrcheck mutate`: break a rule on purpose and see which property catches it.

Guards, and the rules of a model that the user names, are searched by `mutation/`. `--rules` of Kafka's partition is an
experiment of its own.
"""

from __future__ import annotations

from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.kafka.mutation.hazard_run import run_hazards
from elrcheck.mutation.rule_run import run_model_rules
from elrcheck.results.mutation_report import MutateReport


def run_mutate(request: MutateRequest, progress: Progress) -> MutateReport:
    """Run the selected hazards and guards, or change the rules; raise UsageFault for unknown names."""
    if not request.rules:
        return run_hazards(request, progress)
    if request.selection.source is not None:
        return run_model_rules(request, progress)
    from elrcheck.laboratory.changed_rules import run_changed_rules

    return run_changed_rules(request, progress)
