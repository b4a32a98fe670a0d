"""`elrcheck suite`: check many small configurations, and compare violations with their explanations.

Each configuration is a job of the pool that `sweep` uses, searched completely and replayed as by `check`. One that is
too large gets random walks instead, whose counts are compared with the recorded ones. Answers are stored by a digest
of model, properties and configuration, so an unchanged configuration is not searched again, even after an interrupt;
nor is one whose lowered program a change of the model leaves unchanged (`kept_searches`).
"""

from __future__ import annotations

import contextlib
import fnmatch
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import NothingChecked, UsageFault, did_you_mean
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kept.age import KeptOrigin
from elrcheck.base.progress import PointsDone, Progress
from elrcheck.base.requests import DEFAULT_VARIANT, Limits, SuiteRequest
from elrcheck.base.run_lock import in_another_folder
from elrcheck.base.runner.runner import each, run_tasks
from elrcheck.base.runner.worker import useful_workers
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.batch.job import Job, JobAnswer
from elrcheck.checking.batch.pool import check_all, share
from elrcheck.checking.runs.folders import RUNS
from elrcheck.checking.suite.kept_answers import KeptAnswers, kept_of
from elrcheck.checking.suite.suite_counts import CaseCounts, packaged_counts, record_counts
from elrcheck.checking.suite.suite_file import Family, SuiteCase, packaged_suites, read_family
from elrcheck.checking.suite.walked_case import WalkAnswer, WalkTask, task_of, walk_case
from elrcheck.declared.declared_model import declared
from elrcheck.lang.load import Model
from elrcheck.report.plain_words import of_model
from elrcheck.results.check_report import CheckReport
from elrcheck.results.suite_report import SuiteReport, SuiteRun, SuiteVerdict, SuiteViolation


def run_suite(request: SuiteRequest, progress: Progress) -> SuiteReport:
    """Check the selected configurations; after an interrupt the report has the answers so far, which are stored.

    Raise UsageFault for an unknown name or a mistake in a suite file, NothingChecked if nothing is selected.
    """
    started = time.monotonic()
    cases = selected_cases(request)
    recorded = _recorded(request)
    model = declared(request.selection.source).whole()
    for case in cases:
        demand_known(model, case)
    store = KeptAnswers(request.fresh)
    answers: dict[int, JobAnswer | WalkAnswer] = {}
    origins: dict[int, KeptOrigin] = {}
    for number, case in enumerate(cases):
        if (entry := store.find(number, case)) is not None:
            answers[number], origins[number] = entry
    left = [number for number in range(len(cases)) if number not in answers]
    left.sort(key=lambda number: -cases[number].selected.before.states)
    stop = Interrupts()
    workers = useful_workers(request.workers, len(left))
    work = Path(tempfile.mkdtemp(prefix="elrcheck-suite-"))
    try:
        jobs = [job_of(number, cases[number], request.fresh) for number in left if cases[number].walk is None]
        walks = [task_of(number, cases[number], walk) for number in left if (walk := cases[number].walk)]

        def report_progress(running: Sequence[tuple[Job, int | None]] = ()) -> None:
            _report_progress(progress, cases, answers, running, started)

        with stop, contextlib.closing(_answers(jobs, walks, workers, work, stop, report_progress)) as arriving:
            for answer in arriving:
                answers[answer.number] = answer
                if (origin := kept_of(answer)) is not None:
                    origins[answer.number] = origin
                store.add(cases[answer.number], answer)
                if isinstance(answer, WalkAnswer):
                    report_progress()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    place = request.run_dir or RUNS / "suite"
    runs = tuple(
        run_of(model, cases[number], answers[number], origins.get(number), place, recorded)
        for number in sorted(answers)
    )
    if request.record is not None:
        record_counts(request.record, {run.name: counts for run in runs if (counts := counts_of(run))})
    stored = any(violation.trace for run in runs for violation in run.violations)
    return SuiteReport(
        verdict=verdict_of(runs),
        runs=runs,
        witnesses=_never_reached(model, runs),
        seconds=round(time.monotonic() - started, 3),
        workers=workers,
        interrupted=stop.requested and len(answers) < len(cases),
        run_dir=str(place) if stored else None,
        kept=KeptOrigin.oldest(run.kept for run in runs),
    )


def _answers(
    jobs: Sequence[Job],
    walks: Sequence[WalkTask],
    workers: int,
    work: Path,
    stop: Interrupts,
    on_tick: Callable[[Sequence[tuple[Job, int | None]]], None],
) -> Generator[JobAnswer | WalkAnswer, None, None]:
    """Yield the answers as they arrive: those of the searches, and then those of the walks."""
    searching = check_all(share(jobs), useful_workers(workers, len(jobs)), work)
    yield from run_tasks(searching, interrupted=stop, on_tick=on_tick)
    yield from each(walk_case, walks, useful_workers(workers, len(walks)), interrupted=stop)


