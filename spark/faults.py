"""What went wrong in a running Spark application, in words: asked for while its JVM still answers."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from elrcheck.base.errors import ElrError, EnvironmentFault

PACKAGES_HELP = (
    'docs/spark.md, "Packages for executors": numpy, pyarrow, pandas, llvmlite and msgspec have to be there'
)

# A pattern in Spark's message (its group is shown), the fault's code, what to say, what to do.
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
        "executors run another Python version than the driver",
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
        "with a --run-dir the search can be gone on with: --resume",
    ),
)


class SparkJobError(RuntimeError):
    """A job failed for a reason that is no fault of the environment: a bug.  Its text is Spark's."""


@contextlib.contextmanager
def explained(master: str) -> Iterator[None]:
    """Errors of pyspark and py4j leave as an `ElrError`, or as a `SparkJobError` with the whole text.

    Their own text cannot be had once the JVM is gone, so they must not leave the session.
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
    """The fault that Spark's message stands for; None if it is none of the environment."""
    own = re.search(r"^(?:elrcheck\.errors\.)?EnvironmentFault: (.+)$", text, re.M)
    if own is not None:  # raised by our own code in an executor
        return EnvironmentFault("executor", own[1], where=master)
    for pattern, code, meaning, help in CAUSES:
        found = re.search(pattern, text, re.M)
        if found is not None:
            said = f"{meaning}: {found[1].strip()}"
            return EnvironmentFault(code, said, where=master, help=help)
    return None


def _of_spark(error: BaseException) -> bool:
    """By the package of its class; a connection that breaks is one to the JVM."""
    package = type(error).__module__.split(".")[0]
    return package in ("pyspark", "py4j") or isinstance(error, ConnectionError)


def _text(error: BaseException | None) -> str:
    """All that is known of an error and of those it came from; asking the JVM fails if it has died."""
    said: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        try:
            text = str(error)
        except Exception:
            text = str(getattr(error, "_desc", ""))
        said.append(f"{type(error).__name__}: {text}")
        error = error.__cause__ or error.__context__
    return "\n".join(said)
