"""The steps of a recipe: a class for each kind, whose fields are the keys of the step.

The first key of a step names its kind (`STEPS`); the key's value is the field marked `From.TAG`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import From, KeyName, Natural, NodeReader, Positive, SameTable, read_record
from elrcheck.catalogue.recipe_notation.recipe_values import (
    Acks,
    Brokers,
    Configurable,
    KafkaSettings,
    Leaders,
    Partition,
    Pattern,
    Process,
    Seconds,
    Sleeping,
    Topic,
)

PATIENCE = 60.0
INSTEAD_PATIENCE = 10.0
STOP = 120.0
START = 240.0


class Action:
    """What a step does; each kind is a record below."""


@dataclass(frozen=True)
class Create(Action):
    """Create a topic. partitions: the replicas of each partition; times: how often the list is repeated."""

    topic: Annotated[Topic, From.TAG]
    partitions: tuple[Brokers, ...]
    config: KafkaSettings = field(default_factory=dict)
    times: Positive = 1

    @property
    def assignments(self) -> tuple[tuple[int, ...], ...]:
        """Return the replicas of every partition."""
        return self.partitions * self.times

    def checked(self, node: Node) -> Create:
        if not self.partitions or not all(self.partitions):
            node["partitions"].expected("the replicas of every partition, such as [[0, 1, 2]]")
        return self


@dataclass(frozen=True)
class Delete(Action):
    """Delete a topic. Kafka answers once the controller has deleted it; brokers delete the logs later."""

    topic: Annotated[Topic, From.TAG]


@dataclass(frozen=True)
class Produce(Action):
    """Write numbered records. size: the bytes of each besides its number.

    acks: `all`, or `1` to wait for the leader alone: such a record does not count as acknowledged.
    via: the broker from which the producer gets its metadata; None for any, which may be slow if one is paused.
    """

    partition: Annotated[Partition, From.TAG]
    records: Positive
    size: Natural = 0
    acks: Acks = "all"
    via: Natural | None = None


@dataclass(frozen=True)
class Send(Action):
    """Send one record with acks=all, without waiting for the answer."""

    partition: Annotated[Partition, From.TAG]


@dataclass(frozen=True)
class Answered(Action):
    """Wait until every sent record has an answer; with `instead`, until it is acknowledged."""

    partition: Annotated[Partition, From.TAG]
    seconds: Seconds = PATIENCE
    instead: Annotated[Sign | None, NodeReader(_read_sign)] = None


@dataclass(frozen=True)
class Stream(Action):
    """Write records with acks=all in the background, at a rate per second, while the next steps run.

    rate: None ends the stream and waits for the last answers.
    """

    partition: Annotated[Partition, From.TAG]
    rate: Positive | None


@dataclass(frozen=True)
class Begin(Action):
    """Write one record in a new transaction, and wait for its answer. producer: the transactional id."""

    partition: Annotated[Partition, From.TAG]
    producer: Topic


@dataclass(frozen=True)
class Commit(Action):
    """Commit a producer's open transaction; its record counts as acknowledged once the commit has succeeded."""

    producer: Annotated[Topic, From.TAG]


@dataclass(frozen=True)
class ReassignStep(Action):
    """Reassign a partition, or cancel that. to: the replicas, or None to cancel.

    absent_if: the error that a build without the finding returns.
    """

    partition: Annotated[Partition, From.TAG]
    to: Brokers | None
    absent_if: str | None = None


@dataclass(frozen=True)
class ElectStep(Action):
    """Ask for an election. via: the broker to ask; None for any, which may take long if one is paused.

    refused: the error that the finding predicts; if Kafka elects instead, the finding is not reproduced.
    if_needed: the step also succeeds if the leader is already the one that the election would choose.
    """

    partition: Annotated[Partition, From.TAG]
    kind: Annotated[Literal["preferred", "unclean"], KeyName("type")]
    via: Natural | None = None
    refused: str | None = None
    if_needed: bool = False

    def checked(self, node: Node) -> ElectStep:
        if self.if_needed and self.refused is not None:
            node.fail("an election is either `refused` or done `if-needed`")
        return self


@dataclass(frozen=True)
class ConfigureStep(Action):
    """Change settings. target: `topic NAME`, `broker ID`, or `broker` for all; an empty value removes a setting."""

    target: Annotated[Configurable, From.TAG]
    values: Annotated[KafkaSettings, KeyName("set")]

    @property
    def kind(self) -> str:
        """Return `topic` or `broker`."""
        return self.target.partition(" ")[0]

    @property
    def name(self) -> str:
        """Return the name of the topic or the broker; empty for all brokers."""
        return self.target.partition(" ")[2]


