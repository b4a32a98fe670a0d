"""Assessments in tests: of a release, and of two topics as `kafka-topics --describe` prints them."""

from __future__ import annotations

from elrcheck.base.kafka_requests import AssessRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.assess.assess import run_assess
from elrcheck.results.risk.assess_report import AssessReport

TWO_TOPICS = """\
Topic: orders  TopicId: x  PartitionCount: 1  ReplicationFactor: 3  Configs: min.insync.replicas=2
    Topic: orders  Partition: 0  Leader: 1  Replicas: 1,2,3  Isr: 1,2,3
Topic: audit  TopicId: y  PartitionCount: 1  ReplicationFactor: 3  Configs: unclean.leader.election.enable=true
    Topic: audit  Partition: 0  Leader: 1  Replicas: 1,2,3  Isr: 1,2,3
"""


def assess(kafka: str, **settings: object) -> AssessReport:
    return run_assess(AssessRequest(kafka, **settings), Silent())  # type: ignore[arg-type]
