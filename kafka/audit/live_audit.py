"""`elrcheck audit --bootstrap`: the partitions of a running cluster, judged as they are now.

A snapshot is taken request by request while the cluster runs, so a partition may be read between two records.
Flagged partitions are requested again, and a flag stays only if it is raised again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from elrcheck.base.errors import NothingChecked
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import PartitionsDone, Progress
from elrcheck.kafka.audit.findings import RecordPlace, flag_of, time_of
from elrcheck.kafka.audit.hazard_signs import state_signs
from elrcheck.kafka.audit.next_step import StepConditions, next_signs
from elrcheck.kafka.audit.rules import NONE, Repairs, audit_rules, is_newest, line_seen
from elrcheck.kafka.live.admin_client import ClusterClient, open_client
from elrcheck.kafka.live.client_properties import read_settings
from elrcheck.kafka.live.snapshot import ClusterSnapshot, take_snapshot
from elrcheck.kafka.log.cluster_state import ELR_FEATURE, METADATA
from elrcheck.report.plain_words import several
from elrcheck.results.audit_report import WORST_FIRST, AuditedCluster, AuditFlag, AuditReport

PAUSE = 1.0
"""Seconds until the second snapshot."""
MOST_NAMED = 1000
"""Topics that the second snapshot names; it requests all if there are more."""
BY_MIN_ISR = "P-11"
"""The property that min.insync.replicas decides."""
INTERVAL = 0.5
"""Seconds between two reports of progress."""


def audit_cluster(
    request: AuditRequest, progress: Progress, on_snapshot: Callable[[ClusterSnapshot], None] = lambda _: None
) -> AuditReport:
    """Audit the cluster at `request.bootstrap`; raise EnvironmentFault if it does not answer.

    on_snapshot: called with the cluster as it was read first.
    """
    assert request.bootstrap is not None
    repairs = Repairs.of(request.repaired)
    settings = read_settings(request.client_config)
    progress.stage(f"connecting to {request.bootstrap}")
    with open_client(request.bootstrap, settings) as client:
        return audit_by(client, request.bootstrap, progress, repairs=repairs, on_snapshot=on_snapshot)


def audit_by(
    client: ClusterClient,
    bootstrap: str,
    progress: Progress,
    pause: float = PAUSE,
    repairs: Repairs = NONE,
    on_snapshot: Callable[[ClusterSnapshot], None] = lambda _: None,
) -> AuditReport:
    """Audit through a connected client. pause: seconds until the second snapshot."""
    started = time.monotonic()
    name = f"kafka://{bootstrap}"
    progress.stage(f"asking {bootstrap}")
    snapshot = take_snapshot(client, _PartitionMeter(progress, started))
    if not snapshot.state.partitions:
        raise NothingChecked("no-partitions", "the cluster shows no partition to this user", where=name)
    on_snapshot(snapshot)
    count = len(snapshot.state.partitions)
    progress.stage(f"judging {several(count, 'partition', written=f'{count:,}')}")
    flags = list(_flags(snapshot, name, repairs))
    if flags:
        flagged = len({(flag.topic, flag.partition) for flag in flags})
        progress.stage(f"looking again at {several(flagged, 'partition', written=f'{flagged:,}')}")
        time.sleep(pause)
        topics = sorted({flag.topic for flag in flags})
        second = take_snapshot(client, topics=topics if len(topics) <= MOST_NAMED else ())
        flags = _in_both(flags, _flags(second, name, repairs))
        snapshot.unseen += [text for text in second.unseen if text not in snapshot.unseen]
    return replace(_report(snapshot, flags, name, started), repaired=repairs.reported(live=True))


def _flags(snapshot: ClusterSnapshot, name: str, repairs: Repairs) -> Iterator[AuditFlag]:
    state = snapshot.state
    place = RecordPlace(name, snapshot.offset, snapshot.milliseconds, 0)
    conditions = StepConditions(snapshot.supports, snapshot.elr_supported, frozenset(snapshot.unclean), snapshot.lag)
    for key, stored in sorted(state.partitions.items()):
        p = stored.shape.lists
        ghosts = frozenset(p.elr) - frozenset(p.replicas)
        signs = (*state_signs(state, key, ghosts, repairs.knobs), *next_signs(state, key, conditions))
        min_isr_unknown = state.name_of(key) in snapshot.min_isr_unknown
        for sign in signs:
            if not repairs.harmless(sign[0]) and not (min_isr_unknown and sign[0] == BY_MIN_ISR):
                yield flag_of(sign, place, name, state.name_of(key), key.partition)


def _in_both(first: Sequence[AuditFlag], second: Iterable[AuditFlag]) -> list[AuditFlag]:
    """Return the flags of the second snapshot that the first one raised too."""
    raised = {(flag.topic, flag.partition, flag.rule) for flag in first}
    return [flag for flag in second if (flag.topic, flag.partition, flag.rule) in raised]


def _report(snapshot: ClusterSnapshot, flags: list[AuditFlag], name: str, started: float) -> AuditReport:
    order = audit_rules().order
    flags.sort(key=lambda f: (WORST_FIRST.index(f.severity), order[f.rule], f.topic, f.partition))
    bad = any(flag.severity != "low" for flag in flags)
    state = snapshot.state
    cluster = AuditedCluster(
        name=name,
        cluster_id=snapshot.cluster_id,
        kafka=line_seen(snapshot.supports),
        metadata_version=state.features[METADATA],
        elr_version=state.features.get(ELR_FEATURE, 0),
        brokers=tuple(sorted(state.brokers)),
        fenced=state.fenced_brokers(),
        topics=len(state.topics),
        reassignments=snapshot.reassignments,
        offset=snapshot.offset,
        time=time_of(snapshot.milliseconds),
        unseen=tuple(snapshot.unseen),
        or_later=is_newest(snapshot.supports),
    )
    return AuditReport(
        verdict="violated" if bad else "inconclusive" if snapshot.unseen else "no_sign",
        records=0,
        partitions=len(state.partitions),
        flags=tuple(flags),
        damage=(),
        logs=(),
        unread=(),
        seconds=round(time.monotonic() - started, 3),
        cluster=cluster,
        invisible=audit_rules().invisible_live,
    )


class _PartitionMeter:
    """Reports how many partitions were read, at most twice a second."""

    def __init__(self, progress: Progress, started: float) -> None:
        self.progress, self.started, self.reported_at = progress, started, started

    def __call__(self, partitions: int) -> None:
        now = time.monotonic()
        if now - self.reported_at >= INTERVAL:
            self.reported_at = now
            self.progress.tell(PartitionsDone(partitions, now - self.started))
