"""A suite report as text: what is unexplained first, then what breaks and why, and the verdict last."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.report.document import (
    Block,
    Case,
    Headline,
    Labelled,
    Line,
    Number,
    Outcome,
    ReportKind,
    ReportKinds,
    Sheet,
    Suite,
    Table,
    grouped,
)
from elrcheck.report.plain_words import from_store_of, several, stored_at
from elrcheck.results.suite_report import SuiteReport, SuiteRun


def suite_blocks(report: SuiteReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report.

    detail: below 0 only what is not as expected, above 0 a row for each configuration.
    """
    if detail > 0:
        yield from _runs(report)
    if detail >= 0:
        yield from _explanations(report)
    for run in report.runs:
        if not run.as_expected:
            yield from _problem(run, report)
    yield from _verdict(report)


def _runs(report: SuiteReport) -> Iterator[Block]:
    yield Table(
        ("configuration", "verdict", "properties", "states", "diameter", "s", ""),
        [
            (
                run.name,
                run.verdict,
                ", ".join(violation.id for violation in run.violations if violation.found),
                run.distinct,
                run.diameter,
                Number(f"{run.seconds:.2f}"),
                "" if run.searched else "kept",
            )
            for run in report.runs
        ],
    )


def _explanations(report: SuiteReport) -> Iterator[Block]:
    """Yield each explanation once, with its properties and the number of configurations."""
    rows: dict[tuple[str, str], tuple[dict[str, None], set[str]]] = {}
    for run in report.runs:
        for one in run.violations:
            if one.explained:
                idents, names = rows.setdefault((one.finding or "by design", one.because or ""), ({}, set()))
                idents[one.id] = None
                names.add(run.name)
    yield Table(
        ("breaks", "in", "finding", "because"),
        [
            (", ".join(idents), several(len(names), "configuration"), finding, because)
            for (finding, because), (idents, names) in rows.items()
        ],
    )


def _problem(run: SuiteRun, report: SuiteReport) -> Iterator[Block]:
    word = "inconclusive" if run.verdict in ("failed", "inconclusive") else "fail"
    yield Headline(word, f"{run.name}  ({run.variant}, {run.scope})")
    for problem in run.problems:
        yield Labelled("problem", problem)
    for one in run.violations:
        yield Labelled("trace", stored_at(report.run_dir, one.trace))
    yield Labelled("repeat", run.command)
    yield Line()


def _verdict(report: SuiteReport) -> Iterator[Block]:
    words = ("violated", "holds", "walked", "inconclusive", "failed")
    counts = [f"{report.count(word)} {word}" for word in words if report.count(word)]  # type: ignore[arg-type]
    yield Headline(report.verdict, f"{several(len(report.runs), 'configuration')}: {', '.join(counts)}")
    odd = [run for run in report.runs if not run.as_expected]
    yield Labelled("odd", f"{len(odd)} not as expected" if odd else None)
    yield Labelled("unseen", ", ".join(report.witnesses) and f"no run reaches {', '.join(report.witnesses)}")
    if report.interrupted:
        yield Labelled("stopped", "interrupted before all configurations had run; the answers are kept")
    yield Labelled("kept", from_store_of([run.kept for run in report.runs if run.kept is not None]))
    yield Labelled("states", grouped(sum(run.distinct for run in report.runs)))
    yield Labelled("time", f"{report.seconds:.1f} s, {several(report.workers, 'process', 'processes')}")
    yield Labelled("run", report.run_dir)


def suite_sheet(report: SuiteReport) -> Sheet:
    families: dict[str, list[SuiteRun]] = {}
    for run in report.runs:
        families.setdefault(run.name.partition("/")[0], []).append(run)
    suites = tuple(
        Suite(name, tuple(run_case(run) for run in runs), seconds=sum(run.seconds for run in runs))
        for name, runs in families.items()
    )
    odd = sum(not run.as_expected for run in report.runs)
    summary = f"{several(len(report.runs), 'configuration')}, {odd} not as expected, {report.seconds:.1f} s"
    notes = tuple(f"no run reaches {ident}" for ident in report.witnesses)
    return Sheet(summary, suites, notes)


def run_case(run: SuiteRun) -> Case:
    outcome: Outcome = "passed"
    if not run.as_expected:
        odd = any(not violation.explained for violation in run.violations)
        outcome = "failed" if run.dead or run.recorded is not None or odd else "undecided"
    broken = ", ".join(violation.id for violation in run.violations if violation.found)
    message = "; ".join(run.problems)
    text = "\n".join([*run.problems, run.command]) if message else ""
    verdict = run.verdict + (f": {broken}" if broken else "")
    return Case(run.name, run.name, outcome, verdict, message, text, seconds=run.seconds)


KINDS: ReportKinds = {SuiteReport: ReportKind("suite", suite_blocks, suite_sheet)}
