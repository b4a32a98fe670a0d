"""Random walks of one broker with two or three partitions, in which time passes.

Like those of one partition they follow the model, and depend on the seed and their number only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from elrcheck.kafka import broker_steps as events
from elrcheck.kafka.broker_steps import BrokerEvent, Proposed, Together
from elrcheck.kafka.conformance.broker import broker_walks
from elrcheck.kafka.conformance.broker.alter_requests import AlterRequests
from elrcheck.kafka.conformance.broker.broker_model import LONGEST_LOG, BrokerModel, begin, sent_by
from elrcheck.kafka.conformance.broker.broker_walks import ACTIVE, ALL, ME, OTHERS, PAUSES, TOLERANCE, followed
from elrcheck.kafka.conformance.broker.together_part import beginnings, happens
from elrcheck.model.config import Config

LENGTH = 30


@dataclass(frozen=True)
class Several:
    """The models of all partitions in the middle of a walk. published: the partition epochs of the metadata."""

    partitions: tuple[BrokerModel, ...]
    requests: AlterRequests = field(default_factory=AlterRequests)
    published: Mapping[int, int] = field(default_factory=dict)

    def after(self, event: Together) -> Several:
        """Return the models after an event."""
        submitted: dict[int, Proposed] = {}
        partitions = []
        for p, held in enumerate(self.partitions):
            for one in happens(self.requests, event, p):
                before, held = held, followed(held, one)
                answered = isinstance(one, events.Granted | events.Refused)
                if held.waiting and (answered or not before.waiting):
                    submitted[p] = sent_by(held)
            partitions.append(held)
        records = {p: one.partition_epoch for p, one in enumerate(event.events) if isinstance(one, events.Metadata)}
        requests, _ = self.requests.after(event, submitted)
        return replace(self, partitions=tuple(partitions), requests=requests, published={**self.published, **records})


def together_walk(config: Config, seed: int, number: int) -> tuple[Together, ...]:
    """Return a walk by its number."""
    rng = random.Random(f"{seed}/together/{number}")
    size = rng.choice((2, 2, 3))
    start = Together(tuple(events.Beginning(ME, 11, rng.choice((1, 2, 2, 3)), TOLERANCE) for _ in range(size)))
    records = tuple(events.Metadata(ME, rng.randint(1, 3), 1, ALL, ALL) for _ in range(size))
    first = (Together(records, ACTIVE.brokers), Together((events.Append(1),) * size))
    several = Several(tuple(begin(config, one) for one in beginnings(start)))
    walk = [start, *first]
    for event in first:
        several = several.after(event)
    while len(walk) < LENGTH:
        event = _event(rng, several, walk[-1])
        walk.append(event)
        several = several.after(event)
    return tuple(walk)


def _event(rng: random.Random, several: Several, last: Together) -> Together:
    size = len(several.partitions)
    kind = rng.random()
    if several.requests.in_flight and kind < 0.3:
        return _answers(rng, several)
    if isinstance(last.events[0], events.Wait) and kind < 0.7:
        return Together((events.LookForLag(),) * size)
    if kind < 0.6:
        f = rng.choice(OTHERS)
        return _some(rng, several, lambda held: broker_walks.plain_fetch(rng, held, f))
    if kind < 0.75 and all(len(held.broker.log) < LONGEST_LOG for held in several.partitions):
        return _some(rng, several, lambda _: events.Append(rng.choice((-1, 1))))
    if kind < 0.88:
        return Together((events.Wait(rng.choice(PAUSES)),) * size)
    return _fenced(rng, several) if kind < 0.92 else _published(rng, several)


def _some(rng: random.Random, several: Several, event: Callable[[BrokerModel], BrokerEvent]) -> Together:
    """Return an event for one partition or more."""
    chosen = _subset(rng, range(len(several.partitions)))
    return Together(tuple(event(held) if p in chosen else None for p, held in enumerate(several.partitions)))


def _subset(rng: random.Random, of: Sequence[int]) -> frozenset[int]:
    """Return at least one of them, and more often all."""
    return frozenset(of) if rng.random() < 0.5 else frozenset(rng.sample(of, rng.randint(1, len(of))))


def _answers(rng: random.Random, several: Several) -> Together:
    """Return the response to the request in flight: an error of the whole, or answers to all or some partitions."""
    size = len(several.partitions)
    if rng.random() < 0.15:
        return Together((None,) * size, error="STALE_BROKER_EPOCH")
    chosen = _subset(rng, sorted(several.requests.in_flight))
    return Together(
        tuple(broker_walks.answer(rng, held) if p in chosen else None for p, held in enumerate(several.partitions))
    )


def _fenced(rng: random.Random, several: Several) -> Together:
    """Return one delta in which a broker is fenced and leaves the ISR of every partition that this one leads."""
    f = rng.choice(OTHERS)
    registered = tuple((b, epoch, "fenced" if b == f else state) for b, epoch, state in several.partitions[0].brokers)
    records: list[BrokerEvent | None] = []
    for p, held in enumerate(several.partitions):
        view = held.broker.view
        at = 1 + max(several.published.get(p, 0), view.partition_epoch)
        isr = tuple(sorted(view.isr - {f}))
        leaves = view.leader == ME and f in view.isr
        records.append(
            events.Metadata(ME, view.leader_epoch, at, tuple(sorted(view.replicas)), isr) if leaves else None
        )
    return Together(tuple(records), registered)  # type: ignore[arg-type]


def _published(rng: random.Random, several: Several) -> Together:
    """Return one delta with registrations, records of some partitions, or both."""
    registered = broker_walks.registrations(rng).brokers if rng.random() < 0.5 else None
    records: list[BrokerEvent | None] = []
    for p, held in enumerate(several.partitions):
        record = broker_walks.metadata(rng, held)
        newer = record.partition_epoch > several.published.get(p, 0) and broker_walks.may_follow(held, record)
        records.append(record if newer and rng.random() < 0.7 else None)
    if registered is None and not any(records):
        return Together((events.Wait(rng.choice(PAUSES)),) * len(records))
    return Together(tuple(records), registered)
