"""Engines: run the one that a request names and return its `SearchOutcome`."""

from __future__ import annotations

import contextlib
import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elrcheck.base.errors import Interrupted, UsageFault
from elrcheck.base.interrupts import Interrupts
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckRequest, Limits
from elrcheck.declared.select import Selected
from elrcheck.explorer.search.outcome import SearchOutcome, outcome_of
from elrcheck.explorer.store.memory import return_large_blocks, used_bytes
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig

if TYPE_CHECKING:
    from elrcheck.checking.runs.checkpoint import CheckpointFolder, Saved
    from elrcheck.explorer.search.compiled import Search
    from elrcheck.explorer.search.family import KernelFamily
    from elrcheck.explorer.search.result import SearchResult, TraceableSearch
    from elrcheck.explorer.search.retrace import Trace
    from elrcheck.explorer.search.vector import VectorSearch
    from elrcheck.lang.lowering.lowered import Lowered
    from elrcheck.lang.lowering.program import Program


@dataclass
class PlannedRun:
    """A search that may leave a checkpoint in the folder `place`.

    saved: the checkpoint that it resumes. folder: opened by a search without a stored answer.
    """

    place: Path
    selected: Selected
    chosen: Sequence[Fn]
    request: CheckRequest
    saved: Saved | None = None
    folder: CheckpointFolder | None = None

    def open(self, program: Program) -> CheckpointFolder:
        """Open the folder for a search of this program (`open_folder`)."""
        from elrcheck.checking.runs.checkpoint import open_folder

        self.folder = open_folder(program, self.place, self.selected, self.chosen, self.request, self.saved)
        return self.folder


LEAST_ROOM = 16 * 2**20
"""Minimum memory for states, in bytes; a search does not start with less."""
OVERHEAD = 96 * 2**20
"""Memory a search needs besides states, in bytes: level file buffers, results of native calls (92 measured)."""
LONG_SEARCH = 1_000_000.0
"""Expected states from which the optimised kernel is compiled before the search; a quick one would only delay it."""
SHORT_BUDGET = 30.0
"""Below this time budget, in seconds, the quick kernel begins anyway; compiling the optimised one would use it up."""
AFTERWARDS = 1.0
"""Seconds of a time budget that are reserved for traces, replay and report after the search (measured)."""
MOST_AFTERWARDS = 0.1
"""The largest share of a time budget that is reserved for that."""


@dataclass
class SearchSubject:
    """A configuration of a model to search, the properties to check, and the source of its program.

    family: one that contains the configuration, whose kernel the local engine uses. start: for the compiled engines,
    a reachable state to search from instead of the initial one. lowered: the program, once it has been lowered.
    symmetry: one state stands for all that differ only by a renaming of members of symmetric sorts. expected:
    estimated number of states.
    """

    model: Model
    config: ModelConfig
    checks: Sequence[Fn]
    family: KernelFamily | None = None
    start: object = None
    lowered: Lowered | None = None
    symmetry: bool = False
    expected: float = 0.0
    started: float = field(default_factory=time.monotonic)
    """The start of the time budget, which includes the compilation of the model."""

    def program(self, progress: Progress) -> Lowered:
        """Return the program, lowered on first use."""
        if self.lowered is None:
            from elrcheck.explorer.kernel.kept_program import kept_lowering

            progress.stage("compiling the model")
            with no_collection():
                if self.family is None:
                    lowered = kept_lowering(self.model, self.config, self.checks)
                else:
                    lowered = self.family.member(self.config)
                self.lowered = lowered if self.start is None else lowered.started(self.start)
                if self.symmetry:
                    from elrcheck.lang.lowering.leaf_images import up_to_renaming

                    self.lowered = up_to_renaming(self.lowered)
        return self.lowered


