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
    if detail > 0 or report.verdict == "failed":
        for line in report.output_tail:
            yield Line(f"   | {line}")
    yield Headline(report.verdict, f"{report.module}, TLC {report.version}, {report.seconds:.1f} s")
    if detail >= 0:
        yield Labelled("command", " ".join(report.command))
        if report.tlc_exit_code is not None:
            yield Labelled("exit", str(report.tlc_exit_code))


KINDS: ReportKinds = {TlcReport: ReportKind("tlc", tlc_blocks)}
