"""Engines: run the one that a request names and return its `Outcome`."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from elrcheck.base.errors import Interrupted, UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.progress import LevelDone, Progress
from elrcheck.base.requests import CheckRequest
from elrcheck.explorer.search.growth import growth_of, project
from elrcheck.explorer.search.outcome import Outcome, outcome_of
from elrcheck.explorer.store.memory import return_large_blocks, used_bytes
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig

if TYPE_CHECKING:
    from elrcheck.checking.runs.checkpoint import RunFolder, Saved
    from elrcheck.explorer.runs.kept_searches import Asked
    from elrcheck.explorer.search.compiled import Search
    from elrcheck.explorer.search.family import Family
    from elrcheck.explorer.search.result import SearchResult
    from elrcheck.explorer.search.vector import VectorSearch
    from elrcheck.lang.lowering.lowered import Lowered
    from elrcheck.lang.lowering.program import Program

LEAST_ROOM = 16 * 2**20
"""Minimum memory for states, in bytes; a search does not start with less."""
OVERHEAD = 80 * 2**20
"""Memory a search needs besides states, in bytes: level file buffers, results of native calls (measured)."""


OpenRun = Callable[["Program"], "tuple[RunFolder, Saved | None]"]
"""Opens the run folder for a lowered program; also returns the checkpoint of an earlier run, if any."""


def explore(
    model: Model,
    config: ModelConfig,
    chosen: Sequence[Fn],
    request: CheckRequest,
    progress: Progress,
    open_run: OpenRun | None = None,
    family: Family | None = None,
    start: object = None,
    lowered: Lowered | None = None,
) -> Outcome:
    """Run the engine that the request names. Only the local engine keeps its run in a folder.

    family: one that the configuration is in, whose kernel the local engine then uses. start: for the local
    engine, a reachable state to search from instead of the initial one. lowered: the program for the compiled
    engines, if there is one already. The caller ends the run that `open_run` opened (`RunFolder.closing`).
    """
    if request.engine not in ("local", "spark") and request.fingerprint:
        raise UsageFault("engine-option", "--fingerprint needs the engine local or spark", help="leave out --engine")
    if request.engine not in ("local", "spark") and request.resume is not None:
        raise UsageFault("engine-option", "--resume needs the engine local or spark", help="leave out --engine")
    if request.engine == "reference":
        return _reference(model, config, chosen, request)
    return _compiled(model, config, chosen, request, progress, open_run, family, start, lowered)


def run_search(
    model: Model,
    config: ModelConfig,
    chosen: Sequence[Fn],
    request: CheckRequest,
    progress: Progress,
    open_run: OpenRun | None = None,
    family: Family | None = None,
    start: object = None,
    lowered: Lowered | None = None,
) -> Ended:
    """Run the local or the numpy engine. lowered: the program, if there is one already."""
    from elrcheck.explorer.kernel.kept_program import kept_kernel
    from elrcheck.explorer.kernel.native_code import KernelCache
    from elrcheck.explorer.search.compiled import Search, SearchSettings, default_workers
    from elrcheck.explorer.search.result import LevelStats
    from elrcheck.explorer.search.vector import VectorSearch

    if lowered is None:
        lowered = _lowered(model, config, chosen, progress, family, start)
    search: Search | VectorSearch
    folder: RunFolder | None = None
    interrupts = Interrupts()

    sizes: dict[int, int] = {}

    def tell(level: LevelStats) -> None:
        sizes[level.depth] = level.frontier
        seen = list(sizes.values())
        guess = project(seen)
        progress.tell(
            LevelDone(
                level.depth,
                level.frontier,
                level.generated,
                level.distinct,
                level.seconds,
                level.remark,
                growth_of(seen),
                None if guess is None else max(guess.states, level.distinct),
            )
        )

    with contextlib.ExitStack() as stack:
        if request.engine == "numpy":
            search = VectorSearch(lowered.program, limits=request.limits)
            how = "numpy"
        else:
            saved: Saved | None = None
            if open_run is not None:
                folder, saved = open_run(lowered.program)
                stack.enter_context(folder.kept_if_saved())
            cache, native = KernelCache(), None
            if request.engine == "local":
                words = request.fingerprint // 64
                native = kept_kernel(lowered, cache, words) if family is None else family.native
            settings = SearchSettings(
                limits=replace(request.limits, memory=_room_for_states(request.limits.memory)),  # beside the kernel
                workers=request.workers or default_workers(),
                cache=cache,
                fingerprint=request.fingerprint,
                keeper=folder,
                interrupted=interrupts,
            )
            if request.engine == "spark":
                from elrcheck.spark.engine import spark_search

                search = stack.enter_context(spark_search(lowered.program, request.spark, settings, progress))
            else:
                search = Search(lowered.program, settings, native=native)
            how = "kernel from the cache" if search.native.cached else "kernel compiled"
            how = how if family is None else "kernel shared"
            if saved is not None:
                progress.stage("reading the checkpoint")
                search.resume(saved.levels, saved.tally)
        progress.stage("searching")
        stack.enter_context(interrupts)
        result = search.run(tell, "first" if request.stop_at_first else "complete")
        about = search.about() if isinstance(search, Search) else ""
    size = f"{len(lowered.program.instances)} action instances, {search.layout.used_bits} bits"
    if interrupts.wanted and not result.complete:
        raise _interrupted(result, folder)
    return Ended(lowered, search, result, f"{size}, {how}{about}", folder)


def _lowered(
    model: Model, config: ModelConfig, chosen: Sequence[Fn], progress: Progress, family: Family | None, start: object
) -> Lowered:
    from elrcheck.explorer.kernel.kept_program import kept_lowering

    progress.stage("compiling the model")
    with no_collection():
        lowered = kept_lowering(model, config, chosen) if family is None else family.member(config)
        return lowered if start is None else lowered.started(start)


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Pauses garbage collection: lowering creates a million small objects, and none becomes garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _room_for_states(memory: int | None) -> int | None:
    """The memory that `--memory` leaves for states, in bytes; the limit covers the whole process."""
    if memory is None:
        return None
    return_large_blocks()
    used = used_bytes() + OVERHEAD
    if memory - used < LEAST_ROOM:
        raise UsageFault(
            "memory-too-small",
            f"--memory {memory / 2**20:.0f} MiB: the program alone needs {used / 2**20:.0f} MiB here",
            help=f"set at least {(used + LEAST_ROOM) / 2**20:.0f} MiB",
        )
    return memory - used


def _interrupted(result: SearchResult, folder: RunFolder | None) -> Interrupted:
    what = f"stopped at depth {len(result.levels) - 1}, {result.distinct:,} states"
    if folder is None or not folder.saved:
        return Interrupted("interrupted", what)
    return Interrupted(
        "interrupted", what, where=str(folder.folder), help=f"resume with `elrcheck check --resume {folder.folder}`"
    )


def _compiled(
    model: Model,
    config: ModelConfig,
    chosen: Sequence[Fn],
    request: CheckRequest,
    progress: Progress,
    open_run: OpenRun | None,
    family: Family | None,
    start: object,
    lowered: Lowered | None,
) -> Outcome:
    from elrcheck.checking.kept_outcomes import find_outcome, keep_outcome, may_be_kept, mode_of
    from elrcheck.explorer.search.retrace import Retrace

    lowered = lowered or _lowered(model, config, chosen, progress, family, start)
    asked: Asked | None = None
    if may_be_kept(request):
        from elrcheck.explorer.runs.kept_searches import Asked

        asked = Asked(lowered.program, mode_of(request), request.fresh)
        known = find_outcome(asked, lowered, chosen, request)
        if known is not None:
            return known
    ended = run_search(model, config, chosen, request, progress, open_run, family, start, lowered)
    progress.stage("rebuilding traces")
    program = ended.lowered.program
    wanted = [
        check for check in ended.result.first if program.checks[check].kind == "always" or request.run_dir is not None
    ]
    with no_collection():
        order = family.order(config) if family is not None and wanted else None
    traces = Retrace(ended.search, order).traces(wanted)
    outcome = ended.outcome()
    if asked is not None:
        keep_outcome(asked, outcome, traces)
    outcome.traces = {
        program.checks[check].name: tuple(ended.lowered.decode(row) for row in rows) for check, rows in traces.items()
    }
    if ended.folder is not None and ended.folder.saved and not ended.result.complete:
        outcome.resumable = str(ended.folder.folder)
    return outcome


def _reference(model: Model, config: ModelConfig, chosen: Sequence[Fn], request: CheckRequest) -> Outcome:
    from elrcheck.explorer.search.reference import search

    limits = request.limits
    if limits.max_depth is not None or limits.memory is not None or request.stop_at_first:
        raise UsageFault(
            "engine-option",
            "the reference engine only supports --max-states and --time-budget",
            help="use the local engine for the other limits",
        )
    deadline = None if limits.time_budget is None else time.monotonic() + limits.time_budget
    result = search(model, config, max_states=limits.max_states, deadline=deadline)
    idents = {fn.ident for fn in chosen}
    reason = None
    if not result.complete:
        by_states = limits.max_states is not None and result.distinct >= limits.max_states
        reason = f"--max-states {limits.max_states}" if by_states else f"--time-budget {limits.time_budget}s"
    return Outcome(
        complete=result.complete,
        reason=reason,
        generated=result.generated,
        distinct=result.distinct,
        levels=tuple(result.levels),
        seconds=result.seconds,
        cut=result.cut,
        deadlocks=result.deadlocks,
        enabled=result.enabled,
        new_states=result.new_states,
        beyond=result.beyond,
        first={ident: depth for ident, (depth, _) in result.first.items() if ident in idents},
        traces={ident: trace for ident, (_, trace) in result.first.items() if ident in idents},
    )


@dataclass(frozen=True)
class Ended:
    """A finished compiled or vectorised search with everything it stored."""

    lowered: Lowered
    search: Search | VectorSearch
    result: SearchResult
    detail: str
    folder: RunFolder | None = None

    def outcome(self) -> Outcome:
        """Its counts and first hits, without traces."""
        return outcome_of(self.lowered.program, self.result, self.detail)
