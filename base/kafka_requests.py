"""Requests about Kafka itself: its logs, classes, brokers and settings (see `requests`)."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from elrcheck.base.common_options import Workers, run_dir_option
from elrcheck.base.option import Option
from elrcheck.base.requests import SparkRequest

MOST_REPLICAS, MOST_MIN_ISR = 2**15 - 1, 2**31 - 1
"""The greatest replication factor of Kafka's protocol, and the greatest min.insync.replicas that Kafka accepts."""
ConformLevel: TypeAlias = Literal["builder", "controller", "broker", "follower"]

DEFINITIONS = (
    "output of kafka-topics.sh --describe, kafka-configs.sh --describe, or both; KafkaTopic resources of Strimzi"
    " (.yaml), kafka_topic resources of Terraform (.tf), or a folder of them"
)
Describe: TypeAlias = Annotated[
    Path | None,
    Option(f"Definitions of topics instead of the settings of one: {DEFINITIONS}.", metavar="FILE", kind="path"),
]
MinInsyncReplicas: TypeAlias = Annotated[int, Option("min.insync.replicas of the topic.", least=1, most=MOST_MIN_ISR)]
ElrEnabled: TypeAlias = Annotated[
    bool | None,
    Option("ELR on or off (eligible.leader.replicas.version 1 or 0); by default as in new clusters of the release."),
]
UncleanElection: TypeAlias = Annotated[bool, Option("unclean.leader.election.enable=true on the topic.")]
ClientConfig: TypeAlias = Annotated[
    Path | None,
    Option("With --bootstrap: a file of Kafka's client properties, for TLS and SASL.", kind="file", exists=True),
]
Compare: TypeAlias = Annotated[
    tuple[str, ...],
    Option("Repeat with one setting changed, such as kafka=4.3 or elr=off, and show what differs", kind="compared"),
]


def _home_option(help: str) -> Option:
    return Option(help, flags="--kafka-home", kind="folder", exists=True, group="Kafka")


@dataclass(frozen=True)
class AuditRequest:
    """Audit metadata logs, or a running cluster."""

    paths: Annotated[
        tuple[Path | str, ...],
        Option(
            "Folders such as __cluster_metadata-0, segments, snapshots, or text of kafka-dump-log.sh; with the engine"
            " `spark` also URIs.",
            metavar="[PATH...]",
            kind="location",
            argument=True,
        ),
    ] = ()
    bootstrap: Annotated[
        str | None, Option("Ask the brokers of a running cluster, instead of reading logs.", metavar="HOST:PORT[,...]")
    ] = None
    client_config: ClientConfig = None
    repaired: Annotated[
        tuple[str, ...],
        Option(
            "The cluster runs a build with the patch for this finding, such as F-28; the audit does not flag signs that"
            " the patch makes harmless",
            metavar="FINDING",
        ),
    ] = ()
    strict: Annotated[bool, Option("Exit with 2 if a file is damaged, or records are missing.")] = False
    workers: Annotated[
        int | None,
        Option(
            "Number of processes; auto: several only with four processors and 64 MiB of logs.",
            kind="workers",
            least=1,
            group="Engine",
            default="auto",
        ),
    ] = 1
    engine: Annotated[
        Literal["local", "spark"],
        Option("local: this machine; spark: the same on a cluster, from any storage that Spark reads.", group="Engine"),
    ] = "local"
    spark: Annotated[SparkRequest, Option("Options of the engine `spark`.", parts=("master", "conf"))] = field(
        default_factory=SparkRequest
    )


