"""What a cluster image refuses: a query over a contradictory picture would answer nonsense."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elrcheck.model.config import Config
from elrcheck.model.queries.cluster_image import BrokerImage, PartitionImage, TopicImage
from support.admin_images import IDS, cluster, partition, topic, topic_of


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"replicas": ()}, "not a replica list"),
        ({"replicas": (0, 0, 1)}, "not a replica list"),
        ({"replicas": (0, 1, 3)}, r"names \[3\]"),
        ({"isr": (0, 7)}, r"names \[7\]"),
        ({"elr": (4,)}, r"names \[4\]"),
        ({"last_known_elr": (5,)}, r"names \[5\]"),
        ({"leader": 3}, r"names \[3\]"),
        ({"last_known_leader": -1}, r"names \[-1\]"),
    ],
)
def test_a_partition_names_only_brokers_of_its_image(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PartitionImage(partition(**changes), IDS)  # type: ignore[arg-type]


def test_adding_and_removing_are_looked_at_too() -> None:
    for field in ("adding", "removing"):
        with pytest.raises(ValueError, match=r"names \[6\]"):
            PartitionImage(replace(partition(), **{field: frozenset({6})}), IDS)


def test_an_offline_directory_belongs_to_a_broker_of_the_image() -> None:
    with pytest.raises(ValueError, match=r"names \[3\]"):
        PartitionImage(partition(), IDS, offline_dirs=frozenset({3}))


@pytest.mark.parametrize("ids", [(10, 11, 10), (10, 11, -1)])
def test_broker_ids_are_distinct_and_not_negative(ids: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="not distinct broker ids"):
        PartitionImage(partition(), ids)


def test_sets_are_given_in_the_order_of_broker_ids() -> None:
    image = PartitionImage(partition(), (30, 20, 10))
    assert image.ids(frozenset({0, 2})) == (10, 30)
    assert image.id_of(1) == 20


def test_a_negative_broker_id_means_none_in_kafka() -> None:
    with pytest.raises(ValueError, match="broker id -1"):
        BrokerImage(-1, fenced=False)


def test_topics_have_a_legal_name_an_id_and_a_partition() -> None:
    good = topic_of("t", 1)
    with pytest.raises(ValueError, match="is not a topic name"):
        topic_of("a b", 1)
    with pytest.raises(ValueError, match="has no id"):
        replace(good, topic_id="")
    with pytest.raises(ValueError, match="has no partition"):
        topic("t")


def test_the_configuration_counts_every_broker() -> None:
    """A broker the configuration does not count would be invisible to the model's rules."""
    with pytest.raises(ValueError, match="has 3 brokers, its configuration counts 2"):
        topic("t", partition(), config=Config(broker_count=2))


def test_nothing_is_in_a_cluster_twice() -> None:
    one = topic_of("t", 1)
    with pytest.raises(ValueError, match="topic name t is given twice"):
        cluster(one, replace(one, topic_id="another"))
    with pytest.raises(ValueError, match="topic id id-of-t is given twice"):
        cluster(one, replace(one, name="u"))
    with pytest.raises(ValueError, match="broker id 10 is given twice"):
        cluster(one, brokers=(BrokerImage(10, False), BrokerImage(10, True)))


def test_looking_up() -> None:
    image = cluster(topic_of("t", 1))
    topic_image = image.topic("t")
    assert isinstance(topic_image, TopicImage) and topic_image.topic_id == "id-of-t"
    assert image.topic("u") is None
    assert image.broker(11) == BrokerImage(11, fenced=False)
    assert image.broker(13) is None
