"""Replica lag: the times by which Kafka decides who has caught up.

The model has no time: any member whose log is shorter than the leader's may leave. A walk has a clock, and Kafka's rule
selects the members that leave now; the model has to allow exactly them.

Sources: Replica.updateFetchStateOrThrow and resetReplicaState, ReplicaState.isCaughtUp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from elrcheck.kafka.broker_steps import NO_LAG, Metadata

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
