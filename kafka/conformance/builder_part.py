"""PartitionChangeBuilder, compared with the model's `change`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, Outcome
from elrcheck.kafka.conformance.known_classes import BuilderDisagreement
from elrcheck.kafka.conformance.model_side import NotRepresentable, built
from elrcheck.kafka.conformance.projections import builder_differences
from elrcheck.kafka.kafka_oracle import ControllerOracle
from elrcheck.kafka.partition_questions import NO_LEADER, BuilderAnswer, BuilderQuestion, KafkaPartition
from elrcheck.model.config import Config
from elrcheck.model.state import Partition


class BuilderPart(KafkaPart[BuilderQuestion, BuilderAnswer]):
    """Questions to the change builder."""

    name = "builder"

    def expect(self, config: Config, question: BuilderQuestion) -> Partition | None:
        """Return the model's partition; None if it cannot represent the question."""
        try:
            return built(config, question)
        except NotRepresentable:
            return None

    def ask(self, oracle: ControllerOracle, questions: Sequence[BuilderQuestion]) -> Sequence[BuilderAnswer]:
        return oracle.builder(questions)

    def compare(
        self, config: Config, question: BuilderQuestion, answer: BuilderAnswer, expected: Partition | None
    ) -> Iterator[Outcome]:
        if expected is None:
            yield Agreement.UNHELD
            return
        differences = builder_differences(question.partition, answer, expected)
        yield BuilderDisagreement(question, answer, expected, differences) if differences else Agreement.SAME

    def smaller(self, disagreement: BuilderDisagreement) -> Iterator[BuilderQuestion]:
        q = disagreement.question
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


BUILDER = BuilderPart()


def plainer_partitions(p: KafkaPartition) -> Iterator[KafkaPartition]:
    """Return every partition with one element less."""
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
