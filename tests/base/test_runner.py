"""Tasks run by processes: answers in order, faults, news, processes that die, interrupts, and journals."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.roundtrip import Record
from elrcheck.base.runner.journal import Journal
from elrcheck.base.runner.runner import Processes, _TaskProcess, each, run_tasks
from support.worker_tasks import DEADLY, ENDLESS, WRONG, Counting, raise_unsendable, square


@pytest.mark.parametrize("workers", [1, 2])
def test_answers_come_in_the_order_of_the_tasks(workers: int) -> None:
    assert list(each(square, range(1, 7), workers)) == [1, 4, 9, 16, 25, 36]
    assert sorted(each(square, range(1, 7), workers, in_order=False)) == [1, 4, 9, 16, 25, 36]


def test_what_a_task_raises_is_raised_here() -> None:
    with pytest.raises(UsageFault) as caught:
        list(each(square, [2, WRONG, 3], 2))
    assert (caught.value.code, caught.value.help) == ("config-value", "leave out the sign")


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (1, RuntimeError, "OddFault: an odd fault"),
        (2, RuntimeError, "LockedFault: holds a lock"),
        (3, TypeError, "lock"),
    ],
)
def test_what_cannot_be_sent_is_named(number: int, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        list(each(raise_unsendable, [number, number], 2))


def test_a_process_that_dies_ends_the_run_unless_its_task_may_be_lost() -> None:
    with pytest.raises(EnvironmentFault, match="ended unexpectedly"):
        list(each(square, [2, DEADLY, 3], 2))
    crew = Processes(Counting(), [DEADLY, 2, 3, 4], 1, lost=lambda task, fate: (task, fate))
    (number, fate), *others = run_tasks(crew)
    assert number == DEADLY and "SIGKILL" in str(fate)
    assert others == [(4, 1), (9, 2), (16, 3)]


def test_an_interrupted_run_ends_its_processes_at_once() -> None:
    seen: list[Sequence[tuple[int, Any]]] = []
    crew = Processes(Counting(), [2, ENDLESS, 3], 1, choose=lambda waiting, _last, _elsewhere: len(waiting) - 1)
    started = time.monotonic()
    with Interrupts() as stop:

        def interrupt(running: Sequence[tuple[int, Any]]) -> None:
            seen.append(running)
            if running == [(ENDLESS, ENDLESS)]:
                process = crew._members[0].worker.process
                processes.append(process)
                signal.raise_signal(signal.SIGINT)

        processes: list[Any] = []
        assert list(run_tasks(crew, interrupted=stop, on_tick=interrupt)) == [(9, 1)]
    assert not processes[0].is_alive() and not crew.busy()
    assert time.monotonic() - started < 30 and len(seen) > 1
    assert list(each(square, [1, 2], 1, interrupted=lambda: True)) == []


class Measured(Record, frozen=True):
    name: str
    seconds: float


def journal_of(file: Path) -> Journal[str, Measured]:
    return Journal(file, Measured, attrgetter("name"))


def test_a_journal_goes_on_after_a_line_that_a_kill_cut_short(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    journal = journal_of(file)
    journal.read("head")
    for name, seconds in (("a", 1.0), ("b", 2.0), ("a", 3.0)):
        journal.add(Measured(name, seconds))
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"name": "c", "sec')
    again = journal_of(file)
    again.read("head")
    assert again.answers == {"a": Measured("a", 3.0), "b": Measured("b", 2.0)}
    assert file.read_bytes() == whole
    with pytest.raises(UsageFault, match="another model"):
        journal_of(file).read("another head")
    file.write_bytes(whole + b'{"name": "c"}\n')
    with pytest.raises(UsageFault, match="not an answer") as caught:
        journal_of(file).read("head")
    assert caught.value.where == f"{file}:5"


def test_answers_that_arrive_with_a_fault_are_handed_on_first(monkeypatch: pytest.MonkeyPatch) -> None:
    receive = _TaskProcess.receive

    def receive_at_last(member: _TaskProcess[Any]) -> tuple[str, Any]:
        while (message := receive(member)) is None:
            time.sleep(0.01)
        return message

    monkeypatch.setattr(_TaskProcess, "receive", receive_at_last)
    answers = run_tasks(Processes(Counting(), [WRONG, 2], 2))
    assert next(answers) == (4, 1)
    with pytest.raises(UsageFault):
        next(answers)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the signals of a process are not in /proc")
def test_ctrl_c_cannot_reach_a_process_that_has_just_been_started() -> None:
    """The first one of a program: before it, Python starts a process of its own, and then unblocks the signal."""
    source = (
        "from multiprocessing.connection import Connection\n"
        "from pathlib import Path\n"
        "from elrcheck.base.runner.worker import WorkerProcess, end_workers\n"
        "worker = WorkerProcess(Connection.recv)\n"
        "print(Path(f'/proc/{worker.process.pid}/status').read_text())\n"
        "end_workers([worker])\n"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    masks = dict(line.split(":\t") for line in done.stdout.splitlines() if line.startswith("Sig"))
    shielded = int(masks["SigBlk"], 16) | int(masks["SigIgn"], 16)
    assert shielded & 1 << (signal.SIGINT - 1), done.stderr
