"""`elrcheck assess`: the findings known to lose data with these settings, and their signs in a log or a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from datetime import UTC, datetime

from elrcheck.base.errors import UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.kafka_requests import AssessRequest, AuditRequest, RiskRequest
from elrcheck.base.progress import Progress
from elrcheck.catalogue.configured import release_numbers
from elrcheck.kafka.assess.known_findings import KnownFindings
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.audit.live_audit import audit_cluster
from elrcheck.kafka.audit.near_misses import NearMissWatch, near_misses, watched
from elrcheck.kafka.live.snapshot import ClusterSnapshot
from elrcheck.kafka.log.cluster_state import ClusterState
from elrcheck.kafka.risk.settings_group import (
    FIRST_WITH_FEATURE,
    compared,
    groups_in,
    of_group,
    release_named,
    setting_risks,
    settings_named,
)
from elrcheck.kafka.topics.described import MIN_ISR, UNCLEAN, Described, TopicDescription, TopicSettings, topics_in_use
from elrcheck.kafka.topics.topic_files import read_topics
from elrcheck.report.plain_words import several, some_of
from elrcheck.results.audit_report import AuditReport, InvisibleFinding
from elrcheck.results.risk.assess_report import (
    AssessChange,
    AssessComparison,
    AssessedFinding,
    AssessedGroup,
    AssessReport,
)
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


# ---------------------------------------------------------------------------- the report

FACTOR = "replication.factor"
MOST_PLACES = 4
"""Definitions of one topic that a note names."""


def run_assess(request: AssessRequest, progress: Progress) -> AssessReport:
    """Assess the settings of a release, topics, logs or a cluster; UsageFault if no release is given or detected."""
    started = time.monotonic()
    snapshots: list[ClusterSnapshot] = []
    audits = _audits(request, progress, snapshots)
    question, notes = _question(request, audits)
    watches, stopped = _watched(request, progress)
    progress.stage("reading what is on record")
    recorded, unread = KnownFindings(), tuple[str, ...]()
    topics = _topics(request, watches, snapshots)
    if not topics.topics:
        assumed = tuple(name for name, value in _sizes(request).items() if value is None)
        notes = (*notes, *_assumed(assumed, question, bool(audits)))
        requests = [question]
        groups: tuple[AssessedGroup, ...] = (_group(question, recorded, notes, assumed=assumed),)
    else:
        described, unread = groups_in(question, topics, apart=False)
        notes = (*notes, *_unrecorded(request, topics), *_twice(topics))
        requests = [of_group(question, group) for group in described]
        groups = tuple(_group(one, recorded, notes, of) for one, of in zip(requests, described, strict=True))
    applying = frozenset(finding.finding for group in groups for finding in group.findings)
    flags = tuple(flag for audit in audits for flag in audit.flags)
    risky = any(group.findings or group.by_design for group in groups)
    return AssessReport(
        verdict="violated" if flags else "at_risk" if risky else "not_known",
        groups=groups,
        flags=flags,
        topic_files=tuple(map(str, request.topics)),
        looked_at=tuple(name for audit in audits for name in _names(audit)),
        records=sum(audit.records for audit in audits),
        invisible=tuple(each for each in _invisible(audits) if each.finding in applying),
        near_misses=near_misses(watches) if request.logs else (),
        near_together=tuple(near for watch in watches for near in watch.together()),
        incomplete=any(audit.verdict == "inconclusive" for audit in audits),
        unread=unread,
        fail_on=request.fail_on,
        assessed=datetime.now(UTC).isoformat(" ", "seconds"),
        comparisons=comparisons(requests, request.compare, recorded),
        seconds=round(time.monotonic() - started, 3),
        interrupted=stopped or any(audit.interrupted for audit in audits),
    )


def _audits(request: AssessRequest, progress: Progress, snapshots: list[ClusterSnapshot]) -> list[AuditReport]:
    """Audit the logs and the cluster that the request names, if any; add the cluster to `snapshots`."""
    audits = []
    if request.logs:
        audits.append(run_audit(AuditRequest(request.logs), progress, near=False))
    if request.bootstrap is not None:
        question = AuditRequest(bootstrap=request.bootstrap, client_config=request.client_config)
        audits.append(audit_cluster(question, progress, snapshots.append))
    return audits


def _names(audit: AuditReport) -> list[str]:
    return [log.name for log in audit.logs] if audit.cluster is None else [audit.cluster.name]


def _invisible(audits: Sequence[AuditReport]) -> list[InvisibleFinding]:
    """Return the findings that no audit can see."""
    in_each = [frozenset(each.finding for each in audit.invisible) for audit in audits]
    return [each for audit in audits[:1] for each in audit.invisible if all(each.finding in one for one in in_each)]


def _watched(request: AssessRequest, progress: Progress) -> tuple[list[NearMissWatch], bool]:
    """Return what was watched in the logs, and whether reading them was interrupted."""
    if not request.logs:
        return [], False
    progress.stage("looking for near misses")
    with Interrupts() as interrupted:
        return watched(request.logs, interrupted), interrupted()


def _topics(
    request: AssessRequest, watches: Sequence[NearMissWatch], snapshots: Sequence[ClusterSnapshot]
) -> Described:
    """Return the topics of the request, else those of the logs and the cluster; none if the settings are given.

    A topic that several logs have counts once, as the log that ends at the highest offset has it, or the live cluster.
    """
    options = [name for name, value in _sizes(request).items() if value is not None]
    if request.topics:
        if options:
            help = "topics may come from [assess] in elrcheck.toml; --config FILE names other settings"
            option = f"--{options[0].replace('.', '-')}"
            raise UsageFault(
                "usage-option", f"{option} is a setting of one topic, and --topics already has the settings", help=help
            )
        return read_topics(request.topics, request.exclude)
    if options:
        return Described((), {}, ())
    states: list[tuple[ClusterState, Set[str] | None, Set[str]]]
    states = [(watch.state, None, frozenset()) for watch in sorted(watches, key=lambda watch: watch.end)]
    states += [(each.state, each.unclean, each.min_isr_unknown) for each in snapshots]
    latest: dict[str, TopicDescription] = {}
    for state, unclean, unreported in states:
        latest = {each: topic for each, topic in latest.items() if not state.has_removed(each)}
        latest |= {topic.topic_id: topic for topic in topics_in_use(state, unclean, unreported)}
    return Described(tuple(latest.values()), {}, ())


def _sizes(request: AssessRequest) -> dict[str, int | None]:
    """Return the settings that options give, by Kafka's names; None for one that was not given."""
    return {FACTOR: request.replication_factor, MIN_ISR: request.min_insync_replicas}


