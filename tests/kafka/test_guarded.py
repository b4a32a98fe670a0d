"""Processes that are guarded end with the one that started them, paused or not, and leave no file.

Here Python plays Kafka. Ports, the end of a replica's log and properties files are here too.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.cluster.cluster import ClusterFault, cut_log, log_end, wait_for
from elrcheck.kafka.cluster.guarded import Guarded
from elrcheck.kafka.cluster.node_settings import CONTROLLER, ClusterLayout, ClusterShape, Ports
from support.log_writer import batch
from support.processes import ended_in_time

SLEEPER = (sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)")
STUBBORN = (
    sys.executable,
    "-c",
    "import os, signal, time; signal.signal(15, signal.SIG_IGN)\nprint(os.getpid(), flush=True); time.sleep(600)",
)
PARENT = """
import sys, time
from elrcheck.kafka.cluster.guarded import Guarded
guarded = Guarded()
for name in ("a", "b"):
    guarded.start(name, sys.argv[1:])
while not all(guarded.output(name).read_text() for name in ("a", "b")):
    time.sleep(0.05)
guarded.signal("b", 19)
print(guarded.folder, *(guarded.output(name).read_text().strip() for name in ("a", "b")), flush=True)
time.sleep(600)
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def soon(done: object, seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if done():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


def pid_of(guarded: Guarded, name: str) -> int:
    assert soon(lambda: guarded.output(name).exists() and guarded.output(name).read_text().strip())
    return int(guarded.output(name).read_text().split()[-1])


def test_processes_are_told_and_end_with_the_block() -> None:
    with Guarded() as guarded:
        folder = guarded.folder
        guarded.start("a", SLEEPER)
        guarded.start("b", STUBBORN)
        first, stubborn = pid_of(guarded, "a"), pid_of(guarded, "b")
        assert guarded.exit_codes() == {"a": None, "b": None}
        guarded.signal("a", signal.SIGTERM)
        assert soon(lambda: guarded.exit_codes()["a"] == -signal.SIGTERM)
        guarded.signal("a", signal.SIGTERM)  # it has ended
        guarded.start("a", SLEEPER)
        again = pid_of(guarded, "a")
        guarded.start("c", ("/no/such/program",))
        assert guarded.exit_codes()["c"] == 127 and "No such file" in guarded.output("c").read_text()
    assert not folder.exists()
    assert not any(map(alive, (first, again, stubborn)))
    guarded.close()


def test_a_line_reaches_the_input_of_a_process() -> None:
    reader = (sys.executable, "-c", "print('heard ' + input(), flush=True)")
    with Guarded() as guarded:
        guarded.start("a", reader)
        guarded.tell("a", "something")
        assert soon(lambda: guarded.output("a").read_text() == "heard something\n")
        assert soon(lambda: guarded.exit_codes()["a"] == 0)
        guarded.tell("a", "too late")
        guarded.tell("b", "no such process")
        assert guarded.exit_codes() == {"a": 0}


def test_everything_can_be_killed_before_the_files_go() -> None:
    with Guarded() as guarded:
        guarded.start("a", SLEEPER)
        pid = pid_of(guarded, "a")
        guarded.signal("a", signal.SIGSTOP)
        guarded.kill_all()
        assert not alive(pid) and guarded.exit_codes()["a"] == -signal.SIGKILL
        assert guarded.output("a").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_parent_is_killed(number: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", PARENT, *SLEEPER], stdout=subprocess.PIPE, text=True)
    with ended_in_time(process, 60):
        assert process.stdout is not None
        folder, *pids = process.stdout.readline().split()
        assert Path(folder).is_dir() and all(alive(int(pid)) for pid in pids)
        process.send_signal(number)
        process.wait(30)
    assert soon(lambda: not any(alive(int(pid)) for pid in pids))
    assert soon(lambda: not Path(folder).exists())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a node ends with its input")
def test_nothing_runs_on_when_the_warden_is_killed() -> None:
    guarded = Guarded()
    try:
        guarded.start("a", SLEEPER)
        pid = pid_of(guarded, "a")
        os.kill(guarded._process.pid, signal.SIGKILL)
        assert soon(lambda: not alive(pid))
        with pytest.raises(EnvironmentFault) as caught:
            guarded.exit_codes()
        assert caught.value.code == "worker-died"
    finally:
        guarded.close()
    assert not guarded.folder.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_folder_without_owner_is_removed_by_the_next_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "elrcheck-cluster-of-others").mkdir()
    with Guarded() as owned:
        abandoned = Guarded()
        os.kill(abandoned._process.pid, signal.SIGKILL)
        abandoned._process.wait(20)
        assert abandoned.folder.is_dir()
        with Guarded() as other:
            assert not abandoned.folder.exists()
            assert owned.folder.is_dir() and other.folder.is_dir()
        abandoned.close()
        assert owned.folder.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["elrcheck-cluster-of-others"]


def test_ports_are_reserved_for_one_run() -> None:
    with Ports(5) as first, Ports(5) as second:
        assert len({*first.numbers, *second.numbers}) == 10
        for number in first.numbers:
            with socket.socket() as server:
                server.bind(("127.0.0.1", number))
    first.close()


def test_waiting_has_a_limit() -> None:
    with pytest.raises(ClusterFault, match="rain: not within 0 s"):
        wait_for(lambda: False, 0.3, "rain")


def test_where_the_log_of_a_replica_ends(tmp_path: Path) -> None:
    assert log_end(tmp_path) == 0
    whole = batch(0, [b"a", b"b"]) + batch(2, [b"c"])
    (tmp_path / "00000000000000000000.log").write_bytes(whole + batch(3, [b"d"])[:-1])
    assert log_end(tmp_path) == 3
    (tmp_path / "00000000000000000003.log").write_bytes(batch(3, [b"d"]))
    assert log_end(tmp_path) == 4


def test_a_log_is_cut_before_a_record(tmp_path: Path) -> None:
    segment = tmp_path / "00000000000000000003.log"
    (tmp_path / "00000000000000000000.log").write_bytes(batch(0, [b"a", b"b", b"c"]))
    segment.write_bytes(batch(3, [b"d"]) + batch(4, [b"e", b"f"]) + batch(6, [b"g"]))
    assert not cut_log(tmp_path, 7) and log_end(tmp_path) == 7
    assert cut_log(tmp_path, 5) and log_end(tmp_path) == 4
    assert not cut_log(tmp_path, 5) and segment.read_bytes() == batch(3, [b"d"])


def test_settings_of_nodes(tmp_path: Path) -> None:
    shape = ClusterShape(2, 2, {}, {"broker.session.timeout.ms": "9000"}, {"replica.fetch.max.bytes": "2000"})
    layout = ClusterLayout(tmp_path, shape, (7000, 7001, 7002))
    for node in (CONTROLLER, 0, 1):
        layout.write(node)
    controller = layout.properties_file(CONTROLLER).read_text()
    assert "broker.session.timeout.ms=9000\n" in controller and "logs-100-1" not in controller
    broker = layout.properties_file(1).read_text()
    assert "listeners=PLAINTEXT://127.0.0.1:7002\n" in broker and "replica.fetch.max.bytes=2000\n" in broker
    assert f"log.dirs={layout.log_dir(1, 0)},{layout.log_dir(1, 1)}\n" in broker
    layout.write(1, [1])
    assert f"log.dirs={layout.log_dir(1, 1)}\n" in layout.properties_file(1).read_text()
    layout.format_log_dir(0, 0)
    layout.format_log_dir(0, 1)
    texts = [(layout.log_dir(0, number) / "meta.properties").read_text() for number in (0, 1)]
    assert "node.id=0\n" in texts[0] and texts[0] != texts[1]


def test_a_logger_that_says_more(tmp_path: Path) -> None:
    layout = ClusterLayout(tmp_path, ClusterShape(1, debug=("kafka.cluster.Partition",)), (7000, 7001))
    assert "-Dorg.slf4j.simpleLogger.log.kafka.cluster.Partition=debug" in layout.write_logger()
    newer = (tmp_path / "log4j2.properties").read_text().splitlines()
    assert newer[-2:] == ["logger.0.name = kafka.cluster.Partition", "logger.0.level = debug"]
    older = (tmp_path / "log4j.properties").read_text().splitlines()
    assert older[-1] == "log4j.logger.kafka.cluster.Partition=DEBUG"
