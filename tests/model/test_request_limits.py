"""Request limits of KIP-966: which partitions are served, and which are left for the next request."""

from __future__ import annotations

import pytest

from elrcheck.model.queries.cluster_image import TopicPartition
from elrcheck.model.queries.request_limits import Admission, LimitedRequest, admit, admit_first


def partitions(count: int, first: int = 0) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition("t", index) for index in range(first, first + count))


@pytest.mark.parametrize(
    ("request_kind", "requested", "served", "refused"),
    [
        (LimitedRequest.ELECT_LEADERS, 0, 0, 0),
        (LimitedRequest.ELECT_LEADERS, 999, 999, 0),
        (LimitedRequest.ELECT_LEADERS, 1000, 1000, 0),
        (LimitedRequest.ELECT_LEADERS, 1001, 1000, 1),
        (LimitedRequest.GET_REPLICA_LOG_INFO, 1001, 1001, 0),
        (LimitedRequest.GET_REPLICA_LOG_INFO, 2000, 2000, 0),
        (LimitedRequest.GET_REPLICA_LOG_INFO, 2001, 2000, 1),
        (LimitedRequest.GET_REPLICA_LOG_INFO, 4500, 2000, 2500),
    ],
)
def test_limits_at_their_boundaries(request_kind: LimitedRequest, requested: int, served: int, refused: int) -> None:
    got = admit(request_kind, partitions(requested))
    assert got == Admission(partitions(served), partitions(refused, first=served))


def test_the_first_ones_in_the_order_of_the_request_are_served() -> None:
    """The order of names does not matter, unlike in DescribeTopicPartitions."""
    z, a = TopicPartition("z", 0), TopicPartition("a", 0)
    assert admit_first(1, (z, a)) == Admission(served=(z,), refused=(a,))


def test_a_partition_named_twice_counts_twice() -> None:
    a, b = partitions(2)
    assert admit_first(2, (a, a, b)) == Admission(served=(a, a), refused=(b,))


def test_retrying_with_the_rest_serves_everything() -> None:
    """2500 partitions are three requests of ElectLeaders: 1000, 1000 and 500."""
    left, sizes = partitions(2500), []
    while left:
        got = admit(LimitedRequest.ELECT_LEADERS, left)
        sizes.append(len(got.served))
        left = got.refused
    assert sizes == [1000, 1000, 500]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_would_refuse_everything_for_ever(limit: int) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        admit_first(limit, partitions(1))
