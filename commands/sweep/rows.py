"""Converts answers to rows of the report."""

from __future__ import annotations

from elrcheck.base.typed.configuration import config_values
from elrcheck.commands.sweep.grid import Point
from elrcheck.commands.sweep.ledger import Ledger, SweepAnswer
from elrcheck.results.check_report import CheckReport, PropertyOutcome, PropertyReport
from elrcheck.results.sweep_report import RowVerdict, Searcher, SweepRow


def row_of(point: Point, done: SweepAnswer | None) -> SweepRow:
    """Return the row of one configuration; `done` is None if it has no answer."""
    if point.selected is None:
        return _without_report(point, "skipped", point.refused, None)
    if done is None:
        return _without_report(point, "inconclusive", "did not run", None)
    if done.refused is not None:
        return _without_report(point, "skipped", done.refused, done.by)
    if done.error is not None:
        return _without_report(point, "failed", done.error, done.by)
    if done.report is None:
        return _without_report(point, "inconclusive", "beyond --large; the whole search did not run", None)
    return _with_report(point, done.report, done.by)


def _without_report(point: Point, verdict: RowVerdict, reason: str | None, by: Searcher | None) -> SweepRow:
    config = None if point.selected is None else config_values(point.selected.config)
    return SweepRow(
        point.number,
        point.settings,
        point.selection.variant,
        point.selection.scope,
        verdict,
        reason=reason,
        by=by,
        config=config,
    )


def _with_report(point: Point, report: CheckReport, by: Searcher) -> SweepRow:
    search = report.search
    properties = tuple(_property(one, point.number) for one in report.properties)
    violated = [one for one in properties if one.verdict == "violated"]
    first = min(violated, key=lambda one: one.depth or 0, default=None)
    return SweepRow(
        number=point.number,
        settings=point.settings,
        variant=report.variant,
        scope=report.scope,
        verdict=report.verdict,
        reason=search.stopped_by if report.verdict == "inconclusive" else None,
        property=None if first is None else first.id,
        depth=None if first is None else first.depth,
        violated=tuple(one.id for one in violated),
        unreached=tuple(one.id for one in properties if one.verdict == "unreached"),
        complete=search.complete,
        generated=search.generated,
        distinct=search.distinct,
        diameter=search.diameter,
        seconds=search.seconds,
        by=by,
        trace=None if first is None else first.trace,
        properties=properties,
        config=report.config,
    )


def _property(report: PropertyReport, number: int) -> PropertyOutcome:
    same = {name: getattr(report, name) for name in PropertyOutcome.__struct_fields__}
    trace = None if report.trace is None else f"{Ledger.place(number)}/{report.trace}"
    return PropertyOutcome(**{**same, "trace": trace})
