"""The number of partitions that one request may name; the rest is answered with a retriable error.

Source: KIP-966 "ElectLeadersRequest", "GetReplicaLogInfo Request" and "New Errors", newer text:
1000 partitions for ElectLeaders, 2000 for GetReplicaLogInfo, the rest REQUEST_LIMIT_REACHED. The older
text had 20 topics for ElectLeaders, 2000 partitions for GetReplicaLogInfo, and INVALID_REQUEST.

The newer text contradicts itself on GetReplicaLogInfo: the limit is 2000, but of more than 1000 only
1000 are served. Kafka has the RPC with 1000 since 2025, with a `Truncated` flag instead of the error.
`admit_first` takes any limit.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from elrcheck.model.queries.cluster_image import TopicPartition


class LimitedRequest(enum.Enum):
    """The requests the KIP limits; the value is the number of partitions served."""

    ELECT_LEADERS = 1000
    GET_REPLICA_LOG_INFO = 2000


@dataclass(frozen=True)
class Admission:
    """A request cut in two, in its own order. served: goes on to the rules; refused: the rest.

    REQUEST_LIMIT_REACHED, the answer to the rest, is retriable: the caller sends it in the next request.
    """

    served: tuple[TopicPartition, ...]
    refused: tuple[TopicPartition, ...]


def admit(request: LimitedRequest, partitions: tuple[TopicPartition, ...]) -> Admission:
    """Return the partitions that a request is served for. A partition named twice counts twice."""
    return admit_first(request.value, partitions)


def admit_first(limit: int, partitions: tuple[TopicPartition, ...]) -> Admission:
    """Serve the first `limit` partitions; ValueError below 1, because no retry could then come to an end."""
    if limit < 1:
        raise ValueError(f"the limit is {limit}, not 1 or more")
    return Admission(served=partitions[:limit], refused=partitions[limit:])
