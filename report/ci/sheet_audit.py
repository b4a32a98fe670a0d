"""The cases of `audit`: one for each flag; each damaged place of a log is undecided."""

from __future__ import annotations

from collections.abc import Mapping

from elrcheck.report.ci.sheet import Case, Level, Sheet, Suite
from elrcheck.report.plain_words import several
from elrcheck.report.text.text_audit import repair_in_words
from elrcheck.results.audit_report import AuditedCluster, AuditedLog, AuditFlag, AuditReport, Severity

LEVELS: Mapping[Severity, Level] = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}


def audit_sheet(report: AuditReport) -> Sheet:
    """A suite for each log."""
    judged = f"{several(report.partitions, 'partition')}, {several(len(report.flags), 'flag')}"
    damage = several(len(report.damage), "damaged place")
    summary = f"{several(report.records, 'record')}, {judged}, {damage}, {report.seconds:.1f} s"
    notes: tuple[str, ...] = ()
    if report.interrupted:
        notes = ("interrupted: a partial report, of what was read until then",)
    suites = tuple(_suite(log, report) for log in report.logs)
    if report.cluster is not None:
        suites = (_cluster(report.cluster, report),)
        summary = f"{judged}, {report.seconds:.1f} s"
        notes = tuple(f"not seen: {text}" for text in report.cluster.unseen)
    notes += tuple(map(repair_in_words, report.repaired))
    return Sheet("audit", report.verdict, summary, report.exit_code, suites, notes)


def _suite(log: AuditedLog, report: AuditReport) -> Suite:
    cases = [_case(flag) for flag in report.flags if flag.log == log.name]
    if not cases:
        cases.append(Case("no-flag", "no partition is flagged", "passed", "holds"))
    for damage in report.damage:
        if damage.path in log.files:
            ident = f"damage {damage.offset} byte {damage.position}"
            where = f"{damage.path}, byte {damage.position}"
            cases.append(Case(ident, ident, "undecided", "damaged", f"{damage.message}, in {where}"))
    facts = (
        ("records", str(log.records)),
        ("offsets", f"{log.first_offset} to {log.last_offset}"),
        ("partitions", str(log.partitions)),
        *_repairs(report),
    )
    return Suite(log.name, tuple(cases), facts=facts)


def _cluster(cluster: AuditedCluster, report: AuditReport) -> Suite:
    cases = tuple(_case(flag) for flag in report.flags)
    facts = (
        ("cluster", cluster.cluster_id),
        ("kafka", cluster.kafka),
        ("metadata.version", str(cluster.metadata_version)),
        ("eligible.leader.replicas.version", str(cluster.elr_version)),
        ("partitions", str(report.partitions)),
        *_repairs(report),
    )
    none = Case("no-flag", "no partition is flagged", "passed", "holds")
    return Suite(cluster.name, cases or (none,), facts=facts)


def _repairs(report: AuditReport) -> tuple[tuple[str, str], ...]:
    return tuple(("repaired", repair.finding) for repair in report.repaired)


def _case(flag: AuditFlag) -> Case:
    about = f"{flag.topic}-{flag.partition}"
    until = "" if flag.until is None else f", until {flag.until}"
    where = f"offset {flag.offset}, {flag.time}{until}, byte {flag.position} of {flag.path}"
    ident = f"{flag.rule} {about} {flag.offset}"
    if flag.path == flag.log:  # a cluster that runs, in which a partition has a rule's flag only once
        where, ident = f"seen {flag.time} in {flag.path}", f"{flag.rule} {about}"
    return Case(
        ident,
        ident,
        "failed",
        flag.severity + ("" if flag.hazard is None else f", {flag.hazard}"),
        f"{about}: {flag.message}",
        f"{about}: {flag.message}\n{where}\nnow: {flag.remedy}\n",
        place=flag.path,
        rule=flag.rule,
        level=LEVELS[flag.severity],
        byte=flag.position,
        about=about,
        facts=(
            ("offset", flag.offset),
            ("until", flag.until),
            ("time", flag.time),
            ("topic", flag.topic),
            ("partition", flag.partition),
            ("severity", flag.severity),
            ("finding", flag.hazard),
            ("remedy", flag.remedy),
        ),
        help=flag.remedy,
    )
