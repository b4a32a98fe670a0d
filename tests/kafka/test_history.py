"""What records add up to, and when they become visible: batches, transactions, snapshots."""

from __future__ import annotations

import pytest

from elrcheck.kafka.log.cluster_state import (
    LOST,
    MIGRATING,
    UNASSIGNED,
    ClusterState,
    EarlierRecordsMissing,
    PartitionKey,
    StoredBroker,
    min_isr_in,
)
from elrcheck.kafka.log.entries import Item, LogEntry, SnapshotStart
from elrcheck.kafka.log.history import Applied, History, HistoryEvent, Settled, UnreadCount
from elrcheck.kafka.log.metadata_records import ControlRecord, MetadataRecord, Unread, defaults_of
from elrcheck.kafka.log.record_table import BY_NAME
from elrcheck.kafka.log.segments import Damage
from support.log_stories import D, E, T, U, broker, change, registered
from support.log_writer import RecordFields

P0 = PartitionKey(T, 0)
TOPIC: RecordFields = ("TOPIC_RECORD", 0, {"name": "orders", "topicId": T})
PARTITION: RecordFields = (
    "PARTITION_RECORD",
    2,
    {
        "partitionId": 0,
        "topicId": T,
        "replicas": (0, 1, 2),
        "isr": (0, 1, 2),
        "leader": 0,
        "leaderEpoch": 4,
        "partitionEpoch": 7,
        "directories": (D, E, D),
    },
)
BEGIN: RecordFields = ("BEGIN_TRANSACTION_RECORD", 0, {})
END: RecordFields = ("END_TRANSACTION_RECORD", 0, {})
ABORT: RecordFields = ("ABORT_TRANSACTION_RECORD", 0, {})
NO_LEADER = change(2, leader=-1, isr=())


def record(step: RecordFields) -> MetadataRecord:
    name, version, fields = step
    return MetadataRecord(name, version, defaults_of(BY_NAME[name]) | dict(fields))


def after(*steps: RecordFields) -> ClusterState:
    state = ClusterState()
    for each in steps:
        state.apply(record(each))
    return state


def entry(offset: int, step: RecordFields, ends: bool = True, path: str = "log") -> LogEntry:
    return LogEntry(path, offset, 1_000 + offset, record(step), ends)


def follow(*items: Item) -> tuple[History, list[HistoryEvent]]:
    history = History()
    return history, list(history.events(items))


def footer(path: str, offset: int) -> LogEntry:
    return LogEntry(path, offset, 0, ControlRecord("SnapshotFooter", None))


# ---------------------------------------------------------------------------- records, one by one


def test_a_change_keeps_what_it_does_not_name() -> None:
    first = change(2, isr=(1,), leader=1, eligibleLeaderReplicas=(0,), leaderRecoveryState=1)
    state = after(TOPIC, PARTITION, first)
    p = state.partitions[P0].registration
    assert (p.replicas, p.isr, p.elr, p.leader, p.leader_epoch, p.partition_epoch, p.recovery) == (
        (0, 1, 2),
        (1,),
        (0,),
        1,
        5,
        8,
        "RECOVERING",
    )
    (changed,) = state.apply(record(change(2, replicas=(1, 2), addingReplicas=(2,), directories=(E, D))))
    assert changed.before is not None and changed.before.registration == p
    p = state.partitions[P0].registration
    assert (p.replicas, p.adding, p.isr, p.leader_epoch, p.partition_epoch) == ((1, 2), (2,), (1,), 5, 9)
    assert state.partitions[P0].shape.directories == (E, D)
    p = after(TOPIC, PARTITION, NO_LEADER).partitions[P0].registration
    assert (p.leader, p.leader_epoch, p.isr) == (-1, 5, ())


def test_directories_of_older_records_are_migrating() -> None:
    """PartitionRegistration.defaultToMigrating."""
    state = after(TOPIC, ("PARTITION_RECORD", 0, PARTITION[2] | {"directories": ()}))
    assert state.partitions[P0].shape.directories == (MIGRATING,) * 3
    state.apply(record(change(0, replicas=(0, 1))))
    assert state.partitions[P0].shape.directories == (MIGRATING,) * 2


