"""The steps of a recipe: a class for each kind, whose fields are the keys of the step.

The first key of a step names its kind (`STEPS`); the key's value is the field marked `From.TAG`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import From, KeyName, Natural, Positive, read_record
from elrcheck.catalogue.recipe_notation.recipe_signs import (
    PATIENCE,
    Acks,
    Action,
    Answered,
    Brokers,
    Configurable,
    KafkaSettings,
    Leaderless,
    LogEnd,
    Partition,
    PrintedLine,
    Process,
    Seconds,
    Sleeping,
    Topic,
    Unserved,
    WaitStep,
)

STOP = 120.0
START = 240.0


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