@dataclass(frozen=True)
class Throttle(Action):
    """Limit the bytes a second that each leader sends to throttled replicas (`leader.replication.throttled.rate`)."""

    rate: Annotated[Positive, From.TAG]


@dataclass(frozen=True)
class Feature(Action):
    name: Annotated[str, From.TAG]
    level: Natural
    kind: Annotated[Literal["upgrade", "safe_downgrade", "unsafe_downgrade"], KeyName("type")]


@dataclass(frozen=True)
class UnregisterStep(Action):
    broker: Annotated[Natural, From.TAG]


@dataclass(frozen=True)
class Signal(Action):
    """Send a signal: stop (SIGTERM, an orderly stop), kill (SIGKILL), pause (SIGSTOP) or resume (SIGCONT).

    broker: None for the controller. wait: whether to wait until the process has ended.
    """

    kind: str
    broker: Annotated[Process, From.TAG]
    wait: bool = True
    seconds: Seconds = STOP


@dataclass(frozen=True)
class Exited(Action):
    """Wait until a broker that was stopped with `wait = false` has ended."""

    broker: Annotated[Natural, From.TAG]
    seconds: Seconds = STOP


@dataclass(frozen=True)
class Start(Action):
    """Start a node unless it runs. broker: None for the controller; wait: whether to wait until it is unfenced."""

    broker: Annotated[Process, From.TAG]
    wait: bool = True
    seconds: Seconds = START


@dataclass(frozen=True)
class MoveDirectory(Action):
    """Move a replica into another log directory of its broker, unless it is there. wait: whether until the end."""

    partition: Annotated[Partition, From.TAG]
    broker: Natural
    directory: Natural
    wait: bool = True
    seconds: Seconds = PATIENCE


@dataclass(frozen=True)
class DirectoryStep(Action):
    """Change a log directory: lose (delete it), replace (by an empty one) or drop (from `log.dirs`)."""

    kind: str
    broker: Annotated[Natural, From.TAG]
    directory: Natural


@dataclass(frozen=True)
class DeleteCleanStopFiles(Action):
    """Delete the files by which a broker knows that its last stop was orderly."""

    broker: Annotated[Natural, From.TAG]


@dataclass(frozen=True)
class LoseLog(Action):
    """Lose records of a replica whose broker does not run, as a power failure loses unflushed records.

    first: the offset from which on they are lost; None to delete all files of the replica.
    """

    partition: Annotated[Partition, From.TAG]
    broker: Natural
    first: Annotated[Natural | None, KeyName("from")] = None


@dataclass(frozen=True)
class Sleep(Action):
    seconds: Annotated[Sleeping, From.TAG]
    because: str


@dataclass(frozen=True)
class ExpectedPartition:
    """The expected answer of DescribeTopicPartitions; None for a field that may have any value.

    leader: the possible leaders, -1 for none. isr_size: the number of members of the ISR. Only `replicas` is ordered.
    """

    leader: Leaders | None = None
    replicas: Brokers | None = None
    isr: Brokers | None = None
    elr: Brokers | None = None
    last_known_elr: Brokers | None = None
    isr_size: Natural | None = None


@dataclass(frozen=True)
class WaitStep(Action):
    """Wait for a predicted state. decides: whether the finding is not reproduced if the state does not come."""

    partition: Annotated[Partition, From.TAG]
    seen: Annotated[ExpectedPartition, SameTable(ExpectedPartition)]
    seconds: Seconds = PATIENCE
    decides: bool = False

    def checked(self, node: Node) -> WaitStep:
        if self.seen == ExpectedPartition():
            node.fail("a `wait` says what it waits for", "such as leader = 2")
        return self


@dataclass(frozen=True)
class Leaderless(Action):
    """Watch whether the partition has no leader for this long, which makes it unavailable; then continue.

    DescribeTopicPartitions does not name a fenced leader, so the step counts it as no leader.
    """

    partition: Annotated[Partition, From.TAG]
    seconds: Seconds


@dataclass(frozen=True)
class Unserved(Action):
    """Send one record with acks=all: if it is not acknowledged in time, the partition is unavailable; then continue."""

    partition: Annotated[Partition, From.TAG]
    seconds: Seconds


