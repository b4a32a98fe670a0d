"""Traces as ITF, the JSON format of Apalache (ADR-015) that Quint, the ITF Trace Viewer and others read.

The value of each type:

| model value     | ITF                                    | `varTypes`                    |
| --------------- | -------------------------------------- | ----------------------------- |
| bool            | true, false                            | Bool                          |
| int, broker id  | {"#bigint": "7"}                       | Int                           |
| enum member     | "FENCED"                               | Str                           |
| set of brokers  | {"#set": [..]}, ascending              | Set(Int)                      |
| optional        | the value itself, or "None_OF_OPT"     | (Int | None_OF_OPT)           |
| Vec             | {"#map": [[0, a], [1, b]]} (ids as #bigint) | (Int -> T)               |
| Seq             | [a, b]                                 | Seq(T)                        |
| record          | {"field": ..}                          | { field: T }                  |

ITF has no model values; Apalache writes a constant c of an uninterpreted sort S as the string
"c_OF_S", and so an absent optional is the constant None of the sort OPT. A variant, {"tag": "Some",
"value": ..}, would be better typed, but itf-py (0.5.0) cannot read one with a number inside, nor one
called None; the union in `varTypes` is for people, no such type exists in Apalache. The reader
accepts variants as well, since Quint writes them.

ITF has no action labels either: the action that led to a state is in the `#meta` of that state.

Hazards of itf-py, the independent reader of our tests: records become namedtuples, so a field may
not be a Python keyword or start with `_`, and a record with exactly the fields `tag` and `value`
would be taken for a variant.

The reader is strict (see `elrcheck.base.strictjson`): it knows the type of everything it reads,
so the depth of its recursion is that of the state type, whatever the file contains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import did_you_mean
from elrcheck.base.strictjson import At, kind_of, lay_out
from elrcheck.lang.types import Ty

FORMAT_URL = "https://apalache-mc.org/docs/adr/015adr-trace.html"
NONE_TEXT = "None_OF_OPT"
BIGINT = re.compile(r"-?[0-9]{1,30}\Z")


def write_itf(
    path: Path,
    state: Ty,
    states: Sequence[Any],
    actions: Sequence[str],
    *,
    source: str | None = None,
    description: str | None = None,
    loop: int | None = None,
    meta: Mapping[str, Any] | None = None,
) -> None:
    """Write a trace; meta: further keys for `#meta`, such as variant and scope, for the replay."""
    if len(actions) != len(states) - 1:
        raise ValueError(f"{len(states)} states need {len(states) - 1} actions, got {len(actions)}")
    head: dict[str, Any] = {"format": "ITF", "format-description": FORMAT_URL}
    head |= {k: v for k, v in (("source", source), ("description", description)) if v is not None}
    head["varTypes"] = {name: type_text(ty) for name, ty in state.fields.items()}
    rows = []
    for i, value in enumerate(states):
        about = {"index": i} | ({"action": actions[i - 1]} if i else {})
        rows.append({"#meta": about} | {n: encode(t, getattr(value, n)) for n, t in state.fields.items()})
    document = {"#meta": head | dict(meta or {}), "params": [], "vars": list(state.fields), "states": rows}
    write_file(path, lay_out(document if loop is None else document | {"loop": loop}))


def itf_states(
    raw: Any, at: At, state: Ty, *, ignore: Sequence[str] = ()
) -> tuple[list[Any], list[str | None], int | None]:
    """The states of a trace that has been parsed, the action to each but the first, and its loop.

    An action is None where the file names none; `ignore` names foreign variables to leave out.
    """
    body = at.mapping(raw, ("vars", "states"), ("#meta", "params", "loop"))
    names = [at.field("vars").item(i).text(v) for i, v in enumerate(at.field("vars").items(body["vars"]))]
    for i, name in enumerate(names):
        if name not in state.fields and name not in ignore:
            at.field("vars").item(i).fail(f"unknown variable `{name}`", help=did_you_mean(name, state.fields))
    if missing := [name for name in state.fields if name not in names]:
        at.field("vars").fail(f"variable `{missing[0]}` is missing")
    rows = at.field("states").items(body["states"])
    if not rows:
        at.field("states").fail("a trace has at least one state")
    loop = at.field("loop").integer(body["loop"]) if body.get("loop") is not None else None
    if loop is not None and not 0 <= loop < len(rows):
        at.field("loop").fail(f"there is no state {loop}, the last one is {len(rows) - 1}")
    states, actions = [], []
    for i, row in enumerate(rows):
        here = at.field("states").item(i)
        found = here.mapping(row, state.fields, ("#meta", *ignore))
        states.append(state.cls(**{n: decode(t, found[n], here.field(n)) for n, t in state.fields.items()}))
        actions.append(_action(found.get("#meta")))
    return states, actions[1:], loop


def _action(meta: Any) -> str | None:
    action = meta.get("action") if isinstance(meta, dict) else None
    return action if isinstance(action, str) else None


def type_text(ty: Ty) -> str:
    """The type in Apalache's notation, as far as it has one."""
    match ty.kind:
        case "bool":
            return "Bool"
        case "nat" | "replica":
            return "Int"
        case "enum":
            return "Str"
        case "set":
            return f"Set({type_text(ty.elem)})"
        case "opt":
            return f"({type_text(ty.elem)} | {NONE_TEXT})"
        case "vec":
            return f"(Int -> {type_text(ty.elem)})"
        case "seq":
            return f"Seq({type_text(ty.elem)})"
        case "record" | "state":
            return "{ " + ", ".join(f"{n}: {type_text(t)}" for n, t in ty.fields.items()) + " }"
    raise TypeError(f"no ITF type for a {ty}")


