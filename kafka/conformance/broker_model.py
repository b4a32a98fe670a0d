"""The model's side of a walk of one broker: its own actions and rules answer the events.

Uses only this broker's part of a state. Adds what the code needs and the model leaves open: the registrations in the
broker's metadata cache, whether a request is in flight, and the time. In the model any member whose log is shorter than
the leader's may leave the ISR. A walk has a clock, and Kafka's rule selects the members that leave now; the model has
to allow exactly them.

Sources of that rule: Replica.updateFetchStateOrThrow and resetReplicaState, ReplicaState.isCaughtUp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from elrcheck.kafka import broker_steps as events
from elrcheck.kafka.broker_steps import NO_LAG, BrokerAnswer, BrokerEvent, Metadata
from elrcheck.lang.runtime import EMPTY, NotEnabled
from elrcheck.model.absent import no_exchange, no_peers, no_view
from elrcheck.model.broker.acknowledgement import answer_after, leads_partition, produce_error
from elrcheck.model.broker.high_watermark import known_end, maximal_isr
from elrcheck.model.broker.isr_proposals import ExpandIsr, LeaderLearns, ShrinkIsr
from elrcheck.model.broker.logs import fetch_diverges, leader_end_for
from elrcheck.model.broker.metadata import with_metadata
from elrcheck.model.broker.replica import Fetch, Produce
from elrcheck.model.config import Config
from elrcheck.model.kafka_error import Error
from elrcheck.model.replicas import RSet
from elrcheck.model.start import Init
from elrcheck.model.state import Acks, Broker, Entry, Exchange, Log, Snapshot, Stage, State, Status, View

START = 1_000_000
"""The time in milliseconds at which a process starts; 0 is long ago."""


@dataclass(frozen=True)
class Times:
    """What a leader knows of one follower, in milliseconds.

    caught_up: when its log was last as long as the leader's; fetched: its last fetch; end: the leader's log end then.
    """

    caught_up: int = 0
    fetched: int = 0
    end: int = 0


@dataclass(frozen=True)
class LagClock:
    """A leader's time, replica.lag.time.max.ms, and the times of its followers."""

    tolerance: int = NO_LAG
    now: int = START
    followers: Mapping[int, Times] = field(default_factory=dict)

    def later(self, milliseconds: int) -> LagClock:
        return replace(self, now=self.now + milliseconds)

    def is_recent(self, follower: int) -> bool:
        """Return whether the follower has caught up within the tolerance."""
        return self.now - self.followers.get(follower, Times()).caught_up <= self.tolerance

    def after_fetch(self, follower: int, offset: int, end: int) -> LagClock:
        """Return the clock after a fetch from an offset. end: the leader's log end.

        A fetch from the log end of the previous fetch proves that the follower had caught up at that time.
        """
        last = self.followers.get(follower, Times())
        if offset >= end:
            caught_up = max(last.caught_up, self.now)
        elif offset >= last.end:
            caught_up = max(last.caught_up, last.fetched)
        else:
            caught_up = last.caught_up
        times = Times(caught_up, self.now, max(end, last.end))
        return replace(self, followers={**self.followers, follower: times})

    def as_follower(self) -> LagClock:
        """Return the clock of a broker that does not lead."""
        return replace(self, followers={})

    def as_leader(self, record: Metadata, end: int, *, led: bool, new_epoch: bool) -> LagClock:
        """Return the clock of the leader after a record. end: its log end; led: it was the leader before."""
        others = [b for b in record.replicas if b != record.leader]
        if not new_epoch:
            return replace(self, followers={b: self.followers.get(b, Times()) for b in others})
        granted = {b: self.now if b in record.isr else 0 for b in others}
        return replace(
            self, followers={b: Times(at, at, end) if led else Times(at, 0, -1) for b, at in granted.items()}
        )


# ---------------------------------------------------------------------------- the model

ACKS = {-1: Acks.ALL, 0: Acks.ZERO, 1: Acks.ONE}
LONGEST_LOG = 5
NOTHING_IN_FLIGHT = "nothing-in-flight"


