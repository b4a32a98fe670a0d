"""A sweep report as text: one table, the smallest breaking configuration first, and the verdict last."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.base.typed.configuration import setting_text
from elrcheck.report.document import Block, Headline, Labelled, Number, ReportKind, ReportKinds, Table, grouped
from elrcheck.report.documents.trace_document import source_blocks
from elrcheck.report.plain_words import of_model, several, source_of
from elrcheck.results.sweep_report import ROW_VERDICTS, SweepReport, SweepRow
from elrcheck.results.trace_view import Scalar


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
    yield from _verdict(report)


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


def _verdict(report: SweepReport) -> Iterator[Block]:
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


KINDS: ReportKinds = {SweepReport: ReportKind("sweep", sweep_blocks)}
