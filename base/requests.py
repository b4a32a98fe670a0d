"""What a run is asked to do: the command line's side of the conversation, as frozen data.

The owners of the jobs (`commands.check`, `commands.prove`, `tla_export`) take these and answer
with a report.  Names are still texts here; the owner resolves them and says what is unknown.
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
GraphFormat: TypeAlias = Literal["graphml", "dot", "json", "svg"]
TraceFormat: TypeAlias = Literal["tla", "itf", "json", "mermaid", "dot"]


KINDS = (
    "variants", "scopes", "properties", "witnesses", "actions", "knobs", "budgets", "scenarios", "hazards",
    "rules", "errors", "formats",
)  # fmt: skip
"""What `elrcheck list` lists and `elrcheck show --kind` takes."""


FAIL_ON: Mapping[str, str] = {
    "drift": "any difference from the baseline",
    "regression": "only those for the worse",
    "violated": "a violation, also one that the baseline expects",
    "inconclusive": "a run that a limit ended",
    "unreached-action": "an action that never fires within the budgets",
    "unreached-witness": "a witness that is not reached",
}
"""What `--fail-on` makes a failure. Words that are not about differences hold whatever a baseline expects."""
GateFailOn: TypeAlias = Literal[
    "drift", "regression", "violated", "inconclusive", "unreached-action", "unreached-witness"
]
CheckFailOn: TypeAlias = Literal["unreached-action", "unreached-witness", "inconclusive"]
GATE_FAIL_ON: tuple[GateFailOn, ...] = get_args(GateFailOn)
CHECK_FAIL_ON: tuple[CheckFailOn, ...] = get_args(CheckFailOn)


@dataclass(frozen=True)
class Selection:
    """Which model: a variant, a scope (a packaged name or a TOML file) and ``key=value`` overrides."""

    variant: str = DEFAULT_VARIANT
    scope: str = DEFAULT_SCOPE
    overrides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """Where a search must stop; None means no limit.  A limit that was met is never a pass."""

    max_depth: int | None = None
    max_states: int | None = None
    time_budget: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class SparkRequest:
    """How the engine `spark` runs.

    conf: texts KEY=VALUE. partitions: shares of the states, None for one a task that runs at a time.
    handover: states of a level from which on Spark makes the next one, None for what has been measured.
    storage: where level files are, if not in the run's folder: a path or URI that all executors see.
    """

    master: str = "local[*]"
    conf: tuple[str, ...] = ()
    partitions: int | None = None
    handover: int | None = None
    storage: str | None = None
    verbose: bool = False


@dataclass(frozen=True)
class CheckRequest:
    """`properties` are ids, names or globs; empty means all.  `workers` None means as many as useful.

    `liveness`: only liveness properties are meant, also by an empty choice. `fingerprint`: bits kept of
    a state, 0 for all. `resume`: the folder of a run to go on with; `selected` then says whether the
    selection is to be compared with the run's, or was not given. `checkpoint_every` is in seconds.
    `drawn`: the report is to hold the state graph if it is small.
    `fail_on`: what is a failure besides violations, of CHECK_FAIL_ON.
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


@dataclass(frozen=True)
class SweepRequest:
    """A grid over `selection`: `sweeps` are texts KEY=VALUES, `grid` a TOML file of more.

    `limits` and `stop_at_first` are for each configuration. `workers`: processes, None for one each
    processor; `large`: states beyond which a configuration gets the whole engine. `master`,
    `spark_conf`, `storage` and `verbose`, which shows what Spark says, are for the engine `spark`.
    `resume`: the folder of a sweep to go on with; `named` then says whether the grid is to be compared with
    that of the sweep, or was not given.
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
class SimulateRequest:
    """Random walks of `depth` steps.

    `seed` None means any; `walks` None as many as the time budget allows, a fixed number if there is none.
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
    """Statistics of a scope; `graph` is the file for its state graph, of at most `max_nodes` states.

    `drawn`: the report is to hold the state graph if it is small.
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
    """`timeout` is in seconds for each obligation; meeting it makes the obligation unknown."""

    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    workers: int | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class MutateRequest:
    """What to break on purpose. `timeout` is in seconds for each search, `max_states` a limit of each.

    hazards: ids, all if empty; None for no hazard at all. guards: drop the guards of `actions`, all if
    empty, in `selection`. properties: only those of the expected ones, or of those that guards protect.
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


@dataclass(frozen=True)
class ControllerRequest:
    """`rules` are ids, names or globs, empty means all; `brokers` None means as many as the scope has."""

    selection: Selection = field(default_factory=Selection)
    all_variants: bool = False
    brokers: int | None = None
    rules: tuple[str, ...] = ()
    workers: int | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class NewEntry:
    """An entry to add to a baseline."""

    name: str
    selection: Selection = field(default_factory=Selection)
    properties: tuple[str, ...] = ()
    liveness: bool = False
    max_depth: int | None = None
    max_states: int | None = None
    proof: bool = False
    teeth: bool = False


@dataclass(frozen=True)
class GateRequest:
    """Entries of a baseline to run again: those in `only`, all if empty, or `add` alone.

    update: write what was found into the baseline. fail_on: what is a failure, of GATE_FAIL_ON.
    """

    baseline: Path
    only: tuple[str, ...] = ()
    add: NewEntry | None = None
    update: bool = False
    fail_on: tuple[GateFailOn, ...] = ("drift",)
    workers: int | None = None


@dataclass(frozen=True)
class TlcRequest:
    """`run` is a run directory or a stored trace to confirm; `count` compares state counts instead."""

    selection: Selection = field(default_factory=Selection)
    run: Path | None = None
    count: bool = False
    jar: Path | None = None
    timeout: float | None = None
