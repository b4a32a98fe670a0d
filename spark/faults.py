"""Explains failures of a running Spark application while its JVM can still supply the message."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from elrcheck.base.documents import read_toml
from elrcheck.base.errors import ElrError, EnvironmentFault
from elrcheck.base.typed.records import Prose, read_record


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
