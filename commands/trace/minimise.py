"""`elrcheck trace minimise`: shorten a trace while it still violates the property.

Three stages, in this order:

1. Remove steps, large pieces first, then one by one (delta debugging), and with them steps that are then not enabled.
   In the end no single step can be removed; a different trace may still be shorter.
2. Remove as many members as possible of each sort whose size is a setting, such as brokers, with the steps that name
   them; the remaining members are renumbered.
3. With --search, the compiled engine searches the scope for a shorter trace.

Every attempt is a replay in plain Python that ends in a violation, so the result needs no further check.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from elrcheck.base.errors import NothingChecked, UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.declared.select import Selected, choose, resolve
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.lang.tree import sorts_in
from elrcheck.lang.types import Ty
from elrcheck.results.trace_reports import FewerMembers, Shortened
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.replay import Replayed, replay_finding
from elrcheck.traces.truth import first_hit

MOST_REPLAYS = 20_000


class CountedReplays:
    """Replays steps in one configuration, and counts the replays.

    origin: of the resulting behaviours. bounded: skip steps that leave the budgets. start: by default the first
    initial state.
    """

    def __init__(
        self, model: Model, config: Any, origin: TraceOrigin, fn: Fn, bounded: bool, start: Any = None
    ) -> None:
        self.plain, self.fn, self.bounded = PlainModel(model, config), fn, bounded
        self.start = self.plain.initial() if start is None else start
        self.origin = origin
        self.source: Mapping[Label, Callable[..., Any]] = dict(self.plain.steps)
        self.number = 0

    def run(self, labels: Sequence[Label]) -> Behaviour[Label] | None:
        """Return the behaviour of the enabled steps, up to a violation; None without a violation."""
        self.number += 1
        plain, fn = self.plain, self.fn
        states, taken = [self.start], list[Label]()
        if not fn.is_step and not plain.holds(fn, states[0]):
            return Behaviour(self.origin, (states[0],), ())
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
                return Behaviour(self.origin, tuple(states), tuple(taken))
        return None


def minimise(
    subject: Replayed,
    requested: str | None,
    progress: Progress,
    search: bool = False,
    seconds: float = 60.0,
    within: Selection | None = None,
) -> tuple[Replayed, Shortened]:
    """Return the shortened trace and the numbers of steps and members; raise UsageFault if the trace does not violate
    the property.

    within: has the model of the trace, unless it is the default one.
    """
    fn = _property(subject, requested)
    bounded = all(subject.plain.within(state) for state in subject.states)
    model, config = subject.model, subject.config
    origin = replace(subject.behaviour.origin, property=fn.ident)
    replays = CountedReplays(model, config, origin, fn, bounded, subject.states[0])
    run = replays.run(subject.labels)
    assert run is not None
    progress.stage(f"removing steps from {len(run.labels)}")
    run = _fewer_steps(replays, run)
    number = replays.number
    sorts = {name: ty.size for name, ty in model.sorts.items() if isinstance(ty.size, str)}
    for sort, size in sorts.items():
        progress.stage(f"leaving out members of {sort}")
        for smaller, labels in _fewer_members(model, within or Selection(), run, sort, size):
            origin = TraceOrigin.of(smaller, fn.ident, origin.source, origin.form)
            tried = CountedReplays(model, smaller.config, origin, fn, bounded)
            shorter = tried.run(labels)
            if shorter is not None:
                run, config = _fewer_steps(tried, shorter), smaller.config
            number += tried.number
            if shorter is not None:
                break
    searched = False
    if search:
        run, searched = _searched(model, config, fn, run, seconds, progress)
    members = tuple(
        FewerMembers(sort, getattr(subject.config, size), getattr(config, size)) for sort, size in sorts.items()
    )
    done = Shortened(len(subject.labels), len(run.labels), members, number, searched)
    return Replayed(model, config, run, run.labels), done


def _property(subject: Replayed, requested: str | None) -> Fn:
    model, ident = subject.model, requested or subject.origin.property or ""
    if ident:
        fn = choose(model.properties, (ident,), "property")[0]
        if fn.kind != "always":
            raise UsageFault("minimise-property", f"{fn.ident} is not a safety property: no trace violates it")
        if first_hit(subject.plain, fn, subject.states) is None:
            raise UsageFault("minimise-property", f"the trace does not violate {fn.ident} {fn.name}")
        return fn
    failing = (fn for fn in model.always if first_hit(subject.plain, fn, subject.states) is not None)
    first = next(failing, None)
    if first is None:
        raise NothingChecked("no-property", "the trace violates no property: there is nothing to preserve")
    return first


# ---------------------------------------------------------------------------- steps


def _fewer_steps(replays: CountedReplays, run: Behaviour[Label]) -> Behaviour[Label]:
    """Return a run from which no single step can be removed, unless MOST_REPLAYS is reached."""
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


def _without_piece(replays: CountedReplays, run: Behaviour[Label], size: int) -> Behaviour[Label] | None:
    """Return a run without a piece of this size, the latest that can be removed; None if no piece can."""
    for end in range(len(run.labels), 0, -size):
        if replays.number >= MOST_REPLAYS:
            return None
        start = max(0, end - size)
        shorter = replays.run((*run.labels[:start], *run.labels[end:]))
        if shorter is not None and len(shorter.labels) < len(run.labels):
            return shorter
    return None


# ---------------------------------------------------------------------------- members


def _fewer_members(
    model: Model, within: Selection, run: Behaviour[Label], sort: str, size: str
) -> Iterator[tuple[Selected, tuple[Label, ...]]]:
    """Yield smaller configurations, the smallest first, with the steps of the remaining members of a sort."""

    def selected(**changed: int) -> Selected:
        of = replace(run.origin, overrides={**run.origin.overrides, **changed}).selection()
        return resolve(replace(of, model=within.model, patch=within.patch))

    members = getattr(selected().config, size)
    for number in range(1, members):
        try:
            smaller = selected(**{size: number})
        except UsageFault:
            continue
        for remaining in itertools.combinations(range(members), number):
            new = {member: place for place, member in enumerate(remaining)}
            renamed = (_renamed(label, model.signatures[label.action], sort, new) for label in run.labels)
            yield smaller, tuple(label for label in renamed if label is not None)


def _renamed(label: Label, types: Sequence[Ty], sort: str, new: Mapping[int, int]) -> Label | None:
    """Return the step with renumbered members; None if it names a removed one, or has one inside another value."""
    args: list[object] = []
    for ty, value in zip(types, label.args, strict=True):
        inner = ty.elem if ty.kind == "opt" else ty
        if value is None or sort not in sorts_in(inner):
            args.append(value)
        elif inner.kind == "member" and isinstance(value, int) and value in new:
            args.append(new[value])
        elif inner.kind == "set" and inner.elem.kind == "member" and isinstance(value, frozenset):
            args.append(frozenset(new[member] for member in value if member in new))
        else:
            return None
    return Label(label.action, tuple(args))


# ---------------------------------------------------------------------------- search


def _searched(
    model: Model, config: Any, fn: Fn, run: Behaviour[Label], seconds: float, progress: Progress
) -> tuple[Behaviour[Label], bool]:
    """Return a shorter run if the engine finds one, else this one, and whether none is shorter for certain."""
    from elrcheck.checking.engines import SearchSubject, explore

    if not run.labels:
        return run, True
    limits = Limits(max_depth=len(run.labels) - 1, time_budget=seconds)
    request = CheckRequest(limits=limits, stop_at_first=True)
    outcome = explore(SearchSubject(model, config, [fn]), request, progress)
    if fn.ident in outcome.traces:
        shortest = replay_finding(model, config, fn, outcome.traces[fn.ident])
        return replace(shortest.followed, origin=run.origin), True
    return run, outcome.complete or "--max-depth" in (outcome.reason or "")
