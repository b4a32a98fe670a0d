"""One configuration for the explorer: the plain model follows its paths; nothing is compiled."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.base.printable import shortened
from elrcheck.base.requests import Selection
from elrcheck.declared.select import Selected, resolve
from elrcheck.declared.state_picture import Drawing
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.lang.source import ModelError
from elrcheck.report.plain_words import some_of
from elrcheck.stored_traces.recorded import parse_action
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from elrcheck.traces.describe import spelled
from elrcheck.traces.scenes import MOST_CHOICES, drawing_of
from elrcheck.traces.truth import first_violated

MOST_STEPS = 1000
MOST_NAMED = 6
"""Choices of arguments that a message names."""
CACHED_STATES = 2000
"""Number of states whose actions are cached."""


@dataclass(frozen=True)
class Path:
    """Steps from the initial state, followed by the plain model."""

    states: tuple[Any, ...]
    labels: tuple[Label, ...]
    indices: tuple[int, ...]

    def upto(self, steps: int) -> Path:
        return Path(self.states[: steps + 1], self.labels[:steps], self.indices[:steps])


class FollowedSpace:
    """A selection with its model; caches the actions and properties of recently visited states.

    start: number of the initial state.
    """

    def __init__(self, selection: Selection, start: int = 0) -> None:
        self.selection, self.start = selection, start
        self.selected: Selected = resolve(selection)
        self.config = self.selected.config
        too_many = self.selected.declared.not_shown(self.config)
        if too_many is not None:
            raise too_many
        self.model: Model = self.selected.declared.checked()
        try:
            self.plain = PlainModel(self.model, self.config)
            self.starts = tuple(dict.fromkeys(self.plain.starts))
        except ModelError as fault:
            raise UsageFault("model-source", fault.message, where=fault.where, help=fault.help or None) from fault
        if len(self.plain.steps) > MOST_CHOICES:
            message = f"{len(self.plain.steps):,} actions with arguments are too many to show"
            raise UsageFault("web-request", message, help=f"at most {MOST_CHOICES:,}: choose smaller sizes with --set")
        if start >= len(self.starts):
            message = f"there is no initial state {start}"
            raise UsageFault("web-request", message, help=f"there are {len(self.starts)}, from 0 on")
        self.drawing: Drawing = drawing_of(self.model, self.config)
        self.actions = self.model.actions_by_name
        self.choices = functools.lru_cache(CACHED_STATES)(lambda state: tuple(self.plain.successors(state)))
        self.false_after = functools.lru_cache(20 * CACHED_STATES)(self._false_after)

    def follow(self, words: Sequence[str]) -> Path:
        """Follow steps, each an index as in `--repro` or an action; raise UsageFault if one is not enabled."""
        if len(words) > MOST_STEPS:
            raise UsageFault("web-path", f"{len(words)} steps are too many", help=f"at most {MOST_STEPS}")
        states, labels, indices = [self.starts[self.start]], list[Label](), list[int]()
        for number, word in enumerate(words, start=1):
            index = self.index_of(states[-1], word, number)
            label, after = self.choices(states[-1])[index]
            states.append(after)
            labels.append(label)
            indices.append(index)
        return Path(tuple(states), tuple(labels), tuple(indices))

    def word(self, label: Label) -> str:
        """Return a step by name, as in a path: an index changes its meaning when the model gains an action."""
        return spelled(self.actions[label.action], label.args).replace(", ", ",")

    def words(self, path: Path) -> tuple[str, ...]:
        return tuple(map(self.word, path.labels))

    def repro(self, path: Path) -> str:
        """Return the path as `--repro` takes it; empty if it starts in another state than the first initial one."""
        return "" if self.start else "/".join(map(str, path.indices))

    def behaviour(self, states: tuple[Any, ...], labels: tuple[Label, ...]) -> Behaviour[Label]:
        """Return the steps as a behaviour, the form of every trace."""
        origin = TraceOrigin.of(self.selected, first_violated(self.plain, states))
        return Behaviour(origin, states, labels)

    @functools.cached_property
    def _spelled(self) -> dict[str, Label]:
        """Return word of a path -> action with arguments, because not every type can be parsed."""
        return {self.word(label): label for label, _ in self.plain.steps}

    def _false_after(self, before: Any, state: Any) -> tuple[Fn, ...]:
        """Return the properties that a state, or the step into it, violates. before: None for the initial state."""
        return tuple(
            fn
            for fn in self.model.always
            if not (fn.is_step and before is None)
            and not self.plain.holds(fn, *((before, state) if fn.is_step else (state,)))
        )

    def index_of(self, state: Any, word: str, number: int) -> int:
        """Return the index of the choice that a word names in a state; raise UsageFault if it is not enabled there.

        number: that of the step, for the message.
        """
        choices = self.choices(state)
        if word.isdecimal():
            if len(word) > 6 or int(word) >= len(choices):
                raise _refused(number, word, f"it is not one of the {len(choices)} possible actions")
            return int(word)
        requested: Label | str | None = self._spelled.get(word)
        try:
            if requested is None:
                requested = parse_action(word, self.model, self.config)
        except UsageFault as fault:
            raise _refused(number, word, fault.message, fault.help) from fault
        matches = [i for i, (label, _) in enumerate(choices) if requested in (label, label.action)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            named = some_of([self.word(choices[i][0]) for i in matches], MOST_NAMED)
            raise _refused(number, word, f"{len(matches)} choices of its arguments are possible", f"name one: {named}")
        raise _refused(number, word, self._why_not(state, requested))

    def _why_not(self, state: Any, requested: Label | str) -> str:
        if isinstance(requested, Label):
            if not any(label == requested for label, _ in self.plain.steps):
                return "this configuration has no such action"
            try:
                self.plain.step(state, requested)
            except NotEnabled as fault:
                return f"it is not enabled there: {fault.guard}"
        return "it is not enabled there"


def _refused(number: int, word: str, why: str, help: str | None = None) -> UsageFault:
    return UsageFault(
        "web-path",
        f"the path cannot be followed: step {number}, `{shortened(word, 80)}`: {why}",
        where=f"step {number}",
        help=help or "it may have been recorded with another version, variant or scope",
    )
