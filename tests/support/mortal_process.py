"""Commands in processes that are killed, or meet a full disk, at a chosen moment (`mortal_child`)."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.processes import ended_in_time

CHILD = Path(__file__).with_name("mortal_child.py")
PATIENCE = 7200.0


class Mortal:
    """Runs commands in a folder. place: that folder; below: the part of it whose files count as moments."""

    def __init__(self, process: subprocess.Popen[str], place: Path, below: str) -> None:
        self._process, self.place, self.below = process, place, place / below

    def run(self, *command: str, at: int = 0, full: bool = False, room: int | None = None) -> dict[str, Any]:
        """Run a command; return how it ended (`code`, negative for a signal) and what it passed.

        at: the moment at which it is killed, 0 for none; full: from then on the disk is full instead. room:
        bytes for the states of a search.
        """
        job = {
            "folder": str(self.place),
            "below": self.below.name,
            "command": ["--no-progress", *command],
            "at": at,
            "full": full,
            "room": room,
        }
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        facts: dict[str, Any] = json.loads(self._process.stdout.readline())
        return facts

    @property
    def out(self) -> str:
        """What the last command has written to stdout."""
        return (self.place / "out").read_text()

    @property
    def err(self) -> str:
        return (self.place / "err").read_text()


@contextlib.contextmanager
def mortal_in(place: Path, below: str) -> Iterator[Mortal]:
    """Yield a runner of commands in this folder."""
    process = subprocess.Popen(
        [sys.executable, str(CHILD)], cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with ended_in_time(process, PATIENCE):
        try:
            yield Mortal(process, place, below)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(timeout=60) == 0
