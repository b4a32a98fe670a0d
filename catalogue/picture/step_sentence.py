"""Describes a step in a sentence, in a Kafka operator's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from elrcheck.lang.plain import Label
from elrcheck.model.control_plane.controller_event import MinIsrLevel
from elrcheck.model.state import Acks, State, Status

Describe = Callable[[State, State, Sequence[Any]], str]
"""Describes a step, given the states before and after it and its arguments; empty for a step that is left out."""


def sentence(before: State, after: State, label: Label) -> str:
    """Return what a step does; empty for one that an operator would not notice."""
    return SENTENCES.get(label.action, _nothing)(before, after, label.args)


def whole_sentence(before: State, after: State, label: Label) -> str:
    """Return what a step does, even if an operator would not notice it; empty for a few internal steps."""
    words = sentence(before, after, label)
    if label.action == "Fetch" and not words:
        lost = " The answer is lost." if label.args[2] else " Its log does not change."
        return f"Broker {label.args[0]} fetches from broker {label.args[1]}.{lost}"
    return words or QUIET.get(label.action, "").format(*label.args)


def broker_list(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, brokers)) or "none"


def _nothing(before: State, after: State, args: Sequence[Any]) -> str:
    return ""


def _produce(before: State, after: State, args: Sequence[Any]) -> str:
    leader, acks = args
    word = {Acks.ALL: "all", Acks.ONE: "1", Acks.ZERO: "0"}[acks]
    answer = " The broker has appended it, and acknowledges it." if acks == Acks.ONE else ""
    return f"A producer writes a record with acks={word} to broker {leader}.{answer}"


def _fetch(before: State, after: State, args: Sequence[Any]) -> str:
    follower, leader = args[0], args[1]
    was, now = len(before.broker[follower].log), len(after.broker[follower].log)
    if now > was:
        return f"Broker {follower} fetches the record from broker {leader}."
    if now < was:
        return f"Broker {follower} truncates its log to that of broker {leader}: the record is gone there."
    return ""


def _apply(before: State, after: State, args: Sequence[Any]) -> str:
    b = args[0]
    if after.broker[b].log or not before.broker[b].log:
        return ""
    return f"Broker {b} is not a replica any more, and deletes its log."


def _crash(before: State, after: State, args: Sequence[Any]) -> str:
    b = args[0]
    lost = len(after.broker[b].log) < len(before.broker[b].log)
    return f"Broker {b} crashes{', and the record was not flushed: it is gone there' if lost else ''}."


def _fence(before: State, after: State, args: Sequence[Any]) -> str:
    b = args[0]
    if before.broker[b].status == Status.RUNNING:
        return f"Broker {b} is paused or cut off until its session ends, and fenced."
    return f"The session of broker {b} ends, and it is fenced."


def _min_isr(before: State, after: State, args: Sequence[Any]) -> str:
    level, value = args
    of = "topic" if level == MinIsrLevel.TOPIC else "cluster"
    return f"An operator sets min.insync.replicas of the {of} to {value}."


def _feature(before: State, after: State, args: Sequence[Any]) -> str:
    return f"An operator switches ELR {'on' if args[0] else 'off'}."


def _reassign(before: State, after: State, args: Sequence[Any]) -> str:
    count = "broker" if len(args[0]) == 1 else "brokers"
    return f"An operator reassigns the partition to {count} {broker_list(sorted(args[0]))}."


def _shrink(before: State, after: State, args: Sequence[Any]) -> str:
    leader, out = args
    who = "follower" if len(out) == 1 else "followers"
    return f"Leader {leader} asks to drop the lagging {who} {broker_list(sorted(out))} from the ISR."


def _sentence(text: str) -> Describe:
    """Return a description that fills the arguments of a step into a sentence as {0}, {1}."""
    return lambda before, after, args: text.format(*args)


SENTENCES: Mapping[str, Describe] = {
    "Produce": _produce,
    "Fetch": _fetch,
    "SendLateFetch": _nothing,
    "ReadForLateFetch": _nothing,
    "LateFetchReturns": _nothing,
    "LoseLateFetch": _nothing,
    "ExpandIsr": _sentence("Broker {1} has caught up, and leader {0} asks to add it to the ISR."),
    "ShrinkIsr": _shrink,
    "ControllerAlters": _sentence("The controller decides on the request of broker {0}."),
    "LeaderLearns": _nothing,
    "LoseResponse": _sentence("The controller's answer to broker {0} is lost."),
    "CleanStop": _sentence("Broker {0} stops in an orderly way."),
    "Crash": _crash,
    "Kill": _sentence("Broker {0} is killed; its log is intact."),
    "Start": _sentence("Broker {0} starts again."),
    "Register": _sentence("Broker {0} registers."),
    "Fence": _fence,
    "Unfence": _sentence("Broker {0} is unfenced."),
    "StartControlledShutdown": _sentence("Broker {0} asks for a controlled shutdown."),
    "GrantShutdown": _sentence("The controller lets broker {0} shut down."),
    "Unregister": _sentence("An operator unregisters broker {0}."),
    "FailDirectory": _sentence("The log directory of broker {0} fails."),
    "LoseDirectory": _sentence("The log directory of broker {0} is lost while the broker is down."),
    "ReportFailedDirectory": _sentence("Broker {0} reports its failed log directory."),
    "UnfenceWithoutDirectory": _sentence("One heartbeat of broker {0} unfences it and names its failed directory."),
    "ReportNewDirectory": _sentence("Broker {0} reports its log directory."),
    "ApplyMetadata": _apply,
    "ApplyMetadataFirst": _apply,
    "ApplyOlderRecord": _apply,
    "ApplyMinIsr": _nothing,
    "ApplyEarly": _sentence("Broker {0} acts on metadata before it is registered."),
    "WriteEarly": _sentence("A coordinator on broker {0}, which is not registered, writes a record."),
    "CopyFromShadow": _nothing,
    "EndSynchronisation": _nothing,
    "ElectPreferred": _sentence("The preferred leader is elected."),
    "ElectUnclean": _sentence("An operator asks for an unclean election."),
    "DesignateLeader": _sentence("An operator makes broker {0} the leader."),
    "FavourReplica": _nothing,
    "ElectUncleanPeriodically": _sentence("The controller's timer elects a leader uncleanly."),
    "ChangeMinIsr": _min_isr,
    "DeleteMinIsr": _sentence("An operator deletes min.insync.replicas of the topic."),
    "ChangeBrokerMinIsr": _sentence("An operator sets min.insync.replicas of broker {0} to {1}."),
    "ChangeFeature": _feature,
    "AssignDirectories": _sentence("A broker reports the log directory of its replica."),
    "Reassign": _reassign,
    "CancelReassignment": _sentence("The operator cancels the reassignment."),
}
"""Action -> its description. Actions of the recovery manager, which no release has, are left out."""
QUIET: Mapping[str, str] = {
    "ApplyMetadata": "Broker {0} reads the newest metadata.",
    "ApplyMetadataFirst": "Broker {0} reads the next record of the metadata.",
    "ApplyMinIsr": "Broker {0} reads the new min.insync.replicas.",
    "LeaderLearns": "Broker {0} learns what the controller decided on its request.",
}
"""Action -> its description, for actions that `SENTENCES` omits."""
