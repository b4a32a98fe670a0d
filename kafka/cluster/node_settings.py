"""The properties files of a small KRaft cluster on the loopback interface: one controller, and brokers.

Sizes and times are small: a session of six seconds instead of nine, and a broker that deletes a replica does
so after a second. Nothing here changes what Kafka decides.

An archive of the classes that a node loads (Java's class data sharing) starts nodes in half the time. A broker writes
it at the end of the first run of a release, and later nodes map it. The store keeps it by jars and JDK. It is optional,
so a fault of it never ends a run.

A server that restarts needs the port it had, so the ports are outside the range from which the system takes
ports for outgoing connections: a client that connects again and again would get one sooner or later. While a
`Ports` is open, other processes that look for ports here skip them: it holds the UDP ports of the same numbers.
"""

from __future__ import annotations

import base64
import contextlib
import os
import random
import socket
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.store import FileStore
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import Jdk

# A JVM without class data sharing does not know them. Its messages about classes left out are noise.
TOLERANT = ("-XX:+IgnoreUnrecognizedVMOptions", "-Xlog:disable", "-Xlog:all=error:stderr")
RECORDING = "-XX:+RecordDynamicDumpInfo"
DRAFT = "classes.jsa"
WRITTEN = "elrcheck: classes written"
"""The line that `GuardedNode` prints when it has written an archive."""
ARCHIVE_PATIENCE = 60.0
MOST_ARCHIVES = 12  #: each release needs its own, and so does another JDK or another elrcheck


class ClassArchive:
    """The archive of a class path, all of it jars, and a JDK. file: its place in the store, None if it is not there."""

    def __init__(self, key: str, environ: Mapping[str, str]) -> None:
        self.key, self._files = key, FileStore("archives", ".jsa", environ)
        self.file = self._files.get(key)

    @classmethod
    def of(cls, class_path: ClassPath, jdk: Jdk, environ: Mapping[str, str]) -> ClassArchive:
        java = {"path": str(jdk.java.path), "version": jdk.java.version}
        return cls(digests.key(release=class_path.version, jars=class_path.digest(), java=java), environ)

    def options(self) -> tuple[str, ...]:
        """Return the Java options of a node: to map the archive, or to be able to write it."""
        return (*TOLERANT, RECORDING if self.file is None else f"-XX:SharedArchiveFile={self.file}")

    def keep(self, draft: Path) -> None:
        """Store an archive that a node has written; if that fails, later runs only take longer."""
        with contextlib.suppress(OSError):
            self.file = self._files.put(self.key, draft.read_bytes())
            draft.unlink()
            self._files.prune(MOST_ARCHIVES)


# ---------------------------------------------------------------------------- ports

HOST = "127.0.0.1"
LOWEST = 15_000
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
USUAL = 32_768  # where that range begins on Linux; on others at 49,152
ATTEMPTS = 2_000


class Ports(AbstractContextManager["Ports"]):
    """Free TCP ports of the loopback interface, `count` of them, reserved until the block ends."""

    def __init__(self, count: int) -> None:
        self._held: list[socket.socket] = []
        self.numbers: tuple[int, ...] = ()
        try:
            self.numbers = tuple(self._reserve(count))
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        while self._held:
            self._held.pop().close()

    def _reserve(self, count: int) -> list[int]:
        end = _first_ephemeral()
        generator = random.SystemRandom()
        numbers: list[int] = []
        for _ in range(ATTEMPTS):
            if len(numbers) == count:
                return numbers
            number = generator.randrange(LOWEST, end) if end > LOWEST + 1000 else 0
            reserved = _bound(socket.SOCK_DGRAM, number)
            if reserved is None:
                continue
            self._held.append(reserved)
            number = reserved.getsockname()[1]
            free = _bound(socket.SOCK_STREAM, number)
            if free is not None:
                free.close()
                numbers.append(number)
        raise EnvironmentFault("system", f"no {count} free ports on {HOST}")


def _bound(kind: socket.SocketKind, number: int) -> socket.socket | None:
    bound = socket.socket(socket.AF_INET, kind)
    try:
        bound.bind((HOST, number))
    except OSError:
        bound.close()
        return None
    return bound


def _first_ephemeral() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(EPHEMERAL.read_text(encoding="ascii").split()[0])
    return USUAL


# ---------------------------------------------------------------------------- properties

CONTROLLER = 100
"""The node id of the controller; brokers are 0, 1, ..."""
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"
SESSION_MS = 6000


