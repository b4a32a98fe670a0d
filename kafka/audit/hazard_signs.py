"""Signs of findings: states of a partition, and events, from which a finding may follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeAlias

from elrcheck.kafka.audit.judged import broken_of, settings_of
from elrcheck.kafka.audit.rules import Knobs
from elrcheck.kafka.log.cluster_state import (
    BROKER,
    ELR_FEATURE,
    EVERY_BROKER,
    MIN_ISR,
    NO_CHANGE,
    TOPIC,
    ClusterState,
    PartitionChanged,
    PartitionKey,
    StoredBroker,
)
from elrcheck.kafka.log.history import Applied
from elrcheck.kafka.log.metadata_records import Fields
from elrcheck.kafka.partition_questions import NO_LEADER, KafkaPartition
from elrcheck.model.state import configured_min_isr

UNREAD_FOR = 15_000
"""Milliseconds that a leader may need to read a record of the metadata log."""

Sign: TypeAlias = tuple[str, str]
"""The name of a rule, and the message of its flag."""


def state_signs(state: ClusterState, key: PartitionKey, ghosts: frozenset[int], knobs: Knobs = ()) -> Iterator[Sign]:
    """Yield the signs in the present state of a partition. ghosts: those of `EventSigns`."""
    p = state.partitions[key].shape.lists
    if ghosts:
        away = not ghosts <= frozenset(p.replicas)
        what = f"is not within the replicas {list(p.replicas)}" if away else "names replicas that were away"
        yield "elr-outside-replicas", f"ELR {list(p.elr)} {what}"
    strangers = [broker for broker in p.elr if broker not in state.brokers and broker != NO_LEADER]
    if strangers and state.elr_enabled:
        yield "elr-unregistered", f"ELR {list(p.elr)} has {_brokers(strangers)}, not registered"
    if p.elr and state.elr_is_off:
        yield "elr-while-off", f"ELR {list(p.elr)} is stored while the feature is off"
    if NO_LEADER in (*p.isr, *p.elr, *p.last_known_elr):
        yield "stored-none", f"-1 is stored as a broker: {_lists(p)}"
    if outside := _last_known_outside(p):
        what = f"no leader, and LastKnownELR has {_brokers(outside)}, no replica: {_lists(p)}"
        yield "last-known-outside-replicas", what
    elif p.leader == NO_LEADER and not p.isr and not p.elr:
        last = frozenset(p.last_known_elr) - {NO_LEADER}
        if not last:
            yield "no-candidate", f"no leader, and no list names a broker that may become one: {_lists(p)}"
        elif state.elr_is_off:
            what = "no leader, and without the feature no broker may become one"
            yield "switched-off-without-leader", f"{what}: {_lists(p)}"
        elif not last >= frozenset(p.replicas):
            yield "last-known-only", f"no leader, and only a last known one may lead again: {_lists(p)}"
    for broken in broken_of(state, key, knobs):
        yield from _property_sign(p, broken.property, broken.conjunct, bool(ghosts), state.elr_enabled)


def _last_known_outside(p: KafkaPartition) -> list[int]:
    """Return the brokers of LastKnownELR that are no replicas, if one of them may become leader."""
    if p.leader != NO_LEADER or p.elr:
        return []
    return [broker for broker in p.last_known_elr if broker not in p.replicas and broker != NO_LEADER]


def _property_sign(p: KafkaPartition, ident: str, conjunct: str, ghosts: bool, elr: bool) -> Iterator[Sign]:
    """Yield a property that does not hold, named after the finding that explains it, if any."""
    if ghosts and (ident, conjunct) in (("P-12", "elr"), ("P-11", "below_min_isr")):
        return  # elr-outside-replicas says so
    outside = ident in ("P-18", "P-19") or (ident, conjunct) == ("P-12", "last_known_elr")
    if outside and _last_known_outside(p):
        return  # last-known-outside-replicas says so, and what to do first
    leaderless = p.leader == NO_LEADER
    if ghosts and ident == "P-20":
        yield "elr-blocks-election", f"no leader while the ELR is not empty: {_lists(p)}"
    elif leaderless and p.isr and elr and ident in ("P-18", "P-19"):
        yield "leaderless-with-isr", f"no leader, but a member in the ISR, with ELR on: {_lists(p)}"
    elif ident == "P-19" and p.isr == (p.leader,):
        yield "inactive-leader", f"the leader is fenced, shutting down or not registered: {_lists(p)}"
    else:
        yield ident, f"{MESSAGES[ident]}: {_lists(p)}"


MESSAGES: Mapping[str, str] = {
    "P-10": "a broker is in the ISR and in the ELR",
    "P-11": "the ELR is not empty while the ISR has min.insync.replicas members",
    "P-12": "ISR, ELR or LastKnownELR names a broker that is not a replica",
    "P-17": "the leader is not in the ISR",
    "P-18": "with ELR on, either the leader or the ISR is there without the other",
    "P-19": "a member of the ISR is fenced, shutting down or not registered",
    "P-20": "no leader while an eligible replica is active",
}
"""The message for each broken property."""


class RaisedMinIsr(NamedTuple):
    """min.insync.replicas was raised at this time, from this value."""

    time: int
    before: int


class PendingSign(NamedTuple):
    """A record whose sign, if it is one, depends on the state at the end of its batch."""

    applied: Applied
    key: PartitionKey
    sign_at_end: Callable[[ClusterState], Sign | None]


@dataclass
class BatchStart:
    """Brokers, settings and the feature as they were before the present batch."""

    brokers: Mapping[int, StoredBroker] = field(default_factory=dict)
    min_isr: Mapping[tuple[int, str], str] = field(default_factory=dict)
    elr: bool = False


@dataclass
class EventSigns:
    """Signs that leave no trace in the state. `signs_of` must be called with every record, in order."""

    before: BatchStart
    ghost_members: dict[PartitionKey, frozenset[int]] = field(default_factory=dict)
    """Members of the ELR that ceased to be replicas for a time while they were in it."""
    watched_until: int = -1
    """The time until which every record must be looked at, because min.insync.replicas was raised."""
    _raised: dict[tuple[int, str], RaisedMinIsr] = field(default_factory=dict)
    _pending: list[PendingSign] = field(default_factory=list)
    _assigned: dict[int, dict[PartitionKey, str]] = field(default_factory=dict)
    """Directories of replicas of a broker that is fenced, as they were before it assigned others."""
    _cleared: dict[str, dict[int, int]] = field(default_factory=dict)
    """By the id of a topic: brokers that a cleared ELR had, with the number of the partition."""

    def of_batch(self, state: ClusterState) -> Iterator[tuple[Applied, PartitionKey, Sign]]:
        """Yield the signs that depend on the state at the end of the batch; call it there.

        A broker may be fenced after the record that drops it, and leave the ISR after the one that registers it.
        """
        pending, self._pending = self._pending, []
        for applied, key, sign_at_end in pending:
            sign = sign_at_end(state)
            if sign is not None:
                yield applied, key, sign

    def signs_of(
        self, applied: Applied, state: ClusterState, in_snapshot: bool = False
    ) -> Iterator[tuple[PartitionKey, Sign]]:
        """Yield the signs of this record, which has been applied."""
        name, fields = applied.record.name, applied.record.fields
        if name == "CONFIG_RECORD" and fields["name"] == MIN_ISR and not in_snapshot:
            self._note_raised(applied, state)
        if name == "REGISTER_BROKER_RECORD" and fields["fenced"] and not in_snapshot:
            self._note_reregistered(applied, state)
            self._note_missing_directories(applied, state)
        if name == "REMOVE_TOPIC_RECORD":
            yield from self._deleted(applied, state)
        if name == "FEATURE_LEVEL_RECORD" and fields["name"] == ELR_FEATURE and state.elr_enabled:
            for key, stored in state.partitions.items():
                if elr := stored.shape.lists.elr:
                    yield key, ("elr-from-before", f"ELR {list(elr)} is older than the feature, now on")
        for changed in applied.changed:
            before = changed.before.shape.lists if changed.before is not None else None
            after = changed.after.shape.lists if changed.after is not None else None
            if before is not None and before.elr and after is not None and not after.elr:
                yield from self._wiped(applied, changed, before, state)
                if name == "CLEAR_ELR_RECORD":
                    cleared = self._cleared.setdefault(changed.key.topic_id, {})
                    cleared |= {broker: changed.key.partition for broker in before.elr if broker >= 0}
            yield from self._ghost(changed.key, before, after)
            if before is not None and after is not None and name == "PARTITION_CHANGE_RECORD":
                least = _min_isr(state.min_isr, state.name_of(changed.key))
                yield from _few_left(changed.key, before, after, min(least, len(after.replicas)))
                self._note_shrunk(applied, changed.key, before, after, state)
                if fields["directories"] is not None:
                    self._note_assigned(changed, state)

    def _note_raised(self, applied: Applied, state: ClusterState) -> None:
        fields = applied.record.fields
        resource = fields["resourceType"], fields["resourceName"]
        if resource[0] == TOPIC and any(True for _ in state.keys_of(resource[1])):  # it is not being created
            before, now = _min_isr(self.before.min_isr, resource[1]), _min_isr(state.min_isr, resource[1])
        elif resource == (BROKER, EVERY_BROKER) and state.partitions:  # else no leader can have missed it
            before, now = _min_isr(self.before.min_isr, ""), _min_isr(state.min_isr, "")
        else:
            return
        if now > before:
            self._raised[resource] = RaisedMinIsr(applied.time, before)
            self.watched_until = max(self.watched_until, applied.time + UNREAD_FOR)

    def _note_reregistered(self, applied: Applied, state: ClusterState) -> None:
        """Note a new incarnation whose last one was not fenced: it has to leave every ISR (F-2).

        Without ELR, the last member of an ISR stays in it, but no longer leads.
        """
        broker = applied.record.fields["brokerId"]
        earlier = self.before.brokers.get(broker)
        if earlier is not None and not earlier.fenced:
            for home in state.shapes.homes_of(broker):
                for key in home.keys:
                    isr = state.partitions[key].shape.lists.isr
                    if broker in isr:
                        sign = partial(_registered_in_isr, key, broker, len(isr) > 1)
                        self._pending.append(PendingSign(applied, key, sign))

    def _note_assigned(self, changed: PartitionChanged, state: ClusterState) -> None:
        """Note that a fenced broker names other directories: it is starting, and has not registered again yet."""
        assert changed.before is not None and changed.after is not None
        now = dict(changed.after.shape.home.pairs)
        for broker, directory in changed.before.shape.home.pairs:
            stored = state.brokers.get(broker)
            if stored is not None and stored.fenced and now.get(broker, directory) != directory:
                self._assigned.setdefault(broker, {}).setdefault(changed.key, directory)

    def _note_missing_directories(self, applied: Applied, state: ClusterState) -> None:
        """Note a new incarnation that lacks directories which had replicas of the last one (F-52)."""
        broker = applied.record.fields["brokerId"]
        now, earlier = state.brokers[broker], self._assigned.pop(broker, {})
        if broker not in self.before.brokers:
            return
        gone = {key: directory for key, directory in earlier.items() if not now.has_online(directory)}
        for home in state.shapes.homes_of(broker):
            directory = dict(home.pairs)[broker]
            if not now.has_online(directory):
                gone = dict.fromkeys(home.keys, directory) | gone
        for key, directory in gone.items():
            sign = partial(_registered_without_directory, key, broker, directory)
            self._pending.append(PendingSign(applied, key, sign))

    def _deleted(self, applied: Applied, state: ClusterState) -> Iterator[tuple[PartitionKey, Sign]]:
        """Yield the sign of a deleted topic whose brokers stay in the controller's index of ELR members (F-64).

        ReplicationControlManager.removeTopicElrs leaves them there; replay(RemoveTopicRecord) removes only those
        that are in an ELR then.
        """
        cleared = self._cleared.pop(applied.record.fields["topicId"], {})
        lists = [changed.before.shape.lists for changed in applied.changed if changed.before is not None]
        left = sorted(cleared.keys() - {broker for p in lists for broker in p.elr})
        if left:
            key = PartitionKey(applied.record.fields["topicId"], cleared[left[0]])
            away = [broker for broker in left if broker not in state.brokers or state.brokers[broker].fenced]
            down = f"; {_brokers(away)} {'is' if len(away) == 1 else 'are'} not active" if away else ""
            what = "cannot register after an unclean shutdown, and each attempt makes the controller resign"
            message = f"the topic is deleted, and {_brokers(left)} of an ELR that was cleared {what}{down}"
            yield key, ("deleted-after-clearing", message)

    def _note_shrunk(
        self, applied: Applied, key: PartitionKey, before: KafkaPartition, after: KafkaPartition, state: ClusterState
    ) -> None:
        """Note that members are dropped and stay eligible by a value that the leader may not have read.

        Until it has, the leader waits only for the rest of the ISR if that satisfies the old value (F-53; F-24 if
        brokers are fenced).
        """
        if applied.time > self.watched_until:
            return
        dropped = tuple(broker for broker in before.isr if broker not in after.isr)
        alone = dropped and set(after.isr) < set(before.isr) and set(dropped) <= set(after.elr)
        if not alone or after.leader != before.leader or after.leader == NO_LEADER:
            return
        topic = state.name_of(key)
        least = _min_isr(state.min_isr, topic)
        own = (TOPIC, topic)
        resources = [own] if own in state.min_isr else [own, (BROKER, EVERY_BROKER)]
        raised = max((self._raised[each] for each in resources if each in self._raised), default=None)
        if raised is None or not 0 <= applied.time - raised.time <= UNREAD_FOR:
            return
        if raised.before <= len(after.isr) < least:
            passed = applied.time - raised.time
            message = (
                f"ISR {list(after.isr)} and ELR {list(after.elr)} {passed} ms after min.insync.replicas was"
                f" raised from {raised.before} to {least}, which the leader may not have read"
            )
            self._pending.append(PendingSign(applied, key, partial(_raised_while_dropping, dropped, message)))

    def ghosts(self, key: PartitionKey) -> frozenset[int]:
        """Return the members of the ELR that may have deleted their logs, because they were no replicas for a while."""
        return self.ghost_members.get(key, frozenset())

    def _wiped(
        self, applied: Applied, changed: PartitionChanged, before: KafkaPartition, state: ClusterState
    ) -> Iterator[tuple[PartitionKey, Sign]]:
        name, fields = applied.record.name, applied.record.fields
        topic = state.name_of(changed.key)
        same = _min_isr(self.before.min_isr, topic) == _min_isr(state.min_isr, topic)
        if name == "CLEAR_ELR_RECORD" and state.elr_enabled and same:
            message = f"ELR {list(before.elr)} is cleared, though min.insync.replicas stays the same"
            yield changed.key, ("elr-wiped-by-configuration", message)
        if name == "PARTITION_CHANGE_RECORD" and _only_assigns(fields):
            message = f"ELR {list(before.elr)} is cleared by an assignment of log directories"
            yield changed.key, ("elr-wiped-by-directories", message)

    def _ghost(
        self, key: PartitionKey, before: KafkaPartition | None, after: KafkaPartition | None
    ) -> Iterator[tuple[PartitionKey, Sign]]:
        left = self.ghost_members.pop(key, frozenset())
        if after is None:
            return
        if before is not None and after.leader != before.leader and after.leader in left:
            message = f"leader {after.leader} is elected from the ELR, but was no replica for a while"
            yield key, ("ghost-elected", message)
        now = (left | (frozenset(after.elr) - frozenset(after.replicas))) & frozenset(after.elr)
        if now:
            self.ghost_members[key] = now


def _registered_in_isr(key: PartitionKey, broker: int, beside: bool, state: ClusterState) -> Sign | None:
    """Return the sign of a broker that registers again without having been fenced, and stays in the ISR.

    beside: the ISR had other members as well.
    """
    p = _lists_of(state, key)
    if p is None or broker not in p.isr or not (p.leader == broker or beside):
        return None
    leads = " and leads" if p.leader == broker else ""
    what = f"is registered anew, though it was not fenced, and stays in the ISR{leads}"
    return "registered-in-isr", f"broker {broker} {what}: {_lists(p)}"


def _registered_without_directory(key: PartitionKey, broker: int, directory: str, state: ClusterState) -> Sign | None:
    """Return the sign of a broker that registers again without its replica's directory and stays eligible."""
    p = _lists_of(state, key)
    if p is None or broker not in (*p.isr, *p.elr):
        return None
    what = f"is registered without log directory {directory}, which had its replica"
    return "registered-without-directory", f"broker {broker} {what}, and stays eligible: {_lists(p)}"


