"""A suite report as text: what is unexplained first, then what breaks and why, and the verdict last."""

from __future__ import annotations

from elrcheck.report.plain_words import from_store_of, several
from elrcheck.report.terminal import Page
from elrcheck.results.suite_report import SuiteReport, SuiteRun, SuiteViolation


def print_suite(report: SuiteReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only what is not as expected, above 0 a row for each configuration."""
    if detail > 0:
        _print_runs(report, page)
    if detail >= 0:
        _print_explanations(report, page)
    for run in report.runs:
        if not run.as_expected:
            _print_problem(run, report, page)
    _print_verdict(report, page)


def _print_runs(report: SuiteReport, page: Page) -> None:
    page.table(
        ("configuration", "verdict", "properties", "states", "diameter", "s", ""),
        (
            (
                run.name,
                run.verdict,
                ", ".join(found.id for found in run.violations if found.found),
                page.count(run.distinct),
                str(run.diameter),
                f"{run.seconds:.2f}",
                "" if run.searched else "kept",
            )
            for run in report.runs
        ),
        right=("states", "diameter", "s"),
    )


def _print_explanations(report: SuiteReport, page: Page) -> None:
    """Each explanation once, with its properties and the number of configurations."""
    rows: dict[tuple[str, str], tuple[dict[str, None], set[str]]] = {}
    for run in report.runs:
        for one in run.violations:
            if one.explained:
                idents, names = rows.setdefault((one.finding or "by design", one.because or ""), ({}, set()))
                idents[one.id] = None
                names.add(run.name)
    page.table(
        ("breaks", "in", "finding", "because"),
        (
            (", ".join(idents), several(len(names), "configuration"), finding, because)
            for (finding, because), (idents, names) in rows.items()
        ),
    )


def _print_problem(run: SuiteRun, report: SuiteReport, page: Page) -> None:
    word = "inconclusive" if run.verdict in ("failed", "inconclusive") else "fail"
    page.verdict_line(word, f"{run.name}  ({run.variant}, {run.scope})")
    for problem in run.problems:
        page.labelled("problem", problem)
    for one in run.violations:
        page.labelled("trace", _trace(one, report))
    page.labelled("repeat", run.command)
    page.line()


def _trace(one: SuiteViolation, report: SuiteReport) -> str | None:
    return None if one.trace is None else f"{report.run_dir}/{one.trace}"


def _print_verdict(report: SuiteReport, page: Page) -> None:
    words = ("violated", "holds", "walked", "inconclusive", "failed")
    counts = [f"{report.count(word)} {word}" for word in words if report.count(word)]  # type: ignore[arg-type]
    page.verdict_line(report.verdict, f"{several(len(report.runs), 'configuration')}: {', '.join(counts)}")
    odd = [run for run in report.runs if not run.as_expected]
    page.labelled("odd", f"{len(odd)} not as expected" if odd else None)
    page.labelled("unseen", ", ".join(report.witnesses) and f"no run reaches {', '.join(report.witnesses)}")
    if report.interrupted:
        page.labelled("stopped", "interrupted before all configurations had run; the answers are kept")
    page.labelled("kept", from_store_of([run.kept for run in report.runs if run.kept is not None]))
    page.labelled("states", page.count(sum(run.distinct for run in report.runs)))
    page.labelled("time", f"{report.seconds:.1f} s, {several(report.workers, 'process', 'processes')}")
    page.labelled("run", report.run_dir)
