"""The states of a trace as pages draw them: a picture, a sentence, and the enabled and the refused actions."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import structs

from elrcheck.base.roundtrip import ProcessOnly
from elrcheck.declared.declared_model import declared
from elrcheck.declared.state_picture import Drawing
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.lang.runtime import NotEnabled
from elrcheck.results.trace_view import RefusedAction, Scene, TraceView
from elrcheck.traces.describe import arguments, first_sentence, spelled, text, trace_view, with_members
from elrcheck.traces.drawings import FieldsDrawing, drawing_of_copy

MOST_CHOICES = 50_000
"""Maximum number of action instances; trying more of them in a state takes too long for a page."""


def drawing_of(model: Model, config: Any) -> Drawing:
    """Return the drawing that the model declares, or else one by fields.

    A copy of the default model is drawn like the original, as long as its states have the same fields.
    """
    default = declared(None)
    own = default.drawing(config) if type(config) is default.config else drawing_of_copy(model, config)
    return own or FieldsDrawing(model.state_ty)


def sentence(drawing: Drawing, fn: Fn, before: Any, after: Any, label: Label) -> str:
    """Describe a step in a sentence, of the model's drawing or else of the docstring of the action."""
    words = drawing.sentence(before, after, label)
    words = words or with_members(first_sentence(fn.doc), fn, arguments(fn, label.args))
    return words[:1].upper() + words[1:]


def rule(fn: Fn) -> str:
    """Return the source text of an action; "" if it cannot be read."""
    try:
        return textwrap.dedent(inspect.getsource(fn.source)).rstrip()
    except (OSError, TypeError):
        return ""


def refused(plain: PlainModel, state: Any) -> tuple[RefusedAction, ...]:
    """Return the disabled action instances of a state, by action and refusing guard."""
    calls_by_guard: dict[tuple[str, str], list[str]] = {}
    params = {fn.name: fn.params for fn in plain.model.actions}
    for label, source in plain.steps:
        try:
            source(plain.config, state, *label.args)
        except NotEnabled as refusal:
            values = zip(label.args, params[label.action], strict=True)
            call = ", ".join(f"{name}={text(value, ty)}" for value, (name, ty) in values)
            calls_by_guard.setdefault((label.action, refusal.guard), []).append(call)
    return tuple(RefusedAction(action, guard, tuple(calls)) for (action, guard), calls in calls_by_guard.items())


def drawn_view(
    model: Model, config: Any, states: Sequence[Any], labels: Sequence[Label], repro: str = "", loop: int | None = None
) -> TraceView:
    """Return the report's view of a replayed trace, with its drawing; arguments as of `trace_view`."""
    view = trace_view(model, states, labels, repro, loop)
    return structs.replace(view, drawn=FollowedScenes(model, config, states, labels))


class FollowedScenes(ProcessOnly):
    """The `Scenes` of a replayed trace. Not a dataclass, which would be encoded field by field."""

    def __init__(self, model: Model, config: Any, states: Sequence[Any], labels: Sequence[Label]) -> None:
        self.model, self.config, self.states, self.labels = model, config, states, labels

    def scenes(self) -> tuple[Scene, ...]:
        """Return the scene of each state."""
        return tuple(self._scene(number) for number in range(len(self.states)))

    def rules(self) -> Mapping[str, str]:
        """Return the source text of each action that is taken."""
        return {label.action: rule(self._actions[label.action]) for label in self.labels}

    def _scene(self, number: int) -> Scene:
        state, before = self.states[number], self.states[max(number - 1, 0)]
        words = ""
        if number:
            label = self.labels[number - 1]
            words = sentence(self._drawing, self._actions[label.action], before, state, label)
        drawn = self._drawing.drawn(state, before)
        if len(self._plain.steps) > MOST_CHOICES:
            return Scene(drawn, words)
        enabled = tuple(spelled(self._actions[one.action], one.args) for one, _ in self._plain.successors(state))
        return Scene(drawn, words, enabled, refused(self._plain, state))

    @cached_property
    def _actions(self) -> Mapping[str, Fn]:
        return self.model.actions_by_name

    @cached_property
    def _plain(self) -> PlainModel:
        return PlainModel(self.model, self.config)

    @cached_property
    def _drawing(self) -> Drawing:
        return drawing_of(self.model, self.config)
