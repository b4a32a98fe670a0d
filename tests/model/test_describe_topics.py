"""DescribeTopicPartitions: paging, errors and fields. Expected values are worked out by hand."""

from __future__ import annotations

import pytest

from elrcheck.model.change_record import Election, target
from elrcheck.model.config import Config
from elrcheck.model.control_plane.partition import change
from elrcheck.model.queries.cluster_image import BrokerImage, ClusterImage, PartitionImage, TopicImage, legal_topic_name
from elrcheck.model.queries.describe_topics import (
    Cursor,
    DescribedPartition,
    DescribeError,
    DescribeRequest,
    DescribeResponse,
    describe_topic_partitions,
    pages,
)
from elrcheck.model.replication_control import Controller
from elrcheck.model.state import Registration, Settings
from support.admin_images import IDS, cluster, partition, topic, topic_of

# Partitions by topic: a has 2, b has 1, c has 3. Deliberately not in the order of their names.
THREE = cluster(topic_of("c", 3), topic_of("a", 2), topic_of("b", 1))
Page = tuple[list[tuple[str, list[int]]], Cursor | None]


def brief(response: DescribeResponse) -> Page:
    """The topics of a page with their partition indices, and where the next page starts."""
    assert response.error == DescribeError.NONE
    assert all(p.leader_epoch == p.index for t in response.topics for p in t.partitions)
    return [(t.name, [p.index for p in t.partitions]) for t in response.topics], response.next_cursor


def ask(
    *topics: str, limit: int = 2000, cursor: Cursor | None = None, server: int = 2000, image: ClusterImage = THREE
) -> DescribeResponse:
    return describe_topic_partitions(image, DescribeRequest(topics, limit, cursor), server)


ALL_PAGES: list[tuple[int, Page]] = [
    (1, ([("a", [0])], Cursor("a", 1))),
    (2, ([("a", [0, 1])], Cursor("b", 0))),
    (3, ([("a", [0, 1]), ("b", [0])], Cursor("c", 0))),
    (4, ([("a", [0, 1]), ("b", [0]), ("c", [0])], Cursor("c", 1))),
    (5, ([("a", [0, 1]), ("b", [0]), ("c", [0, 1])], Cursor("c", 2))),
    (6, ([("a", [0, 1]), ("b", [0]), ("c", [0, 1, 2])], None)),
    (7, ([("a", [0, 1]), ("b", [0]), ("c", [0, 1, 2])], None)),
]


@pytest.mark.parametrize(("limit", "expected"), ALL_PAGES)
def test_first_page_at_every_limit(limit: int, expected: Page) -> None:
    assert brief(ask(limit=limit)) == expected


@pytest.mark.parametrize(
    ("cursor", "expected"),
    [
        (Cursor("a", 0), ([("a", [0, 1])], Cursor("b", 0))),
        (Cursor("a", 1), ([("a", [1]), ("b", [0])], Cursor("c", 0))),
        (Cursor("b", 0), ([("b", [0]), ("c", [0])], Cursor("c", 1))),
        (Cursor("c", 0), ([("c", [0, 1])], Cursor("c", 2))),
        (Cursor("c", 1), ([("c", [1, 2])], None)),
        (Cursor("c", 2), ([("c", [2])], None)),
    ],
)
def test_second_page_at_every_boundary(cursor: Cursor, expected: Page) -> None:
    assert brief(ask(limit=2, cursor=cursor)) == expected


def test_following_the_cursor_by_twos() -> None:
    request = DescribeRequest(None, response_partition_limit=2)
    assert [brief(page) for page in pages(THREE, request)] == [
        ([("a", [0, 1])], Cursor("b", 0)),
        ([("b", [0]), ("c", [0])], Cursor("c", 1)),
        ([("c", [1, 2])], None),
    ]


@pytest.mark.parametrize("limit", range(1, 8))
def test_pages_of_any_size_list_every_partition_once(limit: int) -> None:
    listed = [
        (t.name, p.index)
        for page in pages(THREE, DescribeRequest(("a", "b", "c"), limit))
        for t in page.topics
        for p in t.partitions
    ]
    assert listed == [("a", 0), ("a", 1), ("b", 0), ("c", 0), ("c", 1), ("c", 2)]


def test_null_and_empty_lists_ask_for_all() -> None:
    everything = ([("a", [0, 1]), ("b", [0]), ("c", [0, 1, 2])], None)
    assert brief(describe_topic_partitions(THREE, DescribeRequest(None))) == everything
    assert brief(describe_topic_partitions(THREE, DescribeRequest(()))) == everything


def test_no_topics_at_all() -> None:
    assert brief(ask(image=cluster())) == ([], None)


def test_topics_by_name_are_sorted_and_counted_once() -> None:
    assert brief(ask("c", "a", "c")) == ([("a", [0, 1]), ("c", [0, 1, 2])], None)


