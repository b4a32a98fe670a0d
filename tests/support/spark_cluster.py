"""A real Spark standalone cluster on loopback: a master and workers, each a process of its own.

They are started with the launcher inside pyspark.  Each stands behind a guard that ends it and what it
started as soon as the guard's stdin ends, so nothing is left even if the test process is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from elrcheck.kafka.doctor import cache_directory
from elrcheck.spark.driver_java import find_java
from support.processes import ended_in_time

START_SECONDS = 120.0
CORES, MEMORY = 1, "1g"
T = TypeVar("T")

GUARD = """
import os, signal, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
for number in (signal.SIGINT, signal.SIGTERM):  # meant for the tests, whose end closes stdin
    signal.signal(number, signal.SIG_IGN)
print(child.pid, flush=True)
sys.stdin.read()
os.killpg(child.pid, signal.SIGKILL)
child.wait()
"""


@dataclass
class Daemon:
    """A master or worker.  `pid` leads a process group in which its executors are, too."""

    name: str
    guard: subprocess.Popen[str]
    pid: int
    log: Path

    def kill(self) -> None:
        """At once, with its executors; as when a machine is lost."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def end(self) -> None:
        if self.guard.stdin is not None:
            self.guard.stdin.close()
        try:
            self.guard.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            self.guard.kill()
            self.guard.wait(10)

    def logged(self, pattern: str) -> str | None:
        """The first group of the first place in its log that matches."""
        result = re.search(pattern, self.log.read_text(errors="replace"))
        return result[1] if result else None


@dataclass
class Cluster:
    """`url` is for --master; `folder` holds logs and work folders; `hosts` are for workers, in turn."""

    folder: Path
    hosts: tuple[str, ...] = ("127.0.0.1",)
    memory: str = MEMORY
    master: Daemon = field(init=False)
    workers: list[Daemon] = field(default_factory=list)
    url: str = ""
    _page: str = ""

    def start(self, workers: int) -> None:
        """Returns when all workers are registered."""
        self.master = self._daemon("master", "master.Master", "--port", "0")
        self.url = until(lambda: self.master.logged(r"(spark://127\.0\.0\.1:\d+)"), self._logs)
        self._page = until(lambda: self.master.logged(r"started at (http://\S+:\d+)"), self._logs)
        for _ in range(workers):
            self.add_worker()
        self.wait_for(workers)

    def add_worker(self) -> Daemon:
        name = f"worker-{len(self.workers)}"
        sizes = ("--cores", str(CORES), "--memory", self.memory, "--work-dir", str(self.folder / name))
        host = self.hosts[len(self.workers) % len(self.hosts)]
        worker = self._daemon(name, "worker.Worker", *sizes, "--port", "0", self.url, host=host)
        self.workers.append(worker)
        return worker

    def wait_for(self, workers: int) -> None:
        """Until exactly so many workers are alive, as the master sees it."""
        until(lambda: self.alive() == workers, self._logs)

    def alive(self) -> int:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self._page}/json/", timeout=5) as page:
            return sum(worker["state"] == "ALIVE" for worker in json.load(page)["workers"])
        return -1

    def kill_worker(self, which: int) -> None:
        self.workers[which].kill()

    def executors(self, which: int) -> list[int]:
        """Process ids of the executors of a worker."""
        return [pid for pid in descendants(self.workers[which].pid) if "ExecutorBackend" in command_of(pid)]

    def python_workers(self, which: int) -> list[int]:
        """Process ids of the Python processes that run tasks of a worker; not the one that forks them."""
        pids = [pid for pid in descendants(self.workers[which].pid) if "pyspark.daemon" in command_of(pid)]
        return [pid for pid in pids if parent_of(pid) in pids]

    def stop(self) -> None:
        for daemon in (*self.workers, self.master):
            daemon.end()

    def _daemon(self, name: str, java_class: str, *arguments: str, host: str = "127.0.0.1") -> Daemon:
        home = Path(str(find_spec("pyspark").origin)).parent  # type: ignore[union-attr]
        conf = self.folder / "conf"
        conf.mkdir(exist_ok=True)
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
        java = find_java(os.environ, cache_directory(os.environ))
        env = {
            **inherited,
            **({} if java.home is None else {"JAVA_HOME": str(java.home)}),
            "SPARK_HOME": str(home),
            "SPARK_CONF_DIR": str(conf),
            "SPARK_LOCAL_IP": host,
            "SPARK_LOCAL_DIRS": str(self.folder),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",  # else one more port, a fixed one
        }
        log = self.folder / f"{name}.log"
        launcher = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{java_class}"]
        command = [*launcher, "--host", host, "--webui-port", "0", *arguments]
        with log.open("wb") as sink:
            guard = subprocess.Popen(
                [sys.executable, "-c", GUARD, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                env=env,
                text=True,
            )
        with ended_in_time(guard, START_SECONDS):
            assert guard.stdout is not None
            return Daemon(name, guard, int(guard.stdout.readline()), log)

    def _logs(self) -> str:
        return "\n".join(f"{log.name}:\n{log.read_text(errors='replace')}" for log in self.folder.glob("*.log"))


@contextlib.contextmanager
def standalone_cluster(
    folder: Path, workers: int = 2, hosts: tuple[str, ...] = ("127.0.0.1",), memory: str = MEMORY
) -> Iterator[Cluster]:
    """Starts it and always stops it."""
    cluster = Cluster(folder, hosts, memory)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        if hasattr(cluster, "master"):
            cluster.stop()


def until(condition: Callable[[], T | None], otherwise: Callable[[], str], seconds: float = START_SECONDS) -> T:
    """Waits until the condition gives something; AssertionError with `otherwise` if it never does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.1)
    raise AssertionError(f"nothing within {seconds:.0f} s\n{otherwise()}")


def descendants(pid: int) -> list[int]:
    """Process ids of children, their children and so on."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            children.setdefault(parent_of(int(entry.name)), []).append(int(entry.name))
    processes, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        processes += below
        waiting += below
    return processes


def parent_of(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:  # it has gone
        return -1
    return int(stat.rpartition(")")[2].split()[1])


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
