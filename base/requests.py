"""Requests: what the command line asks a command to do, as frozen data.

Here are those of searches; `proof_requests` has those of proofs, mutations and the gate, `kafka_requests`
those that are about Kafka itself. The modules that do the work take a request and return a report. Names
are unresolved strings here; the receiver resolves them and rejects unknown ones.
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
    "variants",
    "scopes",
    "properties",
    "witnesses",
    "actions",
    "knobs",
    "budgets",
    "scenarios",
    "hazards",
    "findings",
    "recipes",
    "rules",
    "errors",
    "formats",
    "terms",
)
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
    if there is no budget. `guided`: go on from where few have been, in place of uniform walks.
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
    guided: bool = False


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
