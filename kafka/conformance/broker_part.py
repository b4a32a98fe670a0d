"""kafka.cluster.Partition, compared with the model's rules for a broker event by event.

A known difference has a class with its reason; the model then continues from Kafka's state. A class explains a
difference only if it predicts Kafka's whole answer.

Of several partitions of one broker each is compared with the model of one. No partition changes by an event of another.
They share the clock, the metadata and the AlterPartition requests, one at a time, with what all partitions have
proposed since (DefaultAlterPartitionManager).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeAlias

from elrcheck.kafka.broker_steps import (
    Beginning,
    BrokerAnswer,
    BrokerEvent,
    FollowerFetch,
    Granted,
    LookForLag,
    Metadata,
    Proposed,
    Refused,
    Registered,
    Together,
    TogetherAnswer,
)
from elrcheck.kafka.conformance.broker_model import (
    NOTHING_IN_FLIGHT,
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
from elrcheck.kafka.conformance.kafka_part import Agreement, KafkaPart, KnownClass, Outcome, known_class
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


@dataclass(frozen=True)
class EventDifference:
    """An event with two answers. held, after: the model before the event and after it."""

    held: BrokerModel
    event: BrokerEvent
    kafka: BrokerAnswer
    model: BrokerAnswer
    after: BrokerModel


Explains: TypeAlias = Callable[[EventDifference], Predicted | None]
"""Returns None for a difference of another class."""


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
    if not differs:
        return model, (), None, after
    return model, differs, *_explained(EventDifference(held, event, kafka, model, after))


def _explained(d: EventDifference) -> tuple[KnownClass | None, BrokerModel | None]:
    """Return the class that predicts Kafka's answer, with or without a follower for whom the watermark waits."""
    for ident, explains in BROKER_CLASSES.items():
        predicted = explains(d)
        if predicted is None:
            continue
        as_kafka, outcome, sent = predicted
        for candidate in (as_kafka, as_kafka.held_back(d.held)):
            if not differing(d.kafka, answer_of(candidate, outcome, sent)):
                return known_class(ident), candidate
    return None, None


# ---------------------------------------------------------------------------- classes


def _watermark_waits(d: EventDifference) -> Predicted | None:
    if d.kafka.high_watermark >= d.model.high_watermark:
        return None
    if not isinstance(d.event, FollowerFetch):
        return d.after.held_back(d.held), d.model.outcome, d.model.sent
    return None if _fetches_again(d.held, d.event) else read_in_kafkas_order(d.held, d.event, d.after)


def _watermark_before(d: EventDifference) -> Predicted | None:
    if not isinstance(d.event, FollowerFetch) or not d.model.outcome.startswith("read:"):
        return None
    return d.after, read_text(d.held.broker, d.event), d.model.sent


def _other_name_for_the_cut(d: EventDifference) -> Predicted | None:
    if not isinstance(d.event, FollowerFetch) or differing(d.kafka, d.model) != ("outcome",):
        return None
    ends = []
    for answer in (d.kafka, d.model):
        kind, *numbers = answer.outcome.split(":")
        if kind != "diverging":
            return None
        ends.append(EpochEnd(epoch=int(numbers[0]), offset=int(numbers[1])))
    follower = replace(d.held.broker, log=log_like(d.held.broker.log, d.event))
    same_cut = truncation_point(follower, ends[0]) == truncation_point(follower, ends[1])
    return (d.after, d.kafka.outcome, d.model.sent) if same_cut else None


def _record_of_an_answer(d: EventDifference) -> Predicted | None:
    if not isinstance(d.event, Metadata) or d.event.partition_epoch != d.held.broker.view.partition_epoch:
        return None
    return applied(d.held, d.event), "ok", None


def _nothing_to_lag_behind(d: EventDifference) -> Predicted | None:
    if not isinstance(d.event, LookForLag) or len(d.held.broker.log) > 0 or d.held.waiting or d.kafka.sent is None:
        return None
    alter = proposal(d.held.config, d.held.state, d.held.id, d.held.broker.view.isr - d.held.lagging())
    as_kafka = replace(d.held.put(replace(d.held.broker, alter=alter)), waiting=True)
    return as_kafka, "ok", sent_by(as_kafka)


def _watermark_left_behind(d: EventDifference) -> Predicted | None:
    if not isinstance(d.event, FollowerFetch) or not d.model.outcome.startswith("read:"):
        return None
    return read_in_kafkas_order(d.held, d.event, d.after) if _fetches_again(d.held, d.event) else None


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


BROKER_CLASSES: Mapping[str, Explains] = {
    "watermark-waits": _watermark_waits,
    "watermark-before": _watermark_before,
    "cut-by-another-name": _other_name_for_the_cut,
    "record-of-an-answer": _record_of_an_answer,
    "nothing-to-lag-behind": _nothing_to_lag_behind,
    "watermark-left-behind": _watermark_left_behind,
}
"""The id of each class in `differences.toml` -> the function that predicts Kafka's answer."""


Request = tuple[tuple[int, Proposed], ...]