def test_clearing_the_elr_bumps_only_partitions_that_have_one() -> None:
    """ReplicationControlManager.removeTopicElrs."""
    with_elr = change(2, isr=(1,), eligibleLeaderReplicas=(0,), lastKnownElr=(2,))
    other: RecordFields = ("PARTITION_RECORD", 2, PARTITION[2] | {"partitionId": 1})
    for name in ("orders", ""):
        state = after(TOPIC, PARTITION, other, with_elr, ("CLEAR_ELR_RECORD", 0, {"topicName": name}))
        p = state.partitions[P0].registration
        assert (p.elr, p.last_known_elr, p.partition_epoch) == ((), (), 9)
        assert state.partitions[PartitionKey(T, 1)].registration.partition_epoch == 7
    state = after(TOPIC, PARTITION, with_elr, ("CLEAR_ELR_RECORD", 0, {"topicName": "others"}))
    assert state.partitions[P0].registration.elr == (0,)


def test_brokers_are_fenced_and_moved() -> None:
    one = broker(3, 1, logDirs=(D,))
    state = after(one)
    assert state.brokers == {1: StoredBroker(9, True, False, (D,), 29)}
    for step, expected in (
        (registered(2, fenced=-1), StoredBroker(9, False, False, (D,), 29)),
        (registered(2, inControlledShutdown=1, logDirs=(D, E)), StoredBroker(9, False, True, (D, E), 29)),
        (("FENCE_BROKER_RECORD", 0, {"id": 1, "epoch": 9}), StoredBroker(9, True, True, (D, E), 29)),
        (("UNFENCE_BROKER_RECORD", 0, {"id": 1, "epoch": 9}), StoredBroker(9, False, True, (D, E), 29)),
        (registered(2, fenced=1), StoredBroker(9, True, True, (D, E), 29)),
        (one, StoredBroker(9, True, False, (D,), 29)),
    ):
        state.apply(record(step))
        assert state.brokers[1] == expected
    state.apply(record(("UNREGISTER_BROKER_RECORD", 0, {"brokerId": 1, "brokerEpoch": 9})))
    assert state.brokers == {}


@pytest.mark.parametrize(
    ("directories", "directory", "online"),
    [
        ((D,), D, True),
        ((D,), E, False),
        ((), E, True),
        ((D,), UNASSIGNED, True),
        ((D,), MIGRATING, True),
        ((D,), LOST, False),
        ((), LOST, False),
    ],
)
def test_which_directories_are_online(directories: tuple[str, ...], directory: str, online: bool) -> None:
    """DirectoryId.isOnline."""
    assert StoredBroker(1, False, False, directories).has_online(directory) is online


def test_a_removed_topic_takes_its_partitions_and_settings_along() -> None:
    own = {"resourceType": 2, "resourceName": "orders", "name": "min.insync.replicas", "value": "2"}
    state = after(TOPIC, ("CONFIG_RECORD", 0, own), PARTITION)
    assert state.min_isr == {(2, "orders"): "2"}
    (gone,) = state.apply(record(("REMOVE_TOPIC_RECORD", 0, {"topicId": T})))
    assert gone.key == P0 and gone.after is None
    assert (state.topics, state.partitions, state.min_isr) == ({}, {}, {})


@pytest.mark.parametrize(
    ("settings", "min_isr"),
    [
        ({}, (None, 1)),
        ({(4, ""): "2"}, (None, 2)),
        ({(4, ""): "2", (2, "t"): "3", (2, "u"): "4", (4, "0"): "5"}, (3, 2)),
        ({(4, ""): "two", (2, "t"): "-1"}, (None, 1)),
    ],
)
def test_min_isr_of_topic_and_cluster(settings: dict[tuple[int, str], str], min_isr: tuple[int | None, int]) -> None:
    assert min_isr_in(settings, "t") == min_isr


