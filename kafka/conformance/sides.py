"""The sides of Kafka that are compared with the model: its controller, a broker that leads, one that follows.

Says where their classes come from, and which variant of the model stands for each release. A new side is a part
(`kafka_part`), its questions in `block`, and an entry here; a record of comparisons, files of answers and the README's
table then have it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.base.kafka_requests import ConformRequest
from elrcheck.base.progress import Progress
from elrcheck.base.requests import Selection
from elrcheck.catalogue.configured import partition_config, release_numbers
from elrcheck.catalogue.evidence.conformance import Level, Side, newest_recorded
from elrcheck.kafka.conformance import broker_model, model_side
from elrcheck.kafka.conformance.block import Team
from elrcheck.kafka.conformance.broker_part import BROKER
from elrcheck.kafka.conformance.follower_part import FOLLOWER, truncated
from elrcheck.kafka.jars import ClassPath, Jars, from_home, from_maven, newest_release
from elrcheck.kafka.kafka_oracle import (
    BrokerOracle,
    ControllerOracle,
    FollowerOracle,
    LineOracle,
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


@dataclass(frozen=True)
class ComparedSide:
    """open: starts Kafka's classes of a source. rules: the functions that compute the model's answers.

    apart: the name of Kafka's class, if releases are compared one after the other, in this process; None if the
    releases of a variant are compared together.
    """

    open: Callable[..., AbstractContextManager[LineOracle]]
    rules: tuple[Callable[..., Any], ...]
    apart: str | None = None


SIDES: dict[Side, ComparedSide] = {
    "controller": ComparedSide(open_kafka, (model_side.situation_of, model_side.built, model_side.decide_step)),
    "broker": ComparedSide(open_broker, (broker_model.begin, broker_model.decide), BROKER.kafka),
    "follower": ComparedSide(open_follower, (truncated,), FOLLOWER.kafka),
}


def side_of(request: ConformRequest) -> Side:
    """Return the side of Kafka that a request compares."""
    match request.level:
        case "broker" | "follower" as side:
            return side
        case _:
            return "controller"


def level_of(request: ConformRequest) -> Level | None:
    """Return the part of the controller to which a request is limited."""
    match request.level:
        case "builder" | "controller" as level:
            return level
        case _:
            return None
