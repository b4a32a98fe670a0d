"""Kafka's classes with the edits of a patch, as `elrcheck reproduce --patched` makes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.catalogue.finding_file import Edit
from elrcheck.kafka.jars import ClassPath, Jars
from elrcheck.kafka.patched_jar import patched_jar


def jars_needed(edits: Sequence[Edit]) -> Jars:
    """The jars that have what the edited sources use."""
    of_brokers = any(edit.path.startswith(("kafka/", "org/apache/kafka/storage/")) for edit in edits)
    return Jars.BROKER if of_brokers else Jars.CONTROLLER


def patched_classes(finding: str, edits: Sequence[Edit], kafka: ClassPath) -> Path:
    """A jar of the compiled classes; skip the test where Maven does not get what it needs."""
    try:
        return patched_jar(finding, edits, kafka)
    except EnvironmentFault as fault:
        pytest.skip(f"{fault.message} {fault.excerpt or ''}")
    except UsageFault as fault:
        if fault.code != "kafka-sources":
            raise
        pytest.skip(fault.message)