def explore(
    subject: SearchSubject, request: CheckRequest, progress: Progress, run: PlannedRun | None = None
) -> SearchOutcome:
    """Search with the engine that the request names, unless the answer of an earlier search is stored.

    run: its folder is opened by the compiled engines, and closed by the caller (`CheckpointFolder.closing`).
    """
    if request.engine not in ("local", "spark"):
        for option, value in (("--fingerprint", request.fingerprint), ("--resume", request.resume)):
            if value:
                help = "leave out --engine"
                raise UsageFault("engine-option", f"{option} needs the engine local or spark", help=help)
    if request.engine == "reference":
        return _reference(subject, request)
    from elrcheck.checking.kept_outcomes import find_outcome, keep_outcome, question_of
    from elrcheck.explorer.search.retrace import Retrace

    lowered = subject.program(progress)
    question = question_of(request, lowered.program)
    if question is not None:
        earlier = find_outcome(question, lowered, subject.checks, request)
        if earlier is not None:
            return earlier
    checks = lowered.program.checks
    traces: dict[int, Trace] = {}

    def retrace(search: TraceableSearch) -> None:
        progress.stage("rebuilding traces")
        hit = [check for check in sorted(search.first) if checks[check].kind == "always" or request.run_dir is not None]
        with no_collection():
            order = subject.family.order(subject.config) if subject.family is not None and hit else None
        traces.update(Retrace(search, order).traces(hit))

    ended = run_search(subject, request, progress, run, retrace)
    outcome = ended.outcome()
    if question is not None:
        keep_outcome(question, outcome, traces)
    outcome.traces = {checks[check].name: tuple(lowered.decode(row) for row in rows) for check, rows in traces.items()}
    if ended.folder is not None and ended.folder.saved and not ended.result.complete:
        outcome.resumable = str(ended.folder.folder)
    return outcome


def run_search(
    subject: SearchSubject,
    request: CheckRequest,
    progress: Progress,
    run: PlannedRun | None = None,
    afterwards: Callable[[TraceableSearch], None] = lambda _: None,
) -> FinishedSearch:
    """Run the local, the numpy or the Spark engine; raise Interrupted if a signal stopped it.

    afterwards: is called with the finished search, while its executors are still there.
    """
    from elrcheck.base.runner.processors import processors
    from elrcheck.explorer.kernel.kept_program import kept_kernel
    from elrcheck.explorer.kernel.native_code import KernelCache
    from elrcheck.explorer.search.compiled import Search, SearchSettings
    from elrcheck.explorer.search.vector import VectorSearch

    lowered, family = subject.program(progress), subject.family
    search: Search | VectorSearch
    folder: CheckpointFolder | None = None
    interrupts = Interrupts()

    with contextlib.ExitStack() as stack:
        if request.engine == "numpy":
            search = VectorSearch(lowered.program, limits=request.limits)
        else:
            if run is not None:
                folder = run.open(lowered.program)
                stack.enter_context(folder.kept_if_saved())
            cache, native = KernelCache(), None
            if request.engine == "local":
                words = request.fingerprint // 64
                # Compiled during the search, a kernel would take memory that the limit has given to states.
                quick = request.limits.memory is None and not _is_long(subject, request.limits)
                native = kept_kernel(lowered, cache, words, quick) if family is None else family.native
            settings = SearchSettings(
                limits=replace(request.limits, memory=_room_for_states(request.limits.memory)),  # beside the kernel
                workers=request.workers or processors(),
                cache=cache,
                fingerprint=request.fingerprint,
                keeper=folder,
                interrupted=interrupts,
                spent=time.monotonic() - subject.started if request.engine == "local" else 0.0,
                afterwards=min(AFTERWARDS, MOST_AFTERWARDS * (request.limits.time_budget or 0.0)),
            )
            if request.engine == "spark":
                from elrcheck.spark.distributed_search import spark_search

                search = stack.enter_context(spark_search(lowered.program, request.spark, settings, progress))
            else:
                search = Search(lowered.program, settings, native=native)
            if run is not None and run.saved is not None:
                progress.stage("reading the checkpoint")
                search.resume(run.saved.levels, run.saved.tally)
        progress.stage("searching")
        with interrupts if isinstance(search, Search) else contextlib.nullcontext():  # numpy does not ask
            result = search.run(progress, "first" if request.stop_at_first else "complete")
        if interrupts.requested and not result.complete:
            raise _interrupted(result, folder)
        how, about = "numpy", ""
        if isinstance(search, Search):
            how, about = search.native.origin if family is None else "kernel shared", search.about()
        afterwards(search)
    size = f"{len(lowered.program.instances)} action instances, {search.layout.used_bits} bits"
    return FinishedSearch(lowered, search, result, f"{size}, {how}{about}", folder)


