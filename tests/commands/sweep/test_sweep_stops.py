"""Sweeps that are stopped: a process killed, the sweep killed, Ctrl-C; and what can be had afterwards."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import ExitCode
from elrcheck.base.progress import Event, Silent
from elrcheck.commands.sweep.sweep import run_sweep
from support.sweeps import TWO, answers_of, separate_answers, sweep

Answers = dict[int, dict[str, Any]]
OPTIONS = ("--scope", "two-brokers-quiet", "--set", "shrinks=1", "--sweep", "crashes=0..1")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    return separate_answers(TWO, tmp_path_factory.mktemp("separate"))


class Killer(Silent):
    """Ends one process of the pool, once."""

    def __init__(self) -> None:
        self.victims: list[int] = []

    def tell(self, event: Event) -> None:
        children = [child for child in multiprocessing.active_children() if child.pid is not None]
        if not self.victims and children:
            children[0].kill()
            self.victims.append(children[0].pid or 0)


@pytest.mark.slow
def test_a_killed_process_is_one_failed_row(alone: Answers, tmp_path: Path) -> None:
    killer = Killer()
    report = run_sweep(replace(TWO, run_dir=tmp_path / "run"), killer)
    assert len(killer.victims) == 1
    failed = [row for row in report.rows if row.verdict == "failed"]
    assert len(failed) == 1 and "SIGKILL" in (failed[0].reason or "")
    others = {n: answer for n, answer in answers_of(report).items() if n != failed[0].number}
    assert others == {n: answer for n, answer in alone.items() if n != failed[0].number}
    again = sweep(TWO, resume=tmp_path / "run")
    assert (answers_of(again), again.resumed) == (alone, 1)


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "elrcheck", "--no-progress", "sweep", *OPTIONS, *options]
    return subprocess.Popen(
        [*command, "--workers", "1", "--format", "json"],
        cwd=folder,
        text=True,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for_row(process: subprocess.Popen[str], rows: Path) -> None:
    deadline = time.monotonic() + 60
    while not (rows.exists() and rows.read_bytes().count(b"\n")):
        assert process.poll() is None, "it ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
def test_resumed_after_a_kill(alone: Answers, tmp_path: Path) -> None:
    process = start(tmp_path, "--run-dir", "run")
    rows = tmp_path / "run" / "rows.jsonl"
    wait_for_row(process, rows)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    finished = rows.read_bytes().count(b"\n")
    with rows.open("ab") as file:
        file.write(b'{"by": "process", "number": 2, "rep')  # a line the kill cut short
    again = sweep(TWO, sweeps=(), named=False, resume=tmp_path / "run")
    assert answers_of(again) == alone
    assert again.resumed == finished >= 1
    assert rows.read_bytes().count(b"\n") == 2


@pytest.mark.slow
def test_interrupted_reports_what_there_is(tmp_path: Path) -> None:
    process = start(tmp_path, "--scope", "three-brokers", "--sweep", "fences=0..1")
    (place,) = wait_for_folder(process, tmp_path)
    wait_for_row(process, place / "rows.jsonl")
    since = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - since < 10
    document = json.loads(out)
    assert process.returncode == ExitCode.INTERRUPTED and document["interrupted"] is True
    assert "Traceback" not in err and f"--resume {place.relative_to(tmp_path)}" in err
    not_run = [row for row in document["rows"] if row["distinct"] is None]
    assert not_run and {row["verdict"] for row in not_run} == {"inconclusive"}
    assert len(document["rows"]) == 4


def wait_for_folder(process: subprocess.Popen[str], tmp_path: Path) -> list[Path]:
    deadline = time.monotonic() + 60
    while not (folders := list(tmp_path.glob(".elrcheck/runs/sweep-*"))):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    return folders
