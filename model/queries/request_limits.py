"""The maximum number of partitions in one request; further ones are answered with a retriable error.

Source: KIP-966 "ElectLeadersRequest", "GetReplicaLogInfo Request" and "New Errors", newer text: 1000 partitions for
ElectLeaders, 2000 for GetReplicaLogInfo, and REQUEST_LIMIT_REACHED for the rest. The older text allowed 20 topics for
ElectLeaders and 2000 partitions for GetReplicaLogInfo, and answered INVALID_REQUEST.

The newer text contradicts itself about GetReplicaLogInfo: the limit is 2000, but of more than 1000 partitions it serves
only 1000. Kafka has had the RPC since 2025, with a limit of 1000 and a `Truncated` flag instead of the error.
`admit_first` takes any limit.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from elrcheck.model.queries.cluster_image import TopicPartition


class LimitedRequest(enum.Enum):
    """The requests that the KIP limits; the value is the number of partitions served."""

    ELECT_LEADERS = 1000
    GET_REPLICA_LOG_INFO = 2000


@dataclass(frozen=True)
class Admission:
    """The two parts of a request, in its order. served: the partitions that the controller handles; refused: the rest.

    The rest is answered with REQUEST_LIMIT_REACHED, which is retriable: the caller sends it in its next request.
    """

    served: tuple[TopicPartition, ...]
    refused: tuple[TopicPartition, ...]


def admit(request: LimitedRequest, partitions: tuple[TopicPartition, ...]) -> Admission:
    """Divide a request at its limit. A repeated partition counts twice."""
    return admit_first(request.value, partitions)


def admit_first(limit: int, partitions: tuple[TopicPartition, ...]) -> Admission:
    """Divide a request behind its first `limit` partitions; raise ValueError below 1: retries would never end."""
    if limit < 1:
        raise ValueError(f"the limit is {limit}, not 1 or more")
    return Admission(served=partitions[:limit], refused=partitions[limit:])
