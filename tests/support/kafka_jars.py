"""Kafka's jars for tests: those that Maven resolved before, or those of one release by Maven."""

from __future__ import annotations

import os

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.jars import ClassPath, Jars, find_maven, from_maven, kept_versions
from elrcheck.kafka.java_program import find_jdk

ONE = "4.1.2"
# One release of every kind of difference; `conform --refresh` compares all of them.
ALL = ("3.9.1", "4.0.2", "4.1.0", "4.1.2", "4.3.1", "4.4.0")
OTHERS = ("3.9.1", "4.1.0", "4.3.1")
"""Beside `ONE`, for comparisons that take half a minute a release."""


def jars_or_skip(version: str = ONE, of: Jars = Jars.CONTROLLER) -> ClassPath:
    """Return the class path of a release; skip the test, with the reason, where it cannot be had."""
    if version not in kept_versions(os.environ, of) and find_maven(os.environ) is None:
        pytest.skip(f"no mvn, and the jars of Kafka {version} were not resolved before")
    try:
        find_jdk()
        return from_maven(version, of)
    except EnvironmentFault as fault:
        pytest.skip(f"{fault.message} {fault.excerpt or ''}")
