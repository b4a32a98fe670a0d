"""Small hand-made clusters for the tests of the admin queries."""

from __future__ import annotations

from collections.abc import Iterable

from elrcheck.lang.runtime import EMPTY
from elrcheck.model.config import Config
from elrcheck.model.queries.cluster_image import BrokerImage, ClusterImage, PartitionImage, TopicImage
from elrcheck.model.state import Partition, Recovery, Settings

IDS = (10, 11, 12)


def partition(
    replicas: Iterable[int] = (0, 1, 2),
    isr: Iterable[int] = (0, 1, 2),
    elr: Iterable[int] = (),
    last_known_elr: Iterable[int] = (),
    leader: int | None = 0,
    last_known_leader: int | None = None,
    leader_epoch: int = 3,
) -> Partition:
    """Numbers of the model: 0, 1, 2 are the brokers 10, 11, 12."""
    return Partition(
        replicas=tuple(replicas),
        adding=EMPTY,
        removing=EMPTY,
        isr=frozenset(isr),
        elr=frozenset(elr),
        last_known_elr=frozenset(last_known_elr),
        last_known_leader=last_known_leader,
        leader=leader,
        leader_epoch=leader_epoch,
        partition_epoch=5,
        recovery=Recovery.RECOVERED,
    )


def settings(min_isr: int = 2, elr_enabled: bool = True) -> Settings:
    return Settings(
        topic_min_isr=min_isr, cluster_min_isr=1, broker_min_isr=(None, None, None), elr_enabled=elr_enabled
    )


def topic(
    name: str, *partitions: Partition, config: Config | None = None, own_settings: Settings | None = None
) -> TopicImage:
    return TopicImage(
        name=name,
        topic_id=f"id-of-{name}",
        config=config if config is not None else Config(),
        settings=own_settings if own_settings is not None else settings(),
        partitions=tuple(PartitionImage(p, IDS) for p in partitions),
    )


def topic_of(name: str, count: int) -> TopicImage:
    """A healthy topic with `count` partitions; partition i has leader epoch i."""
    return topic(name, *(partition(leader_epoch=i) for i in range(count)))


def cluster(*topics: TopicImage, brokers: tuple[BrokerImage, ...] | None = None) -> ClusterImage:
    alive = tuple(BrokerImage(broker, fenced=False) for broker in IDS)
    return ClusterImage(brokers=alive if brokers is None else brokers, topics=topics)
