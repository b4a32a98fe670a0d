"""Conditions that a recipe waits for: a state of a partition, a line of a node, the end of a log.

Some of them are the sign of the finding. A finding counts as absent only if its sign does not appear and the cluster
behaves as without the finding: the state of the partition for a `wait` that decides, or what `instead` names for other
steps. Any other failure ends the run and makes it inconclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from elrcheck.catalogue.recipe_notation.recipe_signs import ExpectedPartition, LogEnd, PrintedLine, Sign, WaitStep
from elrcheck.kafka.cluster.cluster import INTERVAL, ClusterFault, KafkaCluster, NotInTime, wait_for
from elrcheck.kafka.cluster.cluster_clients import PartitionState
from elrcheck.kafka.partition_questions import NO_LEADER

AT_ONCE = 0.05
"""Seconds between polls of a node's output, on which the next step often depends."""


class NotSeen(Exception):
    """The sign of the finding does not appear."""


class Signs:
    """Waits on one cluster. patience: a factor for all time limits; note: puts a state into the report."""

    def __init__(self, cluster: KafkaCluster, patience: float, note: Callable[[str, PartitionState], None]) -> None:
        self._cluster, self._patience, self._note = cluster, patience, note
        self._read_until: dict[int, int] = {}

    def started(self, node: int) -> None:
        """Ignore what the node has printed so far."""
        self._read_until[node] = self._cluster.output_size(node)

    def wait(self, action: WaitStep) -> str:
        """Wait for a state of a partition, and return it in words."""
        last: list[PartitionState] = []

        def met() -> bool:
            last.clear()  # a state from before an error of Kafka shows nothing
            last.append(self._cluster.clients.describe(action.partition))
            return fits(last[0], action.seen)

        try:
            self.until(met, action.seconds, f"{action.partition} with {expectation_text(action.seen)}")
        except NotInTime as late:
            why = f"{late}; it has {last[0]}" if last else str(late)
            if action.decides and last:
                self._note(action.partition, last[0])
                raise NotSeen(why) from late
            raise ClusterFault(why) from late
        self._note(action.partition, last[0])
        return str(last[0])

    def hear(self, action: PrintedLine) -> None:
        """Wait for a line of a node."""
        start = self._read_until.get(action.node, 0)
        printed = lambda: self._cluster.has_printed(action.node, action.pattern, start)  # noqa: E731
        what = f"a line `{action.pattern}` of node {action.node}"
        self.awaited(printed, action.seconds, what, action.instead, AT_ONCE)
        self._read_until[action.node] = self._cluster.output_size(action.node)

    def await_log(self, action: LogEnd) -> None:
        """Wait for the end of a log, or until the log is gone."""
        where = (action.broker, action.partition)
        if action.end is None:
            gone = lambda: self._cluster.directory_of(*where) is None  # noqa: E731
            what = f"deletion of {action.partition} by broker {action.broker}"
            self.awaited(gone, action.seconds, what, action.instead)
        else:
            ends_there = lambda: self._cluster.log_end(*where) == action.end  # noqa: E731
            what = f"the log of {action.partition} on broker {action.broker} ends at {action.end}"
            self.awaited(ends_there, action.seconds, what, action.instead)

    def awaited(
        self, done: Callable[[], bool], seconds: float, what: str, instead: Sign | None, most: float = INTERVAL
    ) -> None:
        """Wait for a possible sign of the finding; raise `NotSeen` if `instead` holds in its place."""
        try:
            self.until(done, seconds, what, most)
        except NotInTime as late:
            if instead is None:
                raise
            try:
                proof_of_absence = self._await_absence(instead)
            except ClusterFault as other:
                raise ClusterFault(f"{late}; nor the sign of its absence: {other}") from late
            if not done():  # the sign may have appeared in the meantime
                raise NotSeen(f"{late}; instead {proof_of_absence}") from late

    def _await_absence(self, instead: Sign) -> str:
        """Wait for the sign that the finding is absent, and return it in words."""
        match instead:
            case WaitStep():
                return f"{instead.partition} has {self.wait(instead)}"
            case PrintedLine():
                self.hear(instead)
                return f"node {instead.node} has printed `{instead.pattern}`"
            case LogEnd():
                self.await_log(instead)
                where = f"{instead.partition} on broker {instead.broker}"
                return (
                    f"there is no log of {where}"
                    if instead.end is None
                    else (f"the log of {where} ends at {instead.end}")
                )

    def until(self, done: Callable[[], bool], seconds: float, what: str, most: float = INTERVAL) -> None:
        """Poll until the condition holds; raise `NotInTime` if it does not within these seconds."""
        wait_for(done, seconds * self._patience, what, most)


def fits(state: PartitionState, expected: ExpectedPartition) -> bool:
    """Return whether a partition is as expected; only the order of replicas counts."""
    pairs = ((expected.isr, state.isr), (expected.elr, state.elr), (expected.last_known_elr, state.last_known_elr))
    return (
        (expected.leader is None or state.leader in expected.leader)
        and (expected.replicas is None or state.replicas == expected.replicas)
        and (expected.isr_size is None or len(state.isr) == expected.isr_size)
        and all(members is None or set(members) == set(present) for members, present in pairs)
    )


def expectation_text(expected: ExpectedPartition) -> str:
    """Return an expectation in words."""
    names: Mapping[str, object] = {
        "leader": None if expected.leader is None else " or ".join(_name(one) for one in expected.leader),
        "replicas": expected.replicas,
        "isr": expected.isr,
        "elr": expected.elr,
        "lastKnownElr": expected.last_known_elr,
        "members of the isr": expected.isr_size,
    }
    values = {key: list(v) if isinstance(v, tuple) else v for key, v in names.items() if v is not None}
    return " ".join(f"{key}={value}" for key, value in values.items())


def _name(leader: int) -> str:
    return "none" if leader == NO_LEADER else str(leader)