def demand_renamings(model: Model, config: ModelConfig) -> None:
    """Raise UsageFault unless the model has members to rename, with at most `MOST` renamings."""
    from elrcheck.lang.symmetry.alike_members import MOST, count_renamings

    count = count_renamings(model.symmetric_sorts, config)
    if count == 1:
        message = "--symmetry: the model has no symmetric sort with two members or more"
        help = 'declare a sort as sort("Node", "nodes", symmetric=True), or leave out --symmetry'
        raise UsageFault("no-symmetry", message, help=help)
    if count > MOST:
        names = ", ".join(model.symmetric_sorts)
        message = f"--symmetry: there are {count:,} renamings of the members of {names}, more than {MOST:,}"
        raise UsageFault("no-symmetry", message, help="check a smaller configuration, or leave out --symmetry")


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Pause garbage collection: lowering creates a million small objects, and none becomes garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _is_long(subject: SearchSubject, limits: Limits) -> bool:
    """Return whether the search is expected to be long, and no limit ends it early."""
    limited = limits.max_depth is not None or limits.max_states is not None
    limited = limited or (limits.time_budget or SHORT_BUDGET) < SHORT_BUDGET
    return subject.expected >= LONG_SEARCH and not limited


def _room_for_states(memory: int | None) -> int | None:
    """Return the memory that `--memory` leaves for states, in bytes; the limit covers the whole process."""
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


def _interrupted(result: SearchResult, folder: CheckpointFolder | None) -> Interrupted:
    what = f"stopped at depth {len(result.levels) - 1}, {result.distinct:,} states"
    if folder is None or not folder.saved:
        return Interrupted("interrupted", what)
    return Interrupted(
        "interrupted", what, where=str(folder.folder), help=f"resume with `elrcheck check --resume {folder.folder}`"
    )


def _reference(subject: SearchSubject, request: CheckRequest) -> SearchOutcome:
    from elrcheck.explorer.search.reference import search

    limits = request.limits
    deadline = reference_deadline(limits, request.stop_at_first)
    outcome = search(
        subject.model, subject.config, max_states=limits.max_states, deadline=deadline, symmetry=subject.symmetry
    )
    outcome.reason = None if outcome.complete else limits.reached(outcome.distinct, math.inf)
    idents = {fn.ident for fn in subject.checks}
    outcome.first = {ident: depth for ident, depth in outcome.first.items() if ident in idents}
    outcome.traces = {ident: trace for ident, trace in outcome.traces.items() if ident in idents}
    return outcome


def reference_deadline(limits: Limits, stop_at_first: bool = False) -> float | None:
    """Return the end of the time budget, as of time.monotonic; raise UsageFault for unsupported limits."""
    if limits.max_depth is not None or limits.memory is not None or stop_at_first:
        raise UsageFault(
            "engine-option",
            "the reference engine only supports --max-states and --time-budget",
            help="use the local engine for the other limits",
        )
    return None if limits.time_budget is None else time.monotonic() + limits.time_budget


@dataclass(frozen=True)
class FinishedSearch:
    """A finished compiled or vectorised search with everything it stored."""

    lowered: Lowered
    search: Search | VectorSearch
    result: SearchResult
    detail: str
    folder: CheckpointFolder | None = None

    def outcome(self) -> SearchOutcome:
        """Return the counts and first hits, without traces."""
        return outcome_of(self.lowered.program, self.result, self.detail)
