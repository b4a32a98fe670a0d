"""The error names of Kafka (org.apache.kafka.common.protocol.Errors) that this model uses."""

from __future__ import annotations

import enum
from typing import Annotated

from elrcheck.lang.types import up_to


class Error(enum.Enum):
    """The error names in the controller's responses; those of AlterPartition come first."""

    NONE = 0
    STALE_BROKER_EPOCH = 1
    NOT_CONTROLLER = 2
    FENCED_LEADER_EPOCH = 3
    INVALID_REQUEST = 4
    INVALID_UPDATE_VERSION = 5
    INELIGIBLE_REPLICA = 6
    NEW_LEADER_ELECTED = 7
    ELECTION_NOT_NEEDED = 8
    PREFERRED_LEADER_NOT_AVAILABLE = 9
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 10
    INVALID_REPLICA_ASSIGNMENT = 11
    NO_REASSIGNMENT_IN_PROGRESS = 12
    INVALID_CONFIG = 13
    UNSUPPORTED_VERSION = 14
    BROKER_ID_NOT_REGISTERED = 15
    NOT_LEADER_OR_FOLLOWER = 16
    UNKNOWN_SERVER_ERROR = 17


AlterError = Annotated[Error, up_to(Error.NEW_LEADER_ELECTED)]
"""An error of AlterPartition."""
