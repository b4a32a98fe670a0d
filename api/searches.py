"""`check`, `simulate` and `sweep`: the searches of the command line, called from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from elrcheck.api.arguments import (
    Place,
    Setting,
    Settings,
    Words,
    at_least,
    limits,
    more_than_nothing,
    one_of,
    path,
    selection,
    setting,
    told,
    words,
)
from elrcheck.api.result_types import CheckResult, SimulationResult, SweepResult, as_result
from elrcheck.base.requests import (
    DEFAULT_SCOPE,
    DEFAULT_VARIANT,
    CheckRequest,
    EngineName,
    SimulateRequest,
    SparkRequest,
    SweepRequest,
)


def check(
    variant: str = DEFAULT_VARIANT,
    scope: Place = DEFAULT_SCOPE,
    settings: Settings | None = None,
    *,
    properties: Words = (),
    liveness: bool = False,
    engine: EngineName = "local",
    workers: int | None = None,
    max_depth: int | None = None,
    max_states: int | None = None,
    time_budget: float | None = None,
    memory: int | None = None,
    stop_at_first: bool = False,
    fingerprint: Literal[0, 64, 128] = 0,
    drawn: bool = False,
    fresh: bool = False,
    run_dir: Place | None = None,
    resume: Place | None = None,
    spark: SparkRequest | None = None,
    progress: bool = False,
) -> CheckResult:
    """Explore every reachable state and check the properties, as `elrcheck check` does.

    settings: what `--set` overrides. properties: ids, names or globs; all by default. time_budget: seconds;
    memory: bytes. fingerprint: bits kept of each state, 0 for the whole state. drawn: put the state graph
    into the page if it is small. fresh: search again what an earlier run has found. run_dir: folder for
    traces. resume: folder of a run that stopped, whose variant, scope and settings need not be said again.
    """
    from elrcheck.checking.check import run_check

    one_of("engine", engine, get_args(EngineName))
    one_of("fingerprint", str(fingerprint), ("0", "64", "128"))
    at_least("workers", workers, 1)
    request = CheckRequest(
        selection(variant, scope, settings),
        words(properties),
        engine,
        workers,
        limits(max_depth, max_states, time_budget, memory),
        stop_at_first,
        path(run_dir),
        liveness,
        fingerprint,
        path(resume),
        selected=(variant, scope, settings) != (DEFAULT_VARIANT, DEFAULT_SCOPE, None),
        drawn=drawn,
        spark=spark or SparkRequest(),
        kept=True,
        fresh=fresh,
    )
    with told(progress) as shown:
        return as_result(CheckResult, run_check(request, shown))


def simulate(
    variant: str = DEFAULT_VARIANT,
    scope: Place = DEFAULT_SCOPE,
    settings: Settings | None = None,
    *,
    properties: Words = (),
    seed: int | None = None,
    walks: int | None = None,
    depth: int = 40,
    time_budget: float | None = None,
    workers: int | None = None,
    stop_at_first: bool = False,
    run_dir: Place | None = None,
    guided: bool = False,
    progress: bool = False,
) -> SimulationResult:
    """Walk at random through a scope, as `elrcheck simulate` does.

    seed: by default a fresh one, which the result tells. walks: by default as many as `time_budget` seconds
    allow, or 100,000. guided: go on from where few have been, in place of uniform walks.
    """
    from elrcheck.commands.simulate import run_simulate

    at_least("seed", seed, 0)
    at_least("walks", walks, 1)
    at_least("depth", depth, 1)
    at_least("workers", workers, 1)
    more_than_nothing("time_budget", time_budget)
    request = SimulateRequest(
        selection(variant, scope, settings),
        words(properties),
        seed,
        walks,
        depth,
        time_budget,
        workers,
        stop_at_first,
        path(run_dir),
        guided,
    )
    with told(progress) as shown:
        return as_result(SimulationResult, run_simulate(request, shown))


def sweep(
    axes: Mapping[str, Setting | Iterable[Setting]] | None = None,
    variant: str = DEFAULT_VARIANT,
    scope: Place = DEFAULT_SCOPE,
    settings: Settings | None = None,
    *,
    grid: Place | None = None,
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

    axes: a key of `settings`, `variant` or `scope`, and its values: a list, or the text that `--sweep` takes,
    such as `1..3` or `code_*`. workers: processes, by default one a processor. resume: folder of a sweep that
    stopped, whose axes need not be said again.
    """
    from elrcheck.commands.sweep.sweep import run_sweep

    one_of("engine", engine, ("local", "spark"))
    at_least("workers", workers, 1)
    request = SweepRequest(
        selection(variant, scope, settings),
        tuple(f"{key}={_axis(key, values)}" for key, values in (axes or {}).items()),
        path(grid),
        words(properties),
        limits(max_depth, max_states, time_budget, memory),
        stop_at_first,
        engine,
        workers,
        master=master,
        run_dir=path(run_dir),
        resume=path(resume),
        named=resume is None or bool(axes) or grid is not None,
    )
    with told(progress) as shown:
        return as_result(SweepResult, run_sweep(request, shown))


def _axis(key: str, values: Setting | Iterable[Setting]) -> str:
    """The values of an axis as `--sweep` writes them."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return setting(key, values)
    return ",".join(setting(key, value) for value in values)