@dataclass(frozen=True)
class ClusterShape:
    """The nodes of a cluster, and their settings.

    controller, broker: further properties; log_dirs: number per broker; debug: loggers at debug level.
    """

    brokers: int = 3
    log_dirs: int = 1
    features: Mapping[str, int] = field(default_factory=dict)
    controller: Mapping[str, str] = field(default_factory=dict)
    broker: Mapping[str, str] = field(default_factory=dict)
    debug: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClusterLayout:
    """The files and the ports of the nodes of a cluster; the first port is the controller's."""

    folder: Path
    shape: ClusterShape
    ports: Sequence[int]

    @property
    def controller_address(self) -> str:
        return f"{HOST}:{self.ports[0]}"

    @property
    def broker_addresses(self) -> str:
        return ",".join(f"{HOST}:{port}" for port in self.ports[1:])

    def properties_file(self, node: int) -> Path:
        return self.folder / f"{node}.properties"

    def log_dir(self, node: int, number: int = 0) -> Path:
        """Return a log directory of a node; brokers may have several, the controller has number 0."""
        return self.folder / f"logs-{node}-{number}"

    def write(self, node: int, log_dirs: Sequence[int] | None = None) -> None:
        """Write the properties file of a node; log_dirs: those that a broker has now, by default all."""
        numbers = range(self.shape.log_dirs if node != CONTROLLER else 1) if log_dirs is None else log_dirs
        values = self._controller() if node == CONTROLLER else self._broker(node)
        values["log.dirs"] = ",".join(str(self.log_dir(node, number)) for number in numbers)
        text = "".join(f"{key}={value}\n" for key, value in values.items())
        self.properties_file(node).write_text(text, encoding="utf-8")

    def format_log_dir(self, node: int, number: int) -> None:
        """Make a log directory as `kafka-storage format` leaves it for a broker."""
        folder = self.log_dir(node, number)
        folder.mkdir()
        identity = base64.urlsafe_b64encode(os.urandom(16)).decode("ascii").rstrip("=").replace("-", "A")
        lines = ("version=1", f"node.id={node}", f"cluster.id={CLUSTER_ID}", f"directory.id={identity}")
        (folder / "meta.properties").write_text("\n".join(lines) + "\n", encoding="ascii")

    def write_logger(self) -> tuple[str, ...]:
        """Write settings for the loggers of Kafka distributions, and return Java options that name them."""
        newer, older = self.folder / "log4j2.properties", self.folder / "log4j.properties"
        debug = self.shape.debug
        of_newer = "".join(f"logger.{i}.name = {name}\nlogger.{i}.level = debug\n" for i, name in enumerate(debug))
        of_older = "".join(f"log4j.logger.{name}=DEBUG\n" for name in debug)
        for place, more in ((newer, of_newer), (older, of_older)):
            usual = (files("elrcheck.kafka.cluster") / place.name).read_text("ascii")
            place.write_text(usual + more, encoding="ascii")
        return (
            f"-Dlog4j2.configurationFile={newer}",
            f"-Dlog4j.configuration={older.as_uri()}",
            "-Dorg.slf4j.simpleLogger.logFile=System.out",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
            "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
            "-Dorg.slf4j.simpleLogger.showThreadName=false",
            *(f"-Dorg.slf4j.simpleLogger.log.{name}=debug" for name in debug),
        )

    def _shared(self, node: int, role: str) -> dict[str, str]:
        return {
            "process.roles": role,
            "node.id": str(node),
            "controller.quorum.voters": f"{CONTROLLER}@{self.controller_address}",
            "controller.listener.names": "CONTROLLER",
            "broker.session.timeout.ms": str(SESSION_MS),
            "offsets.topic.replication.factor": "1",
        }

    def _controller(self) -> dict[str, str]:
        return {
            **self._shared(CONTROLLER, "controller"),
            "listeners": f"CONTROLLER://{self.controller_address}",
            "auto.leader.rebalance.enable": "false",
            **self.shape.controller,
        }

    def _broker(self, node: int) -> dict[str, str]:
        address = f"PLAINTEXT://{HOST}:{self.ports[1 + node]}"
        return {
            **self._shared(node, "broker"),
            "listeners": address,
            "advertised.listeners": address,
            "auto.create.topics.enable": "false",
            "broker.heartbeat.interval.ms": "1000",
            "initial.broker.registration.timeout.ms": "900000",
            "replica.lag.time.max.ms": "6000",
            "file.delete.delay.ms": "1000",
            "num.network.threads": "1",
            "num.io.threads": "2",
            "num.recovery.threads.per.data.dir": "1",
            "log.cleaner.dedupe.buffer.size": "2000000",
            **self.shape.broker,
        }
