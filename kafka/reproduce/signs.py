"""What a recipe waits for: a state of a partition, a line of a node, the end of a log.

Some of it is the sign of the finding. A finding counts as absent only where its own sign stays away and the
cluster shows what it does without the finding: the state of the partition for a `wait` that decides, and what
`instead` names for other steps. Whatever else goes wrong ends the run, and makes it inconclusive.
"""

from __future__ import annotations

from collections.abc import Callable

from elrcheck.catalogue.recipe_notation.recipe_actions import LogEnd, Said, Sign, Wait
from elrcheck.kafka.cluster.cluster import INTERVAL, ClusterFault, KafkaCluster, NotInTime, wait_for
from elrcheck.kafka.cluster.cluster_clients import PartitionState
from elrcheck.kafka.reproduce.predicted import fits, wanted

AT_ONCE = 0.05
"""Seconds between looks at what a node prints; the next step often depends on it."""


class NotSeen(Exception):
    """The sign of the finding does not appear."""


class Signs:
    """Waits on one cluster. patience: a factor for all time limits; note: keeps a state for the report."""

    def __init__(self, cluster: KafkaCluster, patience: float, note: Callable[[str, PartitionState], None]) -> None:
        self._cluster, self._patience, self._note = cluster, patience, note
        self._heard: dict[int, int] = {}

    def started(self, node: int) -> None:
        """What a node says counts from here on."""
        self._heard[node] = self._cluster.said_so_far(node)

    def wait(self, action: Wait) -> str:
        """Wait for a state, and return the one that was seen."""
        last: list[PartitionState] = []

        def met() -> bool:
            last.clear()  # a state from before an error of Kafka shows nothing
            last.append(self._cluster.clients.describe(action.partition))
            return fits(last[0], action.seen)

        try:
            self.until(met, action.seconds, f"{action.partition} with {wanted(action.seen)}")
        except NotInTime as late:
            why = f"{late}; it has {last[0]}" if last else str(late)
            if action.decides and last:
                self._note(action.partition, last[0])
                raise NotSeen(why) from late
            raise ClusterFault(why) from late
        self._note(action.partition, last[0])
        return str(last[0])

    def hear(self, action: Said) -> None:
        """Wait for a line of a node."""
        start = self._heard.get(action.node, 0)
        heard = lambda: self._cluster.said(action.node, action.pattern, start)  # noqa: E731
        what = f"a line `{action.pattern}` of node {action.node}"
        self.awaited(heard, action.seconds, what, action.instead, AT_ONCE)
        self._heard[action.node] = self._cluster.said_so_far(action.node)

    def await_log(self, action: LogEnd) -> None:
        """Wait for the end of a log, or until there is none."""
        where = (action.broker, action.partition)
        if action.end is None:
            gone = lambda: self._cluster.directory_of(*where) is None  # noqa: E731
            what = f"deletion of {action.partition} by broker {action.broker}"
            self.awaited(gone, action.seconds, what, action.instead)
        else:
            there = lambda: self._cluster.log_end(*where) == action.end  # noqa: E731
            what = f"the log of {action.partition} on broker {action.broker} ends at {action.end}"
            self.awaited(there, action.seconds, what, action.instead)

    def awaited(
        self, done: Callable[[], bool], seconds: float, what: str, instead: Sign | None, most: float = INTERVAL
    ) -> None:
        """Wait for what may be the sign of the finding; `NotSeen` if `instead` is there in its place."""
        try:
            self.until(done, seconds, what, most)
        except NotInTime as late:
            if instead is None:
                raise
            try:
                found = self._shown(instead)
            except ClusterFault as other:
                raise ClusterFault(f"{late}; nor is there what shows its absence: {other}") from late
            if not done():  # it may have come while the other was waited for
                raise NotSeen(f"{late}; instead {found}") from late

    def _shown(self, instead: Sign) -> str:
        match instead:
            case Wait():
                return f"{instead.partition} has {self.wait(instead)}"
            case Said():
                self.hear(instead)
                return f"node {instead.node} has said `{instead.pattern}`"
            case LogEnd():
                self.await_log(instead)
                where = f"{instead.partition} on broker {instead.broker}"
                return (
                    f"there is no log of {where}"
                    if instead.end is None
                    else (f"the log of {where} ends at {instead.end}")
                )

    def until(self, done: Callable[[], bool], seconds: float, what: str, most: float = INTERVAL) -> None:
        """Poll until the condition holds; `NotInTime` if it does not hold within these seconds."""
        wait_for(done, seconds * self._patience, what, most)
