"""The reports of `suite` and `sweep` as text, of many configurations each; the verdict last."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.base.typed.configuration import setting_text
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
from elrcheck.report.documents.trace_document import source_blocks
from elrcheck.report.plain_words import from_store_of, of_model, several, source_of, stored_at
from elrcheck.results.suite_report import ROW_VERDICTS, SuiteReport, SuiteRun, SweepReport, SweepRow
from elrcheck.results.trace_view import Scalar


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


def sweep_blocks(report: SweepReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report.

    detail: below 0 only violated rows, above 0 also all violated properties of each row.
    """
    rows = report.rows if detail >= 0 else [row for row in report.rows if row.verdict == "violated"]
    yield Table(
        ("no.", *report.keys, "verdict", "property", "depth", "states", "diameter", "s", ""),
        [
            (
                row.number,
                *(value_text(row.settings[key]) for key in report.keys),
                row.verdict,
                _properties(row, detail),
                row.depth,
                row.distinct,
                row.diameter,
                "" if row.seconds is None else Number(f"{row.seconds:.2f}"),
                row.reason or "",
            )
            for row in rows
        ],
    )
    yield from _sweep_verdict(report)


def value_text(value: Scalar) -> str:
    """Return a setting in the notation of `--set`."""
    return "" if value is None else setting_text(value)


def named(row: SweepRow, keys: tuple[str, ...]) -> str:
    """Return a configuration by the settings that the grid varies."""
    return ", ".join(f"{key}={value_text(row.settings[key])}" for key in keys)


def _properties(row: SweepRow, detail: int) -> str:
    """Return the property with the shortest trace and the number of others; all of them with -v."""
    if row.property is None:
        return ""
    others = [ident for ident in row.violated if ident != row.property]
    if detail > 0:
        return ", ".join([row.property, *others])
    return f"{row.property} +{len(others)}" if others else row.property


def summary(report: SweepReport) -> str:
    """Return the number of configurations of each verdict, in one line."""
    counts = (f"{report.count(verdict)} {verdict}" for verdict in ROW_VERDICTS if report.count(verdict))
    return f"{several(len(report.rows), 'configuration')}: {', '.join(counts)}"


def _sweep_verdict(report: SweepReport) -> Iterator[Block]:
    yield Headline("inconclusive" if report.verdict == "nothing" else report.verdict, summary(report))
    yield from source_blocks(report)
    breaking = [row for row in report.rows if row.verdict == "violated"]
    if breaking:
        first = breaking[0]
        yield Labelled("smallest", f"number {first.number}: {named(first, report.keys)}")
        if first.trace is not None and report.run_dir is not None:
            yield Labelled("trace", f"{report.run_dir}/{first.trace}")
    if report.excluded:
        yield Labelled("excluded", f"{several(report.excluded, 'point')} of the grid")
    if report.interrupted:
        yield Labelled("stopped", "interrupted before all configurations had run")
    if report.resumed:
        yield Labelled("resumed", f"{several(report.resumed, 'configuration')} from an earlier run")
    states = sum(row.distinct or 0 for row in report.rows)
    yield Labelled("states", grouped(states))
    yield Labelled("time", f"{report.seconds:.2f} s")
    engine = report.engine
    what = "processes" if engine.name == "local" else "slots"
    more = f", {engine.detail}" if engine.detail else ""
    yield Labelled("engine", f"{engine.name}, {engine.workers} {what}{more}")
    yield Labelled("run", report.run_dir)
    if report.run_dir is not None and (report.interrupted or report.count("failed")):
        yield Labelled("resume", of_model(f"elrcheck sweep --resume {report.run_dir}", *source_of(report)))


KINDS: ReportKinds = {
    SuiteReport: ReportKind("suite", suite_blocks, suite_sheet),
    SweepReport: ReportKind("sweep", sweep_blocks),
}
