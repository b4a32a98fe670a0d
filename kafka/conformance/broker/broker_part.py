"""kafka.cluster.Partition, compared with the model's rules for a broker event by event.

A known difference has a class with its reason; the model then continues from Kafka's state. A class explains a
difference only if it predicts Kafka's whole answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

from elrcheck.kafka.broker_steps import (
    Beginning,
    BrokerAnswer,
    BrokerEvent,
    FollowerFetch,
    LookForLag,
    Metadata,
    Proposed,
    Together,
    TogetherAnswer,
)
from elrcheck.kafka.conformance.broker.broker_model import (
    BrokerModel,
    answer_of,
    applied,
    begin,
    decide,
    expanded,
    log_like,
    read_text,
    sent_by,
)
from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, KnownClass, Outcome
from elrcheck.kafka.kafka_oracle import BrokerOracle
from elrcheck.model.broker.high_watermark import with_high_watermark
from elrcheck.model.broker.isr_proposals import proposal
from elrcheck.model.broker.logs import EpochEnd, truncation_point
from elrcheck.model.config import Config

REFUSED = "refused"
BrokerWalk: TypeAlias = tuple[BrokerEvent, ...]
Compared: TypeAlias = tuple[BrokerAnswer, tuple[str, ...], KnownClass | None, BrokerModel | None]
"""The model's answer to an event, the fields that differ, the class that explains it, and the model as Kafka left it;
None for the last two if nothing does."""
Predicted: TypeAlias = tuple[BrokerModel, str, Proposed | None]
"""The model as Kafka left it, the outcome, and the request that Kafka sent."""
Explains: TypeAlias = Callable[[BrokerModel, BrokerEvent, BrokerAnswer, BrokerAnswer, BrokerModel], Predicted | None]
"""From the model before the event, the event, Kafka's answer, the model's, and the model after it; None if this is
another difference."""


@dataclass(frozen=True)
class BrokerDisagreement:
    """The answers to the last of `events` differ. differs: in which fields; known: the class that explains it.

    partition: the one of several that differs; all have the same requests.
    """

    events: BrokerWalk | tuple[Together, ...]
    before: BrokerAnswer
    kafka: BrokerAnswer | TogetherAnswer
    model: BrokerAnswer | TogetherAnswer
    differs: tuple[str, ...]
    known_class: KnownClass | None
    partition: int = 0

    @property
    def signature(self) -> str:
        last = self.events[-1]
        return f"{kind_of(last)}: {', '.join(self.differs)}"

    @property
    def rank(self) -> tuple[int, ...]:
        first = self.events[0]
        return (len(first.events) if isinstance(first, Together) else 1, len(self.events))


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
            model, differs, known_class, after = compared(held, event, kafka)
            if differs:
                yield BrokerDisagreement(question[:number], before, kafka, model, differs, known_class)
            else:
                yield Agreement.SAME
            if after is None:
                return
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


def kind_of(event: BrokerEvent | Together) -> str:
    """Return the name of an event; for several partitions that of their events."""
    if not isinstance(event, Together):
        return type(event).__name__
    kinds = {type(one).__name__ for one in event.events if one is not None}
    return f"together {' and '.join(sorted(kinds)) or 'nothing'}"


def compared(held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer) -> Compared:
    """Compare one answer of Kafka with the model's."""
    model, after = decide(held, event)
    differs = differing(kafka, model)
    return (model, differs, *_explained(held, event, kafka, model, after)) if differs else (model, (), None, after)


def _explained(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> tuple[KnownClass | None, BrokerModel | None]:
    """Return the class that predicts Kafka's answer, with or without a follower for whom the watermark waits."""
    for known_class, explains in BROKER_CLASSES:
        predicted = explains(held, event, kafka, model, after)
        if predicted is None:
            continue
        as_kafka, outcome, sent = predicted
        for candidate in (as_kafka, as_kafka.held_back(held)):
            if not differing(kafka, answer_of(candidate, outcome, sent)):
                return known_class, candidate
    return None, None


# ---------------------------------------------------------------------------- classes


def _watermark_waits(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> Predicted | None:
    if kafka.high_watermark >= model.high_watermark:
        return None
    if not isinstance(event, FollowerFetch):
        return after.held_back(held), model.outcome, model.sent
    return None if _fetches_again(held, event) else read_in_kafkas_order(held, event, after)


def _watermark_before(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> Predicted | None:
    if not isinstance(event, FollowerFetch) or not model.outcome.startswith("read:"):
        return None
    return after, read_text(held.broker, event), model.sent


def _other_name_for_the_cut(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> Predicted | None:
    if not isinstance(event, FollowerFetch) or differing(kafka, model) != ("outcome",):
        return None
    ends = []
    for answer in (kafka, model):
        kind, *numbers = answer.outcome.split(":")
        if kind != "diverging":
            return None
        ends.append(EpochEnd(epoch=int(numbers[0]), offset=int(numbers[1])))
    follower = replace(held.broker, log=log_like(held.broker.log, event))
    same_cut = truncation_point(follower, ends[0]) == truncation_point(follower, ends[1])
    return (after, kafka.outcome, model.sent) if same_cut else None


def _record_of_an_answer(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> Predicted | None:
    if not isinstance(event, Metadata) or event.partition_epoch != held.broker.view.partition_epoch:
        return None
    return applied(held, event), "ok", None


def _nothing_to_lag_behind(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> Predicted | None:
    if not isinstance(event, LookForLag) or len(held.broker.log) > 0 or held.waiting or kafka.sent is None:
        return None
    alter = proposal(held.config, held.state, held.id, held.broker.view.isr - held.lagging())
    as_kafka = replace(held.put(replace(held.broker, alter=alter)), waiting=True)
    return as_kafka, "ok", sent_by(as_kafka)


def _watermark_left_behind(
    held: BrokerModel, event: BrokerEvent, kafka: BrokerAnswer, model: BrokerAnswer, after: BrokerModel
) -> Predicted | None:
    if not isinstance(event, FollowerFetch) or not model.outcome.startswith("read:"):
        return None
    return read_in_kafkas_order(held, event, after) if _fetches_again(held, event) else None


def _fetches_again(held: BrokerModel, event: FollowerFetch) -> bool:
    """Return whether the follower fetches from the offset that the leader knows."""
    return held.broker.peers[event.follower].log_end_offset == event.offset


def read_in_kafkas_order(held: BrokerModel, event: FollowerFetch, after: BrokerModel) -> Predicted:
    """Answer, propose the follower, and then advance the watermark if the fetch has a new offset."""
    before = held.broker
    noted = after.put(replace(after.broker, high_watermark=before.high_watermark, alter=before.alter))
    proposed, sent = expanded(replace(noted, waiting=held.waiting), event)
    if not _fetches_again(held, event):
        c, settings = held.config, held.state.settings
        proposed = proposed.put(with_high_watermark(c, settings, proposed.broker, held.id))
    return proposed, read_text(before, event), sent


BROKER_CLASSES: tuple[tuple[KnownClass, Explains], ...] = (
    (
        KnownClass(
            "watermark-waits",
            "the high watermark waits for a follower outside the ISR that has caught up within replica.lag.time.max.ms",
            "the model advances it at once (`model/broker/replica.py`); Kafka does so later, never further, as if the"
            " fetches that allow it came later",
            "Partition.maybeIncrementLeaderHW; a fetch first proposes its follower",
        ),
        _watermark_waits,
    ),
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