@dataclass(frozen=True)
class RiskRequest:
    """Find the events after which a topic may lose data."""

    kafka: Annotated[
        str,
        Option("Release, such as 4.1.2, or a line, such as 4.1.", metavar="VERSION", group="Kafka", positional=True),
    ]
    replication_factor: Annotated[
        int, Option("Number of replicas of the partition, each on a broker of its own.", least=1)
    ] = 3
    min_insync_replicas: MinInsyncReplicas = 1
    acks: Annotated[Literal["all", "1", "0"], Option("What the producer waits for.")] = "all"
    elr: ElrEnabled = None
    unclean_leader_election_enable: UncleanElection = False
    first_partition: Annotated[
        bool,
        Option(
            "Ask about partition 0 of the topic: Kafka limits min.insync.replicas of every partition of a topic to the"
            " number of replicas of its partition 0."
        ),
    ] = False
    events: Annotated[
        tuple[str, ...],
        Option("Combine only this kind of event; by default all of the release", flags="--event", metavar="NAME"),
    ] = ()
    most: Annotated[int, Option("Combine up to this many events.", flags="--events", least=1, most=4)] = 3
    seconds: Annotated[
        float,
        Option(
            "Time to compile and search, for each --compare again; the groups of topics of --describe share it.",
            flags="--time-budget",
            kind="duration",
        ),
    ] = 20.0
    workers: Workers = None
    fresh: Annotated[bool, Option("Search again, even if earlier runs have the answers.", group="Limits")] = False
    run_dir: Annotated[Path | None, run_dir_option("Folder for traces.")] = None
    topics: Annotated[tuple[str, ...], Option("The topics that have these settings.", only="nowhere")] = ()


@dataclass(frozen=True)
class AssessRequest:
    """List the findings known to lose data with these settings, and the signs of them in a log or a cluster."""

    kafka: Annotated[
        str | None,
        Option(
            "Release, such as 4.1.2, or a line, such as 4.1; by default that of the brokers in the log or the cluster.",
            metavar="VERSION",
            group="Kafka",
        ),
    ] = None
    replication_factor: Annotated[
        int | None,
        Option(
            "Replicas of a topic; by default those of the topics in the log or the cluster, else 3.",
            least=1,
            most=MOST_REPLICAS,
        ),
    ] = None
    min_insync_replicas: Annotated[
        int | None,
        Option("min.insync.replicas of a topic; by default that of these topics, else 1.", least=1, most=MOST_MIN_ISR),
    ] = None
    elr: ElrEnabled = None
    unclean_leader_election_enable: UncleanElection = False
    topics: Annotated[
        tuple[Path, ...], Option(f"Definitions of topics: {DEFINITIONS}", metavar="FILE", kind="path")
    ] = ()
    exclude: Annotated[
        tuple[str, ...],
        Option("Skip files of these folders that match, such as `charts/*`, where * is any text", metavar="GLOB"),
    ] = ()
    logs: Annotated[
        tuple[Path | str, ...],
        Option(
            "Metadata log to audit: a folder, segment, snapshot, or dump",
            flags="--log",
            metavar="PATH",
            kind="location",
        ),
    ] = ()
    bootstrap: Annotated[
        str | None, Option("Audit a running cluster, and read its release from it.", metavar="HOST:PORT[,...]")
    ] = None
    client_config: ClientConfig = None
    compare: Compare = ()
    fail_on: Annotated[
        Literal["flag", "settings", "loss", "outage", "never"],
        Option(
            "What makes the command exit with 1. flag: a flag of the audit; settings: also a topic whose settings"
            " allow a loss; loss: also a known finding that loses records; outage: also any other finding; never:"
            " nothing."
        ),
    ] = "loss"


@dataclass(frozen=True)
class ReproduceRequest:
    """Reproduce a finding on a real cluster."""

    finding: Annotated[
        str, Option("A finding, or one of its recipes.", metavar="FINDING[/RECIPE]", complete="recipes", argument=True)
    ]
    order: Annotated[str | None, Option("The recipe, if FINDING does not name it.", metavar="RECIPE")] = None
    kafka: Annotated[
        str | None, Option("Release to run, such as 4.1.2; Maven fetches its jars.", metavar="VERSION", group="Kafka")
    ] = None
    home: Annotated[Path | None, _home_option("Folder of an unpacked Kafka distribution to run.")] = None
    classes: Annotated[
        tuple[Path, ...],
        Option(
            "Jar or folder of classes to load before Kafka's own, such as a patch",
            metavar="PATH",
            kind="path",
            exists=True,
            group="Kafka",
        ),
    ] = ()
    patched: Annotated[
        bool,
        Option("Build the patch of the finding from Kafka's sources, and load it before Kafka's own.", group="Kafka"),
    ] = False
    control: Annotated[
        bool,
        Option(
            "Repeat the steps on a second cluster without the supposed cause, mostly with ELR off.", show_default=True
        ),
    ] = True
    runs: Annotated[
        int,
        Option(
            "Repeat the run, each time on a new cluster, and report how often the finding shows.", least=1, most=10_000
        ),
    ] = 1
    keep: Annotated[
        Path | None,
        Option(
            "Keep logs, settings and the metadata log (for `elrcheck audit`) in this empty folder.",
            metavar="DIR",
            kind="path",
        ),
    ] = None
    patience: Annotated[
        float,
        Option(
            "Multiply every time limit by this factor, on a slow or busy machine.",
            metavar="FACTOR",
            kind="factor",
            least=0.1,
            most=100.0,
        ),
    ] = 1.0


