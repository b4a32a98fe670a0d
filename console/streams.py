"""Standard output and standard error, even if the caller closed them or a reader closes the pipe early."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO


def print_error(text: str) -> None:
    """Print a line on stderr, unless it is closed."""
    with contextlib.suppress(OSError):
        stderr().write(text + "\n")


def stdout() -> TextIO:
    """Return stdout, or a sink if the caller closed it."""
    return sys.stdout if sys.stdout is not None else io.StringIO()


def stderr() -> TextIO:
    return sys.stderr if sys.stderr is not None else io.StringIO()


@contextlib.contextmanager
def to_stdout() -> Iterator[TextIO]:
    """Yield stdout; an OSError in the block names it as its file."""
    try:
        yield stdout()
    except OSError as fault:
        if fault.filename is None:
            fault.filename = "standard output"
        raise


def give_up_stdout() -> None:
    """Discard all further output to the closed pipe."""
    if not give_up(stdout()):
        sys.stdout = io.StringIO()


def give_up(stream: TextIO) -> bool:
    """Redirect a stream to the null device, also for the exiting interpreter; return whether that worked."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return False
    return True
