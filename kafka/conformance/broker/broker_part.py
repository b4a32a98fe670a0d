"""kafka.cluster.Partition, compared with the model's rules for a broker event by event.

A known difference has a class with its reason; the model then continues from Kafka's state. A class explains a
difference only if it predicts Kafka's whole answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

from elrcheck.kafka.broker_steps import Beginning, BrokerAnswer, BrokerEvent, FollowerFetch, LookForLag, Metadata
from elrcheck.kafka.conformance.broker.broker_model import BrokerModel, answer_of, applied, begin, decide, log_like
from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, KnownClass, Outcome
from elrcheck.kafka.kafka_oracle import BrokerOracle
from elrcheck.model.broker.isr_proposals import proposal
from elrcheck.model.broker.logs import EpochEnd, truncation_point
from elrcheck.model.config import Config

REFUSED = "refused"
BrokerWalk: TypeAlias = tuple[BrokerEvent, ...]
Explains: TypeAlias = Callable[[BrokerModel, BrokerEvent, BrokerAnswer, BrokerAnswer, BrokerModel], BrokerModel | None]
"""From the model before the event, the event, Kafka's answer, the model's, and the model after it: the model as Kafka
left it; None if this is another difference."""


@dataclass(frozen=True)
class BrokerDisagreement:
    """The answers to the last of `events` differ. differs: in which fields; known: the class that explains it."""

    events: BrokerWalk
    before: BrokerAnswer
    kafka: BrokerAnswer
    model: BrokerAnswer
    differs: tuple[str, ...]
    known_class: KnownClass | None

    @property
    def signature(self) -> str:
        return f"{type(self.events[-1]).__name__}: {', '.join(self.differs)}"

    @property
    def rank(self) -> tuple[int, ...]:
        return (len(self.events),)


class BrokerPart(KafkaPart[BrokerWalk, Sequence[BrokerAnswer]]):
    """Walks of one broker from the start of its process."""

    name = "broker"
    kafka = "kafka.cluster.Partition"

    def ask(self, oracle: BrokerOracle, questions: Sequence[BrokerWalk]) -> Sequence[Sequence[BrokerAnswer]]:
        return oracle.walks(questions)

    def compare(
        self, config: Config, question: BrokerWalk, answer: Sequence[BrokerAnswer], expected: None
    ) -> Iterator[Outcome]:
        """Compare each event after the first; an unexplained difference ends the walk."""
        first = question[0]
        assert isinstance(first, Beginning), "a walk begins with a process"
        held = begin(config, first)
        before = answer[0]
        for number, (event, kafka) in enumerate(zip(question[1:], answer[1:], strict=True), 2):
            model, after = decide(held, event)
            differs = differing(kafka, model)
            if not differs:
                yield Agreement.SAME
            else:
                known_class, explained = _explained(held, event, kafka, model, after)
                yield BrokerDisagreement(question[:number], before, kafka, model, differs, known_class)
                if explained is None:
                    return
                after = explained
            held, before = after, kafka

    def smaller(self, disagreement: BrokerDisagreement) -> Iterator[BrokerWalk]:
        """Return the walk without one of its events."""
        events = disagreement.events
        for at in range(1, len(events) - 1):
            yield (*events[:at], *events[at + 1 :])


BROKER = BrokerPart()


def differing(kafka: BrokerAnswer, model: BrokerAnswer) -> tuple[str, ...]:
    """Return the fields in which two answers differ; errors of a fetch count as equal, since the model names none."""
    names = [f.name for f in fields(BrokerAnswer) if getattr(kafka, f.name) != getattr(model, f.name)]
    if model.outcome == REFUSED and kafka.outcome.isupper():
        names = [name for name in names if name != "outcome"]
    return tuple(names)


def _explained(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> tuple[KnownClass | None, BrokerModel | None]:
    for known_class, explains in BROKER_CLASSES:
        as_kafka = explains(held, event, kafka, model, after)
        if as_kafka is not None:
            return known_class, as_kafka
    return None, None


# ---------------------------------------------------------------------------- classes


def _watermark_before(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> BrokerModel | None:
    if not isinstance(event, FollowerFetch) or not model.outcome.startswith("read:"):
        return None
    records = model.outcome.rpartition(":")[2]
    read_first = f"read:{held.broker.high_watermark}:{records}"
    return after if not differing(kafka, replace(model, outcome=read_first)) else None


def _other_name_for_the_cut(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> BrokerModel | None:
    if not isinstance(event, FollowerFetch) or differing(kafka, model) != ("outcome",):
        return None
    ends = []
    for answer in (kafka, model):
        kind, *numbers = answer.outcome.split(":")
        if kind != "diverging":
            return None
        ends.append(EpochEnd(epoch=int(numbers[0]), offset=int(numbers[1])))
    follower = replace(held.broker, log=log_like(held.broker.log, event))
    return after if truncation_point(follower, ends[0]) == truncation_point(follower, ends[1]) else None


def _record_of_an_answer(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> BrokerModel | None:
    if not isinstance(event, Metadata) or event.partition_epoch != held.broker.view.partition_epoch:
        return None
    as_kafka = applied(held, event)
    return as_kafka if not differing(kafka, answer_of(as_kafka, "ok", None)) else None


def _nothing_to_lag_behind(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> BrokerModel | None:
    silent = {b for b, peer in enumerate(held.broker.peers) if peer.log_end_offset is None}
    if not isinstance(event, LookForLag) or len(held.broker.log) > 0 or kafka.sent is None:
        return None
    members = {b for b, _ in kafka.sent.members}
    if held.waiting or held.broker.view.isr - silent - {held.id} != members - {held.id}:
        return None
    alter = proposal(held.config, held.state, held.id, frozenset(members))
    as_kafka = replace(held.put(replace(held.broker, alter=alter)), waiting=True)
    return as_kafka if not differing(kafka, answer_of(as_kafka, "ok", kafka.sent)) else None


def _watermark_left_behind(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> BrokerModel | None:
    if not isinstance(event, FollowerFetch) or kafka.high_watermark != held.broker.high_watermark:
        return None
    if held.broker.peers[event.follower].log_end_offset != event.offset:
        return None
    as_kafka = after.put(replace(after.broker, high_watermark=held.broker.high_watermark))
    records = model.outcome.rpartition(":")[2]
    expected = answer_of(as_kafka, f"read:{held.broker.high_watermark}:{records}", model.sent)
    return as_kafka if not differing(kafka, expected) else None


BROKER_CLASSES: tuple[tuple[KnownClass, Explains], ...] = (
    (
        KnownClass(
            "watermark-before",
            "a fetch is answered with the high watermark from before it was noted",
            "the model answers with the later one, as Kafka does when the fetch waits in purgatory; where a"
            " response is lost (`fetch_loss`) a follower has the earlier one in the model too",
            "Partition.fetchRecords reads before updateFollowerFetchState",
        ),
        _watermark_before,
    ),
    (
        KnownClass(
            "cut-by-another-name",
            "a diverging epoch older than all of the leader's is named as it was asked for",
            "the model answers with epoch 0; the follower cuts at the same offset",
            "LeaderEpochFileCache.endOffsetFor",
        ),
        _other_name_for_the_cut,
    ),
    (
        KnownClass(
            "record-of-an-answer",
            "the metadata record of an ISR that the leader has learnt from the answer ends a later proposal",
            "the model does not apply a record whose partition epoch the leader already has; Kafka then stops"
            " counting the proposed member, and waits for it only while it is caught up",
            "Partition.makeLeader accepts an equal partition epoch",
        ),
        _record_of_an_answer,
    ),
    (
        KnownClass(
            "nothing-to-lag-behind",
            "a follower that never fetched leaves the ISR while the log is empty",
            "in the model no follower can lag behind an empty log, which has nothing to lose",
            "Partition.isFollowerOutOfSync: an unknown log end is -1",
        ),
        _nothing_to_lag_behind,
    ),
    (
        KnownClass(
            "watermark-left-behind",
            "a fetch from the offset that the leader already knows does not move the high watermark",
            "the model tries at each fetch; in Kafka the watermark stays behind after INELIGIBLE_REPLICA has"
            " narrowed the maximal ISR, until a log end changes: later, never further",
            "Partition.updateFollowerFetchState",
        ),
        _watermark_left_behind,
    ),
)
