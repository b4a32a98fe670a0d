"""Which releases of Kafka a cluster may run, by the metadata.version that its brokers support."""

from __future__ import annotations

from functools import lru_cache

from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS

LINES = ((21, "3.9"), (25, "4.0"), (27, "4.1"), (29, "4.2"))
"""The highest metadata.version that the brokers of a line support (MetadataVersion.latestProduction)."""
NEWEST = "4.3"


def line_of(level: int) -> str:
    """The line of releases whose brokers support at most this metadata.version, or the newest."""
    return next((line for highest, line in LINES if level <= highest), NEWEST)


def line_in_words(level: int) -> str:
    """That line for people: the newest stands for all that follow it."""
    line = line_of(level)
    return f"{line} or later" if line == NEWEST else line


def variants_of(level: int) -> tuple[Config, ...]:
    """The variants of the model that stand for releases of that line."""
    return _variants(line_of(level))


@lru_cache
def _variants(line: str) -> tuple[Config, ...]:
    named = [v for v in VARIANTS if any(release.startswith(f"{line}.") for release in v.kafka)]
    return tuple(Config(**v.knobs) for v in named)
