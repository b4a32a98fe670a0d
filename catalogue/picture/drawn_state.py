"""Converts a state of the model, and what the last step changed in it, to the picture that reports draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
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
from elrcheck.results.drawn_picture import DrawnBroker, DrawnPartition, DrawnRecord, Fact
from elrcheck.traces.describe import text

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