# Java's order is that of UTF-16 units: 'A' 0x41, '_' 0x5F, 'a' 0x61; '.' 0x2E and '-' 0x2D before.
def test_the_order_of_names() -> None:
    image = cluster(*(topic_of(name, 1) for name in ("a", "_", "A", ".x", "-", "a-", "a.")))
    assert [t.name for t in ask(image=image).topics] == ["-", ".x", "A", "_", "a", "a-", "a."]


def test_the_order_of_names_outside_the_basic_plane_is_that_of_java() -> None:
    """U+10000 is the units D800 DC00, so it comes before U+FFFD; by code points it would follow."""
    assert [t.name for t in ask("\ufffd", "\U00010000").topics] == ["\U00010000", "\ufffd"]


# ---------------------------------------------------------------------------- limits


@pytest.mark.parametrize("limit", [1, 0, -1, -(2**31)])
def test_a_limit_below_one_is_one(limit: int) -> None:
    assert brief(ask(limit=limit)) == ([("a", [0])], Cursor("a", 1))


def test_the_lower_of_both_limits_counts() -> None:
    three = ([("a", [0, 1]), ("b", [0])], Cursor("c", 0))
    assert brief(ask(limit=3, server=5)) == three
    assert brief(ask(limit=5, server=3)) == three


def test_both_limits_are_2000_unless_told() -> None:
    image = cluster(topic_of("a", 1), topic_of("b", 2000))
    first = describe_topic_partitions(image, DescribeRequest())
    assert [len(t.partitions) for t in first.topics] == [1, 1999]
    assert first.next_cursor == Cursor("b", 1999)
    more_wanted = describe_topic_partitions(image, DescribeRequest(response_partition_limit=5000))
    assert more_wanted.next_cursor == Cursor("b", 1999)


@pytest.mark.parametrize("server", [0, -1])
def test_a_server_limit_below_one_is_no_configuration(server: int) -> None:
    with pytest.raises(ValueError, match=r"max\.request\.partition\.size\.limit"):
        ask(server=server)


# ---------------------------------------------------------------------------- unknown topics


def test_unknown_topic_between_known_ones() -> None:
    response = ask("a", "az", "b")
    assert [(t.name, t.error, t.topic_id) for t in response.topics] == [
        ("a", DescribeError.NONE, "id-of-a"),
        ("az", DescribeError.UNKNOWN_TOPIC_OR_PARTITION, None),
        ("b", DescribeError.NONE, "id-of-b"),
    ]
    assert response.topics[1].partitions == ()


def test_unknown_topic_takes_no_room() -> None:
    """Limit 3: two partitions of a, nothing for az, one of b; nothing is left over."""
    assert brief(ask("a", "az", "b", limit=3)) == ([("a", [0, 1]), ("az", []), ("b", [0])], None)


def test_a_full_page_points_at_the_next_topic_even_if_there_is_none() -> None:
    """Limit 2 is used up by a, so az is not looked at: its error comes on the next page."""
    first = ask("a", "az", "b", limit=2)
    assert brief(first) == ([("a", [0, 1])], Cursor("az", 0))
    assert brief(ask("a", "az", "b", limit=2, cursor=first.next_cursor)) == ([("az", []), ("b", [0])], None)


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "t\u00e9st", "x" * 250])
def test_illegal_names_have_their_own_error(name: str) -> None:
    assert [t.error for t in ask(name).topics] == [DescribeError.INVALID_TOPIC_EXCEPTION]


def test_legal_names() -> None:
    assert legal_topic_name("x" * 249) and legal_topic_name("...") and legal_topic_name("A-z_0.9")


def test_internal_topics_are_told_by_name() -> None:
    image = cluster(topic_of("__consumer_offsets", 1), topic_of("__mine", 1))
    response = ask("__consumer_offsets", "__mine", "__transaction_state", image=image)
    assert [(t.name, t.is_internal) for t in response.topics] == [
        ("__consumer_offsets", True),
        ("__mine", False),
        ("__transaction_state", True),  # not there, and still internal
    ]


# ---------------------------------------------------------------------------- cursors


def test_all_topics_from_a_cursor_at_a_deleted_topic() -> None:
    """az is not there; the next one starts at partition 0, not at the cursor's index."""
    assert brief(ask(cursor=Cursor("az", 1))) == ([("b", [0]), ("c", [0, 1, 2])], None)


def test_named_topics_from_a_cursor_at_a_deleted_topic() -> None:
    response = ask("a", "az", "c", cursor=Cursor("az", 1))
    assert brief(response) == ([("az", []), ("c", [0, 1, 2])], None)
    assert response.topics[0].error == DescribeError.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("index", [2, 3, 2**31 - 1])
