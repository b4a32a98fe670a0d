"""Requests: what the command line asks a command to do, as frozen data.

The modules that do the work (`commands.check`, `commands.prove`, `tla_export`) take a request and return
a report.  Names are unresolved strings here; the receiver resolves them and rejects unknown ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

DEFAULT_VARIANT = "kip_full"
DEFAULT_SCOPE = "three-brokers"
GUARD_SCOPE = "two-brokers"

EngineName: TypeAlias = Literal["local", "spark", "reference", "numpy"]
ProofSolver: TypeAlias = Literal["z3", "cvc5"]
ProofAssumption: TypeAlias = Literal["complete-winners"]
GraphFormat: TypeAlias = Literal["graphml", "dot", "json", "svg"]
TraceFormat: TypeAlias = Literal["tla", "itf", "json", "mermaid", "dot"]


KINDS = (
    "variants", "scopes", "properties", "witnesses", "actions", "knobs", "budgets", "scenarios", "hazards",
    "findings", "recipes", "rules", "errors", "formats",
)  # fmt: skip
"""Kinds of names that `elrcheck list` prints and `elrcheck show --kind` accepts."""


FAIL_ON: Mapping[str, str] = {
    "drift": "any difference from the baseline",
    "regression": "only differences for the worse",
    "violated": "a violation, even one that the baseline expects",
    "inconclusive": "a run that a limit stopped",
    "unreached-action": "an action that never fires within the budgets",
    "unreached-witness": "a witness that is not reached",
}
"""Values of `--fail-on`. Those that are not about differences apply whatever the baseline expects."""
GateFailOn: TypeAlias = Literal[
    "drift", "regression", "violated", "inconclusive", "unreached-action", "unreached-witness"
]
CheckFailOn: TypeAlias = Literal["unreached-action", "unreached-witness", "inconclusive"]
GATE_FAIL_ON: tuple[GateFailOn, ...] = get_args(GateFailOn)
CHECK_FAIL_ON: tuple[CheckFailOn, ...] = get_args(CheckFailOn)


@dataclass(frozen=True)
class Selection:
    """The model to check: a variant, a scope (a packaged name or a TOML file) and ``key=value`` overrides."""

    variant: str = DEFAULT_VARIANT
    scope: str = DEFAULT_SCOPE
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """Limits at which a search stops; None means no limit.  A search that reached a limit never passes."""

    max_depth: int | None = None
    max_states: int | None = None
    time_budget: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class SparkRequest:
    """Options of the engine `spark`.

    conf: KEY=VALUE strings. partitions: number of partitions of the states, None for one per concurrent task.
    handover: size of a level, in states, from which Spark computes the next one; None to decide by speed.
    storage: path or URI for the level files, visible to all executors; None for the run's folder.
    """

    master: str = "local[*]"
    conf: tuple[str, ...] = ()
    partitions: int | None = None
    handover: int | None = None
    storage: str | None = None
    verbose: bool = False


@dataclass(frozen=True)
class CheckRequest:
    """Check the selected properties. `properties` are ids, names or globs; empty means all.

    `workers` None means as many as useful. `liveness`: select liveness properties only, also when
    `properties` is empty. `fingerprint`: bits stored per state, 0 for the whole state. `resume`: folder of
    the run to resume; `selected` then tells whether the user gave a selection, which must match the run's.
    `checkpoint_every` is in seconds.
    `drawn`: include the state graph in the report if it is small.
    `fail_on`: what fails the check besides violations, from CHECK_FAIL_ON.
    `kept`: use the store of earlier answers of the same program; `fresh`: only write to it.
    """

    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    engine: EngineName = "local"
    workers: int | None = None
    limits: Limits = field(default_factory=Limits)
    stop_at_first: bool = False
    run_dir: Path | None = None
    liveness: bool = False
    fingerprint: int = 0
    resume: Path | None = None
    selected: bool = False
    checkpoint_every: float = 300.0
    spark: SparkRequest = field(default_factory=SparkRequest)
    drawn: bool = False
    fail_on: tuple[CheckFailOn, ...] = ()
    kept: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class SweepRequest:
    """Check a grid over `selection`: `sweeps` are KEY=VALUES strings, `grid` is a TOML file with more.

    `limits` and `stop_at_first` apply to each configuration. `workers`: processes, None for one per
    processor; `large`: states beyond which a configuration gets the whole engine. `master`,
    `spark_conf`, `storage` and `verbose`, which shows Spark's output, are for the engine `spark`.
    `resume`: folder of the sweep to resume; `named` then tells whether the user gave a grid, which must match
    the sweep's.
    """

    selection: Selection = field(default_factory=Selection)
    sweeps: tuple[str, ...] = ()
    grid: Path | None = None
    properties: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    stop_at_first: bool = False
    engine: Literal["local", "spark"] = "local"
    workers: int | None = None
    large: int = 2_000_000
    master: str | None = None
    spark_conf: tuple[str, ...] = ()
    verbose: bool = False
    run_dir: Path | None = None
    resume: Path | None = None
    named: bool = True
    storage: str | None = None


@dataclass(frozen=True)
class SuiteRequest:
    """Check the configurations of a suite: those in `only` (names, families or globs), or all but deep ones.

    files: suite files in place of the packaged ones. sample: only so many, evenly spread. fresh: search again
    what an earlier run has answered. run_dir: folder for traces of unexplained violations. record: file for
    the counts that the run finds, in place of comparing them with the packaged ones.
    """

    only: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    deep: bool = False
    sample: int | None = None
    fresh: bool = False
    workers: int | None = None
    run_dir: Path | None = None
    record: Path | None = None


@dataclass(frozen=True)
class SimulateRequest:
    """Take random walks of `depth` steps.

    `seed` None means any seed; `walks` None means as many as the time budget allows, or a default number
    if there is no budget.
    """

    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    seed: int | None = None
    walks: int | None = None
    depth: int = 40
    time_budget: float | None = None
    workers: int | None = None
    stop_at_first: bool = False
    run_dir: Path | None = None


@dataclass(frozen=True)
class ExploreRequest:
    """Gather statistics of a scope; `graph` is the file for its state graph, of at most `max_nodes` states.

    `drawn`: include the state graph in the report if it is small.
    """

    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    workers: int | None = None
    limits: Limits = field(default_factory=Limits)
    graph: Path | None = None
    graph_format: GraphFormat | None = None
    max_nodes: int = 2000
    drawn: bool = False


@dataclass(frozen=True)
class ProveRequest:
    """Prove properties by induction. `timeout`: seconds per obligation; one that exceeds it is unknown.

    fresh: prove again what an earlier run has proved.
    certificate: folder for what was proved; solver: ask this one again about everything that was proved.
    surviving: where a lemma is not preserved, find out what the others prove.
    needed: find out which obligation is open without each lemma.
    assumed: names of assumptions on steps, without which the claim would be false or is not proved.
    """

    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    workers: int | None = None
    timeout: float | None = None
    fresh: bool = False
    certificate: Path | None = None
    solver: ProofSolver | None = None
    surviving: bool = False
    needed: bool = False
    assumed: tuple[ProofAssumption, ...] = ()


@dataclass(frozen=True)
class CertificateRequest:
    """Check a certificate; solver: discharge it by this one. `timeout`: seconds per obligation."""

    folder: Path
    solver: ProofSolver | None = None
    workers: int | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class MutateRequest:
    """Mutate the model. `timeout` (in seconds) and `max_states` limit each search.

    rules: change the rules one expression at a time: of `functions` (empty for all), or a `sample` of these
    changes drawn by `seed`, over the `configurations` of the suite (empty for all small ones); controller:
    ask `prove --controller` too; answers: compare with Kafka's packaged answers first; proof: put
    what a property catches to the proof by induction. kept, fresh: as of `CheckRequest`.
    hazards: ids, empty for all, None for no hazard at all. guards: drop the guards of `actions` (empty for
    all), one by one, in `selection`. properties: restrict the expected or protected properties to these.
    """

    hazards: tuple[str, ...] | None = ()
    guards: bool = False
    actions: tuple[str, ...] = ()
    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    workers: int | None = None
    timeout: float | None = None
    max_states: int | None = None
    run_dir: Path | None = None
    rules: bool = False
    functions: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 1
    controller: bool = True
    answers: bool = True
    proof: bool = False
    kept: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class ControllerRequest:
    """Prove the controller's rules. `rules` are ids, names or globs, empty for all.

    `brokers` None means as many as the scope has.
    """

    selection: Selection = field(default_factory=Selection)
    all_variants: bool = False
    brokers: int | None = None
    rules: tuple[str, ...] = ()
    workers: int | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class NewEntry:
    """An entry to add to a baseline. suite: instead of one configuration, some of the suite."""

    name: str
    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    liveness: bool = False
    max_depth: int | None = None
    max_states: int | None = None
    proof: bool = False
    teeth: bool = False
    controller: bool = False
    suite: tuple[str, ...] = ()


@dataclass(frozen=True)
class GateRequest:
    """Rerun entries of a baseline: those in `only` (empty for all), or `add` alone.

    update: write the results into the baseline. fail_on: what fails the gate, from GATE_FAIL_ON.
    kept, fresh: as of `CheckRequest`, for everything that is searched.
    """

    baseline: Path
    only: tuple[str, ...] = ()
    add: NewEntry | None = None
    update: bool = False
    fail_on: tuple[GateFailOn, ...] = ("drift",)
    workers: int | None = None
    kept: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class TlcRequest:
    """Run TLC to confirm `run`, a run directory or a stored trace; `count` compares state counts instead."""

    selection: Selection = field(default_factory=Selection)
    run: Path | None = None
    count: bool = False
    jar: Path | None = None
    timeout: float | None = None


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
    first unexplained difference. record: file that keeps what was compared. answers: files of Kafka's answers
    to compare with instead, or `packaged`; keep_answers: ask one release, and write such a file.
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
    answers: tuple[str, ...] = ()
    keep_answers: Path | None = None

    def source_options(self, source: str) -> tuple[str, str]:
        """The option that names one of the versions or homes."""
        return ("--kafka" if source in self.kafka else "--kafka-home", source.removeprefix("home:"))
