"""Runs `elrcheck mutate --rules`: changes the rules one expression at a time, and checks which change is detected.

The configurations are those of the suite that are small enough, the largest first, because more happens in them. Of
those that combine an operation with faults, only one of each combination is taken. Every answer is written to the
run's journal as it arrives, so that the same command resumes an interrupted run.

A change that no check detects is a hole, unless `catalogue/equivalents.toml` says why it alters no behaviour:

    [[equivalent]]
    because = "the ISR is never empty there"
    mutants = ["fenced_partition: len(p.isr) <= 1 -> len(p.isr) < 1"]

`mutants` are names that `elrcheck mutate --rules` prints. A name that no change of the model has is an error;
`mutate --rules` reports an entry as contradicted if a check detects its change.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import NothingChecked, UsageFault, did_you_mean
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.progress import Progress
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.requests import SuiteRequest
from elrcheck.base.runner.processors import processors
from elrcheck.checking.runs.folders import reject_file
from elrcheck.checking.suite.suite import run_suite, selected_cases
from elrcheck.declared.select import select_properties
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.rule_proof import partition_mutants
from elrcheck.laboratory.rule_bench import MutantTask, judge
from elrcheck.lang.load import Model
from elrcheck.mutation.rule_answer import MutantAnswer, answered, folder_of
from elrcheck.results.mutation_report import MutateReport, MutateVerdict, RuleMutant, RuleSurvey
from elrcheck.results.suite_report import SuiteReport

CODE = "equivalents-file"


def packaged_equivalents() -> Traversable:
    return files("elrcheck.catalogue") / "equivalents.toml"


def read_equivalents(file: Path | Traversable, changes: Collection[str]) -> Mapping[str, str]:
    """Return mutant -> reason. Raise UsageFault for a duplicate entry, or for a name that is not in `changes`."""
    top = read_toml(file, toml_codes(CODE)).object((), ("equivalent",))
    reasons: dict[str, str] = {}
    for node in top.get("equivalent", []).items():
        node.object(("mutants", "because"))
        because = node["because"].text()
        for part in node["mutants"].items():
            name = part.text()
            if name in reasons:
                part.fail(f"`{name}` is explained twice")
            if name not in changes:
                part.fail(f"no change of the model is called `{name}`", did_you_mean(name, changes))
            reasons[name] = because
    return reasons


LARGEST, WIDER = 10_000, 7
"""Distinct states of the largest configuration in which every change is tried, and the factor by which those may be
larger that try a change which shows in none of these."""


@dataclass(frozen=True)
class RuleRun:
    """The changes that were made, and the verdict on each."""

    survey: RuleSurvey
    mutants: tuple[RuleMutant, ...]
    run_dir: Path


def run_rules(model: Model, request: MutateRequest, progress: Progress) -> RuleRun:
    """Change the rules; after an interrupt the report has the answers so far.

    Raises UsageFault for an unknown function, a stale explanation, or the folder of another run.
    """
    mutants = partition_mutants(model)
    functions = mutants.choose(request.functions)  # before the changes, which take seconds to list
    every = mutants.names()
    reasons = read_equivalents(packaged_equivalents(), {name for _, name in every})
    chosen = mutants.sample(functions, request.sample, request.seed)
    names, wider, walks = _configurations(request, progress)
    compared = (*names, *wider, *walks)
    seconds = request.timeout or 60.0
    tasks = [
        MutantTask(function, name, names, wider, walks, seconds, request.controller, request.answers, request.proof)
        for function, name in chosen
    ]
    identity = _identity(compared, request)
    place = request.run_dir or folder_of(identity)
    ran = answered(tasks, judge, place, identity, request.workers, progress)
    answers = ran.answers
    reports = tuple(_mutant(answer, reasons) for answer in answers if answer.typed)
    survey = RuleSurvey(
        possible=len(every),
        chosen=len(tasks),
        ill_typed=sum(not answer.typed for answer in answers),
        configurations=compared,
        controller=request.controller,
        resumed=ran.resumed,
        interrupted=len(answers) < len(tasks),
    )
    return RuleRun(survey, reports, place)


def _configurations(
    request: MutateRequest, progress: Progress
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the names of the configurations, the largest first, of wider ones, the smallest first, and of walked ones.

    Raises UsageFault unless the unchanged model passes the suite.
    """
    progress.stage("the suite without a change")
    suite = SuiteRequest(only=request.configurations, workers=request.workers, fresh=request.fresh)
    report: SuiteReport = run_suite(suite, progress)
    if report.interrupted:
        return (), (), ()
    odd = [run.name for run in report.runs if not run.as_expected and run.verdict != "inconclusive"]
    if odd:
        raise UsageFault(
            "suite-unexpected",
            f"the unchanged model does not pass the suite: {', '.join(odd[:3])}",
            help="see `elrcheck suite`",
        )
    size = {run.name: run.distinct for run in report.runs if run.verdict in ("holds", "violated")}
    largest = request.max_states or LARGEST
    names = [case.name for case in selected_cases(suite) if case.name in size]
    cases = [name for name in names if size[name] <= largest]
    walks = tuple(run.name for run in report.runs if run.verdict == "walked")
    if not cases:
        raise NothingChecked("no-configuration", f"no configuration has at most {largest:,} states")
    wider = [name for name in names if largest < size[name] <= WIDER * largest]
    if not request.configurations:
        cases, wider = _representative(cases, size), _representative(wider, size)
    wider = sorted(wider, key=size.__getitem__)
    return tuple(sorted(cases, key=lambda name: -size[name])), tuple(wider), walks


def _representative(cases: Sequence[str], size: Mapping[str, int]) -> list[str]:
    """Return all single configurations, and one of each combination: the one whose fault was used least so far."""
    combined: dict[str, list[str]] = {}
    for name in sorted(cases, key=lambda name: -size[name]):
        combined.setdefault(name.rpartition("/")[0] if name.count("/") > 1 else name, []).append(name)
    used: Counter[str] = Counter()
    chosen: list[str] = []
    for names in sorted(combined.values(), key=len):
        best = min(names, key=lambda name: used[name.rpartition("/")[2]])
        used[best.rpartition("/")[2]] += 1
        chosen.append(best)
    return chosen


def _mutant(answer: MutantAnswer, reasons: Mapping[str, str]) -> RuleMutant:
    because = reasons.get(answer.name)
    if because is None:
        return answer.report()
    caught = answer.verdict in ("found", "counted", "undefined")
    return answer.report(verdict="contradicted" if caught else "equivalent", reason=because)


def _identity(names: Sequence[str], request: MutateRequest) -> str:
    """Return what a run's answers depend on, as the first line of its journal."""
    identity = {
        "model": digests.rules(),
        "configurations": list(names),
        "controller": request.controller,
        "answers": request.answers,
        **({"proof": True} if request.proof else {}),
    }
    return json.dumps(identity, sort_keys=True)


# ---------------------------------------------------------------------------- the report


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
