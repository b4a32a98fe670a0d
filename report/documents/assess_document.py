"""An assessment as text: the findings that apply to each group of settings, the worst first, then the audit.

Kafka 4.1.2, replication factor 3, min.insync.replicas 1, acks=all, ELR on, unclean election off
BY DESIGN    min.insync.replicas: The last replica in sync acknowledges records alone; they are lost with its log.
  do         Use replication factor 3 and min.insync.replicas 2.
LOST         F-20: The ELR keeps brokers that are no longer replicas
  happens    A reassignment is cancelled, or leaves fewer replicas than min.insync.replicas, while ..
  seen       on brokers of this release: lost
  do         Do not reassign a partition to fewer replicas than min.insync.replicas, ..
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from elrcheck.report.document import (
    Block,
    Case,
    Gauge,
    Headline,
    Labelled,
    Line,
    ReportKind,
    ReportKinds,
    Sample,
    Sheet,
    Suite,
)
from elrcheck.report.documents.audit_document import flag_case, flag_gauge
from elrcheck.report.documents.risk_document import designed, settings_in_words, shared_and_rest, wrapped
from elrcheck.report.plain_words import several, some_of
from elrcheck.results.finding_table import Level
from elrcheck.results.risk.assess_report import AssessedFinding, AssessedGroup, AssessReport, NearMiss, NearMissKind
from elrcheck.results.risk.risk_report import SettingRisk

SEEN: dict[Level, str] = {
    "brokers": "on brokers of this release",
    "classes": "in the classes of this release, not on its brokers",
    "model": "in the model of this release only",
}
NEAR: dict[NearMissKind, str] = {
    "leader-returned": "a leader away and back, as F-51 needs",
    "below-min-isr": "an ISR below min.insync.replicas",
    "eligible-gone": "a broker that is eligible, and gone",
}
AUDITED = "audit"
"""The name of the suite of flags."""
MOST_TOPICS = 6
"""Topics, and kinds of settings, that the text names without -v."""
MOST_NEAR = 3
"""Near misses of a kind that the text shows."""
MOST_FLAGS = 5
"""Flags of an audit that the text of an assessment shows."""


class FindingOfGroups(NamedTuple):
    """A finding, and the groups of settings that it applies to."""

    finding: AssessedFinding
    groups: tuple[AssessedGroup, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(topic for group in self.groups for topic in group.topics)


def findings_together(report: AssessReport) -> tuple[FindingOfGroups, ...]:
    """Return each finding once, the worst first."""
    groups: dict[str, list[AssessedGroup]] = {}
    findings: dict[str, AssessedFinding] = {}
    for group in report.groups:
        for finding in group.findings:
            groups.setdefault(finding.finding, []).append(group)
            findings[finding.finding] = finding
    worst_first = sorted(findings.values(), key=lambda one: one.rank)
    return tuple(FindingOfGroups(one, tuple(groups[one.finding])) for one in worst_first)


class SettingRiskOfGroups(NamedTuple):
    """What settings allow by design, and the topics with such settings."""

    risk: SettingRisk
    topics: tuple[str, ...]
    everywhere: bool


def by_design_together(report: AssessReport) -> tuple[SettingRiskOfGroups, ...]:
    """Return what settings allow by design, each once, losses first."""
    groups: dict[SettingRisk, list[AssessedGroup]] = {}
    for group in report.groups:
        for risk in group.by_design:
            groups.setdefault(risk, []).append(group)
    return tuple(
        SettingRiskOfGroups(
            risk,
            tuple(topic for group in groups[risk] for topic in group.topics),
            len(groups[risk]) == len(report.groups),
        )
        for risk in sorted(groups, key=lambda risk: risk.severity != "loss")
    )


def assess_blocks(report: AssessReport, detail: int = 0) -> Iterator[Block]:
    """Yield settings, findings, and the audit. detail: below 0 only the verdict, above 0 every finding in full."""
    yield from _settings(report, detail)
    if detail >= 0:
        yield from _by_design(report)
        yield from _findings(report, detail)
    if report.looked_at and detail >= 0:
        yield Line()
        yield from wrapped("audited", f"{', '.join(report.looked_at)}: {several(len(report.flags), 'flag')}")
        for flag in report.flags[:MOST_FLAGS]:
            yield from wrapped(flag.severity.upper(), f"{flag.topic}-{flag.partition}: {flag.message}")
            yield from wrapped("  now", flag.remedy)
        if len(report.flags) > MOST_FLAGS:
            yield from wrapped("", f"{len(report.flags) - MOST_FLAGS} more: see `elrcheck audit`")
        yield from _near_misses(report, detail)
        yield from _invisible(report)
    if report.interrupted:
        yield Line("interrupted: this is a partial report, of what was read until then")
    for line in report.unread:
        yield Labelled("unread", line, indent=0)
    if detail >= 0:
        yield Line()
        yield from wrapped(
            "searched", "nothing: this is what is on record; `elrcheck risk` searches with these settings"
        )
    yield Headline(report.verdict, f"{assessment_in_words(report)}, {report.seconds:.1f} s")


def assessment_in_words(report: AssessReport) -> str:
    """Return in a line what is known to happen."""
    findings = [one.finding for one in findings_together(report)]
    losses = [one for one in findings if one.severity == "loss"]
    on_brokers = sum(one.level == "brokers" for one in losses)
    losing = f"{len(losses)} findings lose acknowledged records, {on_brokers} of them on brokers of the release"
    outages = f"{len(findings) - len(losses)} leave a partition without a leader or a broker outside"
    flags = f"; the audit has {several(len(report.flags), 'flag')}" if report.looked_at else ""
    if report.invisible:
        flags = f"{flags}, and cannot see {', '.join(each.finding for each in report.invisible)}"
    in_release = f"{losing}; {outages}" if findings else "no finding is known with these settings"
    return f"{_allowed(report)}{in_release}{flags}"


def _allowed(report: AssessReport) -> str:
    """Return in words that settings allow a loss by design; empty if none do."""
    losing = [group for group in report.groups if any(risk.severity == "loss" for risk in group.by_design)]
    topics = sum(len(group.topics) for group in losing)
    whose = f" of {several(topics, 'topic', written=f'{topics:,}')}" if topics else ""
    settings = "assumed settings" if any(group.assumed for group in losing) else "settings"
    return f"the {settings}{whose} allow a loss by design; " if losing else ""


def _settings(report: AssessReport, detail: int) -> Iterator[Block]:
    """Yield what the settings have in common, then each kind of settings with its topics."""
    common, apart = shared_and_rest([group.settings for group in report.groups])
    topics = [topic for group in report.groups for topic in group.topics]
    number = several(len(topics), "topic", written=f"{len(topics):,}")
    kinds = f": {number}, {len(apart)} kinds of settings" if len(apart) > 1 else ""
    yield Line(f"{common}{kinds}", style="bold")
    if detail < 0:
        return
    most = None if detail > 0 else MOST_TOPICS
    if len(apart) == 1:
        yield from wrapped("topics", some_of(topics, len(topics) if most is None else most))
    else:
        for words, group in zip(apart[:most], report.groups, strict=False):
            names = some_of(group.topics, most or len(group.topics))
            yield from wrapped("", f"{words}: {several(len(group.topics), 'topic')}, {names}")
        if most is not None and len(apart) > most:
            yield Line(f"and {len(apart) - most} more kinds of settings, of less risk (-v lists them)")
    for note in notes_together(report):
        yield from wrapped("note", note)
    yield Line()


def notes_together(report: AssessReport) -> Iterator[str]:
    """Yield each note once, with the topics that it is about unless it is about all."""
    for note in dict.fromkeys(note for group in report.groups for note in group.notes):
        about = [group for group in report.groups if note in group.notes]
        topics = [topic for group in about for topic in group.topics]
        yield note if len(about) == len(report.groups) else f"{some_of(topics, MOST_TOPICS)}: {note}"


def _by_design(report: AssessReport) -> Iterator[Block]:
    """Yield what the settings allow in every release."""
    for risk, topics, everywhere in by_design_together(report):
        whose = "" if everywhere else f"{len(topics):,}: {some_of(topics, MOST_TOPICS)}"
        yield from designed(risk, whose)


def _findings(report: AssessReport, detail: int) -> Iterator[Block]:
    """Yield losses in full, and every other finding in a line, but with -v."""
    every, in_a_line = sum(len(group.topics) for group in report.groups), 0
    for finding, groups in (together := findings_together(report)):
        label = "LOST" if finding.severity == "loss" else "UNAVAILABLE"
        full = detail > 0 or finding.severity == "loss"
        in_a_line += not full
        seen = "" if full or finding.level == "brokers" else f" ({_seen(finding)})"
        yield from wrapped(label, f"{finding.finding}: {finding.title}{seen}")
        if len(groups) < len(report.groups):
            topics = [topic for group in groups for topic in group.topics]
            yield from wrapped("  topics", f"{len(topics):,} of {every:,}: {some_of(topics, MOST_TOPICS)}")
        if full:
            yield from wrapped("  happens", finding.happens)
            yield from wrapped("  seen", finding.evidence if detail > 0 else _seen(finding))
            yield from wrapped("  loses", finding.lost if finding.lost != "acknowledged records" else "")
            yield from wrapped("  do", finding.remedy)
    if in_a_line:
        first = next(one.finding.finding for one in reversed(together))
        yield Line(f"-v, or `elrcheck show {first}`, says what has to happen and what to do")


def _seen(finding: AssessedFinding) -> str:
    """Return where a finding was shown, and what brokers showed."""
    if finding.level == "brokers":
        paused = finding.forced and finding.on_brokers != "by hand"
        return f"{SEEN['brokers']}: {finding.on_brokers}{', with a process paused' if paused else ''}"
    other = f"; there: {finding.on_brokers}" if finding.on_brokers else ""
    return f"{SEEN[finding.level]}{other}"


def _near_misses(report: AssessReport, detail: int) -> Iterator[Block]:
    if not any(near.times for near in report.near_misses):
        return
    yield Line()
    yield Line("near misses in the log, none of them wrong by itself", style="bold")
    for near in report.near_misses:
        if not near.times:
            continue
        times, partitions = several(near.times, "time"), several(near.partitions, "partition")
        yield Line(f"{NEAR[near.kind]}: {times}, {partitions}")
        listed = near.first if detail > 0 else near.first[:MOST_NEAR]
        for each in listed:
            yield from wrapped(f"  {each.topic}-{each.partition}", f"{each.message}; {span_in_words(each)}")
        if near.times > len(listed):
            yield from wrapped("", f"{near.times - len(listed)} more: see --verbose and --format json")


def span_in_words(near: NearMiss) -> str:
    """Return when a near miss began and ended."""
    end = "still so at the end" if near.until is None else f"to {near.until}, {near.until_time}"
    return f"offset {near.offset}, {near.time}, {end}"


def titles_of(report: AssessReport) -> dict[str, str]:
    """Return the titles of the findings that apply."""
    return {finding.finding: finding.title for group in report.groups for finding in group.findings}


def _invisible(report: AssessReport) -> Iterator[Block]:
    if not report.invisible:
        return
    titles = titles_of(report)
    yield Line()
    yield Line("cannot be seen here: losses of this release that leave no sign in what was audited", style="bold")
    for each in report.invisible:
        yield from wrapped(f"  {each.finding}", f"{titles[each.finding]}. {each.shows}")


def assess_sheet(report: AssessReport) -> Sheet:
    """Return a case for each topic whose settings allow a loss, each finding of each group, and each flag."""
    suites = [
        Suite(settings_in_words(group.settings), (*_designed_cases(report, group), *_assessed_cases(report, group)))
        for group in report.groups
    ]
    if report.flags:
        advisory = report.fail_on == "never"
        suites.append(Suite(AUDITED, tuple(flag_case(flag, advisory) for flag in report.flags)))
    notes = tuple(notes_together(report))
    return Sheet(assessment_in_words(report), tuple(suites), notes, _gauges(report), unread=report.unread)


def _gauges(report: AssessReport) -> tuple[Gauge, ...]:
    """Return for each finding the number of topics that it applies to, or 1 for settings without topics."""
    samples = tuple(
        Sample(
            (*_labels(group), ("finding", one.finding), ("severity", one.severity), ("level", one.level)),
            max(len(group.topics), 1),
        )
        for group in report.groups
        for one in group.findings
    )
    topics = Gauge("assess_topics", "Topics, or partitions of one, with settings that a finding applies to.", samples)
    designed = tuple(
        Sample((*_labels(group), ("setting", risk.setting), ("severity", risk.severity)), max(len(group.topics), 1))
        for group in report.groups
        for risk in group.by_design
    )
    own = Gauge("assess_settings", "Topics whose own settings allow a loss or an outage in every release.", designed)
    partial = Sample((), int(report.incomplete or bool(report.unread)))
    incomplete = Gauge("assess_incomplete", "1 if something that was given could not be read.", (partial,))
    audited = (flag_gauge("assess", report.flags),) if report.looked_at else ()
    counts = tuple(Sample((("kind", near.kind),), near.times) for near in report.near_misses)
    watched = (Gauge("assess_near_misses", "What came close to a loss in the logs.", counts),) if counts else ()
    return (topics, *([own] if designed else []), incomplete, *audited, *watched)


def _labels(group: AssessedGroup) -> tuple[tuple[str, str], ...]:
    """Return the settings as labels; those that a description does not say apart are one group."""
    settings = group.settings
    return (
        ("kafka", settings.kafka),
        ("replication_factor", str(settings.replication_factor)),
        ("min_insync_replicas", str(settings.min_insync_replicas)),
        ("elr", "on" if settings.elr else "off"),
        ("unclean_leader_election", "on" if settings.unclean_leader_election_enable else "off"),
        ("partition_zero", "yes" if settings.first_partition else "no"),
    )


def _designed_cases(report: AssessReport, group: AssessedGroup) -> Iterator[Case]:
    """Yield a case for each topic of a group and each thing that its settings allow."""
    whose = list(itertools.zip_longest(group.topics, group.places, group.lines)) or [("", None, None)]
    for risk in group.by_design:
        fails = report.fails_for(risk.severity, by_design=True)
        for topic, place, lines in whose:
            if place is not None and lines is not None and risk.setting in lines:
                place = f"{place.rpartition(':')[0]}:{lines[risk.setting]}"
            ident = f"{topic}: {risk.setting}" if topic else risk.setting
            yield Case(
                ident,
                ident,
                "failed",
                risk.severity,
                f"{topic}: {risk.happens}" if topic else risk.happens,
                f"{risk.happens}\ndo: {risk.remedy}\n",
                place=place,
                rule=risk.setting,
                level="error" if fails else "warning",
                advisory=not fails,
                help=risk.remedy,
            )


def _assessed_cases(report: AssessReport, group: AssessedGroup) -> Iterator[Case]:
    """Yield a case for each finding; an error is what `--fail-on` fails for."""
    topics = f" ({some_of(group.topics, MOST_TOPICS)})" if group.topics else ""
    for finding in group.findings:
        fails = report.fails_for(finding.severity)
        yield Case(
            finding.finding,
            finding.title,
            "failed",
            finding.severity,
            f"{finding.title}{topics}",
            f"{finding.happens}\nlost: {finding.lost}\nseen: {finding.evidence}\ndo: {finding.remedy}\n",
            place=next(iter(group.places), None),
            help=finding.remedy,
            level="error" if fails else "warning",
            advisory=not fails,
        )


KINDS: ReportKinds = {AssessReport: ReportKind("assess", assess_blocks, assess_sheet)}