@dataclass(frozen=True)
class AlterRequests:
    """proposed: what is not answered yet, by partition; in_flight: the partitions of the request under way."""

    proposed: Mapping[int, Proposed] = field(default_factory=dict)
    in_flight: frozenset[int] = frozenset()

    def answered(self, event: Together) -> frozenset[int]:
        """Return the partitions of the request in flight whose answer the event has."""
        answers = {p for p, one in enumerate(event.events) if isinstance(one, Granted | Refused)}
        return self.in_flight & answers

    def after(self, event: Together, submitted: Mapping[int, Proposed]) -> tuple[AlterRequests, tuple[Request, ...]]:
        """Return the state after an event, and the requests that it sends. submitted: the proposals that it leads to.

        ReplicaManager looks for lag in the order of a hash map: the last partition first.
        """
        answered = self.answered(event)
        responds = bool(self.in_flight and (answered or event.error is not None))
        proposed = {p: sent for p, sent in self.proposed.items() if p not in answered} | dict(submitted)
        if self.in_flight and not responds:
            return AlterRequests(proposed, self.in_flight), ()
        if not proposed:
            return AlterRequests(), ()
        last_first = any(isinstance(one, LookForLag) for one in event.events)
        first = max(submitted) if last_first else min(submitted, default=0)
        carried = frozenset(proposed if responds else {first})
        return AlterRequests(proposed, carried), (tuple((p, proposed[p]) for p in sorted(carried)),)


TogetherWalk: TypeAlias = tuple[Together, ...]


class TogetherPart(KafkaPart[TogetherWalk, Sequence[TogetherAnswer]]):
    """Walks of a broker with several partitions, from the start of its process."""

    name = "broker"
    kafka = "kafka.cluster.Partition"
    in_files = False

    def ask(self, oracle: BrokerOracle, questions: Sequence[TogetherWalk]) -> Sequence[Sequence[TogetherAnswer]]:
        return oracle.together(questions)

    def compare(
        self, config: Config, question: TogetherWalk, answer: Sequence[TogetherAnswer], expected: None
    ) -> Iterator[Outcome]:
        """Compare the answers of each partition and the requests; an unexplained difference ends the walk."""
        held, requests = [begin(config, first) for first in beginnings(question[0])], AlterRequests()
        before = answer[0]
        for number, (event, kafka) in enumerate(zip(question[1:], answer[1:], strict=True), 2):
            walk = question[:number]
            for p, one in enumerate(kafka.partitions):
                model, differs, explanation, after = _compared(held[p], requests, event, p, one)
                if differs:
                    yield BrokerDisagreement(walk, before.partitions[p], one, model, differs, explanation, p)
                else:
                    yield Agreement.SAME
                if after is None:
                    return
                held[p] = after
            submitted = {p: one.sent for p, one in enumerate(kafka.partitions) if one.sent is not None}
            requests, sent = requests.after(event, submitted)
            if sent != kafka.requests:
                due = replace(kafka, requests=sent)
                yield BrokerDisagreement(walk, before.partitions[0], kafka, due, ("requests",), None)
                return
            yield Agreement.SAME
            before = kafka

    def smaller(self, disagreement: BrokerDisagreement) -> Iterator[TogetherWalk]:
        """Return the walk without one of its events, or without one of its partitions."""
        walk = [event for event in disagreement.events if isinstance(event, Together)]
        for at in range(1, len(walk) - 1):
            yield (*walk[:at], *walk[at + 1 :])
        for p in range(len(walk[0].events)) if len(walk[0].events) > 1 else ():
            others = (_with(event, (*event.events[:p], *event.events[p + 1 :])) for event in walk)
            yield tuple(event for event in others if any(event.events) or event.registered or event.error)


TOGETHER = TogetherPart()


def beginnings(first: Together) -> list[Beginning]:
    """Return the beginnings of all partitions."""
    starts = [event for event in first.events if isinstance(event, Beginning)]
    assert len(starts) == len(first.events), "a walk begins with a process"
    return starts


def happens(requests: AlterRequests, event: Together, p: int) -> tuple[BrokerEvent, ...]:
    """Return what happens to one partition: registrations come before its record."""
    first = () if event.registered is None else (Registered(event.registered),)
    one = event.events[p]
    if one is None or (isinstance(one, Granted | Refused) and p not in requests.in_flight):
        return first
    return (*first, one)


def unchanged(held: BrokerModel, requests: AlterRequests, event: Together, p: int) -> BrokerAnswer:
    """Return the answer of a partition to which nothing happens, if only because no request of it is in flight."""
    unanswered = event.events[p] is not None or (event.error is not None and not requests.in_flight)
    return answer_of(held, NOTHING_IN_FLIGHT if unanswered else "ok", None)


def _compared(held: BrokerModel, requests: AlterRequests, event: Together, p: int, kafka: BrokerAnswer) -> Compared:
    happened = happens(requests, event, p)
    if not happened:
        same = unchanged(held, requests, event, p)
        differs = differing(kafka, same)
        return same, differs, None, None if differs else held
    for earlier in happened[:-1]:
        held = decide(held, earlier)[1]
    return compared(held, happened[-1], kafka)


def _with(event: Together, events: tuple[BrokerEvent | None, ...]) -> Together:
    return Together(events, event.registered, event.error)
