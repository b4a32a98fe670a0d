"""Requests that are about Kafka itself: its logs, its classes, its brokers, its settings (see `requests`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from elrcheck.base.requests import SparkRequest

ConformLevel: TypeAlias = Literal["builder", "controller", "broker"]


@dataclass(frozen=True)
class AuditRequest:
    """Audit metadata logs, or a cluster that runs. strict: damage is an error.

    paths: files and folders; a text is a URI of a storage that only Spark reads. bootstrap: instead,
    HOST:PORT of brokers to ask, and client_config: a file with Kafka's client properties for that. workers:
    processes of the local engine, None for as many as are of use. repaired: findings whose patches the
    cluster's build has.
    """

    paths: tuple[Path | str, ...] = ()
    strict: bool = False
    engine: Literal["local", "spark"] = "local"
    spark: SparkRequest = field(default_factory=SparkRequest)
    bootstrap: str | None = None
    client_config: Path | None = None
    workers: int | None = 1
    repaired: tuple[str, ...] = ()


@dataclass(frozen=True)
class RiskRequest:
    """Ask after which events a topic may lose data.

    kafka: a release or a line of releases; elr: None for what it ships. first_partition: the partition is
    number 0 of its topic. events: only these, all if empty; most: how many of them; seconds: time for the
    search. fresh: search again what is known. run_dir: where traces go. topics: those with these settings.
    """

    kafka: str
    replication_factor: int = 3
    min_insync_replicas: int = 1
    acks: Literal["all", "1", "0"] = "all"
    elr: bool | None = None
    unclean_leader_election_enable: bool = False
    first_partition: bool = False
    events: tuple[str, ...] = ()
    most: int = 3
    seconds: float = 20.0
    workers: int | None = None
    fresh: bool = False
    run_dir: Path | None = None
    topics: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReproduceRequest:
    """Show a finding on a real cluster.

    finding: its id, or FINDING/RECIPE; order: the recipe, if `finding` does not name it. kafka: a version to
    get by Maven, or home: the folder of a distribution. classes: jars and folders that go before Kafka's own
    jars; patched: so does the patch of the finding. control: compare with the control. keep: an empty folder
    for logs. patience: a factor for time limits. runs: how often, for a rate.
    """

    finding: str
    order: str | None = None
    kafka: str | None = None
    home: Path | None = None
    control: bool = True
    keep: Path | None = None
    patience: float = 1.0
    runs: int = 1
    classes: tuple[Path, ...] = ()
    patched: bool = False


@dataclass(frozen=True)
class ConformRequest:
    """Compare the model with Kafka's own classes.

    kafka: versions to get by Maven; homes: folders of installed Kafka distributions. variant: of the model,
    None for the one that stands for each version; overrides: ``key=value``, so that the model differs.
    level: only the change builder, only the controller's managers, None for both; or a broker.
    comparisons: how many, for each version; seconds: time limit of the whole run. stop_at_first: at the
    first unexplained difference. record: file that keeps what was compared. refresh: repeat the comparisons
    of that file, or of the packaged one, whose rules have changed since; the file has their options. answers:
    files of Kafka's answers to compare with instead, or `packaged`; keep_answers: ask one release, and write
    such a file.
    """

    kafka: tuple[str, ...] = ()
    homes: tuple[Path, ...] = ()
    variant: str | None = None
    overrides: tuple[str, ...] = ()
    level: ConformLevel | None = None
    comparisons: int = 100_000
    seconds: float | None = None
    seed: int = 1
    workers: int | None = None
    stop_at_first: bool = False
    record: Path | None = None
    refresh: bool = False
    answers: tuple[str, ...] = ()
    keep_answers: Path | None = None

    def source_options(self, source: str) -> tuple[str, str]:
        """The option that names one of the versions or homes."""
        return ("--kafka" if source in self.kafka else "--kafka-home", source.removeprefix("home:"))
