"""Signatures of `import elrcheck`, for type checkers and editors.

Written by `python docs/generate_stub.py` from the options of requests: edit those.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from elrcheck.api.arguments import Place, Setting, Settings, Words
from elrcheck.api.model_walk import ModelWalk as ModelWalk
from elrcheck.api.result_types import AssessResult as AssessResult
from elrcheck.api.result_types import AuditResult as AuditResult
from elrcheck.api.result_types import CertificateResult as CertificateResult
from elrcheck.api.result_types import CheckResult as CheckResult
from elrcheck.api.result_types import ControllerResult as ControllerResult
from elrcheck.api.result_types import ExplainResult as ExplainResult
from elrcheck.api.result_types import ProofResult as ProofResult
from elrcheck.api.result_types import Result as Result
from elrcheck.api.result_types import RiskResult as RiskResult
from elrcheck.api.result_types import ScenarioResult as ScenarioResult
from elrcheck.api.result_types import SimulationResult as SimulationResult
from elrcheck.api.result_types import SweepResult as SweepResult
from elrcheck.api.result_types import TraceResult as TraceResult
from elrcheck.api.result_types import WhatIfResult as WhatIfResult
from elrcheck.base.errors import ElrError as ElrError
from elrcheck.base.errors import EnvironmentFault as EnvironmentFault
from elrcheck.base.errors import ExitCode as ExitCode
from elrcheck.base.errors import Interrupted as Interrupted
from elrcheck.base.errors import NothingChecked as NothingChecked
from elrcheck.base.errors import UsageFault as UsageFault
from elrcheck.base.requests import SparkRequest as SparkRequest
from elrcheck.base.version import __version__ as __version__

__all__ = [
    "AssessResult",
    "AuditResult",
    "CertificateResult",
    "CheckResult",
    "ControllerResult",
    "ElrError",
    "EnvironmentFault",
    "ExitCode",
    "ExplainResult",
    "Interrupted",
    "ModelWalk",
    "NothingChecked",
    "ProofResult",
    "Result",
    "RiskResult",
    "ScenarioResult",
    "SimulationResult",
    "SparkRequest",
    "SweepResult",
    "TraceResult",
    "UsageFault",
    "WhatIfResult",
    "__version__",
    "assess",
    "audit",
    "check",
    "check_certificate",
    "prove",
    "prove_controller",
    "replay",
    "risk",
    "scenario",
    "simulate",
    "start",
    "sweep",
    "what_if",
]

def assess(
    *,
    kafka: str | None = None,
    replication_factor: int | None = None,
    min_insync_replicas: int | None = None,
    elr: bool | None = None,
    unclean_leader_election_enable: bool = False,
    topics: Iterable[Place] = (),
    exclude: Words = (),
    logs: Iterable[Place] = (),
    bootstrap: str | None = None,
    client_config: Place | None = None,
    compare: Iterable[Mapping[str, Setting]] = (),
    fail_on: Literal["flag", "settings", "loss", "outage", "never"] = "loss",
    progress: bool = False,
) -> AssessResult:
    """List the findings known to lose data with a release and its settings, as `elrcheck assess` does.

    kafka: Release, such as 4.1.2, or a line, such as 4.1; by default that of the brokers in the log or the
        cluster.
    replication_factor: Replicas of a topic; by default those of the topics in the log or the cluster, else 3.
    min_insync_replicas: min.insync.replicas of a topic; by default that of these topics, else 1.
    elr: ELR on or off (eligible.leader.replicas.version 1 or 0); by default as in new clusters of the release.
    unclean_leader_election_enable: unclean.leader.election.enable=true on the topic.
    topics: Definitions of topics: output of kafka-topics.sh `describe`, kafka-configs.sh `describe`, or both;
        KafkaTopic resources of Strimzi (.yaml), kafka_topic resources of Terraform (.tf), or a folder of them.
    exclude: Skip files of these folders that match, such as `charts/*`, where * is any text.
    logs: Metadata log to audit: a folder, segment, snapshot, or dump.
    bootstrap: Audit a running cluster, and read its release from it.
    client_config: A file of Kafka's client properties, for TLS and SASL.
    compare: Repeat with one setting changed, such as kafka=4.3 or elr=off, and show what differs.
    fail_on: What makes the command exit with 1. flag: a flag of the audit; settings: also a topic whose settings
        allow a loss; loss: also a known finding that loses records; outage: also any other finding; never:
        nothing.
    progress: Show progress on stderr.
    """

def audit(
    *paths: Place,
    bootstrap: str | None = None,
    client_config: Place | None = None,
    repaired: Words = (),
    strict: bool = False,
    workers: int | None = 1,
    engine: Literal["local", "spark"] = "local",
    spark: SparkRequest | None = None,
    progress: bool = False,
) -> AuditResult:
    """Check the partitions of a real cluster, in its metadata logs or live, as `elrcheck audit` does.

    paths: Folders such as __cluster_metadata-0, segments, snapshots, or text of kafka-dump-log.sh; with the
        engine `spark` also URIs.
    bootstrap: Ask the brokers of a running cluster, instead of reading logs.
    client_config: A file of Kafka's client properties, for TLS and SASL.
    repaired: The cluster runs a build with the patch for this finding, such as F-28; the audit does not flag
        signs that the patch makes harmless.
    strict: Exit with 2 if a file is damaged, or records are missing.
    workers: Number of processes; auto: several only with four processors and 64 MiB of logs.
    engine: local: this machine; spark: the same on a cluster, from any storage that Spark reads.
    spark: Options of the engine `spark`.
    progress: Show progress on stderr.
    """

def check(
    variant: str = "kip_full",
    scope: Place = "three-brokers",
    settings: Settings | None = None,
    *,
    model: Place | None = None,
    patch: Place | None = None,
    properties: Words = (),
    workers: int | None = None,
    max_depth: int | None = None,
    max_states: int | None = None,
    time_budget: float | None = None,
    memory: int | None = None,
    stop_at_first: bool = False,
    liveness: bool = False,
    fresh: bool = False,
    fingerprint: Literal[0, 64, 128] = 0,
    symmetry: bool = False,
    run_dir: Place | None = None,
    resume: Place | None = None,
    engine: Literal["local", "spark", "reference", "numpy"] = "local",
    spark: SparkRequest | None = None,
    drawn: bool = False,
    progress: bool = False,
) -> CheckResult:
    """Explore every reachable state and check the properties, as `elrcheck check` does.

    variant: Version of the protocol; see `elrcheck list variants`.
    scope: Sizes and budgets: a packaged name or a TOML file.
    settings: Override one size, budget or knob.
    model: Model to use instead of Kafka's partition: a Python file, a folder with one, or a module; it runs as
        Python.
    patch: Unified diff to apply to a copy of the model, which is then used instead.
    properties: Check only these properties, by id, name or glob.
    workers: Number of threads for a search, or processes for a proof.
    max_depth: Stop at this depth (steps from the initial state); inconclusive when reached.
    max_states: Stop beyond this many distinct states; inconclusive when reached.
    time_budget: Stop after about this long, compilation and report included; inconclusive when reached (seconds).
    memory: Memory limit; states beyond it spill to disk (bytes).
    stop_at_first: Stop after the level of the first violation.
    liveness: Check the liveness properties (V-*) instead of the others.
    fresh: Search again, even if an earlier run stored the answer.
    fingerprint: Store a fingerprint of this many bits instead of each state; the report bounds the probability of
        an omission.
    symmetry: Count states that differ only in the names of members of symmetric sorts as one.
    run_dir: Run folder: stores traces, and checkpoints for a later `resume`.
    resume: Resume the run in this folder, by default the newest in .elrcheck/runs; variant, scope and properties
        come from the run.
    engine: local: compiled; spark: the same on a cluster; numpy: vectorised; reference: plain Python.
    spark: Options of the engine `spark`.
    drawn: Include the state graph in the page if it is small.
    progress: Show progress on stderr.
    """

def check_certificate(
    folder: Place,
    *,
    solver: Literal["z3", "cvc5"] | None = None,
    workers: int | None = None,
    timeout: float | None = None,
    model: Place | None = None,
    patch: Place | None = None,
    proofs: Place | None = None,
    ethos: Place | None = None,
    signatures: Place | None = None,
    fresh: bool = False,
    progress: bool = False,
) -> CertificateResult:
    """Compare a certificate of `prove` with this source, and check it with a solver if one is named.

    As `elrcheck prove --check-certificate` does.

    folder: A folder that `prove `certificate`` wrote.
    solver: Also check all proved obligations, or the whole certificate, with this solver.
    workers: Number of threads for a search, or processes for a proof.
    timeout: Time limit of each obligation; one that reaches it counts as unknown (seconds).
    model: Model to use instead of Kafka's partition: a Python file, a folder with one, or a module; it runs as
        Python.
    patch: Unified diff to apply to a copy of the model, which is then used instead.
    proofs: With `check_certificate`, `solver` cvc5: write a proof of each answer to this folder; ethos checks it.
    ethos: Program that checks proofs; by default ethos on PATH.
    signatures: Folder with the proof rules for ethos: proofs/eo/cpc of cvc5's source.
    fresh: Ask the solver again, even questions that an earlier run answered.
    progress: Show progress on stderr.
    """

def prove(
    variant: str = "kip_full",
    scope: Place = "three-brokers",
    settings: Settings | None = None,
    *,
    model: Place | None = None,
    patch: Place | None = None,
    properties: Words = (),
    workers: int | None = None,
    timeout: float | None = None,
    fresh: bool = False,
    assumed: Iterable[Literal["complete-winners"]] = (),
    certificate: Place | None = None,
    solver: Literal["z3", "cvc5"] | None = None,
    surviving: bool = False,
    liveness: bool = False,
    reductions: bool = False,
    needed: bool = False,
    any_size: bool = False,
    progress: bool = False,
) -> ProofResult:
    """Prove the properties by induction, with unbounded epochs, as `elrcheck prove` does.

    variant: Version of the protocol; see `elrcheck list variants`.
    scope: Sizes and budgets: a packaged name or a TOML file.
    settings: Override one size, budget or knob.
    model: Model to use instead of Kafka's partition: a Python file, a folder with one, or a module; it runs as
        Python.
    patch: Unified diff to apply to a copy of the model, which is then used instead.
    properties: Check only these properties, by id, name or glob.
    workers: Number of threads for a search, or processes for a proof.
    timeout: Time limit of each obligation; one that reaches it counts as unknown (seconds).
    fresh: Prove every obligation again, even those that an earlier run proved under the same rules.
    assumed: Also cover unclean elections and recoveries, under this assumption about who wins.
    certificate: Write the proved obligations as SMT-LIB to this folder.
    solver: Also check all proved obligations, or the whole certificate, with this solver.
    surviving: If some lemmas are not preserved, report which properties the others still prove.
    liveness: Prove that waits end (V-*), instead of the other properties.
    reductions: Prove instead that `check `reduce``, and skipping one of two steps that commute, hide no
        violation.
    needed: For each lemma, report an obligation that cannot be proved without it.
    any_size: Also try to prove each obligation for every size of the sorts, logs and limits at once.
    progress: Show progress on stderr.
    """

def prove_controller(
    variant: str = "kip_full",
    scope: Place = "three-brokers",
    settings: Settings | None = None,
    *,
    all_variants: bool = False,
    brokers: int | None = None,
    rules: Words = (),
    workers: int | None = None,
    timeout: float | None = None,
    progress: bool = False,
) -> ControllerResult:
    """Prove the rules of single controller steps from any legal registration: `elrcheck prove --controller`.

    variant: Version of the protocol; see `elrcheck list variants`.
    scope: Sizes and budgets: a packaged name or a TOML file.
    settings: Override one size, budget or knob.
    all_variants: Prove every variant.
    brokers: Number of brokers; by default that of the scope.
    rules: Prove only these rules, by id, name or glob.
    workers: Number of threads for a search, or processes for a proof.
    timeout: Time limit of each obligation; one that reaches it counts as unknown (seconds).
    progress: Show progress on stderr.
    """

def replay(file: Place, *, model: Place | None = None, patch: Place | None = None, progress: bool = False) -> ModelWalk:
    """Return a stored trace as a walk. Raises UsageFault if the model refuses one of its steps.

    file: The trace, in any notation that `elrcheck replay` reads.
    model: Model to use instead of Kafka's partition: a Python file, a folder with one, or a module; it runs as
        Python.
    patch: Unified diff to apply to a copy of the model, which is then used instead.
    progress: Show progress on stderr.
    """

def risk(
    kafka: str,
    *,
    replication_factor: int = 3,
    min_insync_replicas: int = 1,
    acks: Literal["all", "1", "0"] = "all",
    elr: bool | None = None,
    unclean_leader_election_enable: bool = False,
    first_partition: bool = False,
    events: Words = (),
    most: int = 3,
    seconds: float = 20.0,
    workers: int | None = None,
    fresh: bool = False,
    run_dir: Place | None = None,
    describe: Place | None = None,
    compare: Iterable[Mapping[str, Setting]] = (),
    progress: bool = False,
) -> RiskResult:
    """Find the events after which a topic can lose data, as `elrcheck risk` does.

    kafka: Release, such as 4.1.2, or a line, such as 4.1.
    replication_factor: Number of replicas of the partition, each on a broker of its own.
    min_insync_replicas: min.insync.replicas of the topic.
    acks: What the producer waits for.
    elr: ELR on or off (eligible.leader.replicas.version 1 or 0); by default as in new clusters of the release.
    unclean_leader_election_enable: unclean.leader.election.enable=true on the topic.
    first_partition: Ask about partition 0 of the topic: Kafka limits min.insync.replicas of every partition of a
        topic to the number of replicas of its partition 0.
    events: Combine only this kind of event; by default all of the release.
    most: Combine up to this many events.
    seconds: Time to compile and search, for each `compare` again; the groups of topics of `describe` share it
        (seconds).
    workers: Number of threads for a search, or processes for a proof.
    fresh: Search again, even if earlier runs have the answers.
    run_dir: Folder for traces.
    describe: Definitions of topics instead of the settings of one: output of kafka-topics.sh `describe`, kafka-
        configs.sh `describe`, or both; KafkaTopic resources of Strimzi (.yaml), kafka_topic resources of
        Terraform (.tf), or a folder of them.
    compare: Repeat with one setting changed, such as kafka=4.3 or elr=off, and show what differs.
    progress: Show progress on stderr.
    """

def scenario(name: str) -> ScenarioResult:
    """Replay a scenario in every variant that it names, as `elrcheck scenario` does.

    name: an id, such as E-6, or a TOML file.
    """

def simulate(
    variant: str = "kip_full",
    scope: Place = "three-brokers",
    settings: Settings | None = None,
    *,
    model: Place | None = None,
    patch: Place | None = None,
    properties: Words = (),
    seed: int | None = None,
    walks: int | None = None,
    depth: int = 40,
    time_budget: float | None = None,
    workers: int | None = None,
    stop_at_first: bool = False,
    guided: bool = False,
    run_dir: Place | None = None,
    progress: bool = False,
) -> SimulationResult:
    """Walk at random through a scope, as `elrcheck simulate` does.

    variant: Version of the protocol; see `elrcheck list variants`.
    scope: Sizes and budgets: a packaged name or a TOML file.
    settings: Override one size, budget or knob.
    model: Model to use instead of Kafka's partition: a Python file, a folder with one, or a module; it runs as
        Python.
    patch: Unified diff to apply to a copy of the model, which is then used instead.
    properties: Check only these properties, by id, name or glob.
    seed: Random seed; by default a fresh one, which the report prints.
    walks: Number of walks; by default 100000, or as many as `time_budget` allows.
    depth: Maximum number of steps in a walk.
    time_budget: Stop after this long (seconds).
    workers: Number of threads for a search, or processes for a proof.
    stop_at_first: Stop after the block of 4096 walks with the first violation.
    guided: Prefer rarely visited states close to a violation; never repeat a walk.
    run_dir: Folder for traces.
    progress: Show progress on stderr.
    """

def start(
    variant: str = "kip_full",
    scope: Place = "three-brokers",
    settings: Settings | None = None,
    *,
    model: Place | None = None,
    patch: Place | None = None,
    initial: int = 0,
    progress: bool = False,
) -> ModelWalk:
    """Return a walk through a model: `step` takes a step, `explain` explains why one is not enabled.

    variant: Version of the protocol; see `elrcheck list variants`.
    scope: Sizes and budgets: a packaged name or a TOML file.
    settings: Override one size, budget or knob.
    model: Model to use instead of Kafka's partition: a Python file, a folder with one, or a module; it runs as
        Python.
    patch: Unified diff to apply to a copy of the model, which is then used instead.
    initial: Number of the initial state, for a model with several.
    progress: Show progress on stderr.
    """

def sweep(
    axes: Mapping[str, Setting | Iterable[Setting]] | None = None,
    variant: str = "kip_full",
    scope: Place = "three-brokers",
    settings: Settings | None = None,
    *,
    grid: Place | None = None,
    model: Place | None = None,
    patch: Place | None = None,
    properties: Words = (),
    max_depth: int | None = None,
    max_states: int | None = None,
    time_budget: float | None = None,
    memory: int | None = None,
    stop_at_first: bool = False,
    engine: Literal["local", "spark"] = "local",
    workers: int | None = None,
    master: str | None = None,
    run_dir: Place | None = None,
    resume: Place | None = None,
    progress: bool = False,
) -> SweepResult:
    """Check a grid of configurations, as `elrcheck sweep` does; the limits apply to each of them.

    The values of an axis are a list, or the text that `--sweep` takes, such as `1..3` or `code_*`.

    axes: An axis of the grid: variant, scope, or a key of `set`; values as 1..3, a,b,c or code_*.
    grid: A TOML file with [axes], [[exclude]] and [[include]].
    variant: Version of the protocol; see `elrcheck list variants`.
    scope: Sizes and budgets: a packaged name or a TOML file.
    settings: Override one size, budget or knob.
    model: Model to use instead of Kafka's partition: a Python file, a folder with one, or a module; it runs as
        Python.
    patch: Unified diff to apply to a copy of the model, which is then used instead.
    properties: Check only these properties, by id, name or glob.
    max_depth: Stop at this depth (steps from the initial state); inconclusive when reached.
    max_states: Stop beyond this many distinct states; inconclusive when reached.
    time_budget: Stop after about this long, compilation and report included; inconclusive when reached (seconds).
    memory: Memory limit; states beyond it spill to disk (bytes).
    stop_at_first: Stop each search after the level of its first violation.
    engine: local: processes on this machine; spark: tasks on a cluster.
    workers: Number of processes of the local engine, and of threads for a large search.
    master: Spark master; by default local[*].
    run_dir: Run folder: stores traces, and finished rows for a later `resume`.
    resume: Resume the sweep in this folder; grid and limits come from the sweep.
    progress: Show progress on stderr.
    """

def what_if(question: Mapping[str, Any]) -> WhatIfResult:
    """Return the controller's decision; question and answer have the form of `elrcheck what-if`.

    Brokers may be numbers, lists may be tuples. If the controller refuses the request, the answer names Kafka's error.
    Raises UsageFault with the path of the field for a malformed question.
    """