def _assumed(names: Sequence[str], question: RiskRequest, audited: bool) -> Iterator[str]:
    """Yield a note on the settings that the request omits. audited: a log or a cluster was read."""
    if names:
        values = {FACTOR: question.replication_factor, MIN_ISR: question.min_insync_replicas}
        words = " and ".join(f"{name} {values[name]}" for name in names)
        verb = "is" if len(names) == 1 else "are"
        why = ", since what was audited has no topic" if audited and len(names) == len(values) else ""
        options = ", ".join(f"--{name.replace('.', '-')}" for name in names)
        yield f"{words} {verb} assumed{why}: give {options}, or --topics FILE"


def _unrecorded(request: AssessRequest, topics: Described) -> Iterator[str]:
    """Yield a note on each setting that topics may inherit from brokers without a record of it."""
    defaults = {MIN_ISR: "1"} if request.unclean_leader_election_enable else {MIN_ISR: "1", UNCLEAN: "false"}
    for name, default in defaults.items():
        of = sum(topic.inherits and name not in topic.configs for topic in topics.topics)
        if of and name not in topics.cluster:
            whose = several(of, "topic", written=f"{of:,}")
            yield f"{name} of {whose} is not on record; Kafka's default, {default}, is assumed"


def _twice(topics: Described) -> Iterator[str]:
    """Yield a note on each name that has more than one definition, such as one for each of two clusters."""
    places: dict[str, list[str]] = {}
    for topic in topics.topics:
        if topic.place:
            places.setdefault(topic.name, []).append(topic.place)
    for name, of in places.items():
        if len(of) > 1:
            yield f"{name} is defined more than once, and each definition is assessed: {some_of(of, MOST_PLACES)}"


def _question(request: AssessRequest, audits: Sequence[AuditReport]) -> tuple[RiskRequest, tuple[str, ...]]:
    """Return the settings to assess, with notes on them.

    A live cluster, or the registrations in a log, say the release; both say whether ELR is on.
    """
    audited = [each for audit in audits for each in (audit.logs if audit.cluster is None else (audit.cluster,))]
    lines = {each.kafka: each.or_later for each in audited if each.kafka}
    if not request.kafka and len(lines) != 1:
        seen = f"the audited brokers are of {' and '.join(sorted(lines))}: " if lines else ""
        raise UsageFault("usage-missing", "no release of Kafka is named", help=f"{seen}name one, such as --kafka 4.1")
    kafka = request.kafka or next(iter(lines))
    release, _ = release_named(kafka)
    lines_seen = " and ".join(f"{line} or later" if lines[line] else line for line in sorted(lines))
    notes: tuple[str, ...] = ()
    if not request.kafka:
        notes = (f"the brokers run Kafka {lines_seen}, assessed as {release}: name another release with --kafka",)
    elif lines and not any(_may_be(release, line, later) for line, later in lines.items()):
        notes = (f"assessed as Kafka {release}, as --kafka says; the brokers run {lines_seen}",)
    elr = request.elr
    levels = [each.elr_version for each in audited if each.metadata_version or each.elr_version]
    if elr is None and levels:
        elr = any(levels) and release_numbers(release) >= FIRST_WITH_FEATURE
        if elr and not all(levels):
            notes = (*notes, "ELR is on in some of what was audited; all of it is assessed as if it were on everywhere")
    question = RiskRequest(
        kafka,
        replication_factor=request.replication_factor or 3,
        min_insync_replicas=request.min_insync_replicas or 1,
        unclean_leader_election_enable=request.unclean_leader_election_enable,
    )
    return (question if elr is None else replace(question, elr=elr)), notes


def _may_be(release: str, line: str, or_later: bool) -> bool:
    """Return whether brokers that show a line of releases may run this release."""
    of, numbers = release_numbers(line), release_numbers(release)
    return numbers[: len(of)] == of or (or_later and numbers > of)


def _group(
    request: RiskRequest,
    recorded: KnownFindings,
    about: tuple[str, ...],
    described: TopicSettings | None = None,
    assumed: tuple[str, ...] = (),
) -> AssessedGroup:
    settings, notes = settings_named(request)
    undecided = recorded.undecided(settings)
    if undecided:
        what = "shown in other releases, and undecided in"
        notes = (*notes, f"{what} {settings.kafka}: {', '.join(undecided)} (`elrcheck show {undecided[0]}`)")
    return AssessedGroup(
        settings,
        recorded.applying(settings),
        request.topics,
        (*about, *notes),
        places=() if described is None else tuple(filter(None, described.places)),
        lines=() if described is None else tuple(map(dict, described.lines)),
        by_design=setting_risks(settings),
        assumed=assumed,
    )
