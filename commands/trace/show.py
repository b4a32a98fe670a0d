"""`elrcheck trace show`, `sample` and `replay`: a trace as a report, with filters, or in another notation."""

from __future__ import annotations

import fnmatch
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from elrcheck.base.errors import NothingChecked, UsageFault, did_you_mean
from elrcheck.base.requests import TraceFilters
from elrcheck.base.typed.configuration import config_values
from elrcheck.checking.trace_notation import export_loaded
from elrcheck.declared.select import resolve
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.report.plain_words import broker_count
from elrcheck.report.trace_diagrams import dot, mermaid
from elrcheck.results.trace_reports import ReplayReport, Shortened, TraceReport
from elrcheck.results.trace_view import Step, TraceView
from elrcheck.stored_traces.recorded import Format, read_recorded
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.loaded import Loaded, NamedSelection
from elrcheck.traces.replay import Replayed, replay
from elrcheck.traces.truth import reached, violations, with_truths
from elrcheck.traces.watched import watched

UNFILTERED = TraceFilters()
WHOLE = ("trace", "tla", "itf")
"""Notations that need the whole trace with whole states."""


def show(
    subject: Replayed,
    filters: TraceFilters = UNFILTERED,
    seed: int | None = None,
    shortened: Shortened | None = None,
    save: Path | None = None,
    expressions: Sequence[str] = (),
) -> TraceReport:
    """Return the report of a trace; violations are those of the whole trace, whatever the filters.

    save: also store the trace there. expressions: modelling language, evaluated in every state of the range.
    """
    plain, view, number = subject.plain, subject.view, len(subject.labels)
    first, last = _range(filters, number)
    states = subject.states[first - 1 : last + 1]
    evaluations = watched(subject.model, subject.config, states, expressions, "--eval", first)
    if save is not None:
        write_trace(save, subject.followed, subject.model.state_ty)
    return TraceReport(
        verdict="shown",
        origin=subject.origin,
        steps=number,
        first=first,
        last=last,
        trace=narrowed(view, filters),
        violated=violations(plain, subject.states),
        reached=reached(plain, subject.states),
        seed=seed,
        shortened=shortened,
        stored=None if save is None else str(save),
        evaluations=evaluations,
    )


def written(subject: Replayed, notation: str, filters: TraceFilters = UNFILTERED) -> str:
    """Return the trace in another notation, as text."""
    if notation in WHOLE:
        if filters != UNFILTERED:
            raise UsageFault(
                "usage-filter",
                f"{notation} always contains the whole trace: leave out the filters",
                help="filters apply to text, json, mermaid and dot",
            )
        with tempfile.TemporaryDirectory(prefix="elrcheck-trace-") as folder:
            form = "json" if notation == "trace" else notation
            loaded = Loaded(subject.model, subject.config, subject.followed)
            paths = export_loaded(loaded, form, Path(folder))
            return paths[0].read_text(encoding="utf-8")
    judged = with_truths(subject) if notation == "mermaid" else subject
    view = narrowed(judged.view, filters)
    return mermaid(view, broker_count(config_values(subject.config))) if notation == "mermaid" else dot(view)


# ---------------------------------------------------------------------------- filters


def narrowed(view: TraceView, filters: TraceFilters) -> TraceView:
    """Return the part of a trace that passes the filters; raise UsageFault for a word that matches nothing."""
    if filters == UNFILTERED:
        return view
    for word in (*filters.only, *filters.hide):
        if not any(_names_path(word, path) for path in view.initial):
            raise _unknown(word, view)
    first, last = _range(filters, len(view.steps))
    steps = view.steps[first - 1 : last] if view.steps else ()
    steps = tuple(_narrowed(step, filters) for step in steps)
    initial = {path: value for path, value in _before(view, steps).items() if _selected(path, filters)}
    return replace(view, initial=initial, steps=steps)


