"""What differs if one setting changes: findings that are gone or new, and those that were seen in another way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.kafka.assess.known_findings import KnownFindings
from elrcheck.kafka.risk.compared_requests import compared
from elrcheck.kafka.risk.setting_risks import setting_risks
from elrcheck.kafka.risk.settings_group import settings_named
from elrcheck.results.risk.assess_report import AssessChange, AssessComparison, AssessedFinding
from elrcheck.results.risk.risk_report import RiskSettings


def comparisons(
    requests: Sequence[RiskRequest], others: Sequence[str], recorded: KnownFindings
) -> tuple[AssessComparison, ...]:
    """Return a comparison for each `KEY=VALUE[,KEY=VALUE..]`; requests: of every group of settings."""
    here = [settings_named(request)[0] for request in requests]
    return tuple(_comparison(here, requests, text, recorded) for text in others)


def _comparison(
    here: Sequence[RiskSettings], requests: Sequence[RiskRequest], text: str, recorded: KnownFindings
) -> AssessComparison:
    there = [settings_named(compared(request, [text])[1])[0] for request in requests]
    changes = tuple(sorted(_changes(here, there, recorded), key=lambda change: change.finding.rank))
    allowed, also = ({risk: None for each in some for risk in setting_risks(each)} for some in (here, there))
    gone = tuple(risk for risk in allowed if risk not in also)
    return AssessComparison(text, there[0].kafka, changes, gone, tuple(risk for risk in also if risk not in allowed))


def _changes(
    here: Sequence[RiskSettings], there: Sequence[RiskSettings], recorded: KnownFindings
) -> Iterator[AssessChange]:
    ours, theirs = _applying(here, recorded), _applying(there, recorded)
    for name in ours | theirs:
        if name not in theirs:
            yield AssessChange("gone", ours[name], absence=recorded.absence(name, there))
        elif name not in ours:
            yield AssessChange("new", theirs[name], absence=recorded.absence(name, here))
        elif _manner(ours[name]) != _manner(theirs[name]):
            yield AssessChange("seen", theirs[name], ours[name])


def _applying(settings: Sequence[RiskSettings], recorded: KnownFindings) -> dict[str, AssessedFinding]:
    return {finding.finding: finding for each in settings for finding in recorded.applying(each)}


def _manner(finding: AssessedFinding) -> tuple[str, bool, bool]:
    """Return how a finding was seen, not by how many recipes: releases were not tried with the same ones."""
    return finding.level, finding.forced, "not seen" in finding.on_brokers
