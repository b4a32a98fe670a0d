"""Read-only questions to a cluster: DescribeTopicPartitions, request limits and the KIP's metrics.

One place to import from. Every function is pure and takes a `ClusterImage` or a list of partitions;
docs/model/admin.md says which KIP section and Kafka class each rule comes from.
"""

from __future__ import annotations

from elrcheck.model.queries.cluster_image import (
    BrokerImage,
    ClusterImage,
    PartitionImage,
    TopicImage,
    TopicPartition,
    is_internal,
    legal_topic_name,
)
from elrcheck.model.queries.describe_topics import (
    Cursor,
    DescribedPartition,
    DescribedTopic,
    DescribeError,
    DescribeRequest,
    DescribeResponse,
    describe_topic_partitions,
    pages,
)
from elrcheck.model.queries.metrics import (
    Awaited,
    ControllerMetrics,
    ElectableLeaders,
    awaited,
    broker_under_min_isr_partition_count,
    controller_metrics,
    electable_leaders,
    global_under_min_isr_partition_count,
    is_under_min_isr,
    manual_leader_election_required_partition_count,
    unclean_recovery_finished_count,
    unclean_recovery_partitions_count,
)
from elrcheck.model.queries.request_limits import Admission, LimitedRequest, LimitError, admit, admit_first

__all__ = [
    "Admission",
    "Awaited",
    "BrokerImage",
    "ClusterImage",
    "ControllerMetrics",
    "Cursor",
    "DescribeError",
    "DescribeRequest",
    "DescribeResponse",
    "DescribedPartition",
    "DescribedTopic",
    "ElectableLeaders",
    "LimitError",
    "LimitedRequest",
    "PartitionImage",
    "TopicImage",
    "TopicPartition",
    "admit",
    "admit_first",
    "awaited",
    "broker_under_min_isr_partition_count",
    "controller_metrics",
    "describe_topic_partitions",
    "electable_leaders",
    "global_under_min_isr_partition_count",
    "is_internal",
    "is_under_min_isr",
    "legal_topic_name",
    "manual_leader_election_required_partition_count",
    "pages",
    "unclean_recovery_finished_count",
    "unclean_recovery_partitions_count",
]
