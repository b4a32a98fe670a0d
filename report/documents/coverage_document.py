"""The combined coverage of runs as text; uncovered actions, witnesses and guards come last."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.report.document import Block, Headline, Labelled, Number, ReportKind, ReportKinds, Table
from elrcheck.report.plain_words import several
from elrcheck.results.coverage_report import CoverageReport


def coverage_blocks(report: CoverageReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks. detail: below 0 only what is not covered, above 0 also the runs and every guard."""
    if detail > 0:
        yield Table(
            ("run", "variant", "scope", ""),
            [(r.path, r.variant, r.scope, "" if r.complete else "bounded") for r in report.runs],
        )
    if detail >= 0:
        yield Table(("action", "fired", "in runs"), [(a.name, a.fired, a.runs) for a in report.actions if a.runs])
        yield Table(
            ("witness", "", "reached in runs"),
            [(w.id, w.name, Number(f"{w.reached} of {w.runs}")) for w in report.witnesses if w.reached],
        )
    if detail > 0:
        yield Table(
            ("action", "guard left out", "noticed by"),
            [(g.action, g.guard, g.noticed or "no property") for g in report.guards],
        )
    bounded = sum(not run.complete for run in report.runs)
    more = f", {bounded} of them bounded" if bounded else ""
    yield Headline(report.verdict, several(len(report.runs), "run") + more)
    yield Labelled("actions", _never("never fired", [a.name for a in report.actions if not a.runs]))
    yield Labelled("witnesses", _never("never reached", [w.id for w in report.witnesses if not w.reached]))
    for guard in report.guards:
        if guard.noticed is None:
            yield Labelled("guard", f"noticed by no property: {guard.action}, {guard.guard}")


def _never(what: str, names: list[str]) -> str | None:
    return f"{what}: {', '.join(names)}" if names else None


KINDS: ReportKinds = {CoverageReport: ReportKind("runs coverage", coverage_blocks)}
