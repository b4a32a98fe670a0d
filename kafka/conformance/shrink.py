"""The shortest questions that show a difference: delta debugging against both sides.

A smaller question counts if a difference of the same group appears in it, at its end or before. Every round
asks Kafka's classes all smaller questions at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from elrcheck.kafka.conformance.compare import (
    BuilderDisagreement,
    Counted,
    Disagreement,
    StepDisagreement,
    Walk,
    build_all,
    compare_builder,
    compare_walk,
    follow,
)
from elrcheck.kafka.conformance.known_classes import class_of, signature
from elrcheck.kafka.controller_steps import KafkaBroker, Setup, Step
from elrcheck.kafka.kafka_oracle import ControllerOracle as Oracle
from elrcheck.kafka.partition_questions import NO_LEADER, BuilderQuestion, KafkaPartition
from elrcheck.model.config import Config

ROUNDS = 60


def shrunk(config: Config, key: str, found: Disagreement, oracle: Oracle) -> Disagreement:
    """A smallest question of the same group; the one given if nothing smaller shows the difference."""
    for _ in range(ROUNDS):
        smaller = (
            _smaller_builder(config, key, found, oracle)
            if isinstance(found, BuilderDisagreement)
            else _smaller_walk(config, key, found, oracle)
        )
        if smaller is None:
            break
        found = smaller
    return found


def group_of(found: Disagreement) -> str:
    """The key under which a difference is counted."""
    known = class_of(found)
    return signature(found) if known is None else known.id


# ---------------------------------------------------------------------------- walks


def _smaller_walk(config: Config, key: str, found: StepDisagreement, oracle: Oracle) -> StepDisagreement | None:
    walks = list(_reductions(found.setup, found.steps))
    if not walks:
        return None
    for walk, answers in zip(walks, oracle.walks(walks), strict=True):
        for other in compare_walk(config, walk, follow(config, walk), answers, Counted()):
            if group_of(other) == key:
                return other
    return None


def _reductions(setup: Setup, steps: tuple[Step, ...]) -> Iterator[Walk]:
    """Fewer steps, large pieces first; then a plainer setup."""
    before, last = steps[:-1], steps[-1]
    size = len(before)
    while size >= 1:
        for at in range(0, len(before), size):
            yield setup, (*before[:at], *before[at + size :], last)
        size //= 2
    for plainer in _plainer_setups(setup, steps):
        yield plainer, steps


def _plainer_setups(setup: Setup, steps: Sequence[Step]) -> Iterator[Setup]:
    partition = setup.partition
    assert partition is not None, "a walk has a partition"
    last = len(setup.brokers) - 1
    of_sibling = () if setup.sibling is None else setup.sibling.replicas
    if setup.sibling is not None:
        yield replace(setup, sibling=None)
    if last > 0 and last not in {*mentioned(partition, steps), *of_sibling}:
        yield replace(setup, brokers=setup.brokers[:-1])
    if setup.topic_unclean:
        yield replace(setup, topic_unclean=False)
    for least in range(1, setup.topic_min_isr or 1):
        yield replace(setup, topic_min_isr=least)
    if setup.topic_min_isr is not None and (setup.cluster_min_isr or 1) != 1:
        yield replace(setup, cluster_min_isr=1)
    for b, broker in enumerate(setup.brokers):
        plain = KafkaBroker(broker.id, broker.epoch)
        if broker != plain:
            yield replace(setup, brokers=(*setup.brokers[:b], plain, *setup.brokers[b + 1 :]))
    for plainer in plainer_partitions(partition):
        yield replace(setup, partition=plainer)


def mentioned(partition: KafkaPartition, steps: Sequence[Step]) -> frozenset[int]:
    """The brokers that a partition or an event names."""
    named = {*partition.replicas, *partition.elr, *partition.last_known_elr}
    for step in steps:
        named |= {b for name in ("broker", "sender") if (b := getattr(step, name, None)) is not None}
        named |= set(getattr(step, "replicas", None) or ())
        named |= {member.broker for member in getattr(step, "isr", ())}
    return frozenset(named)


def plainer_partitions(p: KafkaPartition) -> Iterator[KafkaPartition]:
    """The partition with one thing less."""
    if p.last_known_elr:
        yield replace(p, last_known_elr=())
    if p.adding or p.removing:
        yield replace(p, adding=(), removing=())
    if p.recovery != "RECOVERED":
        yield replace(p, recovery="RECOVERED")
    for member in p.elr:
        yield replace(p, elr=tuple(b for b in p.elr if b != member))
    for member in p.isr:
        if member != p.leader:
            yield replace(p, isr=tuple(b for b in p.isr if b != member))
    for replica in p.replicas:
        if replica not in {*p.isr, *p.elr, *p.last_known_elr, p.leader} and len(p.replicas) > 1:
            yield _without_replica(p, replica)


def _without_replica(p: KafkaPartition, replica: int) -> KafkaPartition:
    at = p.replicas.index(replica)
    return replace(
        p,
        replicas=(*p.replicas[:at], *p.replicas[at + 1 :]),
        adding=tuple(b for b in p.adding if b != replica),
        removing=tuple(b for b in p.removing if b != replica),
        directories=None if p.directories is None else (*p.directories[:at], *p.directories[at + 1 :]),
    )


# ---------------------------------------------------------------------------- the builder


def _smaller_builder(
    config: Config, key: str, found: BuilderDisagreement, oracle: Oracle
) -> BuilderDisagreement | None:
    asked = list(_plainer_questions(found.question))
    if not asked:
        return None
    answers = oracle.builder(asked)
    others = compare_builder(config, asked, build_all(config, asked), answers, Counted())
    return next((other for other in others if group_of(other) == key), None)


def _plainer_questions(q: BuilderQuestion) -> Iterator[BuilderQuestion]:
    for held in plainer_partitions(q.partition):
        if q.target_replicas is None or held.replicas == q.partition.replicas:
            yield replace(q, partition=held, min_isr=min(q.min_isr, len(held.replicas)))
    for plainer in (
        replace(q, target_recovery=None),
        replace(q, unclean_shutdown=None),
        replace(q, target_adding=None),
        replace(q, target_removing=None),
        replace(q, target_isr=None),
    ):
        if plainer != q:
            yield plainer
    for member in q.acceptable:
        yield replace(q, acceptable=tuple(b for b in q.acceptable if b != member))
    if q.min_isr > 1:
        yield replace(q, min_isr=q.min_isr - 1)
    if q.partition.leader_epoch or q.partition.partition_epoch:
        yield replace(q, partition=replace(q.partition, leader_epoch=0, partition_epoch=0))
    if q.partition.leader == NO_LEADER and len(q.partition.isr) == 1:
        yield replace(q, partition=replace(q.partition, leader=q.partition.isr[0]))
