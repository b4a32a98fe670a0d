"""Three controllers without brokers, and what each of them has stored of the last election."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from elrcheck.kafka.cluster.cluster import NODE_MAIN, NODE_OPTIONS, STORAGE_TOOL, wait_for
from elrcheck.kafka.cluster.guarded import Guarded
from elrcheck.kafka.cluster.node_settings import CLUSTER_ID, HOST, Ports
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import compiled, find_jdk, sources_of

VOTERS = (100, 101, 102)
ELECTION_MS = 10000
"""Long, so that the candidates of a split vote wait for the third vote."""


class ThreeControllers:
    """Voters as processes."""

    def __init__(self, guarded: Guarded, command: Sequence[str], ports: Sequence[int]) -> None:
        self._guarded, self._command, self._ports = guarded, command, ports
        self._started: dict[int, int] = {}

    def format(self, voter: int) -> None:
        """Write the settings and the storage of a voter."""
        addresses = {node: f"{HOST}:{port}" for node, port in zip(VOTERS, self._ports, strict=True)}
        values = {
            "process.roles": "controller",
            "node.id": voter,
            "controller.quorum.voters": ",".join(f"{node}@{address}" for node, address in addresses.items()),
            "controller.listener.names": "CONTROLLER",
            "listeners": f"CONTROLLER://{addresses[voter]}",
            "log.dirs": self._folder(voter),
            "controller.quorum.election.timeout.ms": ELECTION_MS,
        }
        self._settings(voter).write_text("".join(f"{key}={value}\n" for key, value in values.items()))
        name = f"format-{voter}"
        tool = (STORAGE_TOOL, "format", "-t", CLUSTER_ID, "-c", str(self._settings(voter)))
        self._guarded.start(name, [*self._command, *tool])
        self.until(lambda: self._guarded.exit_codes()[name] == 0, "formatting")

    def start(self, voter: int) -> None:
        output = self._guarded.output(str(voter))
        self._started[voter] = output.stat().st_size if output.exists() else 0
        self._guarded.start(str(voter), [*self._command, NODE_MAIN, str(self._settings(voter))])

    def signal(self, number: signal.Signals, *voters: int) -> None:
        for voter in voters:
            self._guarded.signal(str(voter), number)

    def kill(self, *voters: int) -> None:
        self.signal(signal.SIGKILL, *voters)
        self.until(lambda: all(map(self.ended, voters)), f"the end of {voters}")

    def ended(self, voter: int) -> bool:
        return self._guarded.exit_codes()[str(voter)] is not None

    def printed(self, voter: int) -> str:
        """What a voter has printed since its last start."""
        return self._guarded.output(str(voter)).read_bytes()[self._started[voter] :].decode(errors="replace")

    def stored(self, voter: int) -> tuple[int, int, int]:
        """The epoch, the leader and the vote that a voter has stored; -1 for nobody."""
        try:
            state = json.loads((self._folder(voter) / "__cluster_metadata-0" / "quorum-state").read_text())
        except (OSError, ValueError):  # not there yet, or just replaced
            return (-1, -1, -1)
        return (state["leaderEpoch"], state["leaderId"], state["votedId"])

    def leader(self, after: int = 0) -> int | None:
        """The voter that two of them have stored as the leader of one epoch, later than `after`."""
        for voter in VOTERS:
            epoch, leader, _ = self.stored(voter)
            if leader == voter and epoch > after and sum(self.stored(one)[:2] == (epoch, voter) for one in VOTERS) >= 2:
                return voter
        return None

    def until(self, done: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
        wait_for(done, seconds, what, 0.05)

    def split_vote(self, attempts: int = 40) -> tuple[int, tuple[int, int]]:
        """Pause the leader until the other two stand in one epoch; return it, still paused, and those two."""
        for _ in range(attempts):
            self.until(lambda: self.leader() is not None, "a leader")
            time.sleep(1.0)  # it has a committed record of its epoch
            old = self.leader()
            if old is not None:
                one, other = (voter for voter in VOTERS if voter != old)
                if self._stand(old, one, other):
                    return old, (one, other)
                self.signal(signal.SIGCONT, old)
        raise AssertionError(f"no split vote in {attempts} attempts")

    def _stand(self, old: int, one: int, other: int) -> bool:
        """Return whether two stand in one epoch while the leader is paused; often one of them wins at once.

        All are paused for longer than the fetch timeout, so that it ends for both at once.
        """
        before = self.stored(one)[0]
        self.signal(signal.SIGSTOP, old, one, other)
        time.sleep(3.0)
        self.signal(signal.SIGCONT, one, other)
        self.until(lambda: min(self.stored(one)[0], self.stored(other)[0]) > before, "another epoch")
        time.sleep(1.0)
        epoch = self.stored(one)[0]
        return self.stored(one) == (epoch, -1, one) and self.stored(other) == (epoch, -1, other)

    def kill_after_vote(self, voter: int, epoch: int) -> int | None:
        """Resume a voter, and kill it as soon as it has voted; for whom, None if it heard who won, or has not."""
        process, granted, end = self._pid(voter), f"with epoch {epoch} is granted", time.monotonic() + 20.0
        self.signal(signal.SIGCONT, voter)
        while self.stored(voter)[0] <= epoch and granted not in self.printed(voter) and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(0.02)  # the answer is sent; that there is a leader takes the winner some writes to the disk
        os.kill(process, signal.SIGKILL)
        self.until(lambda: self.ended(voter), f"the end of {voter}")
        stored, leader, candidate = self.stored(voter)
        return candidate if (stored, leader) == (epoch, -1) and candidate >= 0 else None

    def _pid(self, voter: int) -> int:
        settings = os.fsencode(self._settings(voter))
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if settings in process.read_bytes().split(b"\0"):
                    return int(process.parent.name)
        raise AssertionError(f"{voter} does not run")

    def _settings(self, voter: int) -> Path:
        return self._guarded.folder / f"{voter}.properties"

    def _folder(self, voter: int) -> Path:
        return self._guarded.folder / f"logs-{voter}"


@contextmanager
def three_controllers(kafka: ClassPath, front: Sequence[Path] = ()) -> Iterator[ThreeControllers]:
    """Start them. front: jars whose classes replace those of the release."""
    jdk = find_jdk()
    program = compiled(sources_of("kafka/java/cluster"), kafka, jdk, os.environ)
    path = os.pathsep.join(map(str, (*front, program, *kafka.jars)))
    logs = ("-Dorg.slf4j.simpleLogger.logFile=System.out", "-Dorg.slf4j.simpleLogger.showDateTime=true")
    with Ports(len(VOTERS)) as ports, Guarded() as guarded:
        voters = ThreeControllers(guarded, (str(jdk.java.path), *NODE_OPTIONS, *logs, "-cp", path), ports.numbers)
        for voter in VOTERS:
            voters.format(voter)
        for voter in VOTERS:
            voters.start(voter)
        yield voters