def encode(ty: Ty, value: Any) -> Any:
    """The ITF expression of a model value of this type."""
    match ty.kind:
        case "bool":
            return value
        case "nat" | "replica":
            return {"#bigint": str(value)}
        case "enum":
            return value.name
        case "set":
            return {"#set": [encode(ty.elem, v) for v in sorted(value)]}
        case "opt":
            return NONE_TEXT if value is None else encode(ty.elem, value)
        case "vec":
            return {"#map": [[{"#bigint": str(i)}, encode(ty.elem, v)] for i, v in enumerate(value)]}
        case "seq":
            return [encode(ty.elem, v) for v in value]
        case "record" | "state":
            return {n: encode(t, getattr(value, n)) for n, t in ty.fields.items()}
    raise TypeError(f"no ITF expression for a {ty}")


def decode(ty: Ty, raw: Any, at: At) -> Any:
    """The model value of this type that an ITF expression stands for; UsageFault if it does not fit."""
    match ty.kind:
        case "bool":
            if not isinstance(raw, bool):
                at.fail(f"expected true or false, found {kind_of(raw)}")
            return raw
        case "nat" | "replica":
            return _integer(ty, raw, at)
        case "enum":
            name = at.text(raw)
            if name not in ty.members:
                at.fail(f"{ty.name} has no member `{name}`", help=did_you_mean(name, ty.members))
            return ty.cls[name]
        case "set":
            members = [decode(ty.elem, v, at.item(i)) for i, v in enumerate(_special(raw, "#set", at))]
            if len(set(members)) < len(members):
                at.fail("a member of the set is listed twice")
            return frozenset(members)
        case "opt":
            return _optional(ty, raw, at)
        case "vec":
            return _vector(ty, raw, at)
        case "seq":
            items = raw if isinstance(raw, list) else _special(raw, "#tup", at)
            return tuple(decode(ty.elem, v, at.item(i)) for i, v in enumerate(items))
        case "record" | "state":
            body = at.mapping(raw, ty.fields)
            return ty.cls(**{n: decode(t, body[n], at.field(n)) for n, t in ty.fields.items()})
    at.fail(f"a {ty} cannot be in a trace")


def _special(raw: Any, key: str, at: At) -> list[Any]:
    """The array inside {"#set": [..]} and its like."""
    if not isinstance(raw, dict) or list(raw) != [key]:
        at.fail(f'expected {{"{key}": [..]}}, found {kind_of(raw)}')
    return at.items(raw[key])


def _integer(ty: Ty, raw: Any, at: At) -> int:
    """A number: {"#bigint": "7"}, or plain as ITF allowed until 2023."""
    if isinstance(raw, dict):
        digits = at.text(at.mapping(raw, ("#bigint",))["#bigint"])
        if not BIGINT.match(digits):
            at.fail(f"not an integer: {kind_of(digits)}")
        raw = int(digits)
    number = at.integer(raw)
    if ty.kind == "replica" and number < 0:
        at.fail(f"{number} is not a broker id")
    return number


def _optional(ty: Ty, raw: Any, at: At) -> Any:
    if raw == NONE_TEXT:
        return None
    if isinstance(raw, dict) and set(raw) == {"tag", "value"}:
        match raw["tag"]:
            case "None":
                return None
            case "Some":
                return decode(ty.elem, raw["value"], at.field("value"))
        at.field("tag").fail(f"expected Some or None, found {kind_of(raw['tag'])}")
    return decode(ty.elem, raw, at)


def _vector(ty: Ty, raw: Any, at: At) -> tuple[Any, ...]:
    found: dict[int, Any] = {}
    for i, pair in enumerate(_special(raw, "#map", at)):
        here = at.item(i)
        if len(here.items(pair)) != 2:
            here.fail("expected a pair [broker, value]")
        key = _integer(Ty("replica", "Replica"), pair[0], here.item(0))
        if key in found:
            here.fail(f"broker {key} twice")
        found[key] = decode(ty.elem, pair[1], here.item(1))
    if set(found) != set(range(len(found))):
        at.fail(f"expected one value for each of 0..{len(found) - 1}, found {sorted(found)}")
    return tuple(found[i] for i in range(len(found)))
