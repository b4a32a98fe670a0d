"""The AlterPartition requests of a broker: one at a time, with what all of its partitions have proposed since.

Source: DefaultAlterPartitionManager.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from elrcheck.kafka.broker_steps import Granted, LookForLag, Proposed, Refused, Together

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
