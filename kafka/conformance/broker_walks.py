"""Walks of one broker: random ones, with one partition or several, and every short one over a small alphabet of events.

A random walk follows the model, so that most events have an effect; it does not depend on
Kafka's answers. It depends on the seed and its number only. In every second one time passes: followers lag by
replica.lag.time.max.ms. In the others it is -1, and every follower behind the log end lags.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from elrcheck.kafka import broker_steps as events
from elrcheck.kafka.broker_steps import BrokerEvent, BrokerState, Proposed, Together
from elrcheck.kafka.conformance.broker_model import LONGEST_LOG, BrokerModel, Times, applied, begin, decide, sent_by
from elrcheck.kafka.conformance.broker_part import AlterRequests, beginnings, happens, read_in_kafkas_order
from elrcheck.model.broker.epoch_cache import last_epoch
from elrcheck.model.config import Config
from elrcheck.model.state import Stage

ME, OTHERS, ALL = 1, (0, 2), (0, 1, 2)
LENGTH = 24
TOLERANCE = 100
PAUSES = (40, 60, TOLERANCE + 1 - 60, TOLERANCE)
"""In milliseconds: replica.lag.time.max.ms of a walk in which time passes, and how long it does."""
ACTIVE = events.Registered(((0, 10, "active"), (1, 11, "active"), (2, 12, "active")))
ERRORS = (
    "INELIGIBLE_REPLICA",
    "NEW_LEADER_ELECTED",
    "FENCED_LEADER_EPOCH",
    "INVALID_REQUEST",
    "INVALID_UPDATE_VERSION",
    "STALE_BROKER_EPOCH",
    "NOT_CONTROLLER",
)
# What a new leader of epoch 1 may meet; every sequence of four is tried.
ALPHABET: tuple[BrokerEvent, ...] = (
    events.Append(-1),
    events.Append(1),
    events.FollowerFetch(0, 10, 0, 1, -1),
    events.FollowerFetch(0, 10, 1, 1, 1),
    events.FollowerFetch(2, 12, 1, 1, 1),
    events.FollowerFetch(2, 12, 2, 1, 1),
    events.FollowerFetch(2, 12, 1, 3, 1),
    events.LookForLag(),
    events.Granted(1, 2, (1, 2)),
    events.Refused("INELIGIBLE_REPLICA"),
    events.Refused("INVALID_UPDATE_VERSION"),
    events.Metadata(1, 1, 3, ALL, (1, 2)),
    events.Metadata(1, 3, 4, ALL, (1, 2)),
    events.Metadata(0, 2, 3, ALL, ALL),
)
DEPTH = 4


SHORT_WALKS = 2 * len(ALPHABET) ** DEPTH


def short_walk(number: int) -> tuple[BrokerEvent, ...]:
    """Return a sequence of `DEPTH` events by its number, for a leader with a full ISR or with an ISR of two."""
    number, other = divmod(number, 2)
    chosen: list[BrokerEvent] = []
    for _ in range(DEPTH):
        number, at = divmod(number, len(ALPHABET))
        chosen.append(ALPHABET[at])
    isr = (1, 2) if other else ALL
    return (events.Beginning(ME, 11, 2), ACTIVE, events.Metadata(ME, 1, 1, ALL, isr), events.Append(-1), *chosen)


@lru_cache(maxsize=4)
def _order_of_short_walks(seed: int) -> list[int]:
    return random.Random(f"{seed}/short").sample(range(SHORT_WALKS), SHORT_WALKS)


def broker_walk(config: Config, seed: int, number: int) -> tuple[BrokerEvent, ...]:
    """Return a walk by its number: shuffled short ones alternate with random ones until none is left."""
    if number >= 2 * SHORT_WALKS:
        return random_walk(config, seed, number - SHORT_WALKS)
    turn, is_random = divmod(number, 2)
    if is_random:
        return random_walk(config, seed, turn)
    return possible(config, short_walk(_order_of_short_walks(seed)[turn]))


def may_follow(held: BrokerModel, record: events.Metadata) -> bool:
    """Return whether a metadata log can have the record: one for each partition epoch, and no older leader epoch."""
    view = held.broker.view
    if record.partition_epoch == view.partition_epoch:
        same = record.leader == view.leader and record.leader_epoch == view.leader_epoch
        return same and frozenset(record.isr) == view.isr and frozenset(record.replicas) == view.replicas
    return record.partition_epoch > view.partition_epoch and record.leader_epoch >= view.leader_epoch


def _may_answer(held: BrokerModel, answer: events.Granted) -> bool:
    """Return whether a success has the proposed ISR, or a part of it if it is newer than the leader's."""
    view, alter = held.broker.view, held.broker.alter
    if alter.stage != Stage.SENT or frozenset(answer.isr) == alter.isr:
        return True
    news = answer.leader_epoch == view.leader_epoch and answer.partition_epoch > view.partition_epoch
    return news and frozenset(answer.isr) <= alter.isr


