"""The topics of a metadata log or of a running cluster, with the settings that apply to them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from elrcheck.kafka.log.cluster_state import BROKER, EVERY_BROKER, TOPIC, ClusterState, min_isr_in
from elrcheck.kafka.topics.described import MIN_ISR, UNCLEAN, TopicDescription


def topics_in_use(
    state: ClusterState, unclean: Collection[str] | None, unreported: Collection[str] = ()
) -> Iterator[TopicDescription]:
    """Yield the topics that exist, in the order of their names.

    unclean: the topics of a running cluster that allow unclean elections; None of a log, whose topics inherit the
    settings of server.properties files, which no record has. unreported: those whose settings the cluster did not
    report.
    """
    for topic_id, name in sorted(state.topics.items(), key=lambda topic: topic[1]):
        own, cluster = min_isr_in(state.min_isr, name)
        configs = {}
        if own is not None or (BROKER, EVERY_BROKER) in state.min_isr:
            configs[MIN_ISR] = str(cluster if own is None else own)
        recorded = state.unclean.get((TOPIC, name), state.unclean.get((BROKER, EVERY_BROKER)))
        if (unclean and name in unclean) or recorded is not None:
            configs[UNCLEAN] = "true" if unclean and name in unclean else str(recorded).lower()
        factors = {}
        for key in sorted(state.keys_in(topic_id)):
            lists = state.partitions[key].shape.lists
            factors[key.partition] = len(set(lists.replicas) - set(lists.adding))
        inherits = unclean is None or name in unreported
        yield TopicDescription(name, configs=configs, factors=factors, topic_id=topic_id, inherits=inherits)
