"""`elrcheck mutate --rules`: change the protocol's rules one expression at a time, and see what catches it.

The configurations are those of the suite that are small enough, the largest first: more happens in them. Of
those that combine operations with faults one stands for each combination.
Every answer is written to the ledger of the run as it arrives, so the same command resumes a run that was
interrupted.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elrcheck.base.atomic import append_line, write_file
from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.progress import PointsDone, Progress
from elrcheck.base.proof_requests import MutateRequest
from elrcheck.base.requests import SuiteRequest
from elrcheck.base.roundtrip import from_text, to_text
from elrcheck.base.run_lock import alone_in
from elrcheck.base.worker_pool import each, useful_workers
from elrcheck.catalogue.equivalent_file import packaged_equivalents, read_equivalents
from elrcheck.checking.runs.folders import RUNS
from elrcheck.checking.suite.suite import run_suite, selected_cases
from elrcheck.laboratory.rule_bench import MutantAnswer, MutantTask, judge
from elrcheck.lang.load import Model
from elrcheck.mutation.rule_mutants import RuleMutants
from elrcheck.results.mutation_report import RuleMutant, RuleSurvey
from elrcheck.results.suite_report import SuiteReport

LEDGER = "mutants.jsonl"
LARGEST, WIDER = 10_000, 7
"""Distinct states of the largest configuration in which changes are tried; how many times that a change that
shows in none of those is tried in."""


@dataclass(frozen=True)
class RuleRun:
    """What was changed, and what became of it."""

    survey: RuleSurvey
    mutants: tuple[RuleMutant, ...]
    run_dir: Path


def run_rules(model: Model, request: MutateRequest, progress: Progress) -> RuleRun:
    """Change the rules; after an interrupt the report has the answers so far.

    Raises UsageFault for unknown functions, a stale explanation or another run's folder.
    """
    mutants = RuleMutants(model)
    functions = mutants.choose(request.functions)  # before the changes, which take seconds to list
    every = mutants.names()
    reasons = read_equivalents(packaged_equivalents(), {name for _, name in every})
    chosen = list(mutants.names(functions) if functions else every)
    if request.sample is not None and request.sample < len(chosen):
        chosen = sorted(random.Random(request.seed).sample(chosen, request.sample))
    names, wider, walks = _configurations(request, progress)
    compared = (*names, *wider, *walks)
    seconds = request.timeout or 60.0
    tasks = [
        MutantTask(function, name, names, wider, walks, seconds, request.controller, request.answers, request.proof)
        for function, name in chosen
    ]
    place = request.run_dir or RUNS / f"rules-{_digest(compared, request)}"
    place.mkdir(parents=True, exist_ok=True)
    stop = Interrupts()
    with alone_in(place, True):
        ledger = _Ledger(place, compared, request)
        left = [task for task in tasks if task.name not in ledger.done]
        resumed = len(tasks) - len(left)
        with stop:
            for answer in _judged(left, request.workers, stop):
                ledger.add(answer)
                _tell(progress, ledger.done, tasks, answer)
    answers = [ledger.done[task.name] for task in tasks if task.name in ledger.done]
    found = tuple(_mutant(answer, reasons) for answer in answers if answer.typed)
    survey = RuleSurvey(
        possible=len(every),
        chosen=len(tasks),
        ill_typed=sum(not answer.typed for answer in answers),
        configurations=compared,
        controller=request.controller,
        resumed=resumed,
        interrupted=len(answers) < len(tasks),
    )
    return RuleRun(survey, found, place)


def _configurations(
    request: MutateRequest, progress: Progress
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The names of the configurations, of wider ones and of walked ones; all as expected without a change.

    The largest of the first come first; the smallest of the wider ones do.
    """
    progress.stage("the suite without a change")
    asked = SuiteRequest(only=request.configurations, workers=request.workers, fresh=request.fresh)
    report: SuiteReport = run_suite(asked, progress)
    if report.interrupted:
        return (), (), ()
    odd = [run.name for run in report.runs if not run.as_expected and run.verdict != "inconclusive"]
    if odd:
        raise UsageFault(
            "suite-unexpected",
            f"the suite is not as expected without a change: {', '.join(odd[:3])}",
            help="see `elrcheck suite`",
        )
    size = {run.name: run.distinct for run in report.runs if run.verdict in ("holds", "violated")}
    largest = request.max_states or LARGEST
    names = [case.name for case in selected_cases(asked) if case.name in size]
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
    """All that combine nothing; of each combination the largest, with a fault that was used least."""
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


