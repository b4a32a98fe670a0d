"""The combined coverage of runs as text; uncovered actions, witnesses and guards come last."""

from __future__ import annotations

from elrcheck.report.terminal import Page
from elrcheck.results.coverage_report import CoverageReport


def print_coverage(report: CoverageReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only what is not covered, above 0 also the runs and every guard."""
    if detail > 0:
        page.table(
            ("run", "variant", "scope", ""),
            ((r.path, r.variant, r.scope, "" if r.complete else "bounded") for r in report.runs),
        )
    if detail >= 0:
        page.table(
            ("action", "fired", "in runs"),
            ((a.name, page.count(a.fired), str(a.runs)) for a in report.actions if a.runs),
            right=("fired", "in runs"),
        )
        page.table(
            ("witness", "", "reached in runs"),
            ((w.id, w.name, f"{w.reached} of {w.runs}") for w in report.witnesses if w.reached),
            right=("reached in runs",),
        )
    if detail > 0:
        page.table(
            ("action", "guard left out", "noticed by"),
            ((g.action, g.guard, g.noticed or "no property") for g in report.guards),
        )
    number = "1 run" if len(report.runs) == 1 else f"{len(report.runs)} runs"
    bounded = sum(not run.complete for run in report.runs)
    page.verdict_line(report.verdict, number + (f", {bounded} of them bounded" if bounded else ""))
    page.labelled("actions", _never("never fired", [a.name for a in report.actions if not a.runs]))
    page.labelled("witnesses", _never("never reached", [w.id for w in report.witnesses if not w.reached]))
    for guard in report.guards:
        if guard.noticed is None:
            page.labelled("guard", f"noticed by no property: {guard.action}, {guard.guard}")


def _never(what: str, names: list[str]) -> str | None:
    return f"{what}: {', '.join(names)}" if names else None
