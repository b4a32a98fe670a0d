"""What the steps of a recipe are: a class for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Create:
    """A topic with these replicas for each partition; `times` repeats them, for a topic with many."""

    topic: str
    partitions: tuple[tuple[int, ...], ...]
    config: Mapping[str, str]


@dataclass(frozen=True)
class Delete:
    """Delete a topic. Kafka answers when the controller has done so; brokers delete the logs later."""

    topic: str


@dataclass(frozen=True)
class Produce:
    """Numbered records. size: how many bytes each has besides its number.

    acks: `all`, or `1` for the answer of the leader alone: such a record does not count as acknowledged.
    via: the broker that tells the producer who leads; None for any, which may take long if one is paused.
    """

    partition: str
    records: int
    size: int
    acks: str = "all"
    via: int | None = None


@dataclass(frozen=True)
class Send:
    """One record with acks=all, without waiting for an answer."""

    partition: str


@dataclass(frozen=True)
class Answered:
    """Wait until every record that was sent is answered; with `instead`, until it is acknowledged."""

    partition: str
    seconds: float
    instead: Sign | None = None


@dataclass(frozen=True)
class Stream:
    """Records with acks=all, so many a second, while the next steps are done.

    rate: None for the end, which waits for the last answers.
    """

    partition: str
    rate: int | None


@dataclass(frozen=True)
class Reassign:
    """to: the replicas; None cancels. absent_if: the error returned by a build without the finding."""

    partition: str
    to: tuple[int, ...] | None
    absent_if: str | None = None


@dataclass(frozen=True)
class Elect:
    """via: the broker that is asked; None for any, which may take long if one is paused.

    refused: the error that the finding predicts; if Kafka elects instead, the finding is not reproduced.
    if_needed: it is no fault if the leader is already the one that the election would choose.
    """

    partition: str
    kind: str
    via: int | None
    refused: str | None = None
    if_needed: bool = False


@dataclass(frozen=True)
class Configure:
    """kind: topic or broker; name: empty for all brokers; an empty value removes the setting."""

    kind: str
    name: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class Throttle:
    """Bytes a second that each leader sends to throttled replicas (`leader.replication.throttled.rate`)."""

    rate: int


@dataclass(frozen=True)
class Feature:
    name: str
    level: int
    kind: str


@dataclass(frozen=True)
class Unregister:
    broker: int


@dataclass(frozen=True)
class Signal:
    """kind: stop (SIGTERM, an orderly stop), kill (SIGKILL), pause (SIGSTOP), resume (SIGCONT).

    broker: None for the controller. wait: until the process has ended.
    """

    kind: str
    broker: int | None
    wait: bool
    seconds: float


@dataclass(frozen=True)
class Exited:
    """Wait until a broker that was stopped with `wait = false` has ended."""

    broker: int
    seconds: float


@dataclass(frozen=True)
class Start:
    """Start a node, unless it runs. broker: None for the controller; wait: until a broker is unfenced."""

    broker: int | None
    wait: bool
    seconds: float


@dataclass(frozen=True)
class MoveDirectory:
    """Move a replica into another log directory of its broker, unless it is there."""

    partition: str
    broker: int
    directory: int
    seconds: float


@dataclass(frozen=True)
class Directory:
    """kind: lose (it is gone), replace (an empty one in its place), drop (from `log.dirs`)."""

    kind: str
    broker: int
    directory: int


@dataclass(frozen=True)
class DeleteCleanStopFiles:
    """Delete the files by which a broker knows that it stopped in order."""

    broker: int


@dataclass(frozen=True)
class LoseLog:
    """Delete the files of a replica whose broker does not run.

    A power failure does the same to what the operating system had not written to the disk.
    """

    partition: str
    broker: int


@dataclass(frozen=True)
class Sleep:
    seconds: float
    because: str


@dataclass(frozen=True)
class Seen:
    """What DescribeTopicPartitions says; None for what does not matter. leader: one of these, -1 for none.

    The order counts for replicas only. isr_size: how many.
    """

    leader: tuple[int, ...] | None = None
    replicas: tuple[int, ...] | None = None
    isr: tuple[int, ...] | None = None
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    isr_size: int | None = None


@dataclass(frozen=True)
class Wait:
    """Wait for a predicted state. decides: without it the finding is not reproduced."""

    partition: str
    seen: Seen
    seconds: float
    decides: bool


@dataclass(frozen=True)
class Leaderless:
    """The partition is unavailable if it has no leader for so long; the steps continue in either case.

    DescribeTopicPartitions does not name a fenced leader, so the step counts it as no leader.
    """

    partition: str
    seconds: float


@dataclass(frozen=True)
class Said:
    """Wait until a node has printed a line that matches, since its last start or since the last such step."""

    node: int
    pattern: str
    seconds: float
    instead: Sign | None = None


@dataclass(frozen=True)
class LogEnd:
    """Wait until the log of a replica ends there; None: until the broker has no replica of it any more."""

    partition: str
    broker: int
    end: int | None
    seconds: float
    instead: Sign | None = None


Sign: TypeAlias = Wait | Said | LogEnd
"""What shows that a finding is absent, for steps with `instead`: if what they wait for does not come in time,
but this does, the finding is not reproduced. Without either the run is inconclusive."""


Action: TypeAlias = (
    Create | Delete | Produce | Send | Answered | Stream | Reassign | Elect | Configure | Throttle | Feature
    | Unregister | Signal | Exited | Start | MoveDirectory | Directory | DeleteCleanStopFiles | LoseLog
    | Sleep | Wait | Leaderless | Said | LogEnd
)  # fmt: skip