def possible(config: Config, walk: Sequence[BrokerEvent]) -> tuple[BrokerEvent, ...]:
    """Return the walk without answers to requests that were not sent, and without records that cannot follow."""
    first = walk[0]
    assert isinstance(first, events.Beginning), "a walk begins with a process"
    held, events_left = begin(config, first), [walk[0]]
    for event in walk[1:]:
        if isinstance(event, events.Granted | events.Refused) and not held.waiting:
            continue
        if isinstance(event, events.Metadata) and not may_follow(held, event):
            continue
        if isinstance(event, events.Granted) and not _may_answer(held, event):
            continue
        events_left.append(event)
        held = followed(held, event)
    return tuple(events_left)


def followed(held: BrokerModel, event: BrokerEvent) -> BrokerModel:
    """Return the model after an event.

    As in Kafka, the leader applies a record again that it already knows, a fetch proposes its follower before the
    watermark advances, and the watermark waits for who may join.
    """
    if isinstance(event, events.Metadata) and event.partition_epoch == held.broker.view.partition_epoch:
        return applied(held, event).held_back(held)
    answer, after = decide(held, event)
    if isinstance(event, events.FollowerFetch) and answer.outcome.startswith("read:"):
        after = read_in_kafkas_order(held, event, after)[0]
    return after.held_back(held)


def random_walk(config: Config, seed: int, number: int) -> tuple[BrokerEvent, ...]:
    """Return a random walk by its number."""
    rng = random.Random(f"{seed}/broker/{number}")
    timed = number % 2 == 1
    start = events.Beginning(ME, 11, rng.choice((1, 2, 2, 3)), TOLERANCE if timed else events.NO_LAG)
    held = begin(config, start)
    walk: list[BrokerEvent] = [start, ACTIVE, events.Metadata(ME, rng.randint(1, 3), rng.randint(1, 3), ALL, _isr(rng))]
    for event in walk[1:]:
        held = decide(held, event)[1]
    while len(walk) < LENGTH:
        event = _timed_event(rng, held, walk[-1]) if timed else _event(rng, held)
        walk.append(event)
        if isinstance(event, events.LookForLag) and not held.broker.log:
            break  # here Kafka may do something else (nothing-to-lag-behind)
        held = followed(held, event)
    return tuple(walk)


def _timed_event(rng: random.Random, held: BrokerModel, last: BrokerEvent) -> BrokerEvent:
    """Return mostly fetches from the log's end, or from its end at the follower's last fetch, and pauses between."""
    kind = rng.random()
    log = held.broker.log
    if held.waiting and kind < 0.3:
        return events.Refused("INELIGIBLE_REPLICA") if kind < 0.2 else answer(rng, held)
    if isinstance(last, events.Wait) and log and kind < 0.6:
        return events.LookForLag()
    if kind < 0.3:
        return events.Wait(rng.choice(PAUSES))
    if kind < 0.7:
        return plain_fetch(rng, held, rng.choice(OTHERS))
    if kind < 0.92 and len(log) < LONGEST_LOG:
        return events.Append(1)
    return _event(rng, held)


def plain_fetch(rng: random.Random, held: BrokerModel, f: int) -> events.FollowerFetch:
    """Return a fetch in the leader's epoch, often from the log end at the last fetch."""
    log = held.broker.log
    at_last_fetch = max(held.clock.followers.get(f, Times()).end, 0)
    offset = rng.choice((len(log), at_last_fetch, at_last_fetch, at_last_fetch, rng.randint(0, len(log))))
    registered = next(epoch for b, epoch, _ in held.brokers if b == f)
    epoch = held.broker.view.leader_epoch
    return events.FollowerFetch(f, registered, offset, epoch, last_epoch(log[:offset]) if offset else -1)


def _isr(rng: random.Random) -> tuple[int, ...]:
    return tuple(sorted({ME, *rng.sample(OTHERS, rng.randint(0, 2))}))


def _event(rng: random.Random, held: BrokerModel) -> BrokerEvent:
    broker = held.broker
    if held.waiting and rng.random() < 0.3:
        return answer(rng, held)
    kind = rng.random()
    if kind < 0.2 and len(broker.log) < LONGEST_LOG:
        return events.Append(rng.choice((-1, -1, 1, 0)))
    if kind < 0.65:
        return _fetch(rng, held)
    if kind < (0.75 if broker.log else 0.66):
        return events.LookForLag()
    if kind < 0.8:
        return registrations(rng)
    return metadata(rng, held)