def _raised_while_dropping(dropped: tuple[int, ...], message: str, state: ClusterState) -> Sign:
    """Return the sign of dropped members: dropped by the leader if all are active, else by the controller."""
    brokers = [state.brokers.get(broker) for broker in dropped]
    by_leader = all(broker and not broker.fenced and not broker.in_controlled_shutdown for broker in brokers)
    return "raised-while-shrinking" if by_leader else "raised-while-fencing", message


def _min_isr(settings: Mapping[tuple[int, str], str], topic: str) -> int:
    """Return min.insync.replicas of a topic, as the controller resolves it."""
    return configured_min_isr(settings_of(settings, topic, elr=True, brokers=1))


def _few_left(
    key: PartitionKey, before: KafkaPartition, after: KafkaPartition, least: int
) -> Iterator[tuple[PartitionKey, Sign]]:
    """Yield the sign of a reassignment that ends with fewer than min.insync.replicas in ISR and ELR (P-29)."""
    copies = {*after.isr, *after.elr} & set(after.replicas)
    if not (before.adding or before.removing) or after.adding or after.removing or len(copies) >= least:
        return
    left = f"with ISR {list(after.isr)} of replicas {list(after.replicas)}, min.insync.replicas {least}"
    if set(after.replicas) == set(before.replicas) - set(before.removing):
        yield key, ("completed-with-few", f"the reassignment from {list(before.replicas)} completes {left}")
    elif set(after.replicas) == set(before.replicas) - set(before.adding) and len({*before.isr, *before.elr}) >= least:
        message = f"the reassignment is cancelled {left}; the ISR was {list(before.isr)}"
        yield key, ("cancelled-with-few", message)


def _only_assigns(fields: Fields) -> bool:
    """Return whether a record is about log directories only, neither about members nor about a leader."""
    members = (fields["isr"], fields["replicas"], fields["addingReplicas"], fields["removingReplicas"])
    return fields["directories"] is not None and members == (None,) * 4 and fields["leader"] == NO_CHANGE


def _brokers(ids: list[int]) -> str:
    return f"broker {ids[0]}" if len(ids) == 1 else f"brokers {ids}"


def _lists_of(state: ClusterState, key: PartitionKey) -> KafkaPartition | None:
    stored = state.partitions.get(key)
    return None if stored is None else stored.shape.lists


def _lists(p: KafkaPartition) -> str:
    leader = "none" if p.leader == NO_LEADER else str(p.leader)
    last_known = f", LastKnownELR {list(p.last_known_elr)}" if p.last_known_elr else ""
    return f"leader {leader}, replicas {list(p.replicas)}, ISR {list(p.isr)}, ELR {list(p.elr)}{last_known}"
