"""Parses the labels of a trace's steps: `Fetch(1, 0, FALSE)`, `Fetch(f=1, leader=0)` or only `Fetch`.

In TLC, ITF and Quint a label is plain text. A label that names no action of the model (`Next`,
`Initial predicate`, `CexStep`) allows any action; one without arguments allows any arguments.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label
from elrcheck.stored_traces.written_values import Unreadable, read_call, words_of
from elrcheck.tla_export.reading.parse import ValueSyntaxError, parse
from elrcheck.tla_export.reading.values import ValueMismatch, read
from elrcheck.traces.behaviour import RecordedStep

LABEL = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def action_of(text: str | None, actions: Mapping[str, Fn], config: Any) -> RecordedStep:
    """Return the action that a label names, with its arguments if given; None if the model has no such action."""
    match = LABEL.fullmatch(text) if text else None
    if match is None or match[1] not in actions:
        return None
    if match[2] is None:
        return match[1] if actions[match[1]].params else Label(match[1], ())
    try:
        return Label(match[1], arguments(match[0], actions, config))
    except (Unreadable, ValueMismatch, ValueSyntaxError):
        return match[1]


def arguments(call: str, actions: Mapping[str, Fn], config: Any) -> tuple[Any, ...]:
    """Parse the arguments of a call, given by name or by position.

    Raise Unreadable, ValueMismatch or ValueSyntaxError if they do not match the action's parameters.
    """
    name, _, inside = call.strip().removesuffix(")").partition("(")
    if "=" in inside:
        return read_call(call, actions, config).args
    params = actions[name.strip()].params
    words = words_of(inside)
    if len(words) == len(params):
        named = ", ".join(f"{param}={word.strip()}" for (param, _), word in zip(params, words, strict=True))
        with contextlib.suppress(Unreadable):  # then it may be TLA+
            return read_call(f"{name}({named})", actions, config).args
    types = [ty for _, ty in params]
    values = parse(f"<<{inside}>>")
    assert isinstance(values, tuple)
    if len(values) != len(types):
        raise Unreadable(f"{name} takes {len(types)} arguments, found {len(values)}")
    return tuple(read(ty, value) for ty, value in zip(types, values, strict=True))


def parse_action(text: str, model: Model, config: Any) -> Label | str:
    """Parse an action written by a user; raise UsageFault if it is malformed or does not exist."""
    actions = model.actions_by_name
    match = LABEL.fullmatch(text)
    if match is None:
        help = "write Fetch or Fetch(f=1, leader=0)"
        raise UsageFault("bad-action", f"`{text}` is not an action", help=help)
    name = next((each for each in actions if each.lower() == match[1].lower()), None)
    if name is None:
        raise UsageFault("unknown-action", f"unknown action `{match[1]}`", help=did_you_mean(match[1], actions))
    if match[2] is None:
        return name
    fn = actions[name]
    try:
        return Label(name, arguments(f"{name}({match[2]})", actions, config))
    except (Unreadable, ValueMismatch, ValueSyntaxError) as fault:
        words = ", ".join(param for param, _ in fn.params)
        raise UsageFault("bad-action", str(fault), where=text, help=f"{name} takes ({words})") from fault