def _judged(tasks: Sequence[MutantTask], workers: int | None, stop: Interrupts) -> Iterator[MutantAnswer]:
    """The answers, in the order of the tasks, until the run is interrupted."""
    answers = each(judge, tasks, useful_workers(workers, len(tasks)))
    try:
        for answer in answers:
            yield answer
            if stop.wanted:
                return
    finally:
        answers.close()  # type: ignore[attr-defined]


def _mutant(answer: MutantAnswer, reasons: Mapping[str, str]) -> RuleMutant:
    verdict, reason = answer.verdict, answer.reason
    because = reasons.get(answer.name)
    if because is not None:
        caught = verdict in ("found", "counted", "undefined")
        verdict, reason = ("contradicted", because) if caught else ("equivalent", because)
    return RuleMutant(
        name=answer.name,
        function=answer.function,
        place=answer.place,
        kind=answer.kind,
        before=answer.before,
        after=answer.after,
        verdict=verdict,
        by=answer.by,
        configuration=answer.configuration,
        depth=answer.depth,
        reason=reason,
        compared=answer.compared,
        differs=answer.differs,
        seconds=answer.seconds,
        proof=answer.proof,
        open=answer.open,
        hole=answer.hole,
    )


def _tell(
    progress: Progress, done: Mapping[str, MutantAnswer], tasks: Sequence[MutantTask], last: MutantAnswer
) -> None:
    known = [done[task.name] for task in tasks if task.name in done]
    spent = sum(answer.seconds for answer in known)
    progress.tell(
        PointsDone(
            done=len(known),
            total=len(tasks),
            current=(f"{last.verdict}: {last.name}",),
            states=0,
            seconds=spent,
            left=spent / max(1, len(known)) * (len(tasks) - len(known)),
        )
    )


# ------------------------------------------------------------------------------------ the ledger


def _identity(names: Sequence[str], request: MutateRequest) -> dict[str, object]:
    return {
        "model": digests.rules(),
        "configurations": list(names),
        "controller": request.controller,
        "answers": request.answers,
        **({"proof": True} if request.proof else {}),
    }


def _digest(names: Sequence[str], request: MutateRequest) -> str:
    text = json.dumps(_identity(names, request), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


class _Ledger:
    """The answers of a run, one a line; the first line says what they belong to."""

    def __init__(self, place: Path, names: Sequence[str], request: MutateRequest) -> None:
        self.file = place / LEDGER
        self.done: dict[str, MutantAnswer] = {}
        head = json.dumps(_identity(names, request), sort_keys=True)
        if not self.file.exists():
            write_file(self.file, head + "\n")
            return
        data = self.file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.decode().splitlines()
        if not lines or lines[0] != head:
            raise UsageFault(
                "resume-mismatch",
                "the answers there belong to another model or other configurations",
                where=str(self.file),
                help="choose another --run-dir",
            )
        if whole != data:  # a killed run leaves at most an incomplete last line
            with open(self.file, "r+b") as opened:
                opened.truncate(len(whole))
        for number, line in enumerate(lines[1:], start=2):
            try:
                answer = from_text(line, MutantAnswer)
            except ValueError as fault:
                raise UsageFault(
                    "checkpoint-damaged",
                    f"not an answer: {fault}",
                    where=f"{self.file}:{number}",
                    help="remove the line, and its change is tried again",
                ) from fault
            self.done[answer.name] = answer

    def add(self, answer: MutantAnswer) -> None:
        append_line(self.file, to_text(answer))
        self.done[answer.name] = answer