def test_cursor_behind_the_last_partition(index: int) -> None:
    """The topic is listed without partitions, takes no room, and the next topics follow."""
    assert brief(ask("a", "b", limit=1, cursor=Cursor("a", index))) == ([("a", []), ("b", [0])], None)


def test_cursor_behind_all_topics() -> None:
    assert brief(ask(cursor=Cursor("z", 0))) == ([], None)


def test_topics_before_the_cursor_are_left_out_without_an_error() -> None:
    """0 is not a topic, but it comes before the cursor: its error was on an earlier page."""
    assert brief(ask("0", "b", cursor=Cursor("b", 0))) == ([("b", [0])], None)


def test_cursor_outside_the_topics_asked_for_is_refused() -> None:
    response = ask("c", "a", cursor=Cursor("b", 0))
    assert response.error == DescribeError.INVALID_REQUEST
    assert [(t.name, t.error, t.topic_id, t.partitions) for t in response.topics] == [
        ("c", DescribeError.INVALID_REQUEST, None, ()),
        ("a", DescribeError.INVALID_REQUEST, None, ()),
    ]
    assert response.next_cursor is None


@pytest.mark.parametrize("topics", [("a",), ()])
def test_negative_index_is_refused(topics: tuple[str, ...]) -> None:
    """Asked for all topics, no topic is there to carry the error."""
    response = ask(*topics, cursor=Cursor("a", -1))
    assert response.error == DescribeError.INVALID_REQUEST
    assert [t.name for t in response.topics] == list(topics)


# ---------------------------------------------------------------------------- fields


def only(response: DescribeResponse) -> DescribedPartition:
    (partition_,) = response.topics
    (described,) = partition_.partitions
    return described


def test_every_field_of_a_partition_below_min_isr() -> None:
    p = partition(replicas=(2, 0, 1), isr=(0,), elr=(2,), last_known_elr=(1,), leader=0, leader_epoch=7)
    brokers = (BrokerImage(10, False), BrokerImage(11, True), BrokerImage(12, False))
    assert only(ask(image=cluster(topic("t", p), brokers=brokers))) == DescribedPartition(
        index=0,
        error=DescribeError.NONE,
        leader=10,
        leader_epoch=7,
        replicas=(12, 10, 11),
        isr=(10,),
        elr=(12,),
        last_known_elr=(11,),
        offline=(11,),
    )


def test_no_leader_is_no_error() -> None:
    p = partition(isr=(), elr=(1, 2), leader=None)
    described = only(ask(image=cluster(topic("t", p))))
    assert (described.error, described.leader, described.isr, described.elr) == (DescribeError.NONE, None, (), (11, 12))


@pytest.mark.parametrize(
    ("leader_broker", "leader", "offline"),
    [
        (BrokerImage(10, fenced=True), 10, (10,)),  # its endpoint is still registered
        (BrokerImage(10, fenced=False, has_listener=False), None, (10,)),
        (None, None, (10,)),  # not registered
        (BrokerImage(10, fenced=False), 10, ()),
    ],
)
def test_leader_and_offline_replicas_depend_on_the_brokers(
    leader_broker: BrokerImage | None, leader: int | None, offline: tuple[int, ...]
) -> None:
    others = (BrokerImage(11, False), BrokerImage(12, False))
    brokers = others if leader_broker is None else (leader_broker, *others)
    described = only(ask(image=cluster(topic("t", partition()), brokers=brokers)))
    assert (described.leader, described.offline, described.replicas, described.isr) == (leader, offline, IDS, IDS)


def test_offline_directory() -> None:
    offline = PartitionImage(partition(replicas=(2, 1, 0)), IDS, offline_dirs=frozenset({0, 1}))
    base = topic("t", partition())
    image = cluster(TopicImage("t", "id", base.config, base.settings, (offline,)))
    assert only(ask(image=image)).offline == (11, 10)


def test_with_elr_off_the_fields_are_empty_lists_and_leftovers_go_with_the_next_change() -> None:
    """ELR {1} stored, then the feature is switched off: shown until an event changes the partition."""
    off = Settings(topic_min_isr=2, cluster_min_isr=2, broker_min_isr=(None, None, None), elr_enabled=False)
    config = Config(elr_enabled=False)
    left_over = partition(isr=(0,), elr=(1,), last_known_elr=(2,))
    before = only(ask(image=cluster(topic("t", left_over, config=config, own_settings=off))))
    assert (before.elr, before.last_known_elr) == ((11,), (12,))

    registered = Registration(True, False, False, 0, 1)
    seen = Controller(off, left_over, (registered,) * 3)
    joined = target(seen, frozenset({0, 2}), Election.ONLINE, frozenset({0, 1, 2}), frozenset())
    after = change(config, left_over, joined)
    described = only(ask(image=cluster(topic("t", after, config=config, own_settings=off))))
    assert (described.isr, described.elr, described.last_known_elr) == ((10, 12), (), ())
