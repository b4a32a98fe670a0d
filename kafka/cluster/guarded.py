"""Processes that end with this one, even if it is killed: the client of `warden.py`."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.cluster import warden

PREFIX = "elrcheck-cluster-"
PATIENCE = 60.0
"""Seconds for the warden to kill its processes and to remove its folder."""


def _remove_abandoned() -> None:
    """Remove the folders of wardens that were killed together with those who started them."""
    for file in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{warden.OWNER}"):
        with contextlib.suppress(OSError), file.open("r+") as owned:
            if warden.lock(owned):
                shutil.rmtree(file.parent, ignore_errors=True)


class Guarded(AbstractContextManager["Guarded"]):
    """Named processes, and a folder for their files. Leaving the block leaves neither.

    output: what a process prints is in the folder, in the file of its name.
    """

    def __init__(self) -> None:
        _remove_abandoned()
        # Named here, so that it is removed even if the warden is killed at once.
        self.folder = Path(tempfile.gettempdir()) / f"{PREFIX}{secrets.token_hex(6)}"
        program = [sys.executable, "-I", str(Path(str(warden.__file__))), str(self.folder)]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                program,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
                start_new_session=True,
            )
        except OSError as fault:
            self._log.close()
            raise EnvironmentFault("system", f"{program[0]} does not run: {fault}") from fault
        try:
            self._read()
        except BaseException:
            self.close()
            raise

    def start(self, name: str, command: Sequence[str]) -> None:
        self._ask({"start": name, "command": list(command), "output": self.output(name).name})

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal; nothing happens if the process has ended."""
        self._ask({"signal": name, "number": int(number)})

    def tell(self, name: str, line: str) -> None:
        """Write a line to the input of a process; nothing happens if it has ended."""
        self._ask({"tell": name, "line": line})

    def exit_codes(self) -> dict[str, int | None]:
        """Return the exit code of every process that was started: None while it runs, negative for a signal."""
        return self._ask({"poll": True})

    def kill_all(self) -> None:
        """Kill what runs; the folder stays until `close`."""
        self._ask({"end": True})

    def output(self, name: str) -> Path:
        return self.folder / f"{name}.txt"

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes and remove the folder; safe to call again."""
        pipe = self._process.stdin
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)  # still there if the warden was killed

    def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(json.dumps(command) + "\n")
            pipe.flush()
        except (OSError, ValueError) as fault:
            raise self._lost() from fault
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._lost()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _lost(self) -> EnvironmentFault:
        """Return the fault of a warden that died together with its processes."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._log.seek(0)
        text = self._log.read().decode("utf-8", "replace").strip()
        message = "the process that owns the brokers ended"
        return EnvironmentFault("worker-died", message, excerpt="\n".join(text.splitlines()[-8:]) or None)
