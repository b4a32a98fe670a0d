"""Kafka's classes for a run, and the variant of the model that stands for each release."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Progress
from elrcheck.base.requests import Selection
from elrcheck.catalogue.configured import partition_config, release_numbers
from elrcheck.catalogue.evidence.conformance import newest_recorded
from elrcheck.kafka.conformance.comparison import Team
from elrcheck.kafka.jars import ClassPath, Jars, from_home, from_maven, newest_release
from elrcheck.kafka.kafka_oracle import (
    BrokerOracle,
    ControllerOracle,
    FollowerOracle,
    Pairs,
    open_broker_oracle,
    open_follower_oracle,
    open_oracle,
)
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS

SCOPE = "two-brokers"
"""The scope of a comparison, in which only the variant's knobs matter, not budgets."""
NEWEST = "newest"
"""Stands for the newest version that Maven finds."""
HOME = "home:"
"""Prefix of a source that is a folder, not a version."""


def class_path_of(source: str, jars: Jars = Jars.CONTROLLER) -> ClassPath:
    """Return the jars of a version, or of the distribution in a folder."""
    if source.startswith(HOME):
        return from_home(Path(source.removeprefix(HOME)))
    return from_maven(source, jars)


def open_kafka(source: str, record: Pairs | None = None) -> AbstractContextManager[ControllerOracle]:
    """Open the controller's classes of a source, in a Java process that ends with the block."""
    return open_oracle(class_path_of(source), record=record)


def open_broker(source: str, record: Pairs | None = None) -> AbstractContextManager[BrokerOracle]:
    """Open kafka.cluster.Partition of a source, in a Java process that ends with the block."""
    return open_broker_oracle(class_path_of(source, Jars.BROKER), record)


def open_follower(source: str, record: Pairs | None = None) -> AbstractContextManager[FollowerOracle]:
    """Open kafka.server.ReplicaFetcherThread of a source, in a Java process that ends with the block."""
    return open_follower_oracle(class_path_of(source, Jars.BROKER), record)


def teams_of(request: ConformRequest, progress: Progress) -> list[Team]:
    """Group the sources of a request by their variant; raises faults here rather than in a worker."""
    sources = [*(_named(name, progress) for name in request.kafka), *(f"{HOME}{home}" for home in request.homes)]
    if not sources:
        raise UsageFault(
            "usage-missing",
            "name what to compare with: --kafka VERSION or --kafka-home DIR",
            help="such as --kafka 4.1.2; both may be repeated",
        )
    by_variant: dict[str, list[str]] = {}
    for source in dict.fromkeys(sources):
        progress.stage(f"opening Kafka's classes of {source.removeprefix(HOME)}")
        with open_kafka(source) as oracle:
            variant = request.variant or variant_of(oracle.version)
        by_variant.setdefault(variant, []).append(source)
    return [Team(variant, config_of(variant, request), tuple(of_variant)) for variant, of_variant in by_variant.items()]


def _named(name: str, progress: Progress) -> str:
    """Return a release; for `newest` the one that Maven finds, with a note if it was never compared."""
    if name != NEWEST:
        return name
    recorded = newest_recorded()
    progress.stage("asking Maven for the newest release of Kafka")
    version = newest_release(recorded)
    verdict = "it is recorded" if version == recorded else f"not recorded: the newest recorded one is {recorded}"
    progress.stage(f"Kafka {version} is the newest release; {verdict}")
    return version


def config_of(variant: str, request: ConformRequest) -> Config:
    """Return the configuration of the model that is compared."""
    return replace(partition_config(Selection(variant, SCOPE, request.overrides)), spare_brokers=0)


def variant_of(version: str) -> str:
    """Return the variant that names a release of Kafka, or else the one that names the newest older release."""
    named = [(release_numbers(release), variant.name) for variant in VARIANTS for release in variant.kafka]
    older = [(release, name) for release, name in named if release <= release_numbers(version)]
    if not older:
        raise UsageFault(
            "kafka-version",
            f"no variant of the model stands for Kafka {version}",
            help=f"name one with --variant; the oldest is of Kafka {'.'.join(map(str, min(named)[0]))}",
        )
    return max(older)[1]