def selected_cases(request: SuiteRequest) -> tuple[SuiteCase, ...]:
    """Return the configurations of the request, in the order of their files; deep ones only by --deep or by name."""
    within = request.selection
    families: tuple[Family, ...] = tuple(read_family(file, within) for file in request.files)
    if not families:
        families = packaged_suites(within)
    if not families:
        help = "give --file FILE, or `suites` of its ProtocolModel a folder of suite files (docs/suite.md)"
        raise NothingChecked("no-configuration", f"no suite comes with the model {within.source}", help=help)
    every = [case for family in families for case in family.cases]
    chosen: list[SuiteCase] = []
    for word in request.only:
        matches = [case for case in every if fnmatch.fnmatchcase(case.name, word) or case.family == word]
        if not matches and any(ch in word for ch in "*?["):
            raise NothingChecked("no-configuration", f"no configuration matches `{word}`")
        if not matches:
            names = [*(family.name for family in families), *(case.name for case in every)]
            raise UsageFault("unknown-configuration", f"unknown configuration `{word}`", help=did_you_mean(word, names))
        chosen += [case for case in matches if case not in chosen]
    if not request.only:
        chosen = [case for case in every if request.deep or not case.deep]
    sample = chosen if request.sample is None else _sample(chosen, request.sample)
    return tuple(sorted(sample, key=every.index))


