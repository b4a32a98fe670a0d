"""An assessment in words: findings and settings each once, the worst first, and what differs between releases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from elrcheck.report.plain_words import several, some_of
from elrcheck.results.audit_report import NearMiss
from elrcheck.results.risk.assess_report import (
    Absence,
    AssessComparison,
    AssessedFinding,
    AssessedGroup,
    AssessReport,
    ChangeKind,
)
from elrcheck.results.risk.finding_table import NO_LEADER, Level
from elrcheck.results.risk.risk_report import FindingSeverity, SettingRisk

CAN: dict[FindingSeverity, str] = {"loss": "CAN LOSE", "unavailable": "OUTAGE"}
"""What a finding can do, which is not what a log shows."""
DONE: dict[FindingSeverity, str] = {"loss": "has lost records", "unavailable": "has happened"}
SEEN: dict[Level, str] = {
    "classes": "Kafka's own classes of this release do it; not shown on its brokers",
    "model": "only the model of this release does it; not shown on Kafka",
}
GONE: dict[Absence | None, str] = {"prevented": "fixed", "not-tried": "not tried", "inconclusive": "not tried"}
"""The word for a finding that is not known of the other release, if that is not gone."""
CHANGES: tuple[ChangeKind, ...] = ("gone", "new", "seen")
ABSENT: dict[Absence, str] = {
    "prevented": "prevents it",
    "not-shown": "tried, and not shown",
    "inconclusive": "tried, without a result",
    "not-tried": "not tried",
    "settings": "not with these settings",
}
"""Why a finding is not known of a release with settings."""
PLAIN = ("lost", NO_LEADER)
"""What brokers showed that the severity of a finding says already."""
WORST_SETTINGS = ("replication.factor", "unclean.leader.election.enable", "min.insync.replicas")
"""The settings whose values can lose records, those that lose most first."""
BY_HAND = "by hand"
MOST_TOPICS = 6
"""Topics, and kinds of settings, that the text names without -v."""
MOST_LOGS = 2
"""Logs that the verdict names."""


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
    """Return what settings allow by design, each once, the worst first."""
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
        for risk in sorted(groups, key=lambda risk: (risk.severity != "loss", WORST_SETTINGS.index(risk.setting)))
    )


def assessment_in_words(report: AssessReport) -> str:
    """Return in a line what the audit shows, then what settings and release allow."""
    findings = [one.finding for one in findings_together(report)]
    losses = [one for one in findings if one.severity == "loss"]
    on_brokers = sum(one.level == "brokers" for one in losses)
    losing = (
        f"{len(losses)} known findings can lose acknowledged records, {on_brokers} of them have on brokers of this"
        f" release; {len(findings) - len(losses)} can leave a partition without a leader or stop a broker"
    )
    in_release = losing if findings else "no finding is known with these settings"
    return "; ".join(filter(None, (_flagged(report), _allowed(report), in_release)))


def _flagged(report: AssessReport) -> str:
    """Return in words what the audit shows, and which losses it cannot show; empty without one."""
    if not report.looked_at:
        return ""
    where = some_of(report.looked_at, MOST_LOGS)
    if report.flags:
        still = sum(flag.until is None for flag in report.flags)
        over = f"{still} of them not over" if still else "each over at its end"
        return f"{several(len(report.flags), 'flag')} in {where}, {over}"
    unseen = ", ".join(each.finding for each in report.invisible)
    whole = ", of which a part could not be read" if report.incomplete else ""
    return f"no sign of a loss in {where}{whole}" + (f", which cannot show {unseen}" if unseen else "")


def _allowed(report: AssessReport) -> str:
    """Return in words that settings allow a loss by design; empty if none do."""
    losing = [group for group in report.groups if any(risk.severity == "loss" for risk in group.by_design)]
    topics = sum(len(group.topics) for group in losing)
    whose = f" of {several(topics, 'topic', written=f'{topics:,}')}" if topics else ""
    settings = "assumed settings" if any(group.assumed for group in losing) else "settings"
    return f"the {settings}{whose} allow a loss by design" if losing else ""


def notes_together(report: AssessReport) -> Iterator[str]:
    """Yield each note once, with the topics that it is about unless it is about all."""
    for note in dict.fromkeys(note for group in report.groups for note in group.notes):
        about = [group for group in report.groups if note in group.notes]
        topics = [topic for group in about for topic in group.topics]
        yield note if len(about) == len(report.groups) else f"{some_of(topics, MOST_TOPICS)}: {note}"


def difference_rows(comparison: AssessComparison, here: str) -> list[tuple[str, str, str, str]]:
    """Return how each difference is called, the setting or finding, its title, and what was seen on both sides."""
    rows = [
        (label, risk.setting, "by design", risk.happens)
        for label, risks in (("gone", comparison.by_design_gone), ("new", comparison.by_design_new))
        for risk in risks
    ]
    for change in sorted(comparison.changes, key=lambda change: CHANGES.index(change.change)):
        shown_there = f"{comparison.kafka} {_level_in_words(change.finding)}"
        why = ABSENT.get(change.absence or "settings", "")
        match change.change:
            case "gone":
                label = GONE.get(change.absence, "gone")
                words = f"{comparison.kafka} {why}"
            case "new":
                label, words = "new", f"{shown_there}; {here} {why}"
            case "seen":
                assert change.before is not None
                label, words = "seen", f"{here} {_level_in_words(change.before)}; {shown_there}"
        rows.append((label, change.finding.finding, change.finding.title, words))
    return rows


def _level_in_words(finding: AssessedFinding) -> str:
    """Return the level at which a finding was shown, and what brokers showed."""
    if finding.level != "brokers":
        return f"{finding.level} only"
    paused = " with a process paused" if finding.forced and finding.on_brokers != BY_HAND else ""
    return f"brokers: {finding.on_brokers}{paused}"


def seen_in_words(finding: AssessedFinding) -> str:
    """Return where a finding was shown, and what brokers showed."""
    if finding.level == "brokers":
        paused = finding.forced and finding.on_brokers != BY_HAND
        how = ", with a process paused" if paused else ", in steps by hand" if finding.on_brokers == BY_HAND else ""
        runs = "" if finding.on_brokers in (*PLAIN, BY_HAND) else f": {finding.on_brokers}"
        return f"{DONE[finding.severity]} on brokers of this release{how}{runs}"
    other = f", which showed: {finding.on_brokers}" if finding.on_brokers else ""
    return f"{SEEN[finding.level]}{other}"


def span_in_words(near: NearMiss) -> str:
    """Return when a near miss began and ended."""
    end = "still so at the end" if near.until is None else f"to {near.until}, {near.until_time}"
    return f"offset {near.offset}, {near.time}, {end}"


def titles_of(report: AssessReport) -> dict[str, str]:
    """Return the titles of the findings that apply."""
    return {finding.finding: finding.title for group in report.groups for finding in group.findings}
