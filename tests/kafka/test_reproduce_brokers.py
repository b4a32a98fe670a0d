"""Findings on real brokers: acknowledged records are lost, and not in the control. Minutes each.

And two runs at once, one of them of a distribution; and runs that are killed at any moment.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from elrcheck.base.kafka_requests import AuditRequest, ReproduceRequest
from elrcheck.base.progress import Silent
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.jars import Jars, from_maven
from elrcheck.kafka.reproduce.reproduce import run_reproduce
from support.kafka_jars import ONE, jars_or_skip
from support.processes import ended_in_time

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


@pytest.fixture(autouse=True)
def jars() -> None:
    jars_or_skip(ONE, Jars.CLUSTER)


def test_acknowledged_records_are_lost_and_not_in_the_control(tmp_path: Path) -> None:
    before = set(Path(tempfile.gettempdir()).glob("elrcheck-cluster-*"))
    report = run_reproduce(ReproduceRequest("F-20", kafka=ONE, keep=tmp_path / "kept"), Silent())
    assert (report.outcome, report.acknowledged, report.message) == ("lost", 600, "")
    assert report.left is not None and report.left < 100
    assert report.control is not None
    assert (report.control.outcome, report.control.left) == ("not-reproduced", 600)
    assert set(Path(tempfile.gettempdir()).glob("elrcheck-cluster-*")) == before
    flags = run_audit(AuditRequest((tmp_path / "kept" / "run" / "__cluster_metadata-0",)), Silent()).flags
    assert [flag.rule for flag in flags] == ["elr-outside-replicas", "ghost-elected"]
    control = run_audit(AuditRequest((tmp_path / "kept" / "control" / "__cluster_metadata-0",)), Silent())
    assert control.flags == ()


def test_a_deleted_topic_is_flagged_before_the_broker_is_refused(tmp_path: Path) -> None:
    request = ReproduceRequest("F-64", kafka=ONE, keep=tmp_path / "kept", patience=3.0)
    report = run_reproduce(request, Silent())
    assert report.outcome == "unavailable" and report.left == report.acknowledged == 100
    assert report.control is not None
    assert (report.control.outcome, report.control.left) == ("not-reproduced", 100)
    flags = run_audit(AuditRequest((tmp_path / "kept" / "run" / "__cluster_metadata-0",)), Silent()).flags
    (flag,) = [flag for flag in flags if flag.hazard == "F-64"]
    assert (flag.topic, flag.rule) == ("orders", "deleted-after-clearing")
    control = run_audit(AuditRequest((tmp_path / "kept" / "control" / "__cluster_metadata-0",)), Silent())
    assert control.flags == ()


MARK = "ELRCHECK_TEST_MARK"
LONG = 600.0


@contextlib.contextmanager
def reproducing(scratch: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A run as a command with a folder for its files, and a mark in the environment of all its processes."""
    mark = secrets.token_hex(8)
    command = [sys.executable, "-m", "elrcheck", "reproduce", *words, "--patience", "3", "-f", "json"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, MARK: mark, "TMPDIR": str(scratch)},
    )
    with ended_in_time(process, LONG), process:
        yield process, mark


def marked(mark: str) -> list[int]:
    """The processes that run with this mark."""
    entry, processes = f"{MARK}={mark}".encode(), []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError):
                state = (place / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and entry in (place / "environ").read_bytes().split(b"\0"):
                    processes.append(int(place.name))
    return processes


def told_to(pid: int, program: str) -> bool:
    """Whether a process runs this program."""
    with contextlib.suppress(OSError):
        return program.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def ports_of(scratch: Path) -> set[int]:
    """The ports in the settings of the nodes."""
    texts = []
    for file in scratch.glob("elrcheck-cluster-*/*.properties"):
        with contextlib.suppress(OSError):
            texts.append(file.read_text(encoding="utf-8"))
    return {int(number) for text in texts for number in re.findall(r"127\.0\.0\.1:(\d+)", text)}


def free(port: int) -> bool:
    """Whether a port is reserved by no one and has no listener."""
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        with socket.socket(socket.AF_INET, kind) as bound:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                bound.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True


def soon(done: object, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not done():  # type: ignore[operator]
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("victim", "part"),
    [("interrupted", 0.15), ("terminated", 0.0), ("killed", 0.15), ("killed", 0.5), ("warden killed", 0.5)],
)
def test_nothing_is_left_of_a_run_that_is_killed(victim: str, part: float, tmp_path: Path) -> None:
    """part: of a run of about forty seconds, after which it is killed, and some more or less by chance."""
    with reproducing(tmp_path, "F-20/stuck", "--kafka", ONE, "--no-control") as (process, mark):
        moment = random.SystemRandom().uniform(0.5, 6.0) + 40 * part
        soon(lambda: process.poll() is not None, moment)
        if victim == "warden killed":
            soon(lambda: any(told_to(pid, "warden.py") for pid in marked(mark)) or process.poll() is not None)
        ports = ports_of(tmp_path)
        running = process.poll() is None
        if victim == "warden killed":
            for pid in marked(mark):
                if told_to(pid, "warden.py"):
                    os.kill(pid, signal.SIGKILL)
        else:
            number = {"interrupted": signal.SIGINT, "terminated": signal.SIGTERM, "killed": signal.SIGKILL}
            process.send_signal(number[victim])
        out, err = process.communicate(timeout=120)
        if running:
            # -15: by the signal's own action, before the command has taken it over
            expected = {"interrupted": (130, -2), "terminated": (130, -15), "killed": (-9,)}
            if process.returncode in (0, 1):  # it had its result before the signal took effect
                assert json.loads(out)["outcome"] == "unavailable", (moment, out[-2000:], err[-2000:])
            else:
                codes = expected.get(victim, (4,))
                assert process.returncode in codes, (moment, process.returncode, out[-2000:], err[-2000:])
        assert soon(lambda: marked(mark) == []), (moment, marked(mark))
        assert soon(lambda: list(tmp_path.iterdir()) == []), (moment, list(tmp_path.iterdir()))
        assert soon(lambda: all(map(free, ports))), (moment, [port for port in ports if not free(port)])


def test_two_runs_beside_each_other_one_of_a_distribution(tmp_path: Path) -> None:
    libs = tmp_path / f"kafka_2.13-{ONE}" / "libs"
    libs.mkdir(parents=True)
    for jar in from_maven(ONE, Jars.CLUSTER).jars:
        (libs / jar.name).symlink_to(jar)
    with (
        reproducing(tmp_path, "F-20/stuck", "--kafka", ONE, "--no-control") as (first, _),
        reproducing(tmp_path, "F-26", "--kafka-home", str(libs.parent), "--no-control") as (second, _),
    ):
        reports = [json.loads(process.communicate(timeout=LONG)[0]) for process in (first, second)]
    assert [report["outcome"] for report in reports] == ["unavailable", "unavailable"]
    assert list(tmp_path.iterdir()) == [libs.parent]
    assert [(report["finding"], report["kafka"]) for report in reports] == [("F-20", ONE), ("F-26", ONE)]