def _narrowed(step: Step, filters: TraceFilters) -> Step:
    """Return a step with the selected changes; with `only`, its guards are beside the question."""
    changes = tuple(c for c in step.changes if _selected(c.path, filters))
    return replace(step, changes=changes, because="" if filters.only else step.because)


def _before(view: TraceView, steps: Sequence[Step]) -> dict[str, str]:
    """Return the leaves before the first of these steps."""
    values = dict(view.initial)
    for step in view.steps[: steps[0].index - 1 if steps else 0]:
        values.update({change.path: change.new for change in step.changes})
    return values


def _range(filters: TraceFilters, steps: int) -> tuple[int, int]:
    """Return the first and last step to show; (1, 0) for a trace without steps."""
    first = 1 if filters.first is None else filters.first
    last = steps if filters.last is None else filters.last
    if filters.first is None and filters.last is None:
        return 1, steps
    for option, value in (("--from", first), ("--to", last)):
        if not 1 <= value <= steps:
            raise UsageFault("no-step", f"there is no step {value}; the steps are 1 to {steps}", where=option)
    if first > last:
        raise NothingChecked("empty-range", f"there are no steps from {first} to {last}")
    return first, last


def _selected(path: str, filters: TraceFilters) -> bool:
    if any(_names_path(word, path) for word in filters.hide):
        return False
    return not filters.only or any(_names_path(word, path) for word in filters.only)


def _names_path(word: str, path: str) -> bool:
    """Return whether the word names the path: as its start, its last part, or a glob over the whole path."""
    if any(ch in word for ch in "*?"):
        # Brackets are part of paths, not character classes.
        return fnmatch.fnmatchcase(path, word.replace("[", "[[]"))
    return path == word or path.startswith((f"{word}.", f"{word}[")) or path.endswith(f".{word}")


def _unknown(word: str, view: TraceView) -> UsageFault:
    names = {part for path in view.initial for part in (path, path.split(".")[0].split("[")[0])}
    help = did_you_mean(word, names)
    short = help if not help.startswith("known") else "see the paths of `elrcheck trace show -v`"
    return UsageFault("unknown-leaf", f"nothing in the state is called `{word}`", help=short)


# ---------------------------------------------------------------------------- sampling


def sample(named: NamedSelection, seed: int, depth: int) -> Replayed:
    """Return a random walk in plain Python of up to `depth` steps that change something within the budgets."""
    selected = resolve(named.selection)
    model = selected.declared.checked()
    plain, chance = PlainModel(model, selected.config), random.Random(seed)
    states, labels = [plain.initial()], list[Label]()
    for _ in range(depth):
        choices = [
            (label, after)
            for label, after in plain.successors(states[-1])
            if after != states[-1] and plain.within(after)
        ]
        if not choices:
            break
        by_action: dict[str, list[tuple[Label, object]]] = {}
        for choice in choices:
            by_action.setdefault(choice[0].action, []).append(choice)
        # First an action, then its arguments: otherwise actions with many arguments would dominate.
        label, after = chance.choice(by_action[chance.choice(sorted(by_action))])
        states.append(after)
        labels.append(label)
    behaviour = Behaviour(TraceOrigin.of(selected, source=f"seed {seed}"), tuple(states), tuple(labels))
    return Replayed(model, selected.config, behaviour, behaviour.labels)


def run_replay(path: Path, named: NamedSelection, form: Format | None = None) -> ReplayReport:
    """Return the replay of a recorded trace.

    Raises UsageFault if the file is not a trace, NothingChecked if it has no state.
    """
    loaded = read_recorded(path, named, form)
    replayed = replay(loaded.model, loaded.config, loaded.behaviour)
    rejected, recorded = replayed.rejection is not None, len(loaded.behaviour.states)
    return ReplayReport(
        verdict="rejected" if rejected else "accepted",
        origin=replayed.origin,
        states=recorded,
        accepted=min(recorded, len(replayed.states)),
        trace=replayed.view,
        rejection=replayed.rejection,
        violated=violations(replayed.plain, replayed.states),
        beyond=replayed.beyond,
    )
