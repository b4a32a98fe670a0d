"""A comparison with Kafka's classes as text: differences side by side, then the counts, the verdict last.

UNEXPLAINED  4.1.2  Unfence: leader, leader_epoch, partition_epoch  (13 times)
      topic    partition: replicas [0, 1], ISR [0, 1], leader 0, ..
      event    Fence broker 0
      before   replicas [0, 1], ISR [], no leader, ..
      field    Kafka | model
      leader   0     | none
"""

from __future__ import annotations

from collections.abc import Iterator

from elrcheck.report.document import (
    Block,
    Case,
    Headline,
    Labelled,
    Line,
    ReportKind,
    ReportKinds,
    Sheet,
    Suite,
    Table,
    grouped,
)
from elrcheck.results.conform_report import ConformReport, DisagreementReport, VersionReport


def conform_blocks(report: ConformReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report.

    detail: below 0 only unexplained differences and the verdict, above 0 the explained ones in full.
    """
    for group in report.disagreements:
        if not group.explained or detail > 0:
            yield from disagreement_blocks(group)
            yield Line()
    explained = [group for group in report.disagreements if group.explained]
    if detail >= 0 and explained:
        yield Line("Explained differences", style="bold")
        yield Table(
            ("class", "Kafka", "count", "what", "why"),
            [(d.class_, d.kafka, d.count, d.what, d.why or "") for d in explained],
        )
    if detail > 0:
        yield from _spaces(report)
        yield Line("Compared in part", style="bold")
        yield Table(("what", "why"), [(p.what, p.why) for p in report.projections])
    if detail >= 0:
        yield from _versions(report)
    for setting in report.settings:
        yield Line(f"the model has {setting}")
    if report.stopped_by is not None:
        yield Line(f"stopped by {report.stopped_by}; the report has what was compared until then")
    minute = 60 * report.compared / report.seconds if report.seconds else 0.0
    yield Headline(
        report.verdict,
        f"{grouped(report.compared)} comparisons, {grouped(report.unexplained)} differ without an"
        f" explanation, seed {report.seed}, {report.seconds:.1f} s, {grouped(round(minute))} a minute",
    )


def disagreement_blocks(group: DisagreementReport) -> Iterator[Block]:
    """Yield one group of differences with its shortest example, field by field."""
    example = group.example
    times = "once" if group.count == 1 else f"{grouped(group.count)} times"
    title = "" if not group.explained else f": {group.what}"
    word = "explained" if group.explained else "UNEXPLAINED"
    yield Line(f"{word}  {group.kafka}  {group.class_}{title}  ({times})", style="bold")
    for line in example.setup:
        yield Labelled("start", line)
    for event in example.events:
        yield Labelled("event", event)
    yield Labelled("before", example.before)
    names = max((len(pair.name) for pair in example.fields), default=0)
    width = max((len(pair.kafka) for pair in example.fields), default=0)
    yield Labelled("field", f"{'':{names}}  {'Kafka':{max(width, 5)}} | model")
    for pair in example.fields:
        yield Labelled("", f"{pair.name:{names}}  {pair.kafka:{max(width, 5)}} | {pair.model}")
    if group.why is not None:
        yield Labelled("why", group.why)
    yield Labelled("again", example.command)
    if example.what_if is not None:
        yield Labelled("what-if", f"echo '{example.what_if}' | elrcheck what-if")


def _versions(report: ConformReport) -> Iterator[Block]:
    kinds = ("builder", "controller", "ISR order", "indexes")
    yield Table(
        ("Kafka", "variant", "compared", *kinds, "not held", "explained", "unexplained"),
        [
            (v.kafka, v.variant, v.compared, *counts, v.unheld, v.explained, v.unexplained)
            for v in report.versions
            for counts in [(v.builder, v.controller, v.isr_order, v.indexes)]
        ],
    )


def _spaces(report: ConformReport) -> Iterator[Block]:
    yield Line("Finite sets of questions", style="bold")
    yield Table(
        ("Kafka", "set", "points", "asked", ""),
        [
            (v.kafka, s.name, s.points, s.asked, "all" if s.asked == s.points else "")
            for v in report.versions
            for s in v.spaces
        ],
    )


def conform_sheet(report: ConformReport) -> Sheet:
    """Return a suite for each version. Explained differences pass; they are cases, so that a change is noticed."""
    suites = tuple(_suite(version, report) for version in report.versions)
    summary = (
        f"Kafka {report.kafka}: {report.compared} comparisons,"
        f" {report.unexplained} differ without an explanation, {report.seconds:.1f} s"
    )
    notes = () if report.stopped_by is None else (f"stopped by {report.stopped_by}",)
    return Sheet(summary, suites, notes)


def _suite(version: VersionReport, report: ConformReport) -> Suite:
    same = Case(
        f"kafka-{version.kafka}",
        f"{version.variant} answers as Kafka {version.kafka} does",
        "failed" if version.unexplained else "passed" if version.compared else "undecided",
        f"{version.compared} comparisons, {version.unexplained} unexplained",
        f"{version.unexplained} answers differ without an explanation" if version.unexplained else "",
    )
    groups = (_case(group) for group in report.disagreements if group.kafka == version.kafka)
    facts = (
        ("builder", str(version.builder)),
        ("controller", str(version.controller)),
        ("ISR order", str(version.isr_order)),
        ("indexes", str(version.indexes)),
        ("not held by the model", str(version.unheld)),
    )
    return Suite(f"Kafka {version.kafka}, {version.variant}", (same, *groups), facts=facts)


def _case(group: DisagreementReport) -> Case:
    verdict = f"{'explained' if group.explained else 'unexplained'}, {group.count} times"
    text = tuple(disagreement_blocks(group))
    message = "" if group.explained else f"{group.class_} differs from Kafka {group.kafka}"
    return Case(
        f"{group.kafka} {group.class_}",
        group.what if group.explained else group.class_,
        "passed" if group.explained else "failed",
        verdict,
        message,
        text,
    )


KINDS: ReportKinds = {ConformReport: ReportKind("conform", conform_blocks, conform_sheet)}
