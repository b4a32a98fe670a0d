"""Requests of the command line and of the functions in Python, as frozen data, with their options.

These are for searches; `proof_requests` has those for proofs, mutations and the gate, `kafka_requests` those about
Kafka itself. A command takes a request and returns a report. Names in a request are unresolved; the command resolves
them and rejects unknown ones.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_args

from elrcheck.base.common_options import (
    Drawn,
    Fresh,
    KeptOption,
    Liveness,
    ModelFile,
    ModelSource,
    PatchedModel,
    PatchFile,
    Processes,
    Properties,
    Seed,
    SparkMaster,
    StopAtFirst,
    Workers,
    fail_on_option,
    model_place,
    run_dir_option,
    workers_option,
)
from elrcheck.base.option import Option

DEFAULT_VARIANT = "kip_full"
DEFAULT_SCOPE = "three-brokers"
GUARD_SCOPE = "two-brokers"

EngineName: TypeAlias = Literal["local", "spark", "reference", "numpy"]
ProofSolver: TypeAlias = Literal["z3", "cvc5"]
ProofAssumption: TypeAlias = Literal["complete-winners"]
Fingerprint: TypeAlias = Literal[0, 64, 128]
"""Bits of a fingerprint; 0 stands for the whole state."""
GraphFormat: TypeAlias = Literal["graphml", "dot", "json", "svg"]
TraceFormat: TypeAlias = Literal["tla", "itf", "json", "mermaid", "dot"]

GateFailOn: TypeAlias = Literal[
    "drift", "regression", "violated", "inconclusive", "unreached-action", "unreached-witness"
]
CheckFailOn: TypeAlias = Literal["unreached-action", "unreached-witness", "inconclusive"]
GATE_FAIL_ON: tuple[GateFailOn, ...] = get_args(GateFailOn)
CHECK_FAIL_ON: tuple[CheckFailOn, ...] = get_args(CheckFailOn)


@dataclass(frozen=True)
class Selection:
    """The model to check: a variant in a scope, with changes."""

    variant: Annotated[
        str,
        Option(
            "Version of the protocol; see `elrcheck list variants`.",
            metavar="NAME",
            group="Model",
            complete="variants",
            positional=True,
        ),
    ] = DEFAULT_VARIANT
    scope: Annotated[
        str,
        Option(
            "Sizes and budgets: a packaged name or a TOML file.",
            metavar="NAME|FILE",
            kind="scope",
            group="Model",
            complete="scopes",
            otherwise="file",
            positional=True,
        ),
    ] = DEFAULT_SCOPE
    overrides: Annotated[
        tuple[str, ...],
        Option(
            "Override one size, budget or knob",
            flags="--set",
            kind="settings",
            group="Model",
            python="settings",
            positional=True,
        ),
    ] = ()
    model: ModelFile = None
    patch: PatchFile = None

    @property
    def source(self) -> ModelSource:
        model = self.model and model_place(self.model)
        return model if self.patch is None else PatchedModel(self.patch, model)


InModel: TypeAlias = Annotated[Selection, Option(parts=("variant", "scope", "overrides"))]
"""The selection within a model that another option names."""
KafkaSelection: TypeAlias = InModel
"""The selection of a verb that only knows Kafka's partition."""


@dataclass(frozen=True)
class Limits:
    """Limits at which a search stops; None means no limit. A search that reached a limit never passes."""

    max_depth: Annotated[
        int | None,
        Option(
            "Stop at this depth (steps from the initial state); inconclusive when reached.",
            least=1,
            least_in_python=0,
            group="Limits",
        ),
    ] = None
    max_states: Annotated[
        int | None, Option("Stop beyond this many distinct states; inconclusive when reached.", least=1, group="Limits")
    ] = None
    time_budget: Annotated[
        float | None,
        Option(
            "Stop after about this long, compilation and report included; inconclusive when reached.",
            kind="duration",
            group="Limits",
        ),
    ] = None
    memory: Annotated[
        int | None, Option("Memory limit; states beyond it spill to disk.", kind="size", least=1, group="Limits")
    ] = None

    def reached(self, distinct: int, seconds: float) -> str | None:
        """Return the limit, as its option, that a search with this many states and seconds has reached."""
        if self.max_states is not None and distinct >= self.max_states:
            return f"--max-states {self.max_states}"
        if self.time_budget is not None and seconds > self.time_budget:
            return f"--time-budget {self.time_budget:g}s"
        return None


