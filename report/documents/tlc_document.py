"""The document of `elrcheck tlc`: the counts of both checkers, the end of TLC's output, the verdict."""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.report.document import Block, Headline, Labelled, Line, ReportKind, ReportKinds, Table
from elrcheck.results.tlc_report import TlcReport


def tlc_blocks(report: TlcReport, detail: int = 0) -> Iterator[Block]:
    if report.ours is not None and report.theirs is not None:
        yield Table(
            ("checker", "generated", "distinct", "diameter"),
            [
                (name, counts.generated, counts.distinct, counts.diameter)
                for name, counts in (("elrcheck", report.ours), ("TLC", report.theirs))
            ],
        )
    if report.stored > 1:
        rows = [(one.property, one.file, one.verdict.replace("_", " "), one.detail) for one in report.traces]
        yield Table(("property", "trace", "verdict", "why"), rows)
        if len(report.traces) < report.stored:
            yield Line(f"{report.stored - len(report.traces)} more were not checked")
    if detail > 0 or report.verdict == "failed":
        for line in report.output_tail:
            yield Line(f"   | {line}")
    several = len(report.traces) > 1 and report.verdict == "confirmed"
    what = f"{len(report.traces)} traces" if several else report.module
    yield Headline(report.verdict, f"{what}, TLC {report.version}, {report.seconds:.1f} s")
    if report.stored == 1:
        yield from (Labelled("trace", f"{one.file}: {one.detail}") for one in report.traces)
    if detail >= 0:
        yield Labelled("command", " ".join(report.command))
        if report.tlc_exit_code is not None:
            yield Labelled("exit", f"{report.tlc_exit_code} of TLC")


KINDS: ReportKinds = {TlcReport: ReportKind("tlc", tlc_blocks)}
