"""The shortest traces that one of two models has and the other refuses.

Both are followed in plain Python, step by step with the same action and arguments, breadth first over the pairs of
states that both reach. Values are compared by content, because a copy of a model has other classes; fields that only
one model has are ignored. Steps whose compiled programs are equal are taken in one model only.
"""

from __future__ import annotations

import enum
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias

from elrcheck.base.progress import Progress
from elrcheck.lang.changed.translated import same_fields, translated
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.lowering.program_digest import step_digests
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import Map, NotEnabled
from elrcheck.lang.types import Ty
from elrcheck.results.model_diff_report import RefusedTrace, SideName
from elrcheck.results.trace_view import Change
from elrcheck.traces.describe import leaves, trace_view

Pair: TypeAlias = tuple[Any, Any]
StepKey: TypeAlias = tuple[str, Any]
"""An action, and the content of its arguments (`meaning`)."""
Step: TypeAlias = tuple[Label, Callable[..., Any]]
SIDES: tuple[SideName, ...] = ("a", "b")
OTHER: Mapping[SideName, SideName] = {"a": "b", "b": "a"}


@dataclass(frozen=True)
class TraceLimits:
    """Limits of the search: pairs of states, steps, seconds."""

    states: int
    depth: int | None
    seconds: float


@dataclass(frozen=True)
class _Refusal:
    """A step from a pair that only one side has: its label there, and the guard or state of the other side."""

    pair: Pair
    label: Label
    after: Any
    guard: str | None
    reason: str
    changed: tuple[Change, ...] = ()


class TwoModels:
    """The search over two models.

    stopped_by: the limit that ended it, in words; None after a complete one.
    """

    def __init__(self, a: PlainModel, b: PlainModel, limits: TraceLimits, steps: Mapping[StepKey, bool]) -> None:
        """steps: see `compared_steps`."""
        self.models: Mapping[SideName, PlainModel] = {"a": a, "b": b}
        self.limits = limits
        self.stopped_by: str | None = None
        self._one_to_one = same_fields(a.model.state_ty, b.model.state_ty)
        self._before: dict[Pair, tuple[Pair, tuple[Label, Label]] | None] = {}
        self._refused: dict[SideName, _Refusal] = {}
        self._reached: set[Any] = set()
        own = [{(label.action, meaning(label.args)): (label, source) for label, source in m.steps} for m in (a, b)]
        self._steps: list[tuple[Step | None, Step | None, bool]] = [
            (own[0].get(key), own[1].get(key), equal and self._one_to_one) for key, equal in steps.items()
        ]

    def search(self, progress: Progress) -> tuple[RefusedTrace, ...]:
        """Return, for each side, the shortest trace that the other side refuses."""
        started = time.monotonic()
        starts = self._starts()
        if starts is not None:
            return starts
        level = list(self._before)
        self._reached.update(a for a, _ in level)
        for depth in itertools.count():
            progress.stage(f"comparing traces of {depth} steps: {len(self._before)} pairs of states so far")
            if not level or len(self._refused) == len(SIDES):
                break
            if depth == self.limits.depth:
                self.stopped_by = f"--max-depth {depth}"
                break
            later: list[Pair] = []
            for pair in level:
                later += self._expand(pair)
                if time.monotonic() - started > self.limits.seconds:
                    self.stopped_by = f"--time-budget {self.limits.seconds:g}s"
                elif len(self._before) > self.limits.states:
                    self.stopped_by = f"--max-states {self.limits.states}"
                if self.stopped_by is not None:
                    return self._answers()
            level = later
        return self._answers()

    def _starts(self) -> tuple[RefusedTrace, ...] | None:
        """Pair the initial states; return the answer if one model has an initial state that the other lacks."""
        starts = {side: list(dict.fromkeys(model.starts)) for side, model in self.models.items()}
        pairs = [(x, y) for x in starts["a"] for y in starts["b"] if alike(x, y)]
        self._before = dict.fromkeys(pairs)
        answers = []
        for place, side in enumerate(SIDES):
            paired = {pair[place] for pair in pairs}
            alone = next((state for state in starts[side] if state not in paired), None)
            if alone is not None:
                view = trace_view(self.models[side].model, (alone,), (), "")
                reason = "this is not an initial state there"
                answers.append(RefusedTrace(side, "found", len(pairs), view, reason=reason))
            else:
                answers.append(RefusedTrace(side, "none" if not pairs else "inconclusive", len(pairs)))
        if all(answer.verdict != "found" for answer in answers):
            return None
        self.stopped_by = "an initial state that only one has"
        return tuple(answers)

    def _expand(self, pair: Pair) -> Iterator[Pair]:
        """Yield the new pairs that are one step after a pair, and note steps that only one side has."""
        a, b = self.models["a"], self.models["b"]
        states = self._both(pair)
        for of_a, of_b, equal in self._steps:
            after_a, guard_a = _taken(a, of_a, states[0])
            if equal and (after_a is None or after_a in self._reached):
                continue
            after_b, guard_b = (None, None) if equal else _taken(b, of_b, states[1])
            if after_a is None and after_b is None:
                continue
            if equal or (after_a is not None and after_b is not None and alike(after_a, after_b)):
                after = (after_a, after_b)
                if self._is_visited(after):
                    continue
                assert of_a is not None and of_b is not None
                if a.within(after_a) and (equal or b.within(after_b)):
                    self._reached.add(after_a)
                    self._before[after] = (pair, (of_a[0], of_b[0]))
                    yield after
                    continue
                if equal:
                    continue  # outside the bound of both
            if of_a is not None and after_a is not None:
                self._note("a", pair, of_a[0], after_a, after_b, of_b is None, guard_b)
            if of_b is not None and after_b is not None:
                self._note("b", pair, of_b[0], after_b, after_a, of_a is None, guard_a)

    def _is_visited(self, pair: Pair) -> bool:
        return pair[0] in self._reached if self._one_to_one else pair in self._before

    def _both(self, pair: Pair) -> Pair:
        """Return the states of a pair; after an equal step, that of b is a translation of that of a."""
        ty = self.models["b"].model.state_ty
        return pair[0], translated(pair[0], ty) if pair[1] is None else pair[1]

    def _note(
        self, side: SideName, pair: Pair, label: Label, after: Any, elsewhere: Any, missing: bool, guard: str | None
    ) -> None:
        if side in self._refused or not self.models[side].within(after):
            return
        if missing:
            refusal = _Refusal(pair, label, after, None, f"there is no such step of {label.action} there")
        elif elsewhere is None:
            refusal = _Refusal(pair, label, after, guard, f"the guard `{guard}` refuses it there")
        elif alike(after, elsewhere):
            refusal = _Refusal(pair, label, after, None, "the state after it is outside the bound there")
        else:
            types = {name: model.model.state_ty for name, model in self.models.items()}
            changed = _differences(after, types[side], elsewhere, types[OTHER[side]])
            refusal = _Refusal(pair, label, after, None, "it makes another state there", changed)
        self._refused[side] = refusal

    def _answers(self) -> tuple[RefusedTrace, ...]:
        return tuple(self._answer(side) for side in SIDES)

    def _answer(self, side: SideName) -> RefusedTrace:
        refusal, explored = self._refused.get(side), len(self._before)
        if refusal is None:
            return RefusedTrace(side, "none" if self.stopped_by is None else "inconclusive", explored)
        place = SIDES.index(side)
        states, labels = [refusal.after], [refusal.label]
        pair = refusal.pair
        while True:
            states.append(self._both(pair)[place])
            link = self._before[pair]
            if link is None:
                break
            pair, of_each = link
            labels.append(of_each[place])
        view = trace_view(self.models[side].model, states[::-1], labels[::-1], "")
        return RefusedTrace(side, "found", explored, view, refusal.guard, refusal.changed, refusal.reason)


