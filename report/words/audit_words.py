"""An audit in words: its answer, the spans of its flags, outages and near misses, brokers and releases."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from elrcheck.report.document import grouped
from elrcheck.report.plain_words import several, some_of
from elrcheck.results.audit_report import (
    AuditedCluster,
    AuditedLog,
    AuditFlag,
    AuditRepair,
    AuditReport,
    NearMissKind,
    NearTogether,
)

NEAR: Mapping[NearMissKind, str] = {
    "leader-returned": "leadership lost and regained, as F-51 needs",
    "no-leader": "an outage: a partition without a leader",
    "below-min-isr": "an ISR below min.insync.replicas",
    "eligible-gone": "a broker in the ELR that is fenced, stopping or not registered",
}
MOST_LISTED = 5
"""Flags of a rule that are shown without --verbose."""
MOST_NAMED = 1
"""Logs that a command names; more have a placeholder."""


def answer_in_words(report: AuditReport) -> str:
    """Return whether anything has to be done now, and for which partitions."""
    serious = [flag for flag in report.flags if flag.severity != "low"]
    if not serious:
        beside = " and ".join(filter(None, (_outages(report.logs), _near(report.logs))))
        return ", but ".join(filter(None, ("of a loss" if report.verdict == "no_sign" else "no flag", beside)))
    if now := _named(report, (flag for flag in serious if flag.until is None)):
        return f"act now on {some_of(now, MOST_LISTED)}"
    over = some_of(_named(report, serious), MOST_LISTED)
    return f"no longer true at the end of the log; check {over} for lost records"


def _named(report: AuditReport, flags: Iterable[AuditFlag]) -> list[str]:
    """Return the partitions of the flags, each once, with its log if there are several."""
    logs = [log.name for log in report.logs]
    return list(dict.fromkeys(partition_in_words(flag, logs) for flag in flags))


def partition_in_words(of: AuditFlag | NearTogether, logs: Sequence[str]) -> str:
    """Return a partition, with its log if there are several, without the folder that contains all of them."""
    partition = f"{of.topic}-{of.partition}"
    return f"{partition} of {short_names(logs)[of.log]}" if len(logs) > 1 else partition


def short_names(logs: Sequence[str]) -> Mapping[str, str]:
    """Return the names of logs without the folder that contains all of them."""
    shared = posixpath.commonpath(logs) if len({name[:1] == "/" for name in logs}) == 1 else ""
    alone = len(logs) == 1 or shared == "/"
    return {name: name if alone else posixpath.relpath(name, shared or ".") for name in logs}


def span_in_words(flag: AuditFlag) -> str:
    """Return when a flag of a log began, and whether it is over."""
    since = f"offset {flag.offset}, {flag.time}"
    if flag.until is None:
        return since if flag.event else f"true since {since}, and still at the end"
    end = f"{flag.until}, {flag.until_time}"
    return f"{since}; every replica in the ISR again at {end}" if flag.event else f"true from {since}, to {end}"


def repair_in_words(repair: AuditRepair) -> str:
    """Return what `--repaired` leaves out."""
    if not repair.left_out:
        return f"repaired: {repair.finding}; a build with its patch leaves no sign of it, so all are flagged"
    verb = "is" if len(repair.left_out) == 1 else "are"
    return f"repaired: {repair.finding}; {', '.join(repair.left_out)} {verb} not flagged"


def invisible_in_words(report: AuditReport) -> str:
    """Return which losses of records leave no sign in what was audited."""
    names = ", ".join(each.finding for each in report.invisible)
    here, where = "a cluster as it is now", "`elrcheck assess --bootstrap` says how they show"
    if report.cluster is None:
        here, where = "a metadata log", "`elrcheck assess --log PATH` says how they show"
    return f"cannot be seen in {here}: {names}, which lose acknowledged records ({where})"


def needs_a_look(log: AuditedLog, report: AuditReport) -> bool:
    """Return whether the log has a flag or damage, or ends before it should."""
    flagged = any(flag.log == log.name for flag in report.flags)
    return flagged or log.open_transaction or any(damage.path in log.files for damage in report.damage)


def release_in_words(audited: AuditedLog | AuditedCluster) -> str:
    """Return the release of the brokers, and the metadata.version of the cluster."""
    line = f"Kafka {audited.kafka}{' or later' if audited.or_later else ''}" if audited.kafka else "release unknown"
    return f"{line}, metadata.version {audited.metadata_version or 'not set'}"


def elr_in_words(audited: AuditedLog | AuditedCluster) -> str:
    """Return whether ELR is on; a log that lacks its first records may not say."""
    return "on" if audited.elr_version else "off" if audited.metadata_version else "unknown"


def near_in_words(report: AuditReport) -> Iterator[str]:
    """Yield the outages and near misses of the logs, a line each, and the command that lists them."""
    logs = [log for log in report.logs if log.near_misses is None or any(near.times for near in log.near_misses)]
    if report.interrupted or not logs:
        return
    command = _assess(logs)
    if logs[0].near_misses is None:
        yield f"near misses: not looked for (over 50,000 records, Spark, or a file deleted); `{command}` lists them"
        return
    if outages := _outages(logs):
        yield f"outage: {outages}"
    for log in logs:
        for each in log.near_together:
            yield together_in_words(each, [log.name for log in report.logs])
    yield f"{_near(logs) or 'near misses: none'}: `{command}` lists them"


def together_in_words(near: NearTogether, logs: Sequence[str]) -> str:
    """Return which near misses of one partition began within seconds."""
    kinds = "; ".join(NEAR[kind] for kind in near.kinds)
    where = partition_in_words(near, logs)
    return f"{where}: within {near.seconds:.1f} s from offset {near.offset}, {near.time}: {kinds}"


def _assess(logs: Sequence[AuditedLog]) -> str:
    """Return the command that assesses these logs; of many with a placeholder."""
    names = [shlex.quote(log.name) for log in logs] if len(logs) <= MOST_NAMED else ["PATH"]
    return " ".join(("elrcheck assess", *(f"--log {name}" for name in names)))


def _outages(logs: Sequence[AuditedLog]) -> str:
    """Return how many partitions had no leader, and for how long; empty if none was seen."""
    near = [near for log in logs for near in log.near_misses or () if near.kind == "no-leader" and near.longest]
    longest = max((near.longest or 0 for near in near), default=0)
    partitions = sum(near.partitions for near in near)
    return f"{counted(partitions, 'partition')} without a leader for up to {longest:.1f} s" if partitions else ""


def _near(logs: Sequence[AuditedLog]) -> str:
    """Return the number of near misses, outages left out; empty if none was seen."""
    times = sum(near.times for log in logs for near in log.near_misses or () if near.kind != "no-leader")
    return several(times, "near miss", "near misses", grouped(times)) if times else ""


def brokers_in_words(audited: AuditedLog | AuditedCluster) -> str:
    """Return the ids of the brokers, then those that are fenced."""
    fenced = f" (fenced: {', '.join(map(str, audited.fenced))})" if audited.fenced else ""
    return (", ".join(map(str, audited.brokers)) or "none") + fenced


def advice_label(flag: AuditFlag) -> str:
    """Return what the advice of a flag is for: to act now, or to check what an ended condition has left."""
    return "now" if flag.until is None else "check"


def counted(number: int, noun: str) -> str:
    """Return a number, in groups of three digits, and its noun."""
    return several(number, noun, written=grouped(number))
