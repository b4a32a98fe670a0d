"""DescribeTopicPartitions: topics and their partitions with the ELR fields, page by page.

Sources: KIP-966 "DescribeTopicPartitionsRequest"; DescribeTopicPartitionsRequestHandler and KRaftMetadataCache (Kafka
broker). The first text of the KIP, DescribeTopicRequest, had no pages: it allowed 20 topics in a request and answered
INVALID_REQUEST for the others. docs/model/admin.md lists the differences between KIP and code.

A query returns the stored fields. It neither runs a rule nor hides a field: while ELR is off, a stored ELR remains
visible until the next change of the partition clears it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace

from elrcheck.model.queries.cluster_image import ClusterImage, PartitionImage, TopicImage, is_internal, legal_topic_name

# Defaults of ResponsePartitionLimit in the request and of max.request.partition.size.limit.
RESPONSE_PARTITION_LIMIT = 2000
SERVER_PARTITION_LIMIT = 2000


class DescribeError(enum.Enum):
    """The error names of Kafka that this query returns."""

    NONE = 0
    UNKNOWN_TOPIC_OR_PARTITION = 1
    INVALID_TOPIC_EXCEPTION = 2
    INVALID_REQUEST = 3


@dataclass(frozen=True)
class Cursor:
    """The first partition of a page."""

    topic: str
    partition: int


@dataclass(frozen=True)
class DescribeRequest:
    """topics: all if None or empty; a repeated name counts once.

    response_partition_limit: the maximum number of partitions on a page; a value below 1 counts as 1.
    """

    topics: tuple[str, ...] | None = None
    response_partition_limit: int = RESPONSE_PARTITION_LIMIT
    cursor: Cursor | None = None


@dataclass(frozen=True)
class DescribedPartition:
    """Broker ids; replicas and offline in the order of the replica list, sets ascending.

    leader: None where Kafka writes -1. error: always NONE, see `describe_partition`.
    """

    index: int
    error: DescribeError
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    offline: tuple[int, ...]


@dataclass(frozen=True)
class DescribedTopic:
    """topic_id: None where Kafka writes the zero id, for a topic that is not there."""

    name: str
    error: DescribeError
    topic_id: str | None
    is_internal: bool
    partitions: tuple[DescribedPartition, ...]


@dataclass(frozen=True)
class DescribeResponse:
    """One page. error: of a rejected request; in Kafka's response only the topics carry it.

    next_cursor: the start of the next page; None on the last page.
    """

    error: DescribeError
    topics: tuple[DescribedTopic, ...]
    next_cursor: Cursor | None


def describe_topic_partitions(
    image: ClusterImage, request: DescribeRequest, server_limit: int = SERVER_PARTITION_LIMIT
) -> DescribeResponse:
    """Return one page: topics by name, partitions by index, starting at the cursor.

    server_limit: max.request.partition.size.limit; ValueError below 1, as a broker refuses to start.
    """
    if server_limit < 1:
        raise ValueError(f"max.request.partition.size.limit is {server_limit}, not 1 or more")
    if cursor_is_invalid(request):
        return _refused(request)
    requested = request.topics or tuple(topic.name for topic in image.topics)
    start = request.cursor
    names = sorted({name for name in requested if start is None or _order(name) >= _order(start.topic)}, key=_order)
    remaining = max(min(server_limit, request.response_partition_limit), 1)
    described: list[DescribedTopic] = []
    for name in names:
        if remaining == 0:
            return DescribeResponse(DescribeError.NONE, tuple(described), Cursor(name, 0))
        topic = image.topic(name)
        if topic is None:
            described.append(_missing(name))
            continue
        first = start.partition if start is not None and start.topic == name else 0
        page = tuple(
            describe_partition(image, index, topic.partitions[index])
            for index in range(first, min(first + remaining, len(topic.partitions)))
        )
        described.append(_described(topic, page))
        if first + remaining < len(topic.partitions):
            return DescribeResponse(DescribeError.NONE, tuple(described), Cursor(name, first + remaining))
        remaining -= len(page)
    return DescribeResponse(DescribeError.NONE, tuple(described), None)


def cursor_is_invalid(request: DescribeRequest) -> bool:
    """Return whether the cursor's topic is not one of the requested topics, or its index is negative.

    Topic and partition need not exist: either may be deleted between two pages.
    """
    if request.cursor is None:
        return False
    stranger = bool(request.topics) and request.cursor.topic not in (request.topics or ())
    return stranger or request.cursor.partition < 0


def describe_partition(image: ClusterImage, index: int, stored: PartitionImage) -> DescribedPartition:
    """Return a partition as stored; only the leader and `offline` depend on the brokers.

    The error is NONE in Kafka even without a leader: LEADER_NOT_AVAILABLE belongs to the Metadata API. A fenced leader
    is returned, because its registration still has an endpoint.
    """
    p = stored.partition
    leader = None if p.leader is None else image.broker(stored.id_of(p.leader))
    return DescribedPartition(
        index=index,
        error=DescribeError.NONE,
        leader=leader.id if leader is not None and leader.has_listener else None,
        leader_epoch=p.leader_epoch,
        replicas=tuple(stored.id_of(b) for b in p.replicas),
        isr=stored.ids(p.isr),
        elr=stored.ids(p.elr),
        last_known_elr=stored.ids(p.last_known_elr),
        offline=tuple(stored.id_of(b) for b in p.replicas if _is_offline(image, stored, b)),
    )


def pages(
    image: ClusterImage, request: DescribeRequest, server_limit: int = SERVER_PARTITION_LIMIT
) -> Iterator[DescribeResponse]:
    """Yield all pages of one image; each request has the cursor of the previous page.

    Kafka promises no consistency between pages. To query a different image for each page, call
    `describe_topic_partitions`.
    """
    page = describe_topic_partitions(image, request, server_limit)
    yield page
    while page.next_cursor is not None:
        page = describe_topic_partitions(image, replace(request, cursor=page.next_cursor), server_limit)
        yield page


def _order(name: str) -> bytes:
    """Return the sort key by which Java compares strings, their UTF-16 units; Python sorts legal names alike."""
    return name.encode("utf-16-be", "surrogatepass")


def _is_offline(image: ClusterImage, stored: PartitionImage, b: int) -> bool:
    """KRaftMetadataCache.isReplicaOffline; an unregistered broker is offline, too."""
    broker = image.broker(stored.id_of(b))
    return broker is None or broker.fenced or not broker.has_listener or b in stored.offline_dirs


def _described(topic: TopicImage, page: tuple[DescribedPartition, ...]) -> DescribedTopic:
    return DescribedTopic(topic.name, DescribeError.NONE, topic.topic_id, is_internal(topic.name), page)


def _missing(name: str) -> DescribedTopic:
    """Return the entry of a requested topic that does not exist; it does not count towards the limit of the page."""
    legal = legal_topic_name(name)
    error = DescribeError.UNKNOWN_TOPIC_OR_PARTITION if legal else DescribeError.INVALID_TOPIC_EXCEPTION
    return DescribedTopic(name, error, None, is_internal(name), ())


def _refused(request: DescribeRequest) -> DescribeResponse:
    """DescribeTopicPartitionsRequest.getErrorResponse: each requested topic carries the error.

    The response has no field for an error of the whole request: if all topics are requested, it is empty.
    """
    error = DescribeError.INVALID_REQUEST
    named = tuple(DescribedTopic(name, error, None, False, ()) for name in request.topics or ())
    return DescribeResponse(error, named, None)
