"""A comparison with Kafka's classes as text: differences side by side, then the counts, the verdict last.

UNEXPLAINED  4.1.2  Unfence: leader, leader_epoch, partition_epoch  (13 times)
      topic    partition: replicas [0, 1], ISR [0, 1], leader 0, ..
      event    Fence broker 0
      before   replicas [0, 1], ISR [], no leader, ..
      field    Kafka | model
      leader   0     | none
"""

from __future__ import annotations

from elrcheck.report.terminal import Page
from elrcheck.results.conform_report import ConformReport, DisagreementReport


def print_conform(report: ConformReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only unexplained differences and the verdict, above 0 the explained ones in full."""
    for found in report.disagreements:
        if not found.explained or detail > 0:
            print_disagreement(found, page)
            page.line()
    explained = [found for found in report.disagreements if found.explained]
    if detail >= 0 and explained:
        page.line("Explained differences", style="bold")
        page.table(
            ("class", "Kafka", "count", "what", "why"),
            ((d.class_, d.kafka, page.count(d.count), d.what, d.why or "") for d in explained),
            right=("count",),
        )
    if detail > 0:
        _print_spaces(report, page)
        page.line("Compared in part", style="bold")
        page.table(("what", "why"), ((p.what, p.why) for p in report.projections))
    if detail >= 0:
        _print_versions(report, page)
    for setting in report.settings:
        page.line(f"the model has {setting}")
    if report.stopped_by is not None:
        page.line(f"stopped by {report.stopped_by}; the report has what was compared until then")
    minute = 60 * report.compared / report.seconds if report.seconds else 0.0
    page.verdict_line(
        report.verdict,
        f"{page.count(report.compared)} comparisons, {page.count(report.unexplained)} differ without an"
        f" explanation, seed {report.seed}, {report.seconds:.1f} s, {page.count(round(minute))} a minute",
    )


def print_disagreement(found: DisagreementReport, page: Page) -> None:
    """One group of differences with its shortest example, field by field."""
    example = found.example
    times = "once" if found.count == 1 else f"{page.count(found.count)} times"
    title = "" if not found.explained else f": {found.what}"
    word = "explained" if found.explained else "UNEXPLAINED"
    page.line(f"{word}  {found.kafka}  {found.class_}{title}  ({times})", style="bold")
    for line in example.setup:
        page.labelled("start", line)
    for event in example.events:
        page.labelled("event", event)
    page.labelled("before", example.before)
    names = max((len(pair.name) for pair in example.fields), default=0)
    width = max((len(pair.kafka) for pair in example.fields), default=0)
    page.labelled("field", f"{'':{names}}  {'Kafka':{max(width, 5)}} | model")
    for pair in example.fields:
        page.labelled("", f"{pair.name:{names}}  {pair.kafka:{max(width, 5)}} | {pair.model}")
    if found.why is not None:
        page.labelled("why", found.why)
    page.labelled("again", example.command)
    if example.what_if is not None:
        page.labelled("what-if", f"echo '{example.what_if}' | elrcheck what-if")


def _print_versions(report: ConformReport, page: Page) -> None:
    page.table(
        ("Kafka", "variant", "compared", "builder", "controller", "ISR order", "not held", "explained", "unexplained"),
        (
            (
                v.kafka,
                v.variant,
                *(
                    page.count(number)
                    for number in (
                        v.compared,
                        v.builder,
                        v.controller,
                        v.isr_order,
                        v.unheld,
                        v.explained,
                        v.unexplained,
                    )
                ),
            )
            for v in report.versions
        ),
        right=("compared", "builder", "controller", "ISR order", "not held", "explained", "unexplained"),
    )


def _print_spaces(report: ConformReport, page: Page) -> None:
    page.line("Finite sets of questions", style="bold")
    page.table(
        ("Kafka", "set", "points", "asked", ""),
        (
            (v.kafka, s.name, page.count(s.points), page.count(s.asked), "all" if s.asked == s.points else "")
            for v in report.versions
            for s in v.spaces
        ),
        right=("points", "asked"),
    )
