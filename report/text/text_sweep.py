"""A sweep report as text: one table, the smallest breaking configuration first, and the verdict last."""

from __future__ import annotations

from elrcheck.report.plain_words import several
from elrcheck.report.terminal import Page
from elrcheck.results.sweep_report import ROW_VERDICTS, SweepReport, SweepRow
from elrcheck.results.trace_view import Scalar


def print_sweep(report: SweepReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only violated rows, above 0 also all violated properties of each row."""
    rows = report.rows if detail >= 0 else [row for row in report.rows if row.verdict == "violated"]
    page.table(
        ("no.", *report.keys, "verdict", "property", "depth", "states", "diameter", "s", ""),
        (
            (
                str(row.number),
                *(shown(row.settings[key]) for key in report.keys),
                row.verdict,
                _properties(row, detail),
                "" if row.depth is None else str(row.depth),
                "" if row.distinct is None else page.count(row.distinct),
                "" if row.diameter is None else str(row.diameter),
                "" if row.seconds is None else f"{row.seconds:.2f}",
                row.reason or "",
            )
            for row in rows
        ),
        right=("no.", "depth", "states", "diameter", "s"),
    )
    _print_verdict(report, page)


def shown(value: Scalar) -> str:
    """A setting in the notation of `--set`."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def named(row: SweepRow, keys: tuple[str, ...]) -> str:
    """Names a configuration by the settings that the grid varies."""
    return ", ".join(f"{key}={shown(row.settings[key])}" for key in keys)


def _properties(row: SweepRow, detail: int) -> str:
    """The property with the shortest trace and the number of others; all of them with -v."""
    if row.property is None:
        return ""
    others = [ident for ident in row.violated if ident != row.property]
    if detail > 0:
        return ", ".join([row.property, *others])
    return f"{row.property} +{len(others)}" if others else row.property


def _print_verdict(report: SweepReport, page: Page) -> None:
    counts = [f"{report.count(verdict)} {verdict}" for verdict in ROW_VERDICTS if report.count(verdict)]
    word = "inconclusive" if report.verdict == "nothing" else report.verdict
    page.verdict_line(word, f"{several(len(report.rows), 'configuration')}: {', '.join(counts)}")
    breaking = [row for row in report.rows if row.verdict == "violated"]
    if breaking:
        first = breaking[0]
        page.labelled("smallest", f"number {first.number}: {named(first, report.keys)}")
        if first.trace is not None and report.run_dir is not None:
            page.labelled("trace", f"{report.run_dir}/{first.trace}")
    if report.excluded:
        page.labelled("excluded", f"{several(report.excluded, 'point')} of the grid")
    if report.interrupted:
        page.labelled("stopped", "interrupted before all configurations had run")
    if report.resumed:
        page.labelled("resumed", f"{several(report.resumed, 'configuration')} from an earlier run")
    states = sum(row.distinct or 0 for row in report.rows)
    page.labelled("states", page.count(states))
    page.labelled("time", f"{report.seconds:.2f} s")
    engine = report.engine
    what = "processes" if engine.name == "local" else "slots"
    more = f", {engine.detail}" if engine.detail else ""
    page.labelled("engine", f"{engine.name}, {engine.workers} {what}{more}")
    page.labelled("run", report.run_dir)
    if report.run_dir is not None and (report.interrupted or report.count("failed")):
        page.labelled("resume", f"elrcheck sweep --resume {report.run_dir}")
