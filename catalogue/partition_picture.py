"""Draws the states of a partition and what the last step changed in them, and describes steps in a user's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from elrcheck.declared.state_picture import Drawing
from elrcheck.lang.plain import Label
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.model.control_plane.controller_event import MinIsrLevel
from elrcheck.model.state import (
    Acks,
    Directory,
    Entry,
    LogDir,
    Recovery,
    Stage,
    State,
    Status,
    configured_min_isr,
    leads,
)
from elrcheck.results.trace_view import DrawnBroker, DrawnPartition, DrawnRecord, Fact
from elrcheck.traces.describe import text

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


LATE = {False: "request", True: "response"}


def drawn(config: Config, state: State, before: State | None = None) -> DrawnPartition:
    """Return the drawing of a state. before: the state before the last step; None for an initial state."""
    old = state if before is None else before
    logs = [broker.log for each in (state, old) for broker in each.broker]
    offsets = max((len(log) for log in (*logs, state.committed)), default=0)
    return DrawnPartition(
        facts=_compared(_facts(state), _facts(old)),
        offsets=offsets,
        committed=tuple(_records(state.committed, old.committed, state, offsets)),
        holders=tuple(_holders(state, offset, entry) for offset, entry in enumerate(state.committed)),
        brokers=tuple(_broker(state, old, b, offsets) for b in range(config.broker_count)),
        notes=_compared(_notes(state), _notes(old)),
    )


def _compared(now: Sequence[Fact], old: Sequence[Fact]) -> tuple[Fact, ...]:
    before = {fact.name: fact.value for fact in old}
    return tuple(Fact(fact.name, fact.value, before.get(fact.name) != fact.value) for fact in now)


def _facts(state: State) -> list[Fact]:
    """Return what the controller stores about the partition, without empty fields that are rarely set."""
    it = state.partition
    last_known = text(it.last_known_elr)
    facts = [
        Fact("leader", text(it.leader)),
        Fact("ISR", text(it.isr)),
        Fact("ELR", text(it.elr)),
        Fact("LastKnownELR", "[-1]" if it.last_known_none and not it.last_known_elr else last_known),
        Fact("leader epoch", str(it.leader_epoch)),
        Fact("partition epoch", str(it.partition_epoch)),
        Fact("replicas", text(it.replicas)),
        Fact("min.insync.replicas", str(configured_min_isr(state.settings))),
        Fact("ELR feature", "on" if state.settings.elr_enabled else "off"),
    ]
    if it.adding or it.removing:
        facts += [Fact("adding", text(it.adding)), Fact("removing", text(it.removing))]
    if it.last_known_leader is not None:
        facts.append(Fact("last known leader", text(it.last_known_leader)))
    if it.recovery is not Recovery.RECOVERED:
        facts.append(Fact("recovery state", text(it.recovery)))
    return facts


def _notes(state: State) -> list[Fact]:
    """Return notes on messages under way, and on what operators and the Unclean Recovery Manager have begun."""
    notes = []
    if state.recovery.strategy is not RecoveryStrategy.DISABLED:
        notes.append(Fact("unclean recovery", text(state.recovery.strategy)))
    for fetch in state.fetching:
        sort = LATE[fetch.answered]
        notes.append(Fact("late fetch", f"{sort}, broker {fetch.follower} from {fetch.leader}, offset {fetch.offset}"))
    if state.lossy:
        notes.append(Fact("lost a part of the log", text(state.lossy)))
    if state.acked:
        notes.append(Fact("acknowledged to producers", " ".join(f"r{entry.id}" for entry in state.acked)))
    return notes


# ------------------------------------------------------------------------------------ brokers


def _broker(state: State, old: State, b: int, offsets: int) -> DrawnBroker:
    now, was = state.broker[b], old.broker[b]
    return DrawnBroker(
        number=b,
        role=_role(state, b),
        role_changed=_role(state, b) != _role(old, b),
        status=_compared(_status(state, b), _status(old, b)),
        log=tuple(_records(now.log, was.log, state, offsets)),
        high_watermark=now.high_watermark,
        watermark_changed=now.high_watermark != was.high_watermark,
        facts=_compared(_own(state, b), _own(old, b)),
    )


def _role(state: State, b: int) -> str:
    """Return the role of the broker in the partition, according to the controller."""
    it = state.partition
    if b == it.leader:
        return "leader"
    named = (("ISR", it.isr), ("ELR", it.elr), ("LastKnownELR", it.last_known_elr), ("replica", it.replicas))
    return next((role for role, members in named if b in members), "none")


def _status(state: State, b: int) -> list[Fact]:
    """Return what keeps the broker from serving; name and value are equal, so that changes show."""
    broker, entry = state.broker[b], state.registration[b]
    signs: list[tuple[bool, str]] = [
        (broker.status is Status.OFFLINE, "offline"),
        (broker.status is Status.STARTING, "starting"),
        (not entry.registered, "unregistered"),
        (entry.fenced, "fenced"),
        (entry.in_controlled_shutdown, "in controlled shutdown"),
        (entry.directory is Directory.OFFLINE, "directory offline"),
        (broker.log_dir is not LogDir.PRESENT, f"log directory {text(broker.log_dir).lower()}"),
        (b in state.lossy, "lost a part of its log"),
        (leads(state, b) and state.partition.leader != b, "believes that it leads"),
    ]
    return [Fact(words, words) for applies, words in signs if applies]


def _own(state: State, b: int) -> list[Fact]:
    """Return what the broker itself knows."""
    broker, view = state.broker[b], state.broker[b].view
    if broker.status is Status.OFFLINE:
        return [Fact("broker epoch", str(state.registration[b].epoch))]
    facts = [Fact("broker epoch", f"{broker.epoch} (controller: {state.registration[b].epoch})")]
    if view.partition_epoch == 0:
        facts.append(Fact("its view", "no metadata yet"))
    else:
        seen = f"leader {text(view.leader)}, leader epoch {view.leader_epoch}"
        facts.append(Fact("its view", f"{seen}, partition epoch {view.partition_epoch}"))
    if leads(state, b):
        facts.append(Fact("committed ISR", text(view.isr)))
        ends = (
            f"broker {f} {'nothing yet' if peer.log_end_offset is None else f'up to {peer.log_end_offset}'}"
            for f, peer in enumerate(broker.peers)
            if f != b and f in view.replicas
        )
        facts.append(Fact("fetched", ", ".join(ends) or "by no follower"))
    if broker.alter.stage is not Stage.IDLE:
        proposal = f"ISR {text(broker.alter.isr)}, {text(broker.alter.stage).lower()}"
        answer = f": {broker.alter.error.name}" if broker.alter.stage is Stage.ANSWERED else ""
        facts.append(Fact("AlterPartition", proposal + answer))
    return facts


# ------------------------------------------------------------------------------------ records


def _records(log: Sequence[Entry], old: Sequence[Entry], state: State, offsets: int) -> Iterator[DrawnRecord | None]:
    """Yield the record at each offset, or the one that the last step removed from there."""
    for offset in range(offsets):
        now = log[offset] if offset < len(log) else None
        was = old[offset] if offset < len(old) else None
        entry = now if now is not None else was
        if entry is None:
            lost = state.committed[offset] if offset < len(state.committed) else None
            yield None if lost is None else _record(lost, offset, "missing")
            continue
        change = "gone" if now is None else "new" if now != was else ""
        yield _record(entry, offset, _record_role(entry, offset, state), change)


def _record(entry: Entry, offset: int, role: str, change: str = "") -> DrawnRecord:
    return DrawnRecord(offset, f"r{entry.id}", entry.epoch, entry.acks.value, role, change)


def _holders(state: State, offset: int, entry: Entry) -> str:
    """Return the brokers whose logs have a committed record, whether they run or not."""
    logs = (broker.log for broker in state.broker)
    return text(frozenset(b for b, log in enumerate(logs) if offset < len(log) and log[offset] == entry))


def _record_role(entry: Entry, offset: int, state: State) -> str:
    if entry in state.acked and entry.acks is Acks.ALL:
        return "acknowledged"
    if offset >= len(state.committed):
        return "open"
    return "committed" if state.committed[offset] == entry else "other"


class PartitionDrawing(Drawing):
    """The drawing of one configuration's states, with a lane for each broker."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def drawn(self, state: State, before: State) -> DrawnPartition:
        """See `Drawing.drawn`."""
        return drawn(self.config, state, before)

    def sentence(self, before: State, after: State, label: Label) -> str:
        """See `Drawing.sentence`."""
        return whole_sentence(before, after, label)
