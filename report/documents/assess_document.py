"""An assessment as text: what a log or a cluster shows, then what settings and release allow, the worst first.

Kafka 4.1.2, replication factor 3, min.insync.replicas 1, acks=all, ELR on, unclean election off
BY DESIGN    min.insync.replicas: The last replica in sync acknowledges records alone; they are lost with its log.
  do         While every ISR is complete and no broker is about to stop, set min.insync.replicas to 2 ..
CAN LOSE     F-20: The ELR keeps brokers that are no longer replicas
  happens    A reassignment is cancelled, or leaves fewer replicas than min.insync.replicas, while ..
  seen       has lost records on brokers of this release
  do         Do not reassign a partition to fewer replicas than min.insync.replicas, ..
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from elrcheck.report.document import Block, Case, Gauge, Headline, Line, ReportKind, ReportKinds, Sample, Sheet, Suite
from elrcheck.report.documents.audit_document import flag_case, flag_gauge
from elrcheck.report.documents.risk_document import designed, settings_in_words, shared_and_rest, wrapped
from elrcheck.report.plain_words import several, some_of
from elrcheck.report.words.assess_words import (
    CAN,
    MOST_TOPICS,
    assessment_in_words,
    by_design_together,
    difference_rows,
    findings_together,
    notes_together,
    seen_in_words,
    span_in_words,
    titles_of,
)
from elrcheck.report.words.audit_words import NEAR, advice_label, partition_in_words, together_in_words
from elrcheck.report.words.audit_words import span_in_words as flag_span
from elrcheck.results.risk.assess_report import AssessComparison, AssessedGroup, AssessReport

AUDITED = "audit"
"""The name of the suite of flags."""
MOST_UNREAD = 8
"""Messages about parts that could not be read that the text shows without -v."""
MOST_NEAR = 3
"""Near misses of a kind that the text shows."""
MOST_FLAGS = 5
"""Flags of an audit that the text of an assessment shows."""


def assess_blocks(report: AssessReport, detail: int = 0) -> Iterator[Block]:
    """Yield settings, the audit, and findings. detail: below 0 in a line each, above 0 every finding in full."""
    yield from _settings(report, detail)
    if report.looked_at:
        yield from _audited(report, detail)
    for comparison in report.comparisons:
        yield from _comparison(comparison, report.groups[0].settings.kafka)
    if detail >= 0 and (report.looked_at or report.comparisons):
        yield Line("what this release and these settings can do, whatever stands above", style="bold")
    yield from _by_design(report, detail)
    yield from _findings(report, detail)
    if report.interrupted:
        yield Line("interrupted: this is a partial report, of what was read until then")
    if detail >= 0:
        yield Line()
        yield from wrapped("no search", "these findings are on record; `elrcheck risk` searches with these settings")
    yield Headline(report.verdict, f"{assessment_in_words(report)}, {report.seconds:.1f} s")


def _settings(report: AssessReport, detail: int) -> Iterator[Block]:
    """Yield what the settings have in common, then each kind of settings with its topics."""
    common, apart = shared_and_rest([group.settings for group in report.groups])
    topics = [topic for group in report.groups for topic in group.topics]
    number = several(len(topics), "topic", written=f"{len(topics):,}")
    kinds = f": {number}, {len(apart)} kinds of settings" if len(apart) > 1 else ""
    yield Line(f"{common}{kinds}", style="bold")
    listed = len(report.unread) if detail > 0 else MOST_UNREAD
    for line in report.unread[:listed]:
        yield from wrapped("unread", line)
    if len(report.unread) > listed:
        yield from wrapped("", f"{len(report.unread) - listed} more parts that could not be read (-v lists them)")
    if detail < 0:
        return
    if detail > 0:
        for words, group in zip(apart, report.groups, strict=True):
            if group.topics:
                yield Line(f"{words if len(apart) > 1 else 'topics'}: {several(len(group.topics), 'topic')}")
                yield from (Line(f"  {topic}") for topic in group.topics)
    elif len(apart) == 1:
        yield from wrapped("topics", some_of(topics, MOST_TOPICS))
    else:
        for words, group in zip(apart[:MOST_TOPICS], report.groups, strict=False):
            names = some_of(group.topics, MOST_TOPICS)
            yield from wrapped("", f"{words}: {several(len(group.topics), 'topic')}, {names}")
        if len(apart) > MOST_TOPICS:
            yield Line(f"and {len(apart) - MOST_TOPICS} more kinds of settings, of less risk (-v lists them)")
    for note in notes_together(report):
        yield from wrapped("note", note)
    yield Line()


def _audited(report: AssessReport, detail: int) -> Iterator[Block]:
    """Yield what the audit shows: flags, near misses, and what it cannot see."""
    yield from wrapped("audited", f"{', '.join(report.looked_at)}: {several(len(report.flags), 'flag')}")
    for flag in report.flags[:MOST_FLAGS]:
        partition = partition_in_words(flag, report.looked_at)
        yield from wrapped(flag.severity.upper(), f"{partition}: {flag.message}; {flag_span(flag)}")
        if detail >= 0:
            yield from wrapped(f"  {advice_label(flag)}", flag.remedy)
    if len(report.flags) > MOST_FLAGS:
        yield from wrapped("", f"{len(report.flags) - MOST_FLAGS} more: see `elrcheck audit`")
    if detail >= 0:
        yield from _near_misses(report, detail)
        yield from _invisible(report)
        yield Line()


def _comparison(comparison: AssessComparison, here: str) -> Iterator[Block]:
    """Yield what differs with one setting changed, a line or two for each difference. here: the release asked about."""
    rows = difference_rows(comparison, here)
    yield Line(f"compared with {comparison.changed}{'' if rows else ': nothing differs'}", style="bold")
    for label, what, title, words in rows:
        yield from wrapped(label, f"{what}{f', {title}' if title else ''}: {words}")
    yield Line()


def _by_design(report: AssessReport, detail: int) -> Iterator[Block]:
    """Yield what the settings allow in every release."""
    for risk, topics, everywhere in by_design_together(report):
        whose = "" if everywhere else f"{len(topics):,}: {some_of(topics, MOST_TOPICS)}"
        yield from designed(risk, whose, in_full=detail >= 0)


def _findings(report: AssessReport, detail: int) -> Iterator[Block]:
    """Yield losses in full, and every other finding in a line, but with -v; with -q all in a line."""
    every, in_a_line = sum(len(group.topics) for group in report.groups), 0
    for finding, groups in (together := findings_together(report)):
        full = detail > 0 or (detail == 0 and finding.severity == "loss")
        in_a_line += not full
        seen = "" if full or finding.level == "brokers" else f" ({seen_in_words(finding)})"
        yield from wrapped(CAN[finding.severity], f"{finding.finding}: {finding.title}{seen}")
        if detail >= 0 and len(groups) < len(report.groups):
            topics = [topic for group in groups for topic in group.topics]
            yield from wrapped("  topics", f"{len(topics):,} of {every:,}: {some_of(topics, MOST_TOPICS)}")
        if full:
            yield from wrapped("  happens", finding.happens)
            yield from wrapped("  seen", finding.evidence if detail > 0 else seen_in_words(finding))
            yield from wrapped("  loses", finding.lost if finding.lost != "acknowledged records" else "")
            yield from wrapped("  do", finding.remedy)
    if in_a_line and detail >= 0:
        last = together[-1].finding.finding
        yield Line(f"-v says what has to happen and what to do, `elrcheck show {last}` everything about one of them")


def _near_misses(report: AssessReport, detail: int) -> Iterator[Block]:
    if not any(near.times for near in report.near_misses):
        return
    yield Line("near misses in the log: no rule is broken, but a loss may begin so", style="bold")
    for together in report.near_together:
        yield from wrapped("TOGETHER", together_in_words(together, report.looked_at))
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


def _invisible(report: AssessReport) -> Iterator[Block]:
    if not report.invisible:
        return
    titles = titles_of(report)
    yield Line("cannot be seen here: losses of this release that leave no sign in what was audited", style="bold")
    for each in report.invisible:
        yield from wrapped(f"  {each.finding}", f"{titles[each.finding]}. {each.shows}")


def assess_sheet(report: AssessReport) -> Sheet:
    """Return a case for each topic whose settings allow a loss, each finding of the release, and each flag."""
    suites = [Suite(settings_in_words(group.settings), _settings_cases(report, group)) for group in report.groups]
    if of_release := tuple(_known_cases(report)):
        suites.append(Suite(f"known of Kafka {report.groups[0].settings.kafka}", of_release))
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
    settings = group.settings
    return (
        ("kafka", settings.kafka),
        ("replication_factor", str(settings.replication_factor)),
        ("min_insync_replicas", str(settings.min_insync_replicas)),
        ("elr", "on" if settings.elr else "off"),
        ("unclean_leader_election", "on" if settings.unclean_leader_election_enable else "off"),
    )


def _settings_cases(report: AssessReport, group: AssessedGroup) -> tuple[Case, ...]:
    """Return a case for each topic of a group and each thing that its settings allow, or one that passes."""
    whose = f"settings of {some_of(group.topics, MOST_TOPICS)}" if group.topics else "settings"
    nothing = Case("settings", whose, "passed", "allow neither a loss nor an outage by design")
    return tuple(_designed_cases(report, group)) or (nothing,)


def _designed_cases(report: AssessReport, group: AssessedGroup) -> Iterator[Case]:
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


def _known_cases(report: AssessReport) -> Iterator[Case]:
    """Yield a case for each finding, at its first topic; an error is what `--fail-on` fails for."""
    for together in findings_together(report):
        finding, fails = together.finding, report.fails_for(together.finding.severity)
        topics = f" ({some_of(together.topics, MOST_TOPICS)})" if together.topics else ""
        yield Case(
            finding.finding,
            finding.title,
            "failed",
            finding.severity,
            f"{finding.title}{topics}",
            f"{finding.happens}\nlost: {finding.lost}\nseen: {finding.evidence}\ndo: {finding.remedy}\n",
            place=next((place for group in together.groups for place in group.places), None),
            help=finding.remedy,
            level="error" if fails else "note",
            advisory=not fails,
            page=f"findings/{finding.finding}.md",
        )


KINDS: ReportKinds = {AssessReport: ReportKind("assess", assess_blocks, assess_sheet)}
