"""A search for a violation from a state, in a process of its own, which can be cancelled at any moment.

Only that process imports the compiler. It searches with the kernel of `check`, from another state; the plain model
then follows the trace.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from msgspec.structs import replace

from elrcheck.base.errors import ElrError, UsageFault
from elrcheck.base.progress import Event, LevelDone, Progress, Silent
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.base.runner.runner import Processes, Tell
from elrcheck.commands.web.state_space import FollowedSpace
from elrcheck.lang.ir import Fn
from elrcheck.results.web_answers import ChosenModel, WebSearch

MOST_SECONDS = 600
MEMORY = 2 * 2**30
"""Memory of the process that searches, in bytes."""


@dataclass(frozen=True)
class SearchJob:
    """A search from the end of a path for a violation of one property; if that is empty, of any that holds there."""

    id: int
    selection: Selection
    path: tuple[str, ...]
    property: str
    seconds: float
    max_states: int
    start: int = 0


def model_of(job: SearchJob) -> ChosenModel:
    return ChosenModel(job.selection.variant, job.selection.scope, job.selection.overrides, job.start)


class RunningSearch:
    """A search in its own process. `ask` returns its progress."""

    def __init__(self, job: SearchJob) -> None:
        self.job, self.began = job, time.monotonic()
        self.last = WebSearch(job.id, model_of(job), "searching", "starting")
        self._crew = Processes(answer_search, [job], 1, lost=_answer_of_lost)
        self._crew.wait(0)

    def ask(self) -> WebSearch:
        """Return the latest news, without waiting."""
        if self.last.verdict != "searching":
            return self.last
        answers = self._crew.wait(0)
        news = [latest for _, latest in self._crew.running() if latest is not None]
        self.last = next(iter([*answers, *news]), self.last)
        if self.last.verdict != "searching":
            return self.last
        return replace(self.last, seconds=round(time.monotonic() - self.began, 1))

    def cancel(self) -> WebSearch:
        """Stop the search and its process if it still runs; return its last news."""
        latest = self.ask()
        if latest.verdict == "searching":
            self.last = replace(latest, verdict="cancelled", said="cancelled")
            self._crew.end()
        return self.last


def _answer_of_lost(job: SearchJob, _: str) -> WebSearch:
    return WebSearch(job.id, model_of(job), "failed", "the process that searched ended unexpectedly")


# --------------------------------------------------------------------------- in that process


class SearchProgress(Silent):
    """Sends the progress of a search."""

    def __init__(self, job: SearchJob, tell: Tell) -> None:
        self._job = job
        self._tell = tell

    def stage(self, text: str) -> None:
        self._tell(WebSearch(self._job.id, model_of(self._job), "searching", text))

    def tell(self, event: Event) -> None:
        if not isinstance(event, LevelDone):
            return
        text = f"searching: {event.distinct:,} states, {event.depth} steps from here"
        seconds = round(event.seconds, 1)
        self._tell(
            WebSearch(self._job.id, model_of(self._job), "searching", text, event.distinct, event.depth, seconds)
        )


def answer_search(job: SearchJob, tell: Tell) -> WebSearch:
    """Return the answer of a search; a UsageFault is an answer as well."""
    try:
        return search(job, SearchProgress(job, tell))
    except ElrError as fault:
        text = fault.message if fault.help is None else f"{fault.message}; {fault.help}"
    except MemoryError:
        text = "out of memory: choose a smaller scope or fewer states"
    except Exception as fault:  # a bug must not leave the page without an answer
        text = f"internal: {type(fault).__name__}: {fault}"
    return WebSearch(job.id, model_of(job), "failed", text)


def search(job: SearchJob, progress: Progress) -> WebSearch:
    """Search from the end of the path until a violation, the end of the state space, or a limit."""
    from elrcheck.checking.engines import SearchSubject, explore
    from elrcheck.traces.behaviour import of_states
    from elrcheck.traces.replay import replay

    progress.stage("following the path")
    space = FollowedSpace(job.selection, job.start)
    path = space.follow(job.path)
    start = path.states[-1]
    checks = _checks(space, job.property, start)
    if not space.plain.within(start):
        why = "this state exceeds the budgets of the scope, where no search follows"
        raise UsageFault("web-request", why, help="raise the budget with --set")
    request = CheckRequest(
        limits=Limits(max_states=job.max_states, time_budget=job.seconds, memory=MEMORY), stop_at_first=True
    )
    outcome = explore(SearchSubject(space.model, space.config, checks, start=start), request, progress)
    depth = max(0, len(outcome.levels) - 1)
    counts = f"{outcome.distinct:,} states, {depth} steps from here"
    seconds = round(outcome.seconds, 1)
    outline = WebSearch(job.id, model_of(job), "holds", "", outcome.distinct, depth, seconds)
    if not outcome.traces:
        if outcome.complete:
            return replace(outline, said=f"no violation can be reached from here within the budgets: {counts}")
        reason = f"none found until {outcome.reason}: {counts}"
        return replace(outline, verdict="inconclusive", said=reason)
    ident = min(outcome.traces, key=lambda name: len(outcome.traces[name]))
    followed = replay(space.model, space.config, of_states(outcome.traces[ident]), anywhere=True).followed
    name = next(fn.name for fn in checks if fn.ident == ident)
    away = "one step" if len(followed.labels) == 1 else f"{len(followed.labels)} steps"
    return replace(
        outline,
        verdict="violated",
        said=f"{ident} {name} is violated {away} from here",
        property=ident,
        path=(*space.words(path), *map(space.word, followed.labels)),
    )


def _checks(space: FollowedSpace, ident: str, start: object) -> list[Fn]:
    if ident:
        named = [fn for fn in space.model.always if fn.ident == ident]
        if not named:
            raise UsageFault("unknown-property", f"unknown property `{ident}`")
        return named
    already = {fn.ident for fn in space.false_after(None, start)}
    left = [fn for fn in space.model.always if fn.ident not in already]
    if not left:
        raise UsageFault("web-request", "every property is violated in this state already")
    return left
