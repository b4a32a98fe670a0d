"""Starts and ends the JVM of a Spark driver, with its output in a file, and explains its failures."""

from __future__ import annotations

import contextlib
import functools
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import ElrError, EnvironmentFault, UsageFault
from elrcheck.base.typed.records import Prose, read_record

LOG4J_FILE = "log4j2.properties"
TAIL = 8
PATIENCE = 20.0  # seconds for the JVM to exit


def write_log_settings(folder: Path) -> None:
    """Write a log4j configuration that sends warnings and errors to stderr."""
    (folder / LOG4J_FILE).write_bytes((files("elrcheck.spark") / LOG4J_FILE).read_bytes())


@contextlib.contextmanager
def running_jvm(conf: dict[str, str], log: Path | None) -> Iterator[Any]:
    """Start a JVM and yield its py4j gateway; the JVM ends with the block, and no later session reuses it.

    stdout and stderr of the JVM, and of the Python workers it starts, go to the file `log`, or to stderr if it is
    None.
    """
    from pyspark import SparkConf, SparkContext, java_gateway

    settings = SparkConf(loadDefaults=False)
    for key, value in conf.items():
        settings.set(key, value)
    with contextlib.ExitStack() as stack:
        sink: Any = sys.__stderr__ if log is None else stack.enter_context(log.open("ab"))
        launch: Any = java_gateway.launch_gateway  # without types
        gateway = launch(settings, {"stdout": sink, "stderr": sink})
        try:
            yield gateway
        finally:
            _end(gateway)
            # Reset pyspark's class attributes, or a later session would talk to the JVM that has ended.
            SparkContext._gateway = None
            SparkContext._jvm = None


@contextlib.contextmanager
def time_limit(gateway: Any, seconds: float) -> Iterator[Callable[[], bool]]:
    """End the JVM if the block takes too long; the yielded function returns True if that happened."""
    expired = threading.Event()

    def end() -> None:
        expired.set()
        if gateway.proc is not None:
            gateway.proc.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield expired.is_set
    finally:
        timer.cancel()
        timer.join()


def start_fault(error: BaseException, log: Path | None, master: str, expired: float | None) -> ElrError:
    """Return the fault for a session that did not start. expired: the timeout in seconds, if it expired."""
    lines = _lines(log)
    reason = _reason(error) if expired is None else f"no answer for {expired:.0f} s"
    if "JAVA_GATEWAY_EXITED" in reason and lines:
        reason = lines[-1]
    excerpt = "\n".join(lines[-TAIL:]) or None
    whole = "\n".join((reason, *lines))
    message = f"Spark did not start with master {master}: {reason}"
    for cause in causes("start"):
        if re.search(cause.pattern, whole):
            kind = UsageFault if cause.fault == "UsageFault" else EnvironmentFault
            return kind(cause.code, message, excerpt=excerpt, help=cause.help)
    if expired is not None:
        help = "check --master: the server there may not be a Spark master, or may run another version"
        return EnvironmentFault("spark-unreachable", message, excerpt=excerpt, help=help)
    return EnvironmentFault("spark-start", message, excerpt=excerpt, help="-v shows all of Spark's messages")


def _end(gateway: Any) -> None:
    """Close the JVM's stdin, at which it exits; kill it if it does not."""
    with contextlib.suppress(Exception):
        gateway.shutdown()
    process: subprocess.Popen[bytes] | None = gateway.proc
    if process is None:  # started by spark-submit, which ends it
        return
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _reason(error: BaseException) -> str:
    """Return the first informative line of an error of pyspark or py4j."""
    java = getattr(error, "java_exception", None)
    if java is not None:
        with contextlib.suppress(Exception):
            return _first_line(str(java.toString()))
    return _first_line(str(error)) or type(error).__name__


def _first_line(text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line), "")


def _lines(log: Path | None) -> list[str]:
    """Return the log without stack frames, blank lines, repetitions and routine start-up messages."""
    if log is None or not log.is_file():
        return []
    text = log.read_text(encoding="utf-8", errors="replace")
    dull = re.compile(r"\s+(at |\.\.\. )|\s*\Z|.*(incubator modules|NativeCodeLoader)")
    return list(dict.fromkeys(line.rstrip() for line in text.splitlines() if not dull.match(line)))


@dataclass(frozen=True)
class Cause:
    """What a text of Spark's stands for. pattern: in the text; its group is shown behind `meaning`."""

    pattern: Prose
    code: Prose
    help: Prose
    meaning: Prose | None = None
    fault: Literal["EnvironmentFault", "UsageFault"] = "EnvironmentFault"


@functools.cache
def causes(stage: Literal["start", "job"]) -> tuple[Cause, ...]:
    """Return the causes of a driver that does not start, or of a job that fails, from `faults.toml`, read once."""
    table = read_toml(files("elrcheck.spark") / "faults.toml").object(("start", "job"))
    return tuple(read_record(node, Cause) for node in table[stage].items())


class SparkJobError(RuntimeError):
    """A job failed because of a bug, not because of the environment; the text is Spark's."""


@contextlib.contextmanager
def explained(master: str) -> Iterator[None]:
    """Convert errors of pyspark and py4j in the block to an `ElrError`, or to a `SparkJobError` with the whole text.

    Their own text is unavailable once the JVM has ended, so they must not outlive the session.
    """
    try:
        yield
    except Exception as error:
        if not _of_spark(error):
            raise
        text = _text(error)
        fault = job_fault(text, master)
        raise fault if fault is not None else SparkJobError(text) from None


def job_fault(text: str, master: str) -> ElrError | None:
    """Return the fault that Spark's message stands for; None if the environment is not to blame."""
    own = re.search(r"^(?:elrcheck\.[\w.]+\.)?EnvironmentFault: (.+)$", text, re.M)
    if own is not None:  # raised by our own code in an executor
        return EnvironmentFault("executor", own[1], where=master)
    for cause in causes("job"):
        match = re.search(cause.pattern, text, re.M)
        if match is not None:
            message = f"{cause.meaning}: {match[1].strip()}"
            return EnvironmentFault(cause.code, message, where=master, help=cause.help)
    return None


def _of_spark(error: BaseException) -> bool:
    """Return True for an error of pyspark or py4j, or a broken connection, which can only be that to the JVM."""
    package = type(error).__module__.split(".")[0]
    return package in ("pyspark", "py4j") or isinstance(error, ConnectionError)


def _text(error: BaseException | None) -> str:
    """Return the text of an error and of its causes, as far as the JVM can still supply it."""
    texts: list[str] = []
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        try:
            text = str(error)
        except Exception:
            text = str(getattr(error, "_desc", ""))
        texts.append(f"{type(error).__name__}: {text}")
        error = error.__cause__ or error.__context__
    return "\n".join(texts)
