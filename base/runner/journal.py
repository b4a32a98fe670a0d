"""Stores the answers of a run in a file, one JSON line each, so that a killed run can resume."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from elrcheck.base.atomic import append_line, write_file
from elrcheck.base.errors import UsageFault
from elrcheck.base.roundtrip import Record, from_text, to_text

K = TypeVar("K")
A = TypeVar("A", bound=Record)


class Journal(Generic[K, A]):
    """The answers in a file of JSON lines. If two have the same key, the later one counts.

    A line is written in one call and flushed to disk, so a killed process leaves at most an incomplete last line.
    key: returns the key of an answer, or raises ValueError if the answer does not belong to this run.
    """

    def __init__(self, file: Path, kind: type[A], key: Callable[[A], K]) -> None:
        self.file = file
        self.answers: dict[K, A] = {}
        self._kind = kind
        self._key = key

    def read(self, head: str | None = None) -> None:
        """Read the answers of an earlier run, if there was one; remove an incomplete last line.

        head: the expected first line, which identifies the run. Raises UsageFault if it differs, or for a line that is
        not an answer.
        """
        if not self.file.exists():
            if head is not None:
                write_file(self.file, head + "\n")
            return
        data = self.file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        lines = whole.splitlines()
        if head is not None and lines[:1] != [head.encode()]:
            raise UsageFault(
                "resume-mismatch",
                "the answers there belong to another model or other configurations",
                where=str(self.file),
                help="choose another --run-dir",
            )
        if whole != data:
            with open(self.file, "r+b") as opened:
                opened.truncate(len(whole))
        first = 0 if head is None else 1
        for number, line in enumerate(lines[first:], start=first + 1):
            try:
                answer = from_text(line, self._kind)
                self.answers[self._key(answer)] = answer
            except ValueError as fault:
                raise UsageFault(
                    "checkpoint-damaged",
                    f"not an answer of this run: {fault}",
                    where=f"{self.file}:{number}",
                    help="remove the line to run its task again",
                ) from fault

    def add(self, answer: A) -> None:
        """Store an answer."""
        append_line(self.file, to_text(answer))
        self.answers[self._key(answer)] = answer
