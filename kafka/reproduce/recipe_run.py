"""One side of a recipe, the run or its control: its steps on a cluster, and the records left at the end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from elrcheck.base.progress import Progress
from elrcheck.catalogue.recipe_notation import recipe_actions as actions
from elrcheck.catalogue.recipe_notation import recipe_signs as signs
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe, RecipeStep, Side
from elrcheck.kafka.cluster.cluster import ClusterFault, KafkaCluster
from elrcheck.kafka.cluster.cluster_clients import PartitionState, RefusedByKafka
from elrcheck.kafka.cluster.node_settings import CONTROLLER
from elrcheck.kafka.partition_questions import NO_LEADER
from elrcheck.kafka.reproduce.signs import NotSeen, Signs
from elrcheck.results.reproduce_report import DoneStep, ReproduceOutcome, SeenState

READ_PATIENCE = 60.0
THROTTLE = "leader.replication.throttled.rate"
NOT_NEEDED = "ElectionNotNeeded"


@dataclass
class SideResult:
    """The result of one side."""

    outcome: ReproduceOutcome = "not-reproduced"
    acknowledged: int = 0
    left: int | None = None
    missing: str = ""
    message: str = ""
    states: list[SeenState] = field(default_factory=list)
    steps: list[DoneStep] = field(default_factory=list)

    def reported(self) -> dict[str, Any]:
        """Return the fields of a report that this side fills in."""
        return {**vars(self), "states": tuple(self.states), "steps": tuple(self.steps)}


class RecipeRun:
    """Follows the steps. patience: a factor for all time limits."""

    def __init__(
        self, recipe: Recipe, side: Side, cluster: KafkaCluster, progress: Progress, patience: float = 1.0
    ) -> None:
        self._recipe, self._side, self._cluster = recipe, side, cluster
        self._progress, self._patience = progress, patience
        self._begun = time.monotonic()
        self._number = 0
        self._produced: dict[str, int] = {}
        self._sent: dict[str, list[int]] = {}
        self._uncommitted: dict[str, tuple[str, int]] = {}
        self._acknowledged: dict[str, set[int]] = {name: set() for name in recipe.read}
        self._unavailable: list[str] = []
        self.result = SideResult()
        self._signs = Signs(cluster, patience, self._note)

    def follow(self) -> SideResult:
        """Do every step of this side, then read; a fault of the cluster makes the result inconclusive."""
        steps = [step for step in self._recipe.steps if self._side in step.sides]
        absent = ""
        try:
            for self._number, step in enumerate(steps, 1):
                if absent and not step.at_last:
                    continue
                self._progress.stage(f"{self._side} {self._number}/{len(steps)}: {step.text}")
                try:
                    self._do(step)
                except NotSeen as absence:
                    absent = absent or str(absence)
            self._number += 1
            self._judge()
            if absent:
                self.result.message = absent
        except (ClusterFault, RefusedByKafka) as fault:
            self._give_up(f"step {self._number}", fault, steps)
        return self.result

    # -- the end

    def _judge(self) -> None:
        """Read the partitions, and compare with the acknowledged records."""
        for partition in list(self._sent):
            self._take_answers(partition)
        expected = sum(map(len, self._acknowledged.values()))
        self.result.acknowledged = expected
        left, missing = 0, []
        for partition, numbers in self._acknowledged.items():
            self._progress.stage(f"{self._side}: reading {partition}")
            numbers_left = self._read(partition)
            if numbers_left is None:
                self.result.outcome = "unavailable" if self._unavailable else "inconclusive"
                self.result.message = f"{partition} cannot be read"
                return
            left += len(numbers & numbers_left)
            missing += [f"{partition}: {ranges(numbers - numbers_left)}"] if numbers - numbers_left else []
        self.result.left, self.result.missing = left, "; ".join(missing)
        if left < expected:
            self.result.outcome = "lost"
        elif self._unavailable:
            self.result.outcome = "unavailable"
        if self._unavailable:
            self.result.message = "; ".join(self._unavailable)

    def _read(self, partition: str) -> frozenset[int] | None:
        end = time.monotonic() + READ_PATIENCE * self._patience
        while True:
            try:
                return self._cluster.clients.consume(partition)
            except RefusedByKafka:
                if self._unavailable or time.monotonic() > end:
                    return None
            time.sleep(1.0)

    def _give_up(self, where: str, fault: Exception, steps: list[RecipeStep]) -> None:
        excerpt = getattr(fault, "excerpt", "")
        text = steps[self._number - 1].text if self._number <= len(steps) else "reading"
        self.result.outcome = "inconclusive"
        self.result.acknowledged = sum(map(len, self._acknowledged.values()))
        self.result.message = f"{where} ({text}) failed: {fault}" + (f"\n{excerpt}" if excerpt else "")

    # -- the steps

    def _do(self, step: RecipeStep) -> None:
        begun = round(time.monotonic() - self._begun, 1)
        try:
            result = self._act(step.action)
        except NotSeen as absent:
            self.result.steps.append(DoneStep(self._number, step.text, begun, str(absent), step.note))
            raise
        self.result.steps.append(DoneStep(self._number, step.text, begun, result, step.note))

    def _act(self, action: signs.Action) -> str:
        """Do one step, and return its result in words."""
        cluster, clients = self._cluster, self._cluster.clients
        match action:
            case actions.Create():
                clients.create(action.topic, action.assignments, action.config)
            case actions.Delete():
                clients.delete(action.topic)
            case actions.Produce():
                return self._produce(action)
            case actions.Send():
                return self._send(action)
            case signs.Answered():
                return self._answered(action)
            case actions.Stream():
                return self._stream(action)
            case actions.Begin():
                return self._begin(action)
            case actions.Commit():
                clients.commit(action.producer)
                partition, number = self._uncommitted.pop(action.producer)
                self._acknowledged.setdefault(partition, set()).add(number)
            case signs.WaitStep():
                return self._signs.wait(action)
            case signs.Leaderless():
                return self._watch(action)
            case signs.Unserved():
                return self._try(action)
            case signs.PrintedLine():
                self._signs.hear(action)
            case signs.LogEnd():
                self._signs.await_log(action)
            case actions.Sleep():
                time.sleep(action.seconds)
                return action.because
            case actions.ElectStep():
                return self._elect(action)
            case actions.ReassignStep():
                self._reassign(action)
            case actions.ConfigureStep():
                clients.configure(action.kind, action.name, action.values)
            case actions.Throttle():
                for broker in range(cluster.broker_count):
                    clients.configure("broker", str(broker), {THROTTLE: str(action.rate)})
            case actions.Feature():
                clients.feature(action.name, action.level, action.kind)
            case actions.UnregisterStep():
                clients.unregister(action.broker)
            case actions.Signal() | actions.Start() | actions.Exited():
                self._process(action)
            case actions.MoveDirectory():
                self._move(action)
            case actions.DeleteCleanStopFiles():
                cluster.delete_clean_stop_files(action.broker)
            case actions.LoseLog():
                cluster.lose_log(action.broker, action.partition, action.first)
            case actions.DirectoryStep(kind="lose"):
                cluster.lose_directory(action.broker, action.directory)
            case actions.DirectoryStep(kind="replace"):
                cluster.replace_directory(action.broker, action.directory)
            case actions.DirectoryStep():
                cluster.drop_directory(action.broker, action.directory)
        return ""

    def _elect(self, action: actions.ElectStep) -> str:
        """Ask for an election; if the finding predicts a refusal and Kafka elects, the finding is absent."""
        try:
            if action.via is None:
                self._cluster.clients.elect(action.partition, action.kind)
            else:
                self._cluster.elect_by(action.via, action.partition, action.kind)
        except RefusedByKafka as refused:
            predicted = action.refused is not None and action.refused in str(refused)
            if not predicted and not (action.if_needed and NOT_NEEDED in refused.kind):
                raise
            return str(refused)
        if action.refused is not None:
            raise NotSeen(f"{action.partition}: the {action.kind} election is not refused")
        return ""

    def _reassign(self, action: actions.ReassignStep) -> None:
        try:
            self._cluster.clients.reassign(action.partition, action.to)
        except RefusedByKafka as refused:
            if action.absent_if is None or action.absent_if not in refused.kind:
                raise
            raise NotSeen(f"{action.partition}: the request is refused: {refused}") from refused

    def _process(self, action: actions.Signal | actions.Start | actions.Exited) -> None:
        broker = CONTROLLER if action.broker is None else action.broker
        match action:
            case actions.Start():
                self._signs.started(broker)
                wait = action.wait and action.broker is not None
                self._cluster.start(broker, wait=wait, seconds=action.seconds)
            case actions.Exited():
                self._cluster.await_exit(broker, action.seconds)
            case actions.Signal(kind="stop"):
                self._cluster.stop(broker, wait=action.wait, seconds=action.seconds)
            case actions.Signal(kind="kill"):
                self._cluster.kill(broker, seconds=action.seconds)
            case actions.Signal(kind="pause"):
                self._cluster.pause(broker)
            case actions.Signal():
                self._cluster.resume(broker)

    def _move(self, action: actions.MoveDirectory) -> None:
        cluster, where = self._cluster, (action.broker, action.partition)
        what = f"{action.partition} on broker {action.broker}"
        exists = lambda: cluster.directory_of(*where) is not None  # noqa: E731
        self._signs.until(exists, action.seconds, f"a log of {what}")
        if cluster.directory_of(*where) != action.directory:
            folder = cluster.directory_path(action.broker, action.directory)
            cluster.clients.move(action.partition, action.broker, str(folder))
            moved = lambda: not action.wait or cluster.directory_of(*where) == action.directory  # noqa: E731
            self._signs.until(moved, action.seconds, f"the move of {what}")

    def _produce(self, action: actions.Produce) -> str:
        first = self._produced.get(action.partition, 0)
        self._produced[action.partition] = first + action.records
        done, error = self._cluster.clients.produce(
            action.partition, first, action.records, action.size, action.acks, action.via
        )
        if not done:
            raise ClusterFault(f"no record was acknowledged: {error}")
        if action.acks != "all":
            return f"{len(done)} of {action.records} written by the leader"
        self._acknowledged.setdefault(action.partition, set()).update(done)
        return f"{len(done)} of {action.records} acknowledged"

    def _send(self, action: actions.Send) -> str:
        number = self._next_number(action.partition)
        self._cluster.clients.send(action.partition, number)
        self._sent.setdefault(action.partition, []).append(number)
        return f"record {number}"

    def _begin(self, action: actions.Begin) -> str:
        number = self._next_number(action.partition)
        self._cluster.clients.begin(action.producer, action.partition, number)
        self._uncommitted[action.producer] = (action.partition, number)
        return f"record {number}"

    def _next_number(self, partition: str) -> int:
        number = self._produced.get(partition, 0)
        self._produced[partition] = number + 1
        return number

    def _answered(self, action: signs.Answered) -> str:
        """Wait for answers; raise `NotSeen` only if a record that should be acknowledged is not."""
        clients, partition = self._cluster.clients, action.partition
        numbers = self._sent.get(partition, [])

        def answered() -> bool:
            answers = {clients.sent(partition, number) for number in numbers}
            return "waiting" not in answers if action.instead is None else answers <= {"acknowledged"}

        what = f"answers for records {ranges(set(numbers))} of {partition}"
        self._signs.awaited(answered, action.seconds, what, action.instead)
        return "; ".join(f"record {number}: {answer}" for number, answer in self._take_answers(partition))

    def _take_answers(self, partition: str) -> list[tuple[int, str]]:
        """Return the answers to records that were sent, and count those that are acknowledged."""
        numbers = self._sent.pop(partition, [])
        answers = [(number, self._cluster.clients.sent(partition, number)) for number in numbers]
        done = {number for number, answer in answers if answer == "acknowledged"}
        if done:
            self._acknowledged.setdefault(partition, set()).update(done)
        return answers

    def _stream(self, action: actions.Stream) -> str:
        clients, partition = self._cluster.clients, action.partition
        first = self._produced.get(partition, 0)
        if action.rate is not None:
            clients.stream(partition, first, action.rate)
            return f"from record {first} on"
        self._produced[partition], done = clients.end_stream(partition)
        self._acknowledged.setdefault(partition, set()).update(done)
        return f"{len(done)} of {self._produced[partition] - first} acknowledged"

    def _watch(self, action: signs.Leaderless) -> str:
        """Watch a partition for a leader, and return its state in words."""
        end, state = time.monotonic() + action.seconds, None
        while time.monotonic() < end:
            try:
                state = self._cluster.clients.describe(action.partition)
            except RefusedByKafka:
                state = None
            if state is not None and state.leader != NO_LEADER:
                self._note(action.partition, state)
                return f"it has a leader: {state}"
            time.sleep(0.5)
        if state is None:
            raise ClusterFault(f"{action.partition} cannot be described")
        self._note(action.partition, state)
        self._unavailable.append(f"{action.partition} had no leader for {action.seconds:.0f} s: {state}")
        return f"no leader: {state}"

    def _try(self, action: signs.Unserved) -> str:
        """Send a record, and return in words whether it was acknowledged in time."""
        clients, partition = self._cluster.clients, action.partition
        text = self._send(actions.Send(partition))
        number, begun = self._sent[partition][-1], time.monotonic()
        while time.monotonic() < begun + action.seconds:
            if clients.sent(partition, number) == "acknowledged":
                return f"{text} is acknowledged after {time.monotonic() - begun:.0f} s"
            time.sleep(0.5)
        state = clients.describe(partition)
        self._note(partition, state)
        self._unavailable.append(f"{partition} acknowledged nothing for {action.seconds:.0f} s: {state}")
        return f"{text} is not acknowledged: {state}"

    def _note(self, partition: str, state: PartitionState) -> None:
        sighting = SeenState(
            step=self._number,
            seconds=round(time.monotonic() - self._begun, 1),
            partition=partition,
            leader=None if state.leader == NO_LEADER else state.leader,
            replicas=state.replicas,
            isr=state.isr,
            elr=state.elr,
            last_known_elr=state.last_known_elr,
        )
        self.result.states.append(sighting)


def ranges(numbers: set[int]) -> str:
    """Return numbers as text, such as 16-299, 400."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
