"""DescribeTopicPartitions: topics and their partitions with the ELR fields, page by page.

Sources: KIP-966 "DescribeTopicPartitionsRequest"; DescribeTopicPartitionsRequestHandler and
KRaftMetadataCache (Kafka broker). The KIP's first text, DescribeTopicRequest, had no pages: 20 topics
a request, the others answered INVALID_REQUEST. docs/model/admin.md lists where KIP and code differ.

A query answers from what is stored. It neither runs a rule nor hides a field: with the ELR feature
off, ELR fields left over from before show until the next change of the partition removes them.
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
    """Kafka's error names, as far as this query answers with them."""

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
    """topics: None or empty asks for all; a name given twice counts once.

    response_partition_limit: partitions that the caller asks for on a page; below 1 means 1.
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
    """One page. error: why the whole request was refused; on the wire only its topics carry it.

    next_cursor: where the next page starts, None on the last one.
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
    """A cursor's topic must be among the topics asked for, if any are named; its index is not negative.

    Whether topic and partition exist is not asked: either may be deleted between two pages.
    """
    if request.cursor is None:
        return False
    stranger = bool(request.topics) and request.cursor.topic not in (request.topics or ())
    return stranger or request.cursor.partition < 0


def describe_partition(image: ClusterImage, index: int, stored: PartitionImage) -> DescribedPartition:
    """One partition as stored; only the leader and `offline` depend on the brokers.

    The error stays NONE in Kafka even without a leader: LEADER_NOT_AVAILABLE and its like belong to
    the Metadata API. A fenced leader is shown, because its registration still has an endpoint.
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
    """Yield all pages of one image, each request with the cursor of the previous page.

    Kafka promises no consistency between pages; with another image for each, call the query itself.
    """
    page = describe_topic_partitions(image, request, server_limit)
    yield page
    while page.next_cursor is not None:
        page = describe_topic_partitions(image, replace(request, cursor=page.next_cursor), server_limit)
        yield page


def _order(name: str) -> bytes:
    """Java compares strings by UTF-16 units; for legal names that is the order of Python too."""
    return name.encode("utf-16-be", "surrogatepass")


def _is_offline(image: ClusterImage, stored: PartitionImage, b: int) -> bool:
    """KRaftMetadataCache.isReplicaOffline; a broker that is not registered is offline as well."""
    broker = image.broker(stored.id_of(b))
    return broker is None or broker.fenced or not broker.has_listener or b in stored.offline_dirs


def _described(topic: TopicImage, page: tuple[DescribedPartition, ...]) -> DescribedTopic:
    return DescribedTopic(topic.name, DescribeError.NONE, topic.topic_id, is_internal(topic.name), page)


def _missing(name: str) -> DescribedTopic:
    """A topic asked for by name that is not there; it takes no room on the page."""
    legal = legal_topic_name(name)
    error = DescribeError.UNKNOWN_TOPIC_OR_PARTITION if legal else DescribeError.INVALID_TOPIC_EXCEPTION
    return DescribedTopic(name, error, None, is_internal(name), ())


def _refused(request: DescribeRequest) -> DescribeResponse:
    """DescribeTopicPartitionsRequest.getErrorResponse: each topic named carries the error.

    There is no field for an error of the request: asked for all topics, Kafka answers with none.
    """
    error = DescribeError.INVALID_REQUEST
    named = tuple(DescribedTopic(name, error, None, False, ()) for name in request.topics or ())
    return DescribeResponse(error, named, None)
