"""The warnings of a library, which often say why a call of it fails."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def captured_warnings(library: str, most: int | None = None, ignored: str | None = None) -> Iterator[deque[str]]:
    """Keep the warnings of a library off stderr, and yield those that have come, each once.

    most: their number; older ones are dropped. ignored: a text by which warnings are dropped.
    """
    warnings: deque[str] = deque(maxlen=most)

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            if text not in warnings and (ignored is None or ignored not in text):
                warnings.append(text)

    logger = logging.getLogger(library)
    handler, propagated = Collector(logging.WARNING), logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield warnings
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated
