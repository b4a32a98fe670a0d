"""Explains failures of a running Spark application while its JVM can still supply the message."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from elrcheck.base.errors import ElrError, EnvironmentFault

PACKAGES_HELP = 'docs/spark.md, "Packages for executors": executors need numpy, pyarrow, pandas, llvmlite and msgspec'

# A pattern in Spark's message (its group is shown), the error code, the message and the remedy.
CAUSES: tuple[tuple[str, str, str, str], ...] = (
    (
        r"(?:ModuleNotFoundError|ImportError): (.+)",
        "executor-package",
        "a Python package is missing on an executor",
        PACKAGES_HELP,
    ),
    (
        r"(PYTHON_VERSION_MISMATCH)",
        "executor-python",
        "the executors' Python version differs from the driver's",
        "set spark.pyspark.python to a Python of the driver's minor version",
    ),
    (
        r"Cannot run program \"([^\"]*)\"",
        "executor-python",
        "an executor cannot start Python",
        "set spark.pyspark.python to a Python that every executor has",
    ),
    (
        r"(No space left on device)",
        "spark-disk",
        "the disk of an executor is full",
        "point spark.local.dir at a larger disk",
    ),
    (
        r"(OutOfMemoryError|MemoryError|exit code 137|Exit status: 137|killed by YARN)",
        "spark-memory",
        "an executor ran out of memory",
        "use more partitions or executors, or raise spark.executor.memoryOverhead",
    ),
    (
        r"(ExecutorLostFailure|Python worker exited unexpectedly|SparkContext was shut down|has been stopped|"
        r"Py4JError: An error occurred while calling \S+$|Answer from Java side is empty|Py4JNetworkError|"
        r"Connection(?:Reset|Refused)Error|FetchFailed)",
        "spark-lost",
        "Spark gave up after losing executors or its driver's JVM",
        "if the search had a --run-dir, continue it with --resume",
    ),
)


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
    for pattern, code, meaning, help in CAUSES:
        match = re.search(pattern, text, re.M)
        if match is not None:
            message = f"{meaning}: {match[1].strip()}"
            return EnvironmentFault(code, message, where=master, help=help)
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
