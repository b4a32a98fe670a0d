"""Records of small clusters for tests of the audit, written as segments; and logs of real ones."""

from __future__ import annotations

from pathlib import Path

from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.results.audit_report import AuditReport
from support.log_stories import SEGMENT, T, broker, registered
from support.log_writer import RecordFields, batch_of
from support.places import TESTS

STORED = TESTS / "data" / "metadata_log"
LOST, CONTROL = STORED / "lost-4.1.1", STORED / "control-4.1.1"


def feature(level: int) -> RecordFields:
    return ("FEATURE_LEVEL_RECORD", 0, {"name": "eligible.leader.replicas.version", "featureLevel": level})


def min_isr(value: str | None, resource: tuple[int, str] = (4, "")) -> RecordFields:
    fields = {"resourceType": resource[0], "resourceName": resource[1], "name": "min.insync.replicas"}
    return ("CONFIG_RECORD", 0, fields | {"value": value})


def partition(**more: object) -> RecordFields:
    values = {"partitionId": 0, "topicId": T, "replicas": [0, 1, 2], "isr": [0, 1, 2], "leader": 0}
    values |= {"leaderEpoch": 0, "partitionEpoch": 0}
    return ("PARTITION_RECORD", 2, values | {"directories": ["AAAAAAAAAAAAAAAAAAAAAA"] * 3} | more)


def change(**more: object) -> RecordFields:
    return ("PARTITION_CHANGE_RECORD", 2, {"partitionId": 0, "topicId": T} | more)


CLEAR: RecordFields = ("CLEAR_ELR_RECORD", 0, {"topicName": ""})
TOPIC: RecordFields = ("TOPIC_RECORD", 0, {"name": "orders", "topicId": T})
BROKERS = tuple(broker(3, b, fenced=False) for b in range(4))
START: tuple[RecordFields, ...] = (feature(1), min_isr("2"), *BROKERS, TOPIC, partition())
"""Offsets 0 to 7."""
FENCED = tuple(registered(2, brokerId=b, fenced=1) for b in (0, 1, 2))

SHRINK = (change(isr=[0], eligibleLeaderReplicas=[1]), *FENCED[1:])
"""Offsets 8 to 10: 1 and 2 are fenced, 1 is eligible."""


def written(tmp_path: Path, *steps: RecordFields | tuple[RecordFields, ...], name: str = SEGMENT) -> Path:
    """A segment; each step is a batch."""
    content, base = b"", 0
    for step in steps:
        batch: tuple[RecordFields, ...] = (step,) if isinstance(step[0], str) else step  # type: ignore[assignment]
        content += batch_of(base, batch, time=1_000 + base)
        base += len(batch)
    path = tmp_path / name
    path.write_bytes(content)
    return path


def audited(*paths: Path, strict: bool = False, near: bool = True) -> AuditReport:
    return run_audit(AuditRequest(paths, strict=strict), Silent(), near=near)


def shutdown_in_batches(tmp_path: Path, full: int, whole: bool = True, *, name: str = SEGMENT) -> Path:
    """A broker that leads twice as many partitions as a batch has records begins a controlled shutdown.

    handleBrokerInControlledShutdown first notes the shutdown. whole: the rest of the records follows, at once.
    """
    start: tuple[RecordFields, ...] = (feature(1), min_isr("1"), *BROKERS, TOPIC)
    numbers = range(2 * full)
    created = [partition(partitionId=n, replicas=[0, 1], isr=[0, 1], directories=[]) for n in numbers]
    left = [change(partitionId=n, isr=[1], leader=1) for n in numbers]
    records = (registered(2, brokerId=0, inControlledShutdown=1), *left)
    rest = (tuple(records[full : 2 * full]), tuple(records[2 * full :])) if whole else ()
    steps = (*((record,) for record in start), tuple(created[:full]), tuple(created[full:]), tuple(records[:full]))
    return written(tmp_path, *steps, *rest, ("NO_OP_RECORD", 0, {}), name=name)
