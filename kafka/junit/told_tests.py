"""Tests of findings that no search finds: what happens is told in Java, to the classes of the other tests.

Of F-63 there is a run of the model that a failed proof gave (tests/proving/test_prove.py), but its steps are
those of three brokers and a socket, which no walk of one leader has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from elrcheck.kafka.junit.junit_source import About, driver, environment, java_file
from elrcheck.kafka.junit.leader_source import FIELDS, IMPORTS, PACKAGE, PARTS


@dataclass(frozen=True)
class ToldTest:
    """property: what it asserts. steps: the body of the test, a template of `kafka/java/junit`.

    parts: classes that it brings along beside those of a leader's test. how: what it does, for its Javadoc.
    """

    property: str
    steps: str
    parts: tuple[str, ...]
    how: str


TOLD: Mapping[str, ToldTest] = {
    "F-63": ToldTest(
        "P-2",
        "LateAnswer.java.jinja",
        ("Follower",),
        "Three kafka.cluster.Partition with logs in files, and what ReplicaFetcherThread does with an answer,"
        " without a network and threads.",
    )
}
"""By the id of a finding."""


def told_source(told: ToldTest, test: About) -> str:
    """The Java file."""
    body = environment().get_template(told.steps).render(subject=test.subject).rstrip().splitlines()
    parts = {name: driver("broker", name) for name in PARTS}
    parts |= {name: driver("junit", name) for name in told.parts}
    return java_file(test, PACKAGE, FIELDS, body, parts, IMPORTS)
