"""A search for a violation from a state, in a process of its own, which can be cancelled at any moment.

Only that process imports the compiler. It searches with the kernel of `check`, started in another state, and
has what it finds followed by the plain model.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from elrcheck.base.errors import ElrError, UsageFault
from elrcheck.base.progress import Event, LevelDone, Silent
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.base.worker_pool import leave_interrupts_to_parent
from elrcheck.commands.web.state_space import StateSpace
from elrcheck.lang.ir import Fn
from elrcheck.results.web.web_answers import ChosenModel, WebSearch

MOST_SECONDS = 600
MEMORY = 2 * 2**30
"""Memory of the process that searches, in bytes."""


@dataclass(frozen=True)
class SearchJob:
    """What to look for from the end of a path: one property, or with an empty id any that is true there."""

    id: int
    selection: Selection
    path: tuple[str, ...]
    property: str
    seconds: float
    max_states: int


def model_of(job: SearchJob) -> ChosenModel:
    return ChosenModel(job.selection.variant, job.selection.scope, job.selection.overrides)


class RunningSearch:
    """A search in its process. `ask` says how far it is."""

    def __init__(self, job: SearchJob) -> None:
        self.job, self.began = job, time.monotonic()
        self.last = WebSearch(job.id, model_of(job), "searching", "starting")
        context = multiprocessing.get_context("spawn")
        self._answers, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=work, args=(job, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self) -> WebSearch:
        """The newest news; never waits."""
        try:
            while self.last.verdict == "searching" and self._answers.poll():
                self.last = self._answers.recv()
        except (EOFError, OSError):
            said = "the process that searched ended unexpectedly"
            self.last = replace(self.last, verdict="failed", said=said)
        if self.last.verdict == "searching":
            return replace(self.last, seconds=round(time.monotonic() - self.began, 1))
        self._end()
        return self.last

    def cancel(self) -> WebSearch:
        if self.ask().verdict == "searching":
            self.last = replace(self.ask(), verdict="cancelled", said="cancelled")
            self._end()
        return self.last

    def _end(self) -> None:
        """Leaves no process, whatever it is doing."""
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(2)
            if self._process.is_alive():
                self._process.kill()
        self._process.join()


# --------------------------------------------------------------------------- in that process


class Told(Silent):
    """Sends what a search reports."""

    def __init__(self, job: SearchJob, answers: Connection) -> None:
        self.job, self.answers = job, answers

    def stage(self, text: str) -> None:
        self.answers.send(WebSearch(self.job.id, model_of(self.job), "searching", text))

    def tell(self, event: Event) -> None:
        if not isinstance(event, LevelDone):
            return
        said = f"searching: {event.distinct:,} states, {event.depth} steps from here"
        self.answers.send(
            WebSearch(
                self.job.id, model_of(self.job), "searching", said, event.distinct, event.depth, round(event.seconds, 1)
            )
        )


def work(job: SearchJob, answers: Connection) -> None:
    """The whole life of the process; a user's mistake is an answer as well."""
    leave_interrupts_to_parent()
    try:
        answers.send(search(job, Told(job, answers)))
    except ElrError as fault:
        said = fault.message if fault.help is None else f"{fault.message}; {fault.help}"
        answers.send(WebSearch(job.id, model_of(job), "failed", said))
    except MemoryError:
        said = "out of memory: choose a smaller scope or fewer states"
        answers.send(WebSearch(job.id, model_of(job), "failed", said))
    finally:
        answers.close()


def search(job: SearchJob, told: Told) -> WebSearch:
    """Search from the end of the path until something is violated, all is seen or a limit is reached."""
    from elrcheck.checking.engines import explore
    from elrcheck.traces.behaviour import of_states
    from elrcheck.traces.replay import replay

    told.stage("following the path")
    space = StateSpace(job.selection)
    path = space.follow(job.path)
    start = path.states[-1]
    wanted = _wanted(space, job.property, start)
    if not space.plain.within(start):
        why = "this state exceeds the budgets of the scope, where no search follows"
        raise UsageFault("web-request", why, help="raise the budget with --set")
    request = CheckRequest(
        limits=Limits(max_states=job.max_states, time_budget=job.seconds, memory=MEMORY), stop_at_first=True
    )
    outcome = explore(space.model, space.config, wanted, request, told, start=start)
    depth = max(0, len(outcome.levels) - 1)
    counts = f"{outcome.distinct:,} states, {depth} steps from here"
    seconds = round(outcome.seconds, 1)
    made = WebSearch(job.id, model_of(job), "holds", "", outcome.distinct, depth, seconds)
    if not outcome.traces:
        if outcome.complete:
            return replace(made, said=f"no violation can be reached from here within the budgets: {counts}")
        said = f"none found until {outcome.reason}: {counts}"
        return replace(made, verdict="inconclusive", said=said)
    found = min(outcome.traces, key=lambda ident: len(outcome.traces[ident]))
    followed = replay(space.model, space.config, of_states(outcome.traces[found]), anywhere=True).followed
    name = next(fn.name for fn in wanted if fn.ident == found)
    away = "one step" if len(followed.labels) == 1 else f"{len(followed.labels)} steps"
    return replace(
        made,
        verdict="violated",
        said=f"{found} {name} is violated {away} from here",
        property=found,
        path=(*space.words(path), *map(space.word, followed.labels)),
    )


def _wanted(space: StateSpace, ident: str, start: object) -> list[Fn]:
    if ident:
        found = [fn for fn in space.model.always if fn.ident == ident]
        if not found:
            raise UsageFault("unknown-property", f"unknown property `{ident}`")
        return found
    already = {fn.ident for fn in _false_now(space, start)}
    left = [fn for fn in space.model.always if fn.ident not in already]
    if not left:
        raise UsageFault("web-request", "every property is violated in this state already")
    return left


def _false_now(space: StateSpace, start: object) -> Iterable[Fn]:
    return space.false_after(None, start)
