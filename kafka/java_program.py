"""A Java program that is part of elrcheck: compiled once against a class path, stored, and asked line by line.

The store holds the classes as a jar, by a digest of the sources, the jars and the compiler.

    with LineProcess.start(jdk, main, class_path) as process:
        answers = process.ask(questions)

The process always ends with the block: it exits when its input is closed, and is killed if it does not. It also exits
when this process is killed, which ends its input too. Answers are read while questions are being written, so that no
pipe fills up. Its standard error goes to a file, whose end is shown if the process crashes.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.kept.store import FileStore
from elrcheck.base.package_files import files_of
from elrcheck.base.programs import Java, find_java, run_program
from elrcheck.kafka.jars import ClassPath

OLDEST = 17
JDK = (
    f"install a JDK {OLDEST} or newer (Debian: apt install openjdk-17-jdk-headless), "
    "or set JAVA_HOME to one; a runtime without compiler is not enough"
)
COMPILER_PATIENCE = 600.0  # seconds
ERROR_LINES = 12
"""Lines of a compiler's output that a message shows."""
CLASSES = "classes"
"""The folder of a draft for what is compiled."""


@dataclass(frozen=True)
class Jdk:
    """A Java runtime, new enough for Kafka, with its compiler."""

    java: Java
    javac: Path


def find_jdk(environ: Mapping[str, str] | None = None) -> Jdk:
    """Return the JDK to use; raise EnvironmentFault (exit 4) with the remedies if it is missing."""
    environ = os.environ if environ is None else environ
    java = find_java(environ)
    if java.major < OLDEST:
        message = f"{java.path} is Java {java.version}, but Kafka's controller needs {OLDEST}"
        raise EnvironmentFault("java-too-old", message, help=JDK)
    beside = (java.path.parent, java.path.resolve().parent)
    on_path = environ.get("PATH", "").split(os.pathsep) if not environ.get("JAVA_HOME") else []
    for folder in (*map(str, beside), *on_path):
        javac = shutil.which("javac", path=folder) if folder else None
        if javac is not None:
            return Jdk(java, Path(javac))
    raise EnvironmentFault("javac-missing", f"{java.path} comes without a compiler (javac)", help=JDK)


def sources_of(folder: str) -> dict[str, str]:
    """Return file name -> text of all .java files of a folder of this package, such as "kafka/java/controller"."""
    room = folder.partition("/")[0]
    return {
        path.rpartition("/")[2]: file.read_text(encoding="utf-8")
        for path, file in files_of(room, (".java",))
        if path.startswith(f"{folder}/")
    }


def compiled(
    sources: Mapping[str, str], class_path: ClassPath, jdk: Jdk, environ: Mapping[str, str] | None = None
) -> Path:
    """Return a jar with the classes of a program, compiling its sources if necessary.

    sources: file name -> text. A jar and not a folder, because class data sharing takes no folders.
    """
    files = FileStore("java", ".jar", os.environ if environ is None else environ)
    key = digests.key(
        sources=digests.values(sources), jars=class_path.digest(), java=jdk.java.version, javac=str(jdk.javac)
    )
    jar = files.get(key)
    if jar is not None:
        return jar
    with tempfile.TemporaryDirectory(prefix="elrcheck-java-") as name:
        draft = Path(name)
        paths = write_sources(sources, draft)
        complaint = run_javac(jdk, class_path, draft, paths, "--release", str(OLDEST))
        if complaint is not None:
            raise EnvironmentFault(
                "kafka-driver",
                f"the driver does not compile against Kafka {class_path.version}",
                excerpt=complaint,
                help="elrcheck may not support this release of Kafka; it supports 3.9.1 to 4.4.0",
            )
        return files.place(key, jar_bytes(draft / CLASSES))


def write_sources(sources: Mapping[str, str], draft: Path) -> list[Path]:
    """Write sources, path -> text, below a folder, beside a folder for their classes; return their paths."""
    (draft / CLASSES).mkdir()
    for name, text in sources.items():
        (draft / name).parent.mkdir(parents=True, exist_ok=True)
        (draft / name).write_text(text, encoding="utf-8")
    return [draft / name for name in sources]


def run_javac(jdk: Jdk, class_path: ClassPath, draft: Path, sources: Sequence[Path], *options: str) -> str | None:
    """Compile Java sources of a draft into its folder of classes, as `run_compiler` does."""
    command = [str(jdk.javac), "-encoding", "UTF-8", "-nowarn", "-proc:none", *options, "-cp", str(class_path)]
    return run_compiler([*command, "-d", str(draft / CLASSES), *map(str, sources)], draft)


def run_compiler(command: Sequence[str], draft: Path) -> str | None:
    """Run a compiler; return None if it succeeds, else the first lines of its output, with paths below the draft."""
    try:
        end = run_program(command, COMPILER_PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise EnvironmentFault("kafka-driver", f"{command[0]} did not finish: {fault}", help=JDK) from fault
    if end.exit_code == 0:
        return None
    return "\n".join(end.output.replace(f"{draft}{os.sep}", "").splitlines()[:ERROR_LINES])


def jar_bytes(classes: Path) -> bytes:
    """Return a jar of the classes below a folder."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for file in sorted(classes.rglob("*.class")):
            archive.write(file, str(file.relative_to(classes)))
    return data.getvalue()


# ---------------------------------------------------------------------------- the process

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


class LineProcess(AbstractContextManager["LineProcess"]):
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

    def __exit__(self, *_: object) -> None:
        self.close()

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