@dataclass(frozen=True)
class BrokerModel:
    """The model in the middle of a walk. waiting: a request is in flight, perhaps dropped since."""

    config: Config
    id: int
    state: State
    brokers: tuple[tuple[int, int, str], ...] = ()
    waiting: bool = False
    clock: LagClock = field(default_factory=LagClock)

    @property
    def broker(self) -> Broker:
        return self.state.broker[self.id]

    def put(self, broker: Broker) -> BrokerModel:
        """Return a copy with this broker changed."""
        return replace(self, state=self.with_broker(self.id, broker))

    def with_broker(self, b: int, broker: Broker) -> State:
        changed = tuple(broker if other == b else old for other, old in enumerate(self.state.broker))
        return replace(self.state, broker=changed)

    def live(self, b: int, epoch: int) -> bool:
        """Return whether the metadata cache has this incarnation of b as active; the leader proposes no other."""
        return (b, epoch, "active") in self.brokers

    def lagging(self) -> RSet:
        """Return the members that have not caught up within replica.lag.time.max.ms."""
        ends = {b: peer.log_end_offset for b, peer in enumerate(self.broker.peers)}
        others = self.broker.view.isr - {self.id}
        return frozenset(b for b in others if ends[b] != len(self.broker.log) and not self.clock.is_recent(b))

    def held_back(self, before: BrokerModel) -> BrokerModel:
        """Return a copy whose watermark has not passed a follower that may join: caught up lately, and active.

        before: the same before the event.
        """
        leader = self.broker
        others = leader.view.replicas - maximal_isr(leader) - {self.id}
        awaited = {b for b in others if self.clock.is_recent(b) and self.live(b, leader.peers[b].broker_epoch)}
        least = min((known_end(leader, self.id, b) for b in awaited), default=leader.high_watermark)
        reached = max(before.broker.high_watermark, min(leader.high_watermark, least))
        return self.put(replace(leader, high_watermark=reached))


def begin(config: Config, event: events.Beginning) -> BrokerModel:
    """Return a process that has not applied any metadata yet."""
    sizes = replace(config, broker_count=3, spare_brokers=0, min_isr=event.min_isr)
    wide = replace(sizes, log_slots=LONGEST_LOG + 1, acks_zero=1)
    held = BrokerModel(wide, event.id, Init(wide), clock=LagClock(event.lag))
    fresh = replace(held.broker, epoch=event.epoch, log=(), view=no_view(wide), peers=no_peers(wide))
    return held.put(fresh)


def decide(held: BrokerModel, event: BrokerEvent) -> tuple[BrokerAnswer, BrokerModel]:
    """Return the model's answer to an event other than `Beginning`, and the model after it."""
    outcome, sent = "ok", None
    if isinstance(event, events.Granted | events.Refused) and not held.waiting:
        return answer_of(held, NOTHING_IN_FLIGHT, None), held
    match event:
        case events.Registered(brokers):
            after = replace(held, brokers=brokers)
        case events.Metadata():
            # ApplyMetadata: there is newer metadata
            newer = event.partition_epoch > held.broker.view.partition_epoch
            after = applied(held, event) if newer else held
        case events.Append(acks):
            outcome, after = _appended(held, ACKS[acks])
        case events.FollowerFetch():
            outcome, after = _fetched(held, event)
            if outcome.startswith("read"):
                after, sent = expanded(after, event)
        case events.LookForLag():
            out = held.lagging()
            after, sent = _proposed(held, lambda h: ShrinkIsr(h.config, h.state, h.id, out))
        case events.Granted(leader_epoch, partition_epoch, isr):
            granted = replace(
                held.broker.alter,
                stage=Stage.ANSWERED,
                leader_epoch=leader_epoch,
                partition_epoch=partition_epoch,
                isr=frozenset(isr),
            )
            after, sent = _learnt(held, granted)
        case events.Refused(error):
            after, sent = _learnt(held, replace(held.broker.alter, stage=Stage.ANSWERED, error=Error[error]))
        case events.Wait(milliseconds):
            after = replace(held, clock=held.clock.later(milliseconds))
        case events.Beginning():
            raise ValueError("a walk begins once")
    return answer_of(after, outcome, sent), after


def answer_of(held: BrokerModel, outcome: str, sent: events.Proposed | None) -> BrokerAnswer:
    """Return the state of the model's broker in Kafka's terms."""
    c, b, broker = held.config, held.id, held.broker
    view, leads = broker.view, leads_partition(broker, b)
    unknown = -1
    peers = tuple(
        (
            f,
            unknown if peer.log_end_offset is None else peer.log_end_offset,
            unknown if peer.broker_epoch == 0 else peer.broker_epoch,
        )
        for f, peer in enumerate(broker.peers)
        if leads and f != b and f in view.replicas
    )
    return BrokerAnswer(
        outcome=outcome,
        leads=leads,
        leader_epoch=view.leader_epoch if view.partition_epoch else unknown,
        partition_epoch=view.partition_epoch,
        log_end=len(broker.log),
        high_watermark=broker.high_watermark,
        epoch_start=broker.epoch_start if leads else None,
        isr=tuple(sorted(view.isr)) if leads else (),
        maximal_isr=tuple(sorted(maximal_isr(broker))) if leads else (),
        in_flight=leads and broker.alter.stage != Stage.IDLE,
        peers=peers,
        sent=sent,
        produce=tuple(
            answer_after(c, held.state.settings, broker, b, offset).name for offset in range(len(broker.log))
        ),
    )


