"""`elrcheck trace minimise`: shorten a trace while it still violates the property.

Three stages, in this order:

1. Remove steps, large pieces first, then one by one (delta debugging). A step that is then no longer enabled
   is skipped. In the end no single step can be removed; a different trace may still be shorter.
2. Remove brokers, as many as possible: the steps that name them go, the remaining brokers are renumbered.
3. With --search, the compiled engine searches the scope for a shorter trace, so that none remains.

Every attempt is a replay in plain Python that ends in a violation, so the result needs no further check.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.catalogue.select import Selected, choose, resolve
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import ModelConfig, NotEnabled
from elrcheck.lang.types import Ty
from elrcheck.results.trace_reports import Shortened
from elrcheck.traces.describe import label_steps
from elrcheck.traces.follow import first_hit
from elrcheck.traces.loaded import plain as override_text
from elrcheck.traces.subject import Subject

MOST_REPLAYS = 20_000


@dataclass(frozen=True)
class Run:
    """A replay that stops at the first violation."""

    states: tuple[Any, ...]
    labels: tuple[Label, ...]


class Replays:
    """Replays label lists in one configuration; counts the replays across all configurations."""

    def __init__(self, model: Model, config: ModelConfig, fn: Fn, bounded: bool) -> None:
        self.plain, self.fn, self.bounded = PlainModel(model, config), fn, bounded
        self.source: Mapping[Label, Callable[..., Any]] = dict(self.plain.steps)
        self.number = 0

    def run(self, labels: Sequence[Label]) -> Run | None:
        """Replays those of the steps that are enabled, up to a violation; None without a violation."""
        self.number += 1
        plain, fn = self.plain, self.fn
        states, taken = [plain.initial()], list[Label]()
        if not fn.is_step and not plain.holds(fn, states[0]):
            return Run((states[0],), ())
        for label in labels:
            if label not in self.source:
                continue
            try:
                after = self.source[label](plain.config, states[-1], *label.args)
            except NotEnabled:
                continue
            if self.bounded and not plain.within(after):
                continue
            states.append(after)
            taken.append(label)
            if not plain.holds(fn, *(states[-2:] if fn.is_step else states[-1:])):
                return Run(tuple(states), tuple(taken))
        return None


def minimise(
    subject: Subject, wanted: str | None, progress: Progress, search: bool = False, seconds: float = 60.0
) -> tuple[Subject, Shortened]:
    """Shortens a trace; returns it with statistics. UsageFault if it does not violate the property."""
    fn = _property(subject, wanted)
    bounded = all(subject.plain.within(state) for state in subject.states)
    replays = Replays(subject.model, subject.selected.config, fn, bounded)
    run = replays.run(subject.labels)
    assert run is not None
    progress.stage(f"removing steps from {len(run.labels)}")
    run = _fewer_steps(replays, run)
    selected, number = subject.selected, replays.number
    progress.stage("removing brokers")
    for smaller, labels in _fewer_brokers(subject, run.labels):
        tried = Replays(subject.model, smaller.config, fn, bounded)
        found = tried.run(labels)
        if found is not None:
            run, selected = _fewer_steps(tried, found), smaller
        number += tried.number
        if found is not None:
            break
    searched = False
    if search:
        run, searched = _searched(subject.model, selected, fn, run, seconds, progress)
    _, repro = label_steps(PlainModel(subject.model, selected.config), run.states)
    about = replace(subject.origin, property=fn.ident, config=_values(selected))
    shortened = Subject(about, subject.model, selected, run.states, run.labels, repro)
    before = subject.selected.config.broker_count
    done = Shortened(
        len(subject.labels), len(run.labels), before, selected.config.broker_count, number, searched
    )
    return shortened, done


def _values(selected: Selected) -> Mapping[str, Any]:
    from elrcheck.catalogue.configuration import config_values

    return config_values(selected.config)


def _property(subject: Subject, wanted: str | None) -> Fn:
    model, ident = subject.model, wanted or subject.origin.property or ""
    if ident:
        fn = choose((*model.always, *model.sometimes, *model.leads_to), (ident,), "property")[0]
        if fn.kind != "always":
            raise UsageFault("minimise-property", f"{fn.ident} is no safety property: no trace violates it")
        if first_hit(subject.plain, fn, subject.states) is None:
            raise UsageFault("minimise-property", f"the trace does not violate {fn.ident} {fn.name}")
        return fn
    failing = (fn for fn in model.always if first_hit(subject.plain, fn, subject.states) is not None)
    found = next(failing, None)
    if found is None:
        raise NothingChecked("no-property", "the trace violates no property: there is nothing to keep")
    return found


# ---------------------------------------------------------------------------- steps


def _fewer_steps(replays: Replays, run: Run) -> Run:
    """Removes steps until no single one can be removed, or MOST_REPLAYS is reached."""
    size = max(1, len(run.labels) // 2)
    while size:
        shorter = _without_piece(replays, run, size)
        if shorter is not None:
            run = shorter
            size = min(size, max(1, len(run.labels) // 2))
        else:
            size //= 2
        if not run.labels:
            break
    return run


def _without_piece(replays: Replays, run: Run, size: int) -> Run | None:
    """The run without some piece of this size, trying from the end, or None."""
    for end in range(len(run.labels), 0, -size):
        if replays.number >= MOST_REPLAYS:
            return None
        start = max(0, end - size)
        found = replays.run((*run.labels[:start], *run.labels[end:]))
        if found is not None and len(found.labels) < len(run.labels):
            return found
    return None


# ---------------------------------------------------------------------------- brokers


def _fewer_brokers(
    subject: Subject, labels: Sequence[Label]
) -> Iterator[tuple[Selected, tuple[Label, ...]]]:
    """Yields smaller configurations, smallest first, with the steps that remain for the brokers kept."""
    selected = subject.selected
    types = {fn.name: [ty for _, ty in fn.params] for fn in subject.model.actions}
    for number in range(1, selected.config.broker_count):
        overrides = {**selected.overrides, "broker_count": number}
        pairs = tuple(f"{key}={override_text(value)}" for key, value in overrides.items())
        try:
            smaller = resolve(Selection(selected.variant, selected.scope, pairs))
        except UsageFault:
            continue
        for kept in itertools.combinations(range(selected.config.broker_count), number):
            new = {broker: place for place, broker in enumerate(kept)}
            renamed = (_renamed(label, types[label.action], new) for label in labels)
            yield smaller, tuple(label for label in renamed if label is not None)


def _renamed(label: Label, types: Sequence[Ty], new: Mapping[int, int]) -> Label | None:
    """The step with renumbered brokers; None if it names a removed broker."""
    args: list[Any] = []
    for ty, value in zip(types, label.args, strict=True):
        inner = ty.elem if ty.kind == "opt" else ty
        if inner.kind == "replica" and value is not None:
            if value not in new:
                return None
            args.append(new[value])
        elif inner.kind == "set" and value is not None:
            args.append(frozenset(new[b] for b in value if b in new))
        else:
            args.append(value)
    return Label(label.action, tuple(args))


# ---------------------------------------------------------------------------- search


def _searched(
    model: Model, selected: Selected, fn: Fn, run: Run, seconds: float, progress: Progress
) -> tuple[Run, bool]:
    """Returns (a shorter run if the engine finds one, True if no shorter run exists)."""
    from elrcheck.commands.engines import explore
    from elrcheck.traces.replay import replay

    if len(run.labels) < 2:
        return run, True
    limits = Limits(max_depth=len(run.labels) - 1, time_budget=seconds)
    request = CheckRequest(limits=limits, stop_at_first=True)
    outcome = explore(model, selected.config, [fn], request, progress)
    if fn.ident in outcome.traces:
        found = replay(model, selected.config, fn, outcome.traces[fn.ident])
        labels = tuple(Label(step.action, step.args) for step in found.steps)
        return Run(found.states, labels), True
    return run, outcome.complete or "--max-depth" in (outcome.reason or "")
