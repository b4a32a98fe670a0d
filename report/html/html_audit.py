"""Contents of the page of `elrcheck audit`: topics and logs, then the flags and time lines of each flagged log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from elrcheck.report.document import THIN_SPACE, Document
from elrcheck.report.html.html_lanes import lane_picture
from elrcheck.report.html.html_part import Grid, PagePart
from elrcheck.report.words.audit_words import (
    NEAR,
    advice_label,
    brokers_in_words,
    elr_in_words,
    near_in_words,
    needs_a_look,
    release_in_words,
    short_names,
)
from elrcheck.results.audit_report import WORST_FIRST, AuditedCluster, AuditedLog, AuditFlag, AuditReport

MOST_OPEN = 3
"""Logs with flags whose parts are unfolded; of more, the overview names each, and a link unfolds it."""
MOST_ROWS = 500
"""Flags, and damaged places, in a table."""
TOPICS = ("topic", "worst", "findings", "rules", "partitions flagged", "flags not over", "log")
LOGS = ("log", "flags", "release", "ELR", "brokers", "partitions", "records", "offsets")
NOW = ("partition", "severity", "rule", "finding", "condition")
NEAR_MISSES = ("log", "what", "times", "partitions", "longest, in seconds")
FLAGS = ("offset", "time", "partition", "severity", "rule", "finding", "condition", "until", "file", "byte")


def audit_parts(report: AuditReport, document: Document) -> Iterable[PagePart]:
    """Return an overview of topics and logs, and a part for each log with a flag or damage; or one for a cluster."""
    if report.cluster is not None:
        return (_cluster(report.cluster, report),)
    names = short_names([log.name for log in report.logs])
    parts = [
        _part(f"l{number}", names[log.name], log, report)
        for number, log in enumerate(report.logs, 1)
        if needs_a_look(log, report)
    ]
    if len(parts) > MOST_OPEN:
        logs = [log for log in report.logs if needs_a_look(log, report)]
        parts = [replace(part, folded=True, brief=_brief(log, report)) for part, log in zip(parts, logs, strict=True)]
    return (_overview(report, names), *parts)


def _brief(log: AuditedLog, report: AuditReport) -> str:
    """Return the number of flags of a log by severity, the worst first, or that a part was not read."""
    flags = Counter(flag.severity for flag in report.flags if flag.log == log.name)
    words = [f"{flags[severity]} {severity}" for severity in WORST_FIRST if flags[severity]]
    return f"flags: {', '.join(words)}" if words else "not read to its end"


def _overview(report: AuditReport, names: Mapping[str, str]) -> PagePart:
    topics = _topics(report, names)
    note = _note(len(topics)) or ("" if topics else "No partition is flagged.")
    width = len(TOPICS) if len(names) > 1 else len(TOPICS) - 1
    grids = [
        Grid("Topics", TOPICS[:width], tuple(row[:width] for row in topics[:MOST_ROWS]), note),
        *_remedies(report.flags),
    ]
    flags = Counter(flag.log for flag in report.flags)
    worst_first = sorted(report.logs, key=lambda log: -flags[log.name])
    logs = tuple(
        (
            names[log.name],
            str(flags[log.name]),
            release_in_words(log),
            elr_in_words(log),
            brokers_in_words(log),
            f"{log.partitions:,}",
            f"{log.records:,}",
            "none" if log.first_offset is None else f"{log.first_offset} to {log.last_offset}",
        )
        for log in worst_first[:MOST_ROWS]
    )
    grids.append(Grid("Logs", LOGS, logs, _note(len(report.logs))))
    grids += _near(report, names)
    return PagePart("overview", "Overview", _repairs(report), grids=tuple(grids))


def _near(report: AuditReport, names: Mapping[str, str]) -> list[Grid]:
    """Return the outages and near misses of each log, if there are any."""
    rows = [
        (names[log.name], NEAR[near.kind], f"{near.times:,}", f"{near.partitions:,}", f"{near.longest or 0:.1f}")
        for log in report.logs
        for near in log.near_misses or ()
        if near.times
    ]
    note = " ".join(f"{line}." for line in near_in_words(report)).replace(THIN_SPACE, ",") or _note(len(rows))
    return [Grid("Outages and near misses", NEAR_MISSES, tuple(rows[:MOST_ROWS]), note)] if rows else []


def _topics(report: AuditReport, names: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Return a row for each flagged topic of a log, the worst first."""
    of_topic: dict[tuple[str, str], list[AuditFlag]] = {}
    for flag in sorted(report.flags, key=lambda flag: WORST_FIRST.index(flag.severity)):
        of_topic.setdefault((flag.topic, flag.log), []).append(flag)
    return tuple(
        (
            topic,
            flags[0].severity,
            ", ".join(dict.fromkeys(flag.hazard for flag in flags if flag.hazard is not None)),
            ", ".join(dict.fromkeys(flag.rule for flag in flags)),
            str(len({flag.partition for flag in flags})),
            str(sum(flag.until is None for flag in flags)),
            names[log],
        )
        for (topic, log), flags in of_topic.items()
    )


def _cluster(cluster: AuditedCluster, report: AuditReport) -> PagePart:
    facts = (
        ("cluster", cluster.cluster_id),
        ("release", release_in_words(cluster)),
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


def _part(key: str, name: str, log: AuditedLog, report: AuditReport) -> PagePart:
    span = "none" if log.first_offset is None else f"{log.first_offset} to {log.last_offset}"
    facts = [
        ("records", f"{log.records:,}"),
        ("offsets", span),
        ("partitions", f"{log.partitions:,}"),
        ("release", release_in_words(log)),
        ("ELR", elr_in_words(log)),
        ("brokers", brokers_in_words(log)),
        ("files", ", ".join(log.files)),
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
    return PagePart(key, name, tuple(facts), grids=tuple(_grids(log, report)), lanes=tuple(pictures))


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
            "" if f.until is None else f"{f.until}, {f.until_time}",
            f.path,
            str(f.position),
        )
        for f in flags[:MOST_ROWS]
    )
    grids = [Grid("Flags", FLAGS, rows, _note(len(flags)) or ("" if flags else "No partition is flagged."))]
    if damage:
        places = tuple((str(d.offset), d.path, str(d.position), d.message) for d in damage[:MOST_ROWS])
        grids.append(Grid("Damage", ("offset", "file", "byte", "what"), places, _note(len(damage))))
    return grids


def _remedies(flags: Sequence[AuditFlag]) -> list[Grid]:
    remedies = {(flag.rule, advice_label(flag), flag.remedy): None for flag in flags}
    return [Grid("What to do", ("rule", "when", "what to do"), tuple(remedies))] if flags else []


def _note(number: int) -> str:
    if number <= MOST_ROWS:
        return ""
    return f"The first {MOST_ROWS} of {number:,}; the JSON report has all."
