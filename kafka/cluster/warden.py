"""The process that owns the nodes of a cluster, and leaves none of them running when it ends.

It is started as a file of its own, in a session of its own, so that Ctrl-C does not reach it:

    python -I warden.py FOLDER

It makes the folder; its first line of output says so. Each line of input is a command in JSON, answered by
one line::

    {"start": "0", "command": ["java", ..], "output": "0.txt"}    -> {}
    {"signal": "0", "number": 15}                                -> {}
    {"tell": "0", "line": "text"}                                -> {}        a line of its input
    {"poll": true}                                               -> {"0": null, "1": 143}
    {"end": true}                                                -> {}        all processes are killed

At the end of its input (also because the process at the other end was killed) and at SIGTERM it kills its processes,
paused or not, and removes the folder. On Linux its processes are killed too if it is killed; the folder is then removed
by the process that started it or, if that was killed as well, by the next process that starts a warden.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
REMOVAL = 50  # attempts to remove the folder
OWNER = "owner"  # a file that is locked while the process that owns the folder lives
MISSING = 127  # the exit code of a program that does not run, as in a shell


class Warden:
    """The processes, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._codes: dict[str, int] = {}
        self._bound_to_us = _death_with_parent()

    def own_folder(self) -> None:
        """Make the folder, with a file that is locked for as long as this process lives."""
        self.folder.mkdir(mode=0o700)
        self._owned = (self.folder / OWNER).open("w")
        lock(self._owned)

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        if "start" in command:
            self._start(command["start"], command["command"], self.folder / command["output"])
        elif "signal" in command:
            process = self._running.get(command["signal"])
            if process is not None and process.poll() is None:
                process.send_signal(command["number"])
        elif "tell" in command:
            self._tell(command["tell"], command["line"])
        elif "poll" in command:
            codes: dict[str, Any] = {name: process.poll() for name, process in self._running.items()}
            return {**self._codes, **codes}
        elif "end" in command:
            self.kill_all()
        return {}

    def _start(self, name: str, command: list[str], output: Path) -> None:
        self._running.pop(name, None)
        self._codes.pop(name, None)
        with output.open("ab") as sink:
            try:
                self._running[name] = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=sink, stderr=sink, preexec_fn=self._bound_to_us
                )
            except OSError as fault:
                sink.write(f"{command[0]}: {fault}\n".encode())
                self._codes[name] = MISSING

    def _tell(self, name: str, line: str) -> None:
        process = self._running.get(name)
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError):  # it has ended
                process.stdin.write(line.encode() + b"\n")
                process.stdin.flush()

    def kill_all(self) -> None:
        for process in self._running.values():
            process.kill()
        for name, process in self._running.items():
            self._codes[name] = process.wait()
        self._running.clear()

    def leave_nothing(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self.kill_all()
        for _ in range(REMOVAL):
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                return
            time.sleep(0.1)


def lock(file: IO[str]) -> bool:
    """Lock a file until this process ends; return False if another holds it, or files cannot be locked."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _death_with_parent() -> Callable[[], object] | None:
    """Return a call that makes the kernel kill a new process when this one dies; None if unsupported."""
    if not sys.platform.startswith("linux"):
        return None
    with contextlib.suppress(OSError, AttributeError):
        call = ctypes.CDLL(None).prctl
        return lambda: call(PARENT_DEATH_SIGNAL, int(signal.SIGKILL))
    return None


def _leave(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _leave)
    warden = Warden(Path(sys.argv[1]))
    try:
        warden.own_folder()
        print(json.dumps({"folder": str(warden.folder)}), flush=True)
        for line in sys.stdin:
            print(json.dumps(warden.answer(json.loads(line))), flush=True)
    except BrokenPipeError:  # the process that read the answers has ended
        pass
    finally:
        warden.leave_nothing()


if __name__ == "__main__":
    main()