@dataclass(frozen=True)
class UpstreamRequest:
    """Write a finding as an issue, a test and a change for Kafka's repository."""

    finding: Annotated[str, Option("A finding, such as F-20.", metavar="FINDING", argument=True)]
    out: Annotated[Path, Option("Output folder; created if it does not exist.", kind="folder")]
    kafka: Annotated[
        str | None,
        Option("Release that the change is for; by default the newest that it was tried on.", metavar="VERSION"),
    ] = None
    run: Annotated[
        bool, Option("Run Kafka's own tests of the changed classes, and the new ones, without and with the change.")
    ] = False


@dataclass(frozen=True)
class ConformRequest:
    """Compare the model with Kafka's own classes."""

    kafka: Annotated[
        tuple[str, ...],
        Option(
            "Release to compare with, such as 4.1.2, or `newest` for the newest that Maven finds; Maven fetches jars",
            metavar="VERSION|newest",
            group="Kafka",
        ),
    ] = ()
    homes: Annotated[
        tuple[Path, ...], _home_option("Folder of an unpacked Kafka distribution, whose libs are used")
    ] = ()
    variant: Annotated[
        str | None,
        Option(
            "Variant of the model; by default the one that stands for the release.",
            metavar="NAME",
            group="Model",
            complete="variants",
        ),
    ] = None
    overrides: Annotated[
        tuple[str, ...], Option("Override one knob of the model", flags="--set", kind="settings", group="Model")
    ] = ()
    level: Annotated[
        ConformLevel | None,
        Option(
            "What to compare: PartitionChangeBuilder, the controller's managers (by default both),"
            " kafka.cluster.Partition of a broker, or the ReplicaFetcherThread of a follower."
        ),
    ] = None
    comparisons: Annotated[
        int,
        Option("Approximate number of answers to compare with each release.", flags="--comparisons --steps", least=1),
    ] = 100_000
    seconds: Annotated[
        float | None,
        Option("Stop after this long, and report what was compared by then.", metavar="90|5m|1h", kind="duration"),
    ] = None
    stop_at_first: Annotated[
        bool, Option("Stop at the first difference without an explanation.", group="Properties")
    ] = False
    seed: Annotated[int, Option("Seed of the random questions.", least=0, most=2**64 - 1)] = 1
    record: Annotated[
        Path | None,
        Option("Record the comparison in this file; `elrcheck show VARIANT` reads the packaged one.", kind="file"),
    ] = None
    refresh: Annotated[
        bool,
        Option(
            "Repeat the stale comparisons of the --record file, or of the packaged one: those whose rules have changed"
            " since. Uses the recorded releases, seeds and numbers of answers."
        ),
    ] = False
    answers: Annotated[
        tuple[str, ...],
        Option(
            "Compare with answers of Kafka stored in a file, without Java; `packaged` stands for those that come with"
            " elrcheck",
            metavar="FILE|packaged",
        ),
    ] = ()
    keep_answers: Annotated[
        Path | None, Option("Ask one release, and write its answers to a file for --answers.", kind="file")
    ] = None
    workers: Workers = None

    def source_options(self, source: str) -> tuple[str, str]:
        """Return the option that names a version or home, and its value."""
        return ("--kafka" if source in self.kafka else "--kafka-home", source.removeprefix("home:"))
