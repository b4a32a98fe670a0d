"""`elrcheck assess`: the findings known to lose data with these settings, and their signs in a log or a cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from elrcheck.base.errors import UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import AssessRequest, AuditRequest, RiskRequest
from elrcheck.base.progress import Progress
from elrcheck.kafka.assess.known_findings import KnownFindings
from elrcheck.kafka.assess.near_misses import near_misses
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.risk.compared_requests import of_group, topic_groups
from elrcheck.kafka.risk.settings_group import settings_named
from elrcheck.results.audit_report import AuditReport, InvisibleFinding
from elrcheck.results.risk.assess_report import AssessedGroup, AssessReport, NearMisses


def run_assess(request: AssessRequest, progress: Progress) -> AssessReport:
    """Assess the settings of a release, topics, logs or a cluster; UsageFault if no release is given or detected."""
    started = time.monotonic()
    audits = _audits(request, progress)
    question, notes = _question(request, audits)
    near, stopped = _near(request, progress)
    progress.stage("reading what is on record")
    recorded, unread = KnownFindings(), tuple[str, ...]()
    if not request.topics:
        groups: tuple[AssessedGroup, ...] = (_group(question, recorded, notes),)
    else:
        described, unread = topic_groups(question, request.topics)
        groups = tuple(_group(of_group(question, group), recorded, notes, group.place) for group in described)
    applying = frozenset(finding.finding for group in groups for finding in group.findings)
    return AssessReport(
        groups=groups,
        flags=tuple(flag for audit in audits for flag in audit.flags),
        looked_at=tuple(name for audit in audits for name in _names(audit)),
        records=sum(audit.records for audit in audits),
        invisible=tuple(each for each in _invisible(audits) if each.finding in applying),
        near_misses=near,
        incomplete=any(audit.verdict == "inconclusive" for audit in audits),
        unread=unread,
        fail_on=request.fail_on,
        seconds=round(time.monotonic() - started, 3),
        interrupted=stopped or any(audit.interrupted for audit in audits),
    )


def _audits(request: AssessRequest, progress: Progress) -> list[AuditReport]:
    """Audit the logs and the cluster that the request names, if any."""
    questions = []
    if request.logs:
        questions.append(AuditRequest(request.logs))
    if request.bootstrap is not None:
        questions.append(AuditRequest(bootstrap=request.bootstrap, client_config=request.client_config))
    return [run_audit(question, progress) for question in questions]


def _names(audit: AuditReport) -> list[str]:
    return [log.name for log in audit.logs] if audit.cluster is None else [audit.cluster.name]


def _invisible(audits: Sequence[AuditReport]) -> list[InvisibleFinding]:
    """Return the findings that no audit can see."""
    in_each = [frozenset(each.finding for each in audit.invisible) for audit in audits]
    return [each for audit in audits[:1] for each in audit.invisible if all(each.finding in one for one in in_each)]


def _near(request: AssessRequest, progress: Progress) -> tuple[tuple[NearMisses, ...], bool]:
    """Return the near misses of the logs, and whether reading them was interrupted."""
    if not request.logs:
        return (), False
    progress.stage("looking for near misses")
    with Interrupts() as interrupted:
        return near_misses(request.logs, interrupted), interrupted()


def _question(request: AssessRequest, audits: Sequence[AuditReport]) -> tuple[RiskRequest, tuple[str, ...]]:
    """Return the settings to assess, with notes on them.

    A live cluster, or the registrations in a log, say the release; both say whether ELR is on.
    """
    audited = [each for audit in audits for each in (audit.logs if audit.cluster is None else (audit.cluster,))]
    lines = {each.kafka: each.or_later for each in audited if each.kafka}
    if not request.kafka and len(lines) != 1:
        seen = f"they are of {' and '.join(sorted(lines))}: " if lines else ""
        raise UsageFault("usage-missing", "which release of Kafka?", help=f"{seen}give --kafka, such as --kafka 4.1")
    kafka = request.kafka or next(iter(lines))
    notes: tuple[str, ...] = ()
    if not request.kafka and lines[kafka]:
        notes = (f"the brokers run Kafka {kafka} or later; if it is later, name it with --kafka",)
    elr = request.elr
    if elr is None and audited:
        elr = any(each.elr_version > 0 for each in audited)
    question = RiskRequest(
        kafka,
        replication_factor=request.replication_factor,
        min_insync_replicas=request.min_insync_replicas,
        unclean_leader_election_enable=request.unclean_leader_election_enable,
    )
    return (question if elr is None else replace(question, elr=elr)), notes


def _group(
    request: RiskRequest, recorded: KnownFindings, about: tuple[str, ...], place: str | None = None
) -> AssessedGroup:
    settings, notes = settings_named(request)
    return AssessedGroup(settings, recorded.applying(settings), request.topics, (*about, *notes), place)
