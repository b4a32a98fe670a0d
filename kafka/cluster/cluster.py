"""A KRaft cluster for the length of a block, with processes that can be stopped, killed and paused.

    with start_cluster(class_path, shape) as cluster:
        cluster.clients.create(..)
        cluster.stop(2)

Leaving the block leaves no process and no file (`guarded.py`), however it is left.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from elrcheck.kafka.cluster.cluster_clients import ClusterClients, RefusedByKafka, elect_by_request
from elrcheck.kafka.cluster.guarded import Guarded
from elrcheck.kafka.cluster.node_settings import (
    ARCHIVE_PATIENCE,
    CLUSTER_ID,
    CONTROLLER,
    DRAFT,
    WRITTEN,
    ClassArchive,
    ClusterLayout,
    ClusterShape,
    Ports,
)
from elrcheck.kafka.jars import ClassPath
from elrcheck.kafka.java_program import SERVED, Jdk, LineProcess, compiled, find_jdk, sources_of
from elrcheck.kafka.log.batches import BatchHeader, head_of


def log_end(folder: Path) -> int:
    """Return the offset after the last whole batch in a replica's folder; 0 without a batch.

    A broker may be writing, so an incomplete batch at the end does not count.
    """
    end = 0
    for segment in sorted(folder.glob("*.log")):
        for _, head in _batches(segment):
            end = head.next_offset
    return end


def cut_log(folder: Path, first: int) -> bool:
    """Cut the last segment before the batch that has an offset; return whether there is one.

    The broker must not run, and must not have stopped cleanly: its recovery then rebuilds the indexes.
    """
    segment = max(folder.glob("*.log"))
    for at, head in _batches(segment):
        if head.base_offset <= first < head.next_offset:
            os.truncate(segment, at)
            return True
    return False


def _batches(segment: Path) -> Iterator[tuple[int, BatchHeader]]:
    """Yield the position and the header of each whole batch."""
    try:
        data = segment.read_bytes()
    except OSError:  # deleted meanwhile
        return
    at = 0
    while (head := head_of(data, at)) is not None and head.is_possible() and at + head.size <= len(data):
        yield at, head
        at += head.size


NODE_MAIN = "org.elrcheck.cluster.GuardedNode"
CLIENT_MAIN = "org.elrcheck.cluster.ClientMain"
STORAGE_TOOL = "kafka.tools.StorageTool"
NODE_OPTIONS = ("-Xmx256m", "-Xms64m", *SERVED)
START = 240.0
"""Seconds for nodes to start, by default; a busy machine takes one minute for four."""
STOP = 120.0
INTERVAL = 0.2
FIRST_INTERVAL = 0.02
CLEAN_STOP_FILE = ".kafka_cleanshutdown"
OUTPUT_LINES = 8


class ClusterFault(Exception):
    """The cluster misbehaves or is too slow. excerpt: the last output of a process."""

    def __init__(self, message: str, excerpt: str = "") -> None:
        super().__init__(message)
        self.excerpt = excerpt


class NotInTime(ClusterFault):
    """A condition did not hold in time; there is no other sign of a fault."""


def wait_for(done: Callable[[], bool], seconds: float, what: str, most: float = INTERVAL) -> None:
    """Poll until `done()` returns true; errors of Kafka count as "not yet".

    most: seconds between two attempts.
    """
    end, error, interval = time.monotonic() + seconds, "", FIRST_INTERVAL
    while True:
        try:
            if done():
                return
            error = ""
        except RefusedByKafka as refused:
            error = f" ({refused})"
        if time.monotonic() >= end:
            raise NotInTime(f"{what}: not within {seconds:.0f} s{error}")
        time.sleep(interval)
        interval = min(1.5 * interval, most)


class KafkaCluster:
    """One controller and brokers. Use `start_cluster`, which ends them."""

    def __init__(self, layout: ClusterLayout, guarded: Guarded, command: tuple[str, ...], patience: float) -> None:
        self.layout = layout
        self._guarded, self._command, self._patience = guarded, command, patience
        self._clients: ClusterClients | None = None

    @property
    def clients(self) -> ClusterClients:
        assert self._clients is not None, "the cluster has started"
        return self._clients

    # -- the whole cluster

    def format_controller(self, storage_tool: tuple[str, ...]) -> None:
        """Give the controller its first records: the features, which brokers then follow."""
        features = [
            word for name, level in self.layout.shape.features.items() for word in ("--feature", f"{name}={level}")
        ]
        file = str(self.layout.properties_file(CONTROLLER))
        self._guarded.start("format", [*storage_tool, "format", "-t", CLUSTER_ID, "-c", file, *features])
        wait_for(lambda: self._code("format") is not None, START * self._patience, "formatting")
        if self._code("format") != 0:
            raise ClusterFault("the storage of the controller could not be formatted", self._last("format"))

    def start_all(self, open_clients: Callable[[], ClusterClients]) -> None:
        brokers = range(self.layout.shape.brokers)
        for node in (CONTROLLER, *brokers):
            self._start_process(node)
        self._clients = open_clients()
        self._await_unfenced(brokers, START)

    def keep(self, folder: Path) -> None:
        """Kill all processes, and copy settings, output and metadata log to a folder."""
        self._guarded.kill_all()
        folder.mkdir(parents=True, exist_ok=True)
        for pattern in ("*.properties", "*.txt"):
            for file in self.layout.folder.glob(pattern):
                shutil.copy(file, folder)
        log = self.layout.log_dir(CONTROLLER) / "__cluster_metadata-0"
        if log.is_dir():
            shutil.copytree(log, folder / log.name, dirs_exist_ok=True)

    def write_classes(self, archive: ClassArchive) -> None:
        """Have a broker write an archive of its loaded classes, for the nodes of later runs."""
        running = [name for name, code in self._guarded.exit_codes().items() if code is None]
        name = next((name for name in running if name != str(CONTROLLER)), None)
        if name is None:
            return
        self.resume(int(name))
        draft, start = self.layout.folder / DRAFT, self.output_size(int(name))
        self._guarded.tell(name, str(draft))
        with contextlib.suppress(ClusterFault):
            wait_for(
                lambda: self.has_printed(int(name), WRITTEN, start), ARCHIVE_PATIENCE * self._patience, "the classes"
            )
            archive.keep(draft)

    # -- one broker

    def start(self, broker: int, *, wait: bool = True, seconds: float = START) -> None:
        self._start_process(broker)
        if wait:
            self._await_unfenced((broker,), seconds)

    def stop(self, broker: int, *, wait: bool = True, seconds: float = STOP) -> None:
        """Stop in order: the broker hands over its leaderships (SIGTERM)."""
        self._guarded.signal(str(broker), signal.SIGTERM)
        if wait:
            self.await_exit(broker, seconds)

    def kill(self, broker: int, *, seconds: float = STOP) -> None:
        self._guarded.signal(str(broker), signal.SIGKILL)
        self.await_exit(broker, seconds)

    def await_exit(self, broker: int, seconds: float = STOP) -> None:
        wait_for(lambda: self._code(str(broker)) is not None, seconds * self._patience, f"the exit of broker {broker}")

    def pause(self, node: int) -> None:
        self._guarded.signal(str(node), signal.SIGSTOP)

    def resume(self, node: int) -> None:
        self._guarded.signal(str(node), signal.SIGCONT)

    @property
    def broker_count(self) -> int:
        return self.layout.shape.brokers

    def directory_path(self, broker: int, number: int) -> Path:
        return self.layout.log_dir(broker, number)

    def elect_by(self, broker: int, partition: str, kind: str) -> None:
        """Have one broker ask the controller for an election."""
        topic, _, number = partition.rpartition("-")
        elect_by_request(self.layout.ports[1 + broker], topic, int(number), kind)

    def has_printed(self, node: int, pattern: str, start: int = 0) -> bool:
        """Return whether a node has printed a line that matches, from this byte of its output on."""
        return re.search(pattern, self._output(str(node), start)) is not None

    def output_size(self, node: int) -> int:
        try:
            return self._guarded.output(str(node)).stat().st_size
        except OSError:
            return 0

    # -- log directories

    def replica_folder(self, broker: int, partition: str) -> Path | None:
        """Return the folder of a broker's replica; None if it does not exist."""
        for number in range(self.layout.shape.log_dirs):
            folder = self.layout.log_dir(broker, number) / partition
            if folder.is_dir():
                return folder
        return None

    def directory_of(self, broker: int, partition: str) -> int | None:
        """Return the number of the log directory with a replica; None if the broker has no such replica."""
        folder = self.replica_folder(broker, partition)
        return None if folder is None else int(folder.parent.name.rpartition("-")[2])

    def log_end(self, broker: int, partition: str) -> int:
        """Return the offset at which the log of a replica ends on disk; 0 without a replica."""
        folder = self.replica_folder(broker, partition)
        return 0 if folder is None else log_end(folder)

    def lose_directory(self, broker: int, number: int) -> None:
        folder = self.layout.log_dir(broker, number)
        os.rename(folder, self.layout.folder / f"lost-{broker}-{number}")

    def replace_directory(self, broker: int, number: int) -> None:
        """Put an empty, formatted directory in the place of a lost one."""
        self.layout.format_log_dir(broker, number)

    def drop_directory(self, broker: int, number: int) -> None:
        """Take a directory out of `log.dirs`; the broker reads that when it starts."""
        left = [other for other in range(self.layout.shape.log_dirs) if other != number]
        self.layout.write(broker, left)

    def delete_clean_stop_files(self, broker: int) -> None:
        for number in range(self.layout.shape.log_dirs):
            (self.layout.log_dir(broker, number) / CLEAN_STOP_FILE).unlink(missing_ok=True)

    def lose_log(self, broker: int, partition: str, first: int | None = None) -> None:
        """Cut a replica's log at the batch that has this offset; None deletes its files. No other log changes."""
        folder = self.replica_folder(broker, partition)
        if folder is None:
            raise ClusterFault(f"broker {broker} has no log of {partition} to lose")
        if first is None:
            shutil.rmtree(folder)
        elif not cut_log(folder, first):
            raise ClusterFault(f"the log of {partition} on broker {broker} has no offset {first}")

    # -- inside

    def _start_process(self, node: int) -> None:
        """Start a node, unless it runs."""
        if self._guarded.exit_codes().get(str(node), 0) is None:
            return
        self._guarded.start(str(node), [*self._command, NODE_MAIN, str(self.layout.properties_file(node))])

    def _await_unfenced(self, brokers: Iterable[int], seconds: float) -> None:
        expected = frozenset(brokers)

        def unfenced() -> bool:
            codes = self._guarded.exit_codes()
            for node in (CONTROLLER, *expected):
                if codes.get(str(node)) is not None:
                    raise ClusterFault(f"node {node} ended with {codes[str(node)]}", self._last(str(node)))
            return expected <= self.clients.brokers()

        wait_for(unfenced, seconds * self._patience, f"the start of brokers {sorted(expected)}")

    def _code(self, name: str) -> int | None:
        return self._guarded.exit_codes().get(name)

    def _output(self, name: str, start: int = 0) -> str:
        try:
            with self._guarded.output(name).open("rb") as file:
                file.seek(start)
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def _last(self, name: str) -> str:
        return "\n".join(self._output(name).splitlines()[-OUTPUT_LINES:])


