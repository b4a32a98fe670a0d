"""Contents of the page of `elrcheck audit`: the flags of each log, and time lines of flagged partitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from elrcheck.report.document import Document
from elrcheck.report.html.html_lanes import lane_picture
from elrcheck.report.html.html_part import Grid, PagePart
from elrcheck.results.audit_report import WORST_FIRST, AuditedCluster, AuditedLog, AuditFlag, AuditReport

MOST_ROWS = 500
"""Flags, and damaged places, in a table."""
NOW = ("partition", "severity", "rule", "finding", "what is so")
FLAGS = ("offset", "time", "partition", "severity", "rule", "finding", "what is so", "until", "file", "byte")


def audit_parts(report: AuditReport, document: Document) -> Iterable[PagePart]:
    """Return a part for each log, or one for the cluster."""
    if report.cluster is not None:
        return (_cluster(report.cluster, report),)
    return tuple(_part(f"l{number}", log, report) for number, log in enumerate(report.logs, 1))


def _cluster(cluster: AuditedCluster, report: AuditReport) -> PagePart:
    facts = (
        ("cluster", cluster.cluster_id),
        ("Kafka", cluster.kafka),
        ("metadata.version", str(cluster.metadata_version)),
        ("eligible.leader.replicas.version", str(cluster.elr_version)),
        ("brokers", ", ".join(map(str, cluster.brokers))),
        ("fenced", ", ".join(map(str, cluster.fenced)) or "none"),
        ("topics", f"{cluster.topics:,}"),
        ("partitions", f"{report.partitions:,}"),
        ("reassignments", f"{cluster.reassignments:,}"),
        ("seen", cluster.time),
        ("not seen", "; ".join(cluster.unseen) or "nothing"),
        *_repairs(report),
    )
    rows = tuple(
        (f"{f.topic}-{f.partition}", f.severity, f.rule, f.hazard or "", f.message) for f in report.flags[:MOST_ROWS]
    )
    note = _note(len(report.flags)) or ("" if report.flags else "No partition is flagged.")
    grids = [Grid("Flags", NOW, rows, note), *_remedies(report.flags)]
    return PagePart("c1", cluster.name, facts, grids=tuple(grids))


def _repairs(report: AuditReport) -> tuple[tuple[str, str], ...]:
    left_out = {each.finding: ", ".join(each.left_out) or "nothing" for each in report.repaired}
    text = "; ".join(f"{finding} (not flagged: {rules})" for finding, rules in left_out.items())
    return (("repaired", text),) if text else ()


def _part(key: str, log: AuditedLog, report: AuditReport) -> PagePart:
    span = "none" if log.first_offset is None else f"{log.first_offset} to {log.last_offset}"
    facts = [
        ("records", f"{log.records:,}"),
        ("offsets", span),
        ("partitions", f"{log.partitions:,}"),
        ("files", ", ".join(log.files)),
        *_repairs(report),
    ]
    lines = [line for line in report.timelines if line.log == log.name]
    pictures = []
    for number, line in enumerate(lines, 1):
        of_line = [
            flag
            for flag in report.flags
            if (flag.log, flag.topic, flag.partition) == (log.name, line.topic, line.partition)
        ]
        pictures.append(lane_picture(f"{key}-p{number}", line, of_line))
    return PagePart(key, log.name, tuple(facts), grids=tuple(_grids(log, report)), lanes=tuple(pictures))


def _grids(log: AuditedLog, report: AuditReport) -> list[Grid]:
    flags = [flag for flag in report.flags if flag.log == log.name]
    flags.sort(key=lambda flag: WORST_FIRST.index(flag.severity))
    damage = [each for each in report.damage if each.path in log.files]
    rows = tuple(
        (
            str(f.offset),
            f.time,
            f"{f.topic}-{f.partition}",
            f.severity,
            f.rule,
            f.hazard or "",
            f.message,
            "" if f.until is None else str(f.until),
            f.path,
            str(f.position),
        )
        for f in flags[:MOST_ROWS]
    )
    grids = [Grid("Flags", FLAGS, rows, _note(len(flags)) or ("" if flags else "No partition is flagged."))]
    grids += _remedies(flags)
    if damage:
        places = tuple((str(d.offset), d.path, str(d.position), d.message) for d in damage[:MOST_ROWS])
        grids.append(Grid("Damage", ("offset", "file", "byte", "what"), places, _note(len(damage))))
    return grids


def _remedies(flags: Sequence[AuditFlag]) -> list[Grid]:
    remedies = {flag.rule: flag.remedy for flag in flags}
    return [Grid("What to do now", ("rule", "now"), tuple(remedies.items()))] if flags else []


def _note(number: int) -> str:
    if number <= MOST_ROWS:
        return ""
    return f"The first {MOST_ROWS} of {number:,}; the JSON report has all."
