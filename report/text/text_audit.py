"""An audit of metadata logs as text: flags, the worst first, then damage and what was read, the verdict last.

CRITICAL  elr-outside-replicas  F-20: 1 partition
      c-1       ELR [0, 1] is not within the replicas [2]
                offset 38, 2026-11-22T02:12:26.178Z, until 54, in 00000000000000000000.log
      now       Do not stop, fence or unregister the leader ..
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elrcheck.report.plain_words import several
from elrcheck.report.terminal import Page
from elrcheck.results.audit_report import WORST_FIRST, AuditedCluster, AuditFlag, AuditRepair, AuditReport, Severity

SHOWN = 5
"""Flags of a rule that are shown without --verbose."""
STYLES: Mapping[Severity, str] = {"critical": "bold red", "high": "bold yellow", "medium": "bold", "low": ""}


def print_audit(report: AuditReport, page: Page, detail: int = 0) -> None:
    """detail: below 0 only flags, damage and the verdict, above 0 every flag."""
    rules: dict[str, list[AuditFlag]] = {}
    for flag in sorted(report.flags, key=lambda flag: WORST_FIRST.index(flag.severity)):
        rules.setdefault(flag.rule, []).append(flag)
    for flags in rules.values():
        _print_rule(flags, page, detail)
        page.line()
    shown = len(report.damage) if detail > 0 else SHOWN
    for damage in report.damage[:shown]:
        page.line(f"DAMAGE  {damage.path}, byte {damage.position}", style="bold yellow")
        page.labelled("", f"offset {damage.offset}: {damage.message}")
    if len(report.damage) > shown:
        page.line(f"DAMAGE  {page.count(len(report.damage) - shown)} more places; --verbose shows all")
    if report.strict and report.damage:
        page.line("--strict: a damaged file is an error")
    if report.interrupted:
        page.line("interrupted: this is a partial report, of what was read until then")
    if detail >= 0:
        _print_logs(report, page)
    for repair in report.repaired:
        page.line(repair_in_words(repair))
    if report.cluster is not None:
        _print_cluster(report.cluster, report, page, detail)
        return
    still = sum(1 for flag in report.flags if flag.until is None)
    page.verdict_line(
        report.verdict,
        f"{_several(page, report.records, 'record')}, {_several(page, report.partitions, 'partition')},"
        f" {_several(page, len(report.flags), 'flag')} ({page.count(still)} not resolved),"
        f" {_several(page, len(report.damage), 'damaged place')}, {report.seconds:.1f} s",
    )


def repair_in_words(repair: AuditRepair) -> str:
    """What `--repaired` leaves out."""
    if not repair.left_out:
        return f"repaired: {repair.finding}; a build with its patch leaves no sign of it, so all are flagged"
    verb = "is" if len(repair.left_out) == 1 else "are"
    return f"repaired: {repair.finding}; {', '.join(repair.left_out)} {verb} not flagged"


def _print_rule(flags: Sequence[AuditFlag], page: Page, detail: int) -> None:
    first = flags[0]
    partitions = len({(flag.path.rpartition("/")[0], flag.topic, flag.partition) for flag in flags})
    number = "1 partition" if partitions == 1 else f"{page.count(partitions)} partitions"
    hazard = "" if first.hazard is None else f"  {first.hazard}"
    page.line(f"{first.severity.upper()}  {first.rule}{hazard}: {number}", style=STYLES[first.severity])
    shown = flags if detail > 0 else flags[:SHOWN]
    for flag in shown:
        page.labelled(f"{flag.topic}-{flag.partition}", flag.message)
        if flag.path == flag.log:  # a cluster that runs: all of it was seen at one time, which stands below
            continue
        until = "" if flag.until is None else f", until {flag.until}"
        page.labelled("", f"offset {flag.offset}, {flag.time}{until}, in {flag.path}")
    if len(flags) > len(shown):
        page.labelled("", f"{page.count(len(flags) - len(shown))} more; --verbose shows all")
    page.labelled("now", first.remedy)


def _print_cluster(cluster: AuditedCluster, report: AuditReport, page: Page, detail: int) -> None:
    for text in cluster.unseen:
        page.line(f"NOT SEEN  {text}", style="bold yellow")
    if detail >= 0:
        fenced = f" (fenced: {', '.join(map(str, cluster.fenced))})" if cluster.fenced else ""
        at = "" if cluster.offset < 0 else f", at offset {cluster.offset} of the metadata log"
        elr = "ELR on" if cluster.elr_version else "ELR off"
        release = f"Kafka {cluster.kafka}, metadata.version {cluster.metadata_version}"
        page.line(f"{cluster.name}: cluster {cluster.cluster_id}, {release}, {elr}")
        page.line(
            f"brokers {', '.join(map(str, cluster.brokers))}{fenced}, reassignments under way:"
            f" {page.count(cluster.reassignments)}; seen {cluster.time}{at}"
        )
    page.verdict_line(
        report.verdict,
        f"{_several(page, cluster.topics, 'topic')}, {_several(page, report.partitions, 'partition')},"
        f" {_several(page, len(report.flags), 'flag')}, {report.seconds:.1f} s",
    )


def _several(page: Page, number: int, noun: str) -> str:
    return several(number, noun, shown=page.count(number))


def _print_logs(report: AuditReport, page: Page) -> None:
    for log in report.logs:
        span = "no record" if log.first_offset is None else f"offsets {log.first_offset} to {log.last_offset}"
        said = [_several(page, log.records, "record"), span, _several(page, log.partitions, "partition")]
        asked = log.explained + log.unexplained
        said.append(f"{page.count(log.explained)} of {page.count(asked)} changes explained")
        if log.aborted_transactions:
            said.append(f"aborted transactions: {log.aborted_transactions}")
        if log.open_transaction:
            said.append("ends within a transaction")
        if log.incomplete_bytes:
            said.append(f"{log.incomplete_bytes} bytes of an incomplete batch at the end")
        page.line(f"{log.name}: {', '.join(said)}")
    unknown = [unread for unread in report.unread if not unread.known]
    for unread in unknown:
        what = f"{unread.name} of version {unread.version}"
        page.line(f"not read: {_several(page, unread.count, 'record')} of a kind that is not known, {what}")
        page.line(f"          the first at offset {unread.offset} in {unread.path}")