def compared_steps(a: Program, b: Program) -> dict[StepKey, bool]:
    """Return the steps that either program may take, and whether they are the same in both."""
    one, other = (
        {(action, meaning(args)): digest for (action, args), digest in step_digests(program).items()}
        for program in (a, b)
    )
    fits = [(leaf.path, leaf.lo, leaf.hi) for leaf in a.leaves] == [(leaf.path, leaf.lo, leaf.hi) for leaf in b.leaves]
    return {key: fits and one.get(key) == other.get(key) for key in dict.fromkeys((*one, *other))}


def _taken(model: PlainModel, step: Step | None, state: Any) -> tuple[Any, str | None]:
    """Return the state after a step, or None and the guard that refuses it."""
    if step is None:
        return None, None
    label, source = step
    try:
        return source(model.config, state, *label.args), None
    except NotEnabled as refusal:
        return None, refusal.guard


def meaning(value: Any) -> Any:
    """Return a value without the classes of its model: members of enums by name, records by their fields."""
    if isinstance(value, enum.Enum):
        return value.name
    if is_dataclass(value):
        return tuple((part.name, meaning(getattr(value, part.name))) for part in fields(value))
    if isinstance(value, tuple):
        return tuple(map(meaning, value))
    if isinstance(value, frozenset):
        return frozenset(map(meaning, value))
    if isinstance(value, Map):
        return Map({meaning(key): meaning(one) for key, one in value.items()})
    return value


def alike(a: Any, b: Any) -> bool:
    """Return whether two values have the same content, in the fields that both have."""
    if type(a) is type(b) and not isinstance(a, tuple | frozenset | Map):
        return bool(a == b)
    if is_dataclass(a) and is_dataclass(b):
        shared = [part.name for part in fields(a) if hasattr(b, part.name)]
        return all(alike(getattr(a, name), getattr(b, name)) for name in shared)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    return bool(meaning(a) == meaning(b))


def _differences(a: Any, a_ty: Ty, b: Any, b_ty: Ty) -> tuple[Change, ...]:
    """Return the leaves of two states that differ, among those that both have."""
    one, other = dict(leaves(a, a_ty)), dict(leaves(b, b_ty))
    return tuple(Change(path, text, other[path]) for path, text in one.items() if other.get(path, text) != text)
