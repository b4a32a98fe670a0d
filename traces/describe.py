"""Model values and traces as text for people; nothing here is meant to be parsed."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from typing import Any

from elrcheck.lang.domains import in_order, key_text
from elrcheck.lang.guards import guards_of_state
from elrcheck.lang.ir import Fn, guard_names
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label
from elrcheck.lang.runtime import Map
from elrcheck.lang.types import Ty
from elrcheck.results.trace_view import Argument, Change, Step, Talk, TraceView, as_call


def is_log_record(ty: Ty) -> bool:
    """Return whether this is the type of the records of a log, which are shown as r1@0(all)."""
    return tuple(ty.fields) == ("id", "epoch", "acks")


def text(value: Any, ty: Ty | None = None) -> str:
    """Format a value briefly: {0,2}, none, RUNNING, [1 2]; a bag with its counts that are not 0: {ASK: 2}."""
    if value is None:
        return "none"
    ty = None if ty is None else ty.present
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, frozenset):
        return "{" + ",".join(text(x, ty.elem if ty else None) for x in in_order(value)) + "}"
    if isinstance(value, Map):
        elem = None if ty is None else ty.elem
        entries = [(k, x) for k, x in value.items() if elem is None or elem.kind != "nat" or x != 0]
        pairs = (f"{key_text(k)}: {text(x, elem)}" for k, x in entries)
        return "{" + ", ".join(pairs) + "}"
    if ty is not None and ty.is_pair:
        return "(" + ", ".join(text(x, part) for x, part in zip(value, ty.parts, strict=True)) + ")"
    if isinstance(value, tuple):
        return "[" + " ".join(text(x, ty.elem if ty else None) for x in value) + "]"
    if ty is not None and ty.kind == "record":
        if is_log_record(ty):
            return f"r{value.id}@{value.epoch}({value.acks.value})"
        return "(" + " ".join(f"{f}={text(getattr(value, f), t)}" for f, t in ty.fields.items()) + ")"
    return str(value)


def leaves(value: Any, ty: Ty, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (path, text) for each displayed value; records, maps and vectors of records are expanded."""
    match ty.kind:
        case "record" | "state" if not ty.is_pair:
            for f, t in ty.fields.items():
                yield from leaves(getattr(value, f), t, f"{path}.{f}" if path else f)
        case "vec" if ty.is_map and ty.elem.kind != "nat":
            for key, x in value.items():
                yield from leaves(x, ty.elem, f"{path}[{key_text(key)}]")
        case "vec" if ty.elem.kind == "record":
            for i, x in enumerate(value):
                yield from leaves(x, ty.elem, f"{path}[{i}]")
        case _:
            yield path, text(value, ty)


def changes(before: Any, after: Any, ty: Ty) -> tuple[Change, ...]:
    """Return the leaves that differ between two states."""
    pairs = zip(leaves(before, ty), leaves(after, ty), strict=True)
    return tuple(Change(path, old, new) for (path, old), (_, new) in pairs if old != new)


def arguments(fn: Fn, args: Sequence[Any]) -> tuple[Argument, ...]:
    return tuple(Argument(name, text(value, ty)) for (name, ty), value in zip(fn.params, args, strict=True))


def talk(fn: Fn, args: Sequence[Argument]) -> Talk | None:
    """Return the message that an action with these arguments represents, if any."""
    if (message := fn.marks.message) is None:
        return None
    values = {argument.name: argument.value for argument in args}
    lost = values[message.lost] == "true" if isinstance(message.lost, str) else message.lost
    sender, receiver = (values.get(end, end) for end in (message.sender, message.receiver))
    return Talk(sender, receiver, lost)


def because(fn: Fn, args: Sequence[Argument]) -> str:
    """Explain why a step was enabled: by the guards that read the state, or all guards if none does.

    Parameters that are members of a sort are named: `broker 1 is running` (`with_members`).
    """
    return with_members("; ".join(guards_of_state(fn) or guard_names(fn)), fn, args)


def with_members(words: str, fn: Fn, args: Sequence[Argument]) -> str:
    """Replace one-letter parameters that are members of a sort, such as `b`, by the member, such as `broker 1`."""
    for argument, (name, ty) in zip(args, fn.params, strict=True):
        if len(name) == 1 and ty.kind == "member":
            words = re.sub(rf"\b{name}\b", f"{ty.word} {argument.value}", words)
    return words


def first_sentence(doc: str) -> str:
    """Return the first paragraph of a docstring on one line."""
    return " ".join(doc.strip().partition("\n\n")[0].split())


def spelled(fn: Fn, args: Sequence[Any]) -> str:
    """Format an action as reports write it."""
    return as_call(fn.name, arguments(fn, args))


def trace_view(
    model: Model, states: Sequence[Any], labels: Sequence[Label], repro: str, loop: int | None = None
) -> TraceView:
    """Build the report's view of a replayed trace.

    loop: where a lasso's cycle starts; the state its last step returns to is repeated at the end of `states`.
    """
    actions = model.actions_by_name
    ty = model.state_ty
    steps = []
    for index, (label, before, after) in enumerate(zip(labels, states, states[1:], strict=False), start=1):
        fn = actions[label.action]
        args = arguments(fn, label.args)
        reason, changed = because(fn, args), changes(before, after, ty)
        steps.append(Step(index, label.action, args, reason, changed, fn.place, talk(fn, args)))
    return TraceView(dict(leaves(states[0], ty)), tuple(steps), repro, loop)
