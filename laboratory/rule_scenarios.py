"""Judges a change of a rule by the scenarios: step sequences from KIPs and issues, with the states they lead to.

A scenario can be longer than a search is deep, because it takes a single path. It is replayed in plain Python with
the changed function in place.
"""

from __future__ import annotations

from elrcheck.base.errors import UsageFault
from elrcheck.catalogue.scenario_file import Scenario, packaged_scenarios
from elrcheck.kafka.scenarios.scenario import replay
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.mutation.rule_answer import ChangeVerdict
from elrcheck.mutation.rule_mutants import ChangedModel
from elrcheck.results.scenario_report import ScenarioReport


class ScenarioBench:
    """The packaged scenarios whose results are as expected without a change."""

    def __init__(self, model: Model) -> None:
        read = packaged_scenarios()
        self.scenarios = [one for one in read if replay(one, model)[0].verdict != "unexpected"]

    def judge(self, changed: ChangedModel) -> ChangeVerdict | None:
        """Return the first scenario that is no longer as expected, and why; None if all still are."""
        with planted(changed.original, changed.plain):
            for scenario in self.scenarios:
                reason = _unexpected(scenario, changed.model)
                if reason is not None:
                    return ChangeVerdict("found", scenario.id, None, reason, f"scenario {scenario.id}")
        return None


def _unexpected(scenario: Scenario, model: Model) -> str | None:
    try:
        report = replay(scenario, model)[0]
    except UsageFault as fault:  # a step of the scenario does not exist in the changed model
        return str(fault)
    return None if report.verdict != "unexpected" else _what(report)


def _what(report: ScenarioReport) -> str:
    run = next(run for run in report.runs if run.verdict == "unexpected")
    odd = next(iter(run.mismatches), None)
    if odd is None:
        return f"{run.label}: {run.actual}, not {run.expected}"
    where = "" if odd.step is None else f", step {odd.step}"
    return f"{run.label}{where}: {odd.what} is {odd.actual}, not {odd.expected}"