@dataclass(frozen=True)
class SparkRequest:
    """Options of the engine `spark`."""

    master: SparkMaster = "local[*]"
    conf: Annotated[
        tuple[str, ...], Option("Set a Spark property", flags="--spark-conf", metavar="KEY=VALUE", group="Engine")
    ] = ()
    partitions: Annotated[
        int | None,
        Option(
            "Number of partitions of the states; by default one per concurrent Spark task.",
            least=1,
            most=32_000,
            group="Engine",
        ),
    ] = None
    handover: Annotated[
        int | None,
        Option(
            "Expand levels of at least this many states on Spark; by default a measured threshold.",
            metavar="STATES",
            least=1,
            group="Engine",
        ),
    ] = None
    storage: Annotated[
        str | None,
        Option(
            "Where a Spark run stores its states, by default in its run folder; every executor must be able to access"
            " it.",
            metavar="PATH|URI",
            group="Engine",
        ),
    ] = None
    ship_packages: Annotated[
        bool,
        Option(
            "Send executors the driver's numpy, pyarrow, pandas, llvmlite, msgspec and google-crc32c; executors must"
            " have the driver's platform and Python version.",
            group="Engine",
        ),
    ] = False
    verbose: Annotated[bool, Option("Show the output of Spark.", only="nowhere")] = False


@dataclass(frozen=True)
class CheckRequest:
    """Check the selected properties, by default all but those about liveness."""

    selection: Selection = field(default_factory=Selection)
    properties: Properties = ()
    workers: Workers = None
    limits: Limits = field(default_factory=Limits)
    stop_at_first: Annotated[bool, Option("Stop after the level of the first violation.", group="Properties")] = False
    liveness: Liveness = False
    fail_on: Annotated[tuple[CheckFailOn, ...], fail_on_option("Also fail", CHECK_FAIL_ON)] = ()
    fresh: Fresh = False
    fingerprint: Annotated[
        Fingerprint,
        Option(
            "Store a fingerprint of this many bits instead of each state; the report bounds the probability of an"
            " omission.",
            choices=(64, 128),
            group="Engine",
        ),
    ] = 0
    symmetry: Annotated[
        bool, Option("Count states that differ only in the names of members of symmetric sorts as one.", group="Engine")
    ] = False
    run_dir: Annotated[
        Path | None, run_dir_option("Run folder: stores traces, and checkpoints for a later --resume.")
    ] = None
    resume: Annotated[
        Path | None,
        Option(
            "Resume the run in this folder, by default the newest in .elrcheck/runs; variant, scope and properties come"
            " from the run.",
            metavar="[DIR]",
            kind="run",
            group="Run folder",
            complete="resumable_runs",
            otherwise="dir",
        ),
    ] = None
    checkpoint_every: Annotated[
        float,
        Option(
            "How often a long search writes a checkpoint.",
            metavar="30s|5m",
            kind="duration",
            group="Run folder",
            only="console",
        ),
    ] = 300.0
    engine: Annotated[
        EngineName,
        Option(
            "local: compiled; spark: the same on a cluster; numpy: vectorised; reference: plain Python.", group="Engine"
        ),
    ] = "local"
    spark: Annotated[SparkRequest, Option("Options of the engine `spark`.")] = field(default_factory=SparkRequest)
    drawn: Drawn = False
    selected: Annotated[
        bool, Option("True if the user gave a selection, which must match that of `resume`.", only="nowhere")
    ] = False
    kept: KeptOption = False


TRACES_SECONDS = 120.0
"""Default time limit of the search of `model diff` for traces."""
TRACES_STATES = 1_000_000
"""Its limit of pairs of states."""


@dataclass(frozen=True)
class ModelDiffRequest:
    """Compare two models, each MODEL, MODEL@VARIANT or VARIANT."""

    a: Annotated[str, Option(metavar="A", argument=True)]
    b: Annotated[str, Option(metavar="B", argument=True)]
    selection: Selection = field(default_factory=lambda: Selection(scope=GUARD_SCOPE))
    properties: Properties = ()
    workers: Workers = None
    limits: Limits = field(default_factory=Limits)
    fresh: Fresh = False


