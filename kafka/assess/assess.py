"""`elrcheck assess`: what is known to lose data with these settings, and what a log or a cluster shows of it."""

from __future__ import annotations

import time
from dataclasses import replace

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import AssessRequest, AuditRequest, RiskRequest
from elrcheck.base.progress import Progress
from elrcheck.kafka.assess.known_findings import KnownFindings
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.audit.rules import NEXT_STEPS, RULES
from elrcheck.kafka.risk.compared_requests import of_group, topic_groups
from elrcheck.kafka.risk.settings_group import settings_named
from elrcheck.results.audit_report import AuditReport
from elrcheck.results.risk.assess_report import AssessedGroup, AssessReport

SIGNS_IN_LOGS = frozenset(rule.hazard for rule in RULES.values() if rule.hazard and rule.name not in NEXT_STEPS)
SIGNS_LIVE = frozenset(rule.hazard for rule in RULES.values() if rule.hazard)
"""Findings that some rule of the audit is a sign of, in a log and in a cluster that runs."""


def run_assess(request: AssessRequest, progress: Progress) -> AssessReport:
    """Assess the settings of a release, topics, logs or a cluster; UsageFault if there is no release to ask about."""
    started = time.monotonic()
    audit = _audit(request, progress)
    question = _question(request, audit)
    progress.stage("reading what is on record")
    recorded, unread = KnownFindings(), tuple[str, ...]()
    if not request.topics:
        groups: tuple[AssessedGroup, ...] = (_group(question, recorded),)
    else:
        described, unread = topic_groups(question, request.topics)
        groups = tuple(_group(of_group(question, group), recorded, group.place) for group in described)
    signs = frozenset[str]() if audit is None else SIGNS_IN_LOGS if audit.cluster is None else SIGNS_LIVE
    applying = dict.fromkeys(finding.finding for group in groups for finding in group.findings)
    return AssessReport(
        groups=groups,
        flags=() if audit is None else audit.flags,
        looked_at=() if audit is None else tuple(log.name for log in audit.logs) or (request.bootstrap or "",),
        records=0 if audit is None else audit.records,
        no_sign=tuple(name for name in applying if audit is not None and name not in signs),
        incomplete=audit is not None and audit.verdict == "inconclusive",
        unread=unread,
        fail_on=request.fail_on,
        seconds=round(time.monotonic() - started, 3),
    )


def _audit(request: AssessRequest, progress: Progress) -> AuditReport | None:
    if not request.logs and request.bootstrap is None:
        return None
    question = AuditRequest(request.logs, bootstrap=request.bootstrap, client_config=request.client_config)
    return run_audit(question, progress)


def _question(request: AssessRequest, audit: AuditReport | None) -> RiskRequest:
    """Return the settings that are asked about; a live cluster says its release and whether ELR is on."""
    kafka, elr = request.kafka, request.elr
    if audit is not None and audit.cluster is not None:
        kafka = kafka or audit.cluster.kafka
        elr = audit.cluster.elr_version > 0 if elr is None else elr
    if not kafka:
        help = "give --kafka VERSION, such as --kafka 4.1; a metadata log does not name the release"
        raise UsageFault("usage-missing", "of which release of Kafka?", help=help)
    question = RiskRequest(
        kafka,
        replication_factor=request.replication_factor,
        min_insync_replicas=request.min_insync_replicas,
        unclean_leader_election_enable=request.unclean_leader_election_enable,
    )
    return question if elr is None else replace(question, elr=elr)


def _group(request: RiskRequest, recorded: KnownFindings, place: str | None = None) -> AssessedGroup:
    settings, notes = settings_named(request)
    return AssessedGroup(settings, recorded.applying(settings), request.topics, notes, place)
