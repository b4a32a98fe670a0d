"""The cases of `conform`: one for each version of Kafka, and one for each group of differences."""

from __future__ import annotations

from elrcheck.report.ci.sheet import Case, Sheet, Suite
from elrcheck.report.terminal import plain_text
from elrcheck.report.text.text_conform import print_disagreement
from elrcheck.results.conform_report import ConformReport, DisagreementReport, VersionReport


def conform_sheet(report: ConformReport) -> Sheet:
    """A suite for each version. Explained differences pass; they are cases, so that a change is noticed."""
    suites = tuple(_suite(version, report) for version in report.versions)
    summary = (
        f"Kafka {report.kafka}: {report.compared} comparisons,"
        f" {report.unexplained} differ without an explanation, {report.seconds:.1f} s"
    )
    notes = () if report.stopped_by is None else (f"stopped by {report.stopped_by}",)
    return Sheet("conform", report.verdict, summary, report.exit_code, suites, notes)


def _suite(version: VersionReport, report: ConformReport) -> Suite:
    same = Case(
        f"kafka-{version.kafka}",
        f"{version.variant} answers as Kafka {version.kafka} does",
        "failed" if version.unexplained else "passed" if version.compared else "undecided",
        f"{version.compared} comparisons, {version.unexplained} unexplained",
        f"{version.unexplained} answers differ without an explanation" if version.unexplained else "",
    )
    groups = (_case(found) for found in report.disagreements if found.kafka == version.kafka)
    facts = (
        ("builder", str(version.builder)),
        ("controller", str(version.controller)),
        ("ISR order", str(version.isr_order)),
        ("not held by the model", str(version.unheld)),
    )
    return Suite(f"Kafka {version.kafka}, {version.variant}", (same, *groups), facts=facts)


def _case(found: DisagreementReport) -> Case:
    verdict = f"{'explained' if found.explained else 'unexplained'}, {found.count} times"
    text = plain_text(lambda page: print_disagreement(found, page))
    message = "" if found.explained else f"{found.class_} differs from Kafka {found.kafka}"
    return Case(
        f"{found.kafka} {found.class_}",
        found.what if found.explained else found.class_,
        "passed" if found.explained else "failed",
        verdict,
        message,
        text,
    )