@dataclass(frozen=True)
class SweepRequest:
    """Check each configuration of a grid over a selection."""

    sweeps: Annotated[
        tuple[str, ...],
        Option(
            "An axis of the grid: variant, scope, or a key of --set; values as 1..3, a,b,c or code_*",
            flags="--sweep",
            kind="axes",
            python="axes",
            positional=True,
        ),
    ] = ()
    grid: Annotated[Path | None, Option("A TOML file with [axes], [[exclude]] and [[include]].", kind="file")] = None
    selection: Selection = field(default_factory=Selection)
    properties: Properties = ()
    limits: Limits = field(default_factory=Limits)
    stop_at_first: StopAtFirst = False
    engine: Annotated[
        Literal["local", "spark"],
        Option("local: processes on this machine; spark: tasks on a cluster.", group="Engine"),
    ] = "local"
    workers: Annotated[
        int | None, workers_option("Number of processes of the local engine, and of threads for a large search.")
    ] = None
    master: Annotated[str | None, Option("Spark master; by default local[*].", metavar="URL", group="Engine")] = None
    spark_conf: Annotated[
        tuple[str, ...], Option("Set a Spark property", metavar="KEY=VALUE", group="Engine", only="console")
    ] = ()
    storage: Annotated[
        str | None,
        Option(
            "Where large configurations store their states; every executor must be able to access it.",
            metavar="PATH|URI",
            group="Engine",
            only="console",
        ),
    ] = None
    large: Annotated[
        int,
        Option(
            "A configuration with more states runs later, on its own, with all workers.",
            metavar="STATES",
            least=1,
            group="Engine",
            only="console",
        ),
    ] = 2_000_000
    run_dir: Annotated[
        Path | None, run_dir_option("Run folder: stores traces, and finished rows for a later --resume.")
    ] = None
    resume: Annotated[
        Path | None,
        Option(
            "Resume the sweep in this folder; grid and limits come from the sweep.", kind="folder", group="Run folder"
        ),
    ] = None
    named: Annotated[
        bool, Option("True if the user gave a grid, which must match that of `resume`.", only="nowhere")
    ] = True
    verbose: Annotated[bool, Option("Show the output of Spark.", only="nowhere")] = False


@dataclass(frozen=True)
class SuiteRequest:
    """Check the configurations of a suite, by default all but deep ones."""

    only: Annotated[
        tuple[str, ...],
        Option("Run only these configurations or families", metavar="NAME|GLOB", complete="configurations"),
    ] = ()
    deep: Annotated[bool, Option("Also run the families marked deep, which take much longer.")] = False
    sample: Annotated[int | None, Option("Run only N of the selected configurations, evenly spread.", least=1)] = None
    files: Annotated[
        tuple[Path, ...], Option("Suite file to use instead of the packaged ones", flags="--file", kind="file")
    ] = ()
    fresh: Fresh = False
    record: Annotated[
        Path | None,
        Option("Write the exact counts to this file instead of comparing them with the recorded ones.", kind="file"),
    ] = None
    run_dir: Annotated[Path | None, run_dir_option("Folder for the traces of unexplained violations.")] = None
    workers: Processes = None
    selection: Annotated[Selection, Option(parts=("model", "patch"))] = field(default_factory=Selection)


@dataclass(frozen=True)
class SimulateRequest:
    """Take random walks through a scope."""

    selection: Selection = field(default_factory=Selection)
    properties: Properties = ()
    seed: Seed = None
    walks: Annotated[
        int | None,
        Option("Number of walks; by default 100000, or as many as --time-budget allows.", least=1, most=10**12),
    ] = None
    depth: Annotated[int, Option("Maximum number of steps in a walk.", least=1, most=1_000_000)] = 40
    time_budget: Annotated[float | None, Option("Stop after this long.", kind="duration", group="Limits")] = None
    workers: Workers = None
    stop_at_first: Annotated[
        bool, Option("Stop after the block of 4096 walks with the first violation.", group="Properties")
    ] = False
    guided: Annotated[bool, Option("Prefer rarely visited states close to a violation; never repeat a walk.")] = False
    run_dir: Annotated[Path | None, run_dir_option("Folder for traces.")] = None


@dataclass(frozen=True)
class ExploreRequest:
    """Gather statistics of a scope."""

    selection: Selection = field(default_factory=Selection)
    properties: Properties = ()
    workers: Workers = None
    limits: Limits = field(default_factory=Limits)
    graph: Annotated[
        Path | None, Option("Write the state graph, with violations of the properties marked.", kind="file")
    ] = None
    graph_format: Annotated[
        GraphFormat | None, Option("Format of --graph; by default taken from the extension of FILE.")
    ] = None
    max_nodes: Annotated[int, Option("Largest graph to write, in states (SVG: 200).", least=1, most=1_000_000)] = 2000
    drawn: Drawn = False


@dataclass(frozen=True)
class TraceFilters:
    """The part of a trace to show: leaves by glob, steps by number (None: from the first, to the last)."""

    only: Annotated[
        tuple[str, ...], Option("Show only these leaves of the state: isr, broker[1], or a glob", metavar="LEAF")
    ] = ()
    hide: Annotated[tuple[str, ...], Option("Hide these leaves", metavar="LEAF")] = ()
    first: Annotated[int | None, Option("Show steps from this one on.", flags="--from")] = None
    last: Annotated[int | None, Option("Show steps up to this one.", flags="--to")] = None