def _sample(cases: Sequence[SuiteCase], size: int) -> list[SuiteCase]:
    """Return configurations evenly spread over the suite, so that a sample is the same on every machine."""
    if size >= len(cases):
        return list(cases)
    return [cases[number * len(cases) // size] for number in range(size)]


def demand_known(model: Model, case: SuiteCase) -> None:
    """Raise UsageFault if a suite names a property that the model does not have."""
    always = [fn.ident for fn in model.always]
    witnesses = [fn.ident for fn in model.sometimes]
    for what, named, defined in (("property", case.violates, always), ("witness", case.reaches, witnesses)):
        for ident in named:
            if ident not in defined:
                raise UsageFault(
                    "model-source",
                    f"there is no {what} `{ident}`",
                    where=f"suite {case.name}",
                    help=did_you_mean(ident, defined),
                )


def job_of(number: int, case: SuiteCase, fresh: bool) -> Job:
    """Return the job of a complete search in one thread, for which a stored answer of the same program may serve."""
    limits = Limits(max_states=case.max_states)
    values = config_values(case.selected.config)
    return Job(number, case.selection, values, (), limits, kept=True, fresh=fresh)


def run_of(
    model: Model,
    case: SuiteCase,
    answer: JobAnswer | WalkAnswer,
    origin: KeptOrigin | None,
    place: Path,
    recorded: Mapping[str, CaseCounts] | None = None,
) -> SuiteRun:
    """Compare an answer with the expectations, and store the traces of unexplained violations.

    origin: of an answer that an earlier run stored. recorded: the counts of complete searches by name; None if none
    are recorded.
    """
    plain = SuiteRun(
        name=case.name,
        verdict="failed",
        as_expected=False,
        variant=case.selected.variant,
        scope=case.selected.scope,
        settings=_settings(case),
        distinct=0,
        generated=0,
        diameter=0,
        seconds=0.0,
        searched=origin is None,
        command=_command(case),
        kept=origin,
    )
    if isinstance(answer, WalkAnswer):
        return _compared(replace(plain, verdict="walked", seconds=answer.seconds, **asdict(answer.counts)), recorded)
    if answer.report is None:
        return _judged(replace(plain, reason=answer.refused or answer.error))
    report, search = answer.report, answer.report.search
    violations = _violations(case, report)
    unreached = tuple(one.id for one in report.properties if one.verdict == "unreached")
    run = replace(
        plain,
        verdict=report.verdict if search.complete or report.verdict != "holds" else "inconclusive",
        distinct=search.distinct,
        generated=search.generated,
        diameter=search.diameter,
        seconds=search.seconds,
        violations=tuple(_stored(one, case, answer, place) for one in violations),
        dead=tuple(w for w in case.reaches if w in unreached),
        unreached=unreached,
        reason=search.stopped_by,
    )
    return _compared(run, recorded)


def _compared(run: SuiteRun, recorded: Mapping[str, CaseCounts] | None) -> SuiteRun:
    """Return the run, with a problem if its counts differ from the recorded ones."""
    counts = counts_of(run)
    if recorded is None or counts is None or counts == (expected := recorded.get(run.name)):
        return _judged(run)
    return _judged(replace(run, recorded="not recorded" if expected is None else str(expected)))


def _recorded(request: SuiteRequest) -> Mapping[str, CaseCounts] | None:
    """Return the counts packaged with the model; none for other suites, or while counts are being recorded."""
    if request.files or request.record is not None:
        return None
    return packaged_counts(request.selection.source)


def counts_of(run: SuiteRun) -> CaseCounts | None:
    """Return the counts of walks or of a complete search, None for any other run."""
    if run.verdict not in ("holds", "violated", "walked") or run.reason is not None:
        return None
    return CaseCounts(run.generated, run.distinct, run.diameter, run.digest)


def _judged(run: SuiteRun) -> SuiteRun:
    odd = [one for one in run.violations if not one.explained]
    problems = [
        f"{one.id} breaks at depth {one.depth}, unexplained" if one.found else f"{one.id} no longer breaks"
        for one in odd
    ]
    problems += [f"{ident} is not reached: the run shows nothing" for ident in run.dead]
    if run.recorded is not None:
        problems.append(f"{counts_of(run)}; recorded: {run.recorded}")
    problems += [run.reason] if run.reason else []
    return replace(run, as_expected=not problems, problems=tuple(problems))


def _violations(case: SuiteCase, report: CheckReport) -> list[SuiteViolation]:
    """Return the actual and expected violations; in an incomplete search an expected one may be missing."""
    violations = []
    for one in report.properties:
        because = case.violates.get(one.id)
        hit = one.verdict == "violated"
        if hit or (because is not None and report.search.complete):
            violations.append(
                SuiteViolation(
                    id=one.id,
                    name=one.name,
                    found=hit,
                    expected=because is not None,
                    depth=one.depth,
                    conjunct=one.conjunct,
                    because=None if because is None else because.why,
                    finding=None if because is None else because.finding,
                )
            )
    return violations


def _stored(one: SuiteViolation, case: SuiteCase, answer: JobAnswer, place: Path) -> SuiteViolation:
    text = answer.traces.get(f"{one.id}.trace.json")
    if one.expected or text is None:
        return one
    name = f"{case.name.replace('/', '.')}.{one.id}.trace.json"
    with in_another_folder():
        write_file(place / name, text)
    return replace(one, trace=name)


def verdict_of(runs: Sequence[SuiteRun]) -> SuiteVerdict:
    """Return `unexpected` if any run shows it, else `inconclusive` if a search was stopped or failed."""
    if not runs:
        return "nothing"
    for run in runs:
        if any(not one.explained for one in run.violations) or run.dead or run.recorded is not None:
            return "unexpected"
    if any(run.verdict in ("failed", "inconclusive") or run.reason for run in runs):
        return "inconclusive"
    return "expected"


def _never_reached(model: Model, runs: Sequence[SuiteRun]) -> tuple[str, ...]:
    """Return the witnesses that no run reaches: properties about them may hold vacuously."""
    whole = [set(run.unreached) for run in runs if run.verdict not in ("failed", "walked")]
    return tuple(fn.ident for fn in model.sometimes if whole and all(fn.ident in one for one in whole))


def _settings(case: SuiteCase) -> dict[str, Any]:
    values = config_values(case.selected.config)
    return {name: values[name] for name in case.selected.overrides}


def _command(case: SuiteCase) -> str:
    selected = case.selected
    patch = None if selected.patch is None else selected.patch.file
    if case.walk is not None:
        return of_model(f"elrcheck suite --only {case.name} --fresh", selected.model, patch)
    sets = "".join(f" --set {pair}" for pair in case.selection.overrides)
    unnamed = selected.variant == selected.declared.variant(DEFAULT_VARIANT).name
    variant = "" if unnamed else f" --variant {selected.variant}"
    return of_model(f"elrcheck check{variant} --scope {selected.scope}{sets}", selected.model, patch)


def _report_progress(
    progress: Progress,
    cases: Sequence[SuiteCase],
    answers: Mapping[int, JobAnswer | WalkAnswer],
    running: Sequence[tuple[Job, int | None]],
    started: float,
) -> None:
    reports = [answer.report for answer in answers.values() if isinstance(answer, JobAnswer)]
    distinct = sum(report.search.distinct for report in reports if report is not None)
    progress.tell(
        PointsDone(
            done=len(answers),
            total=len(cases),
            current=tuple(cases[job.number].name for job, _ in running),
            states=distinct + sum(states or 0 for _, states in running),
            seconds=time.monotonic() - started,
            left=None,
        )
    )