def answer(rng: random.Random, held: BrokerModel) -> BrokerEvent:
    """Return an answer of the controller to the request in flight."""
    view, alter = held.broker.view, held.broker.alter
    if rng.random() < 0.4:
        return events.Refused(rng.choice(ERRORS))
    epoch = view.leader_epoch + rng.choice((0, 0, 0, 0, -1, 1))
    at = view.partition_epoch + rng.choice((1, 1, 1, 0, 2, -1))
    # An answer has the ISR that was proposed, or less where a reassignment has ended.
    less = epoch == view.leader_epoch and at > view.partition_epoch and rng.random() < 0.2
    isr = frozenset(_isr(rng)) & alter.isr if less or not alter.isr else alter.isr
    return events.Granted(max(epoch, 0), max(at, 0), tuple(sorted(isr | {ME})))


def _fetch(rng: random.Random, held: BrokerModel) -> BrokerEvent:
    broker, f = held.broker, rng.choice(OTHERS)
    registered = {b: epoch for b, epoch, _ in held.brokers}
    end = len(broker.log)
    offset = rng.choice((end, end, rng.randint(0, end), max(end - 1, 0), end + 1))
    epoch = broker.view.leader_epoch + rng.choice((0, 0, 0, 0, 0, 0, -1, 1))
    of_prefix = last_epoch(broker.log[:offset])
    last = of_prefix if rng.random() < 0.85 else rng.randint(1, max(broker.view.leader_epoch, 1))
    if offset == 0:
        last = -1
    elif offset > end:
        last = max(last, 1)
    incarnation = registered[f] + rng.choice((0, 0, 0, 0, 10))
    return events.FollowerFetch(f, incarnation, offset, max(epoch, 0), last)


def registrations(rng: random.Random) -> events.Registered:
    """Return what the metadata cache may say of the followers."""
    states: tuple[BrokerState, ...] = ("active", "active", "fenced", "shutting down")
    return events.Registered(
        ((0, rng.choice((10, 20)), rng.choice(states)), (1, 11, "active"), (2, 12, rng.choice(states)))
    )


def metadata(rng: random.Random, held: BrokerModel) -> events.Metadata:
    """Return a record of the partition, mostly a newer one."""
    view = held.broker.view
    replicas = rng.choice((ALL, ALL, ALL, (0, 1), (1, 2)))
    leads = view.leader == ME
    stays = leads and rng.random() < 0.5
    leader = ME if stays else rng.choice((ME, ME, *(b for b in replicas if b != ME), -1))
    if stays and rng.random() < 0.3:  # the record of what it has learnt from an answer, or an old record
        at = view.partition_epoch - rng.choice((0, 0, 0, 1))
        return events.Metadata(ME, view.leader_epoch, max(at, 0), tuple(sorted(view.replicas)), tuple(sorted(view.isr)))
    epoch = view.leader_epoch if stays else view.leader_epoch + rng.choice((1, 1, 2, 3))
    isr = frozenset(_isr(rng)) & frozenset(replicas)
    at = view.partition_epoch + rng.choice((1, 1, 2))
    return events.Metadata(leader, epoch, at, replicas, tuple(sorted(isr)))


TOGETHER_LENGTH = 30


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
    while len(walk) < TOGETHER_LENGTH:
        event = _together_event(rng, several, walk[-1])
        walk.append(event)
        several = several.after(event)
    return tuple(walk)


def _together_event(rng: random.Random, several: Several, last: Together) -> Together:
    size = len(several.partitions)
    kind = rng.random()
    if several.requests.in_flight and kind < 0.3:
        return _answers(rng, several)
    if isinstance(last.events[0], events.Wait) and kind < 0.7:
        return Together((events.LookForLag(),) * size)
    if kind < 0.6:
        f = rng.choice(OTHERS)
        return _some(rng, several, lambda held: plain_fetch(rng, held, f))
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
    return Together(tuple(answer(rng, held) if p in chosen else None for p, held in enumerate(several.partitions)))


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
    registered = registrations(rng).brokers if rng.random() < 0.5 else None
    records: list[BrokerEvent | None] = []
    for p, held in enumerate(several.partitions):
        record = metadata(rng, held)
        newer = record.partition_epoch > several.published.get(p, 0) and may_follow(held, record)
        records.append(record if newer and rng.random() < 0.7 else None)
    if registered is None and not any(records):
        return Together((events.Wait(rng.choice(PAUSES)),) * len(records))
    return Together(tuple(records), registered)