@contextmanager
def start_cluster(
    class_path: ClassPath, shape: ClusterShape, patience: float = 1.0, keep: Path | None = None
) -> Iterator[KafkaCluster]:
    """Start a cluster. patience: a factor for all time limits; keep: a folder for its logs."""
    jdk = find_jdk()
    program = compiled(sources_of("kafka/java/cluster"), class_path, jdk)
    class_path = replace(class_path, jars=(program, *class_path.jars))
    archive = ClassArchive.of(class_path, jdk, os.environ)
    with ExitStack() as stack:
        ports = stack.enter_context(Ports(1 + shape.brokers))
        guarded = stack.enter_context(Guarded())
        layout = ClusterLayout(guarded.folder, shape, ports.numbers)
        options = (*NODE_OPTIONS, *archive.options(), *layout.write_logger())
        java = (str(jdk.java.path), *options, "-cp", str(class_path))
        cluster = KafkaCluster(layout, guarded, java, patience)
        for node in (CONTROLLER, *range(shape.brokers)):
            layout.write(node)
        for broker in range(shape.brokers):
            for number in range(shape.log_dirs):
                layout.format_log_dir(broker, number)

        def open_clients() -> ClusterClients:
            process = stack.enter_context(_client_process(jdk, class_path, layout))
            return ClusterClients(process, START * patience)

        if keep is not None:
            stack.callback(cluster.keep, keep)
        cluster.format_controller((*java, STORAGE_TOOL))
        cluster.start_all(open_clients)
        yield cluster
        if archive.file is None:
            cluster.write_classes(archive)


def _client_process(jdk: Jdk, class_path: ClassPath, layout: ClusterLayout) -> LineProcess:
    addresses = layout.broker_addresses, layout.controller_address
    return LineProcess.start(jdk, CLIENT_MAIN, class_path.jars, *addresses)