def applied(held: BrokerModel, event: events.Metadata) -> BrokerModel:
    """Return the model after a partition record, newer or not."""
    broker = held.broker
    to = Snapshot(
        leader=None if event.leader < 0 else event.leader,
        leader_epoch=event.leader_epoch,
        isr=frozenset(event.isr),
        replicas=frozenset(event.replicas),
        min_isr=0,
    )
    settings = held.state.settings
    new_epoch = broker.view.partition_epoch == 0 or event.leader_epoch > broker.view.leader_epoch
    led = leads_partition(broker, held.id)
    clock = (
        held.clock.as_leader(event, len(broker.log), led=led, new_epoch=new_epoch)
        if event.leader == held.id
        else held.clock.as_follower()
    )
    after = with_metadata(held.config, settings, broker, held.id, to, event.partition_epoch)
    return replace(held.put(after), clock=clock)


def _appended(held: BrokerModel, acks: Acks) -> tuple[str, BrokerModel]:
    try:
        return "ok", replace(held, state=Produce(held.config, held.state, held.id, acks))
    except NotEnabled:
        return produce_error(held.config, held.state.settings, held.broker, held.id, acks).name, held


def _fetched(held: BrokerModel, event: events.FollowerFetch) -> tuple[str, BrokerModel]:
    c, b, leader = held.config, held.id, held.broker
    replicas = leader.view.replicas
    view = View(leader=b, leader_epoch=event.leader_epoch, partition_epoch=1, isr=EMPTY, replicas=replicas)
    follower = replace(
        held.state.broker[event.follower],
        status=Status.RUNNING,
        epoch=event.broker_epoch,
        view=view,
        log=log_like(leader.log, event),
        alter=no_exchange(c),
    )
    both = held.with_broker(event.follower, follower)
    try:
        after = Fetch(c, both, event.follower, b, False)
    except NotEnabled:
        return "refused", held
    if fetch_diverges(c, leader, follower):
        end = leader_end_for(c, leader, follower)
        return f"diverging:{end.epoch}:{end.offset}", replace(held, state=after)
    clock = held.clock.after_fetch(event.follower, event.offset, len(leader.log))
    return read_text(after.broker[b], event), replace(held, state=after, clock=clock)


def read_text(leader: Broker, event: events.FollowerFetch) -> str:
    """Return the outcome of a fetch: the leader's high watermark, and how many records it returns."""
    return f"read:{leader.high_watermark}:{len(leader.log) - event.offset}"


def expanded(held: BrokerModel, event: events.FollowerFetch) -> tuple[BrokerModel, events.Proposed | None]:
    """Propose the follower that has just fetched, if it may join."""
    if not held.live(event.follower, event.broker_epoch):
        return held, None
    return _proposed(held, lambda h: ExpandIsr(h.config, h.state, h.id, event.follower))


def log_like(log: Log, event: events.FollowerFetch) -> Log:
    """Return the follower's log: the leader's, cut to the length of the fetch, with a last record of its epoch."""
    filler = Entry(id=0, epoch=max(event.last_epoch, 0), acks=Acks.ALL)
    same = tuple(entry for entry in log[: event.offset] if entry.epoch <= event.last_epoch)
    copied = same[: max(event.offset - 1, 0)]
    return copied + (filler,) * (event.offset - len(copied))


def _proposed(held: BrokerModel, propose: Callable[[BrokerModel], State]) -> tuple[BrokerModel, events.Proposed | None]:
    """Send a request, unless one is in flight: AlterPartitionManager holds one at most."""
    if held.waiting:
        return held, None
    try:
        after = replace(held, state=propose(held), waiting=True)
    except NotEnabled:
        return held, None
    return after, sent_by(after)


def sent_by(held: BrokerModel) -> events.Proposed:
    """Return the request that is in flight."""
    alter = held.broker.alter
    members = tuple((b, alter.member_epochs[b] or -1) for b in sorted(alter.isr))
    return events.Proposed(alter.leader_epoch, alter.partition_epoch, members)


def _learnt(held: BrokerModel, answer: Exchange) -> tuple[BrokerModel, events.Proposed | None]:
    """Take the controller's answer; it is late if metadata has ended the proposal since."""
    over = replace(held, waiting=False)
    if held.broker.alter.stage != Stage.SENT:
        return over, None
    waits = over.put(replace(over.broker, alter=answer))
    after = replace(waits, state=LeaderLearns(waits.config, waits.state, waits.id))
    if after.broker.alter.stage != Stage.SENT:
        return after, None
    again = replace(after, waiting=True)
    return again, sent_by(again)