@dataclass(frozen=True)
class PrintedLine(Action):
    """Wait until a node (100: the controller) has printed a matching line since its last start or such step."""

    node: Annotated[Natural, From.TAG]
    pattern: Pattern
    seconds: Seconds = PATIENCE
    instead: Annotated[Sign | None, NodeReader(_read_sign)] = None


@dataclass(frozen=True)
class LogEnd(Action):
    """Wait until the log of a replica ends at an offset, or, with `gone`, until the broker has no replica any more."""

    partition: Annotated[Partition, From.TAG]
    broker: Natural
    end: Natural | None = None
    seconds: Seconds = PATIENCE
    instead: Annotated[Sign | None, NodeReader(_read_sign)] = None
    gone: bool = False

    def checked(self, node: Node) -> LogEnd:
        if self.gone == (self.end is not None):
            node.fail("a `log` waits for an `end`, or until it is `gone`")
        return self


Sign: TypeAlias = WaitStep | PrintedLine | LogEnd
"""The alternative outcome of a step with `instead`. If the awaited outcome does not come in time but this one does,
the finding is not reproduced; if neither does, the run is inconclusive."""


STEPS: Mapping[str, tuple[type[Action], Mapping[str, Any]]] = {
    "create": (Create, {}),
    "delete": (Delete, {}),
    "produce": (Produce, {}),
    "send": (Send, {}),
    "answered": (Answered, {}),
    "stream": (Stream, {}),
    "stream-end": (Stream, {"rate": None}),
    "begin": (Begin, {}),
    "commit": (Commit, {}),
    "reassign": (ReassignStep, {"absent_if": None}),
    "cancel": (ReassignStep, {"to": None}),
    "elect": (ElectStep, {}),
    "configure": (ConfigureStep, {}),
    "throttle": (Throttle, {}),
    "feature": (Feature, {}),
    "unregister": (UnregisterStep, {}),
    "stop": (Signal, {"kind": "stop"}),
    "kill": (Signal, {"kind": "kill"}),
    "exited": (Exited, {}),
    "pause": (Signal, {"kind": "pause", "wait": False, "seconds": STOP}),
    "resume": (Signal, {"kind": "resume", "wait": False, "seconds": STOP}),
    "start": (Start, {}),
    "move": (MoveDirectory, {}),
    "lose-directory": (DirectoryStep, {"kind": "lose"}),
    "replace-directory": (DirectoryStep, {"kind": "replace"}),
    "drop-directory": (DirectoryStep, {"kind": "drop"}),
    "delete-clean-stop-files": (DeleteCleanStopFiles, {}),
    "lose-log": (LoseLog, {}),
    "sleep": (Sleep, {}),
    "wait": (WaitStep, {}),
    "leaderless": (Leaderless, {}),
    "unserved": (Unserved, {}),
    "said": (PrintedLine, {}),
    "log": (LogEnd, {}),
}
"""First key of a step -> its class, and the fields whose values the kind determines."""
SIGNS: Mapping[str, tuple[type[Sign], Mapping[str, Any]]] = {
    "wait": (WaitStep, {"decides": False}),
    "said": (PrintedLine, {"instead": None}),
    "log": (LogEnd, {"instead": None}),
}
"""The kinds that `instead` may name, and the fields that it cannot set."""


def _read_sign(node: Node) -> Sign:
    """Read the value of `instead`: a waiting step, as a table."""
    if not isinstance(node.value, dict):
        node.expected('a table such as { log = "orders-0", broker = 1, end = 3 }')
    kind = next(iter(node.value), "")
    if kind not in SIGNS:
        node.fail(f"`{kind}` shows nothing", "what is seen instead is a `wait`, `said` or `log`")
    record, fixed = SIGNS[kind]
    patience = {} if "seconds" in node else {"seconds": INSTEAD_PATIENCE}
    return read_record(node, record, {**fixed, **patience}, tag=kind)


def kind_of(node: Node) -> str:
    """Return the first key of a step."""
    first = next(iter(node.fields()), ("", node))[0]
    if first not in STEPS:
        node.fail(f"`{first}` is not a kind of step", did_you_mean(first, STEPS))
    return first


def read_action(node: Node, others: Collection[str]) -> Action:
    """Read a step; a UsageFault names the line of a mistake. others: keys that do not belong to the action."""
    kind = kind_of(node)
    record, fixed = STEPS[kind]
    return read_record(node, record, fixed, tag=kind, others=others)