@pytest.mark.parametrize(
    "step",
    [
        change(2, leader=1),
        ("REMOVE_TOPIC_RECORD", 0, {"topicId": T}),
        ("UNREGISTER_BROKER_RECORD", 0, {"brokerId": 1}),
        ("FENCE_BROKER_RECORD", 0, {"id": 1}),
        registered(2, fenced=1),
    ],
)
def test_a_record_about_what_does_not_exist_is_impossible(step: RecordFields) -> None:
    with pytest.raises(EarlierRecordsMissing):
        after(step)
    history, events = follow(entry(5, step), entry(6, step))
    (damage,) = [event for event in events if isinstance(event, Damage)]  # said once
    assert damage.offset == 5 and history.read.records == 2


# ---------------------------------------------------------------------------- when records become visible


def test_records_of_a_batch_settle_together() -> None:
    _, events = follow(entry(0, TOPIC, ends=False), entry(1, PARTITION), entry(2, NO_LEADER))
    kinds = [type(event) for event in events]
    assert kinds == [Applied, Applied, Settled, Applied, Settled]


def test_a_transaction_is_applied_at_its_end() -> None:
    history, events = follow(entry(0, BEGIN), entry(1, TOPIC), entry(2, PARTITION), entry(3, END))
    assert [event.offset for event in events if isinstance(event, Applied)] == [1, 2]
    assert isinstance(events[-1], Settled) and P0 in history.state.partitions


def test_an_aborted_transaction_never_happened() -> None:
    history, events = follow(entry(0, TOPIC), entry(1, BEGIN), entry(2, PARTITION), entry(3, ABORT))
    assert [event.offset for event in events if isinstance(event, Applied)] == [0]
    assert history.state.partitions == {} and history.read.transactions_aborted == 1


def test_an_open_transaction_does_not_count_yet() -> None:
    history, _ = follow(entry(0, TOPIC), entry(1, BEGIN), entry(2, PARTITION))
    assert history.state.partitions == {} and history.read.transaction_open


def test_a_snapshot_replaces_the_state_and_settles_once() -> None:
    history, events = follow(
        entry(0, TOPIC),
        entry(1, PARTITION),
        SnapshotStart("s", 9),
        entry(0, ("TOPIC_RECORD", 0, {"name": "new", "topicId": U}), path="s"),
        footer("s", 1),
        entry(9, ("NO_OP_RECORD", 0, {})),
    )
    assert history.state.topics == {U: "new"} and history.state.partitions == {}
    assert [event.whole for event in events if isinstance(event, Settled)] == [False, False, True, False]
    assert [event.offset for event in events if isinstance(event, Applied)] == [0, 1, 8, 9]


def test_a_snapshot_without_its_end_settles_with_the_next_file() -> None:
    start = SnapshotStart("s", 9)
    _, events = follow(start, entry(0, TOPIC, path="s"), entry(9, PARTITION, path="log"))
    assert [type(event) for event in events] == [Applied, Settled, Applied, Settled]
    _, events = follow(start, entry(0, TOPIC, path="s"))
    assert events[-1] == Settled(whole=True, offset=8)


def test_a_snapshot_from_before_the_first_record_is_at_its_offset() -> None:
    """A controller that was formatted with its voters starts with one."""
    history, events = follow(SnapshotStart("s", 0), entry(0, TOPIC, path="s"), footer("s", 1), entry(0, PARTITION))
    assert [event.offset for event in events if isinstance(event, Applied)] == [0, 0]
    assert (history.read.first_offset, history.read.last_offset) == (0, 0)


def test_a_snapshot_of_what_was_read_tells_nothing_new() -> None:
    """As in the text of a dump, where it may follow the log that it was made of."""
    history, _ = follow(
        entry(0, TOPIC),
        entry(1, PARTITION),
        SnapshotStart("s", 1),
        entry(0, TOPIC),
        footer("s", 1),
        entry(2, NO_LEADER),
    )
    assert history.state.partitions[P0].registration.leader == -1
    assert history.read.records == 3


def test_records_that_are_not_read_are_counted() -> None:
    unread = Unread("kind 99", 1, known=False)
    history, events = follow(LogEntry("log", 0, 0, unread), LogEntry("log", 1, 0, unread))
    assert history.read.unread == {("kind 99", 1, False): UnreadCount(2, "log", 0)} and events == []
