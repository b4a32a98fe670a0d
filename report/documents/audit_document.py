"""An audit of metadata logs as text: flags, the worst first, then damage and what was read, the verdict last.

CRITICAL  elr-outside-replicas  F-20: 1 partition
      c-1       ELR [0, 1] is not within the replicas [2]
                true from offset 38, 2026-11-22T02:12:26.178Z, to 54, 2026-11-22T02:12:31.412Z, in 0.log
      check     If the partition also has the flag ghost-elected, ..
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from elrcheck.report.document import (
    Block,
    Case,
    CaseLevel,
    Gauge,
    Headline,
    Labelled,
    Line,
    ReportKind,
    ReportKinds,
    Sample,
    Sheet,
    Suite,
    grouped,
)
from elrcheck.report.plain_words import several
from elrcheck.report.words.audit_words import (
    MOST_LISTED,
    advice_label,
    answer_in_words,
    brokers_in_words,
    counted,
    elr_in_words,
    invisible_in_words,
    near_in_words,
    needs_a_look,
    release_in_words,
    repair_in_words,
    span_in_words,
)
from elrcheck.results.audit_report import WORST_FIRST, AuditedCluster, AuditedLog, AuditFlag, AuditReport, Severity

MOST_SERIES = 50
"""Partitions that have a series of their own."""
STYLES: Mapping[Severity, str] = {"critical": "bold red", "high": "bold yellow", "medium": "bold", "low": ""}


def audit_blocks(report: AuditReport, detail: int = 0) -> Iterator[Block]:
    """Yield the blocks of the report. detail: below 0 only flags, damage and the verdict, above 0 every flag."""
    rules: dict[str, list[AuditFlag]] = {}
    for flag in sorted(report.flags, key=lambda flag: WORST_FIRST.index(flag.severity)):
        rules.setdefault(flag.rule, []).append(flag)
    for flags in rules.values():
        yield from _rule(flags, detail)
        yield Line()
    most_listed = len(report.damage) if detail > 0 else MOST_LISTED
    for damage in report.damage[:most_listed]:
        yield Line(f"DAMAGE  {damage.path}, byte {damage.position}", style="bold yellow")
        yield Labelled("", f"offset {damage.offset}: {damage.message}")
    if len(report.damage) > most_listed:
        yield Line(f"DAMAGE  {grouped(len(report.damage) - most_listed)} more places; --verbose shows all")
    if report.strict and report.damage:
        yield Line("--strict: a damaged file is an error")
    if report.interrupted:
        yield Line("interrupted: this is a partial report, of what was read until then")
    if detail >= 0:
        yield from _logs(report, detail)
    for repair in report.repaired:
        yield Line(repair_in_words(repair))
    if report.invisible:
        yield Line(invisible_in_words(report))
    if report.cluster is not None:
        yield from _cluster(report.cluster, report, detail)
        return
    yield Headline(
        report.verdict,
        f"{answer_in_words(report)}: {counted(report.records, 'record')}, {counted(report.partitions, 'partition')},"
        f" {counted(len(report.flags), 'flag')},"
        f" {counted(len(report.damage), 'damaged place')}, {report.seconds:.1f} s",
    )


def _rule(flags: Sequence[AuditFlag], detail: int) -> Iterator[Block]:
    first = flags[0]
    partitions = len({(flag.path.rpartition("/")[0], flag.topic, flag.partition) for flag in flags})
    number = "1 partition" if partitions == 1 else f"{grouped(partitions)} partitions"
    hazard = "" if first.hazard is None else f"  {first.hazard}"
    yield Line(f"{first.severity.upper()}  {first.rule}{hazard}: {number}", style=STYLES[first.severity])
    listed = flags if detail > 0 else flags[:MOST_LISTED]
    for flag in listed:
        yield Labelled(f"{flag.topic}-{flag.partition}", flag.message)
        if _is_live(flag):  # a cluster was seen at one time, which is printed below
            continue
        yield Labelled("", f"{span_in_words(flag)}, in {flag.path}")
    if len(flags) > len(listed):
        yield Labelled("", f"{grouped(len(flags) - len(listed))} more; --verbose shows all")
    for advice, label in {flag.remedy: advice_label(flag) for flag in flags}.items():
        yield Labelled(label, advice)


def _cluster(cluster: AuditedCluster, report: AuditReport, detail: int) -> Iterator[Block]:
    for text in cluster.unseen:
        yield Line(f"NOT SEEN  {text}", style="bold yellow")
    if detail >= 0:
        at = "" if cluster.offset < 0 else f", at offset {cluster.offset} of the metadata log"
        elr = f"ELR {elr_in_words(cluster)}"
        yield Line(f"{cluster.name}: cluster {cluster.cluster_id}, {release_in_words(cluster)}, {elr}")
        yield Line(
            f"brokers {brokers_in_words(cluster)}, reassignments under way: {grouped(cluster.reassignments)};"
            f" seen {cluster.time}{at}"
        )
    yield Headline(
        report.verdict,
        f"{answer_in_words(report)}: {counted(cluster.topics, 'topic')}, {counted(report.partitions, 'partition')},"
        f" {counted(len(report.flags), 'flag')}, {report.seconds:.1f} s",
    )


def _logs(report: AuditReport, detail: int) -> Iterator[Block]:
    listed = [log for log in report.logs if detail > 0 or len(report.logs) == 1 or needs_a_look(log, report)]
    for log in listed:
        span = "no record" if log.first_offset is None else f"offsets {log.first_offset} to {log.last_offset}"
        facts = [counted(log.records, "record"), span, counted(log.partitions, "partition")]
        changes = log.explained + log.unexplained
        facts.append(f"{grouped(log.explained)} of {grouped(changes)} changes explained")
        if log.aborted_transactions:
            facts.append(f"aborted transactions: {log.aborted_transactions}")
        if log.open_transaction:
            facts.append("ends within a transaction")
        if log.incomplete_bytes:
            facts.append(f"{log.incomplete_bytes} bytes of an incomplete batch at the end")
        yield Line(f"{log.name}: {', '.join(facts)}")
        elr = f"ELR {elr_in_words(log)}"
        yield Labelled("", f"{release_in_words(log)}, {elr}, brokers {brokers_in_words(log)}")
    if rest := len(report.logs) - len(listed):
        records = sum(log.records for log in report.logs) - sum(log.records for log in listed)
        more = "log" if len(listed) == 0 else "more log"
        yield Line(f"{counted(rest, more)} without a flag ({counted(records, 'record')}); --verbose lists them")
    yield from map(Line, near_in_words(report))
    unknown = [unread for unread in report.unread if not unread.known]
    for unread in unknown:
        what = f"{unread.name} of version {unread.version}"
        yield Line(f"not read: {counted(unread.count, 'record')} of a kind that is not known, {what}")
        yield Line(f"          the first at offset {unread.offset} in {unread.path}")


LEVELS: Mapping[Severity, CaseLevel] = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}


def audit_sheet(report: AuditReport) -> Sheet:
    """Return a suite for each log."""
    judged = f"{several(report.partitions, 'partition', written=f'{report.partitions:,}')}"
    judged += f", {several(len(report.flags), 'flag', written=f'{len(report.flags):,}')}"
    damage = several(len(report.damage), "damaged place")
    records = several(report.records, "record", written=f"{report.records:,}")
    summary = f"{records}, {judged}, {damage}, {report.seconds:.1f} s"
    notes: tuple[str, ...] = ()
    if report.interrupted:
        notes = ("interrupted: a partial report, of what was read until then",)
    suites = tuple(_suite(log, report) for log in report.logs)
    if report.cluster is not None:
        suites = (_cluster_suite(report.cluster, report),)
        summary = f"{judged}, {report.seconds:.1f} s"
        notes = tuple(f"not seen: {text}" for text in report.cluster.unseen)
    notes += tuple(map(repair_in_words, report.repaired))
    if report.invisible:
        summary = f"{summary}; {invisible_in_words(report)}"
    return Sheet(summary, suites, notes, _gauges(report))


def _gauges(report: AuditReport) -> tuple[Gauge, ...]:
    def gauge(name: str, help: str, value: int) -> Gauge:
        return Gauge(f"audit_{name}", help, (Sample((), value),))

    unseen = 0 if report.cluster is None else len(report.cluster.unseen)
    return (
        flag_gauge("audit", report.flags),
        open_flags(report.flags),
        gauge("partitions", "Partitions that were audited.", report.partitions),
        gauge("records", "Records of the metadata logs.", report.records),
        gauge("damage", "Places of the logs that could not be read.", len(report.damage)),
        gauge("unseen", "Answers that the brokers of a cluster did not give.", unseen),
    )


def flag_gauge(command: str, flags: Sequence[AuditFlag]) -> Gauge:
    """Return the number of flags of each rule in each log, those that are over apart."""
    counts: Counter[tuple[tuple[str, str], ...]] = Counter()
    for flag in flags:
        ended = "no" if flag.until is None else "yes"
        finding = flag.hazard or ""
        of_rule = (("rule", flag.rule), ("finding", finding), ("severity", flag.severity), ("ended", ended))
        counts[("log", flag.log), *of_rule] += 1
    samples = tuple(Sample(labels, count) for labels, count in counts.items())
    return Gauge(f"{command}_flags", "Flags of the audit; ended: over at the end of the log.", samples)


def open_flags(flags: Sequence[AuditFlag]) -> Gauge:
    """Return the partitions with flags that are not over, the worst first, up to a limit."""
    still_open = sorted(
        (flag for flag in flags if flag.until is None), key=lambda flag: WORST_FIRST.index(flag.severity)
    )
    labels = dict.fromkeys(
        (
            ("log", flag.log),
            ("topic", flag.topic),
            ("partition", str(flag.partition)),
            ("rule", flag.rule),
            ("severity", flag.severity),
        )
        for flag in still_open[:MOST_SERIES]
    )
    help = f"1 for each partition with a flag that is not over, the worst {MOST_SERIES}."
    return Gauge("audit_open_flag", help, tuple(Sample(each, 1) for each in labels))


def _suite(log: AuditedLog, report: AuditReport) -> Suite:
    cases = [flag_case(flag) for flag in report.flags if flag.log == log.name] or [_no_flag(report)]
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


def _cluster_suite(cluster: AuditedCluster, report: AuditReport) -> Suite:
    cases = tuple(map(flag_case, report.flags)) or (_no_flag(report),)
    facts = (
        ("cluster", cluster.cluster_id),
        ("kafka", cluster.kafka),
        ("metadata.version", str(cluster.metadata_version)),
        ("eligible.leader.replicas.version", str(cluster.elr_version)),
        ("partitions", str(report.partitions)),
        *_repairs(report),
    )
    return Suite(cluster.name, cases, facts=facts)


def _no_flag(report: AuditReport) -> Case:
    text = "\n".join((*near_in_words(report), invisible_in_words(report)))
    return Case("no-flag", "no partition is flagged", "passed", "no sign", text=text)


def _repairs(report: AuditReport) -> tuple[tuple[str, str], ...]:
    return tuple(("repaired", repair.finding) for repair in report.repaired)


def _is_live(flag: AuditFlag) -> bool:
    """Return whether the flag is that of a running cluster; a log may be a single file, too."""
    return flag.log.startswith("kafka://")


def flag_case(flag: AuditFlag, advisory: bool = False) -> Case:
    """Return the judgement of a flag; its id is the same in every report that shows it."""
    about = f"{flag.topic}-{flag.partition}"
    where = f"{span_in_words(flag)}, byte {flag.position} of {flag.path}"
    ident = f"{flag.rule} {about} {flag.offset}"
    if _is_live(flag):  # a rule flags a partition only once
        where, ident = f"seen {flag.time} in {flag.path}", f"{flag.rule} {about}"
    return Case(
        ident,
        ident,
        "failed",
        flag.severity + ("" if flag.hazard is None else f", {flag.hazard}"),
        f"{about}: {flag.message}",
        f"{about}: {flag.message}\n{where}\n{advice_label(flag)}: {flag.remedy}\n",
        place=flag.path,
        rule=flag.rule,
        level=LEVELS[flag.severity],
        advisory=advisory,
        byte=flag.position,
        about=about,
        facts=(
            ("offset", flag.offset),
            ("until", flag.until),
            ("until_time", flag.until_time),
            ("time", flag.time),
            ("topic", flag.topic),
            ("partition", flag.partition),
            ("severity", flag.severity),
            ("finding", flag.hazard),
            ("remedy", flag.remedy),
        ),
        help=flag.remedy,
    )


KINDS: ReportKinds = {AuditReport: ReportKind("audit", audit_blocks, audit_sheet)}
