"""A Java process that reads questions and writes answers line by line.

    with LineProcess.start(jdk, main, class_path) as process:
        answers = process.ask(questions)

The process always ends with the block: it exits when its input is closed, and is killed if it does not. It also exits
when this process is killed, which ends its input too. Answers are read while questions are being written, so that no
pipe fills up. Its standard error goes to a file, whose end is shown if the process crashes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.closed_at_end import ClosedAtEnd
from elrcheck.kafka.java_program import Jdk

FLUSH = b"f"
START_PATIENCE = 60.0
SILENCE = 120.0  # seconds without any output while answers are missing
EXIT_PATIENCE = 5.0
TAIL = 12
CHUNK = 1 << 16
BRIEF = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For a Java program of seconds: its optimizing compiler and collector threads take more time than they save."""
SERVED = (*BRIEF, "-XX:-UsePerfData", "-Duser.language=en")
"""For a program that may be killed, which leaves a file of performance data in /tmp."""
# Heaps are small, because a comparison with all releases starts a process for each.
JVM_OPTIONS = ("-Xmx512m", "-Xmn96m", *SERVED)


class LineProcess(ClosedAtEnd):
    """One process; not to be shared between threads."""

    def __init__(self, command: Sequence[str], log: IO[bytes], silence: float = SILENCE) -> None:
        self._log, self._silence = log, silence
        try:
            self._process = subprocess.Popen(
                list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0
            )
        except OSError as fault:
            log.close()
            raise EnvironmentFault("java-missing", f"{command[0]} does not run: {fault}") from fault
        self._chunks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._rest = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @classmethod
    def start(cls, jdk: Jdk, main: str, class_path: Iterable[Path], *arguments: str) -> LineProcess:
        """Start a class's `main`."""
        entries = os.pathsep.join(str(entry) for entry in class_path)
        command = [str(jdk.java.path), *JVM_OPTIONS, "-cp", entries, main, *arguments]
        return cls(command, tempfile.TemporaryFile(prefix="elrcheck-java-"))

    def close(self) -> None:
        """End the process; safe to call again."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(EXIT_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        except BaseException:  # an interrupt while waiting
            self._process.kill()
            self._process.wait()
            raise
        self._reader.join(EXIT_PATIENCE)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()

    def greeting(self, patience: float = START_PATIENCE) -> str:
        """Return the first line, which the process writes unasked."""
        return self._lines(1, patience)[0].decode("ascii", "replace")

    def kafka_version(self, protocol: str, patience: float = START_PATIENCE) -> str:
        """Return the version of Kafka in the greeting of a driver; raise EnvironmentFault for another protocol."""
        name, spoken, version = self.greeting(patience).split(" ")
        if (name, spoken) != ("elrcheck", protocol):
            raise EnvironmentFault("kafka-driver", f"unexpected greeting: {name} {spoken}")
        return version

    def ask(self, questions: Sequence[bytes]) -> list[bytes]:
        """Write the lines and return as many answers."""
        if not questions:
            return []
        writer = threading.Thread(target=self._write, args=(questions,), daemon=True)
        writer.start()
        answers = self._lines(len(questions) + 1, self._silence)
        writer.join()
        if answers.pop() != FLUSH:
            raise self._crash("it sent fewer answers than questions")
        return answers

    def _write(self, questions: Sequence[bytes]) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):  # it ended: `_lines` misses the answers
            for start in range(0, len(questions), 1000):
                _write_all(pipe, b"\n".join(questions[start : start + 1000]) + b"\n")
            _write_all(pipe, FLUSH + b"\n")

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        chunk = b"more"
        while chunk:
            try:
                chunk = pipe.read(CHUNK) or b""
            except (OSError, ValueError):
                chunk = b""
            self._chunks.put(chunk)

    def _lines(self, count: int, patience: float) -> list[bytes]:
        lines: list[bytes] = []
        while len(lines) < count:
            try:
                chunk = self._chunks.get(timeout=patience)
            except queue.Empty:
                self._process.kill()
                raise self._crash(f"no answer for {patience:.0f} s") from None
            if not chunk:
                raise self._crash("it ended")
            parts = (self._rest + chunk).split(b"\n")
            self._rest = parts.pop()
            lines += parts
        if len(lines) > count:
            raise self._crash("it answered more than it was asked")
        return lines

    def _crash(self, what: str) -> EnvironmentFault:
        """Return the fault, with the last output of the process."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_PATIENCE)
        code = self._process.poll()
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").splitlines()
        ended = "" if code is None else f" (exit code {code})"
        return EnvironmentFault(
            "kafka-driver",
            f"the Java process that drives Kafka's classes failed: {what}{ended}",
            excerpt="\n".join(lines[-TAIL:]) or None,
        )


def _write_all(pipe: IO[bytes], data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[pipe.write(left) :]
