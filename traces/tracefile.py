"""The stored form of a trace: plain JSON, schema `elrcheck.trace/1`, easy to read and to diff.

    {
     "schema": "elrcheck.trace/1",
     "variant": "kip_full",
     "scope": "two-brokers",
     "overrides": {"min_isr": 1},
     "property": "P-21",
     "steps": [
      {"action": "Fence", "args": [1]}
     ],
     "states": [
      {"partition": {"isr": [0, 1], "leader": 0, ..}, "broker": [{..}, {..}]},
      {"partition": {"isr": [0], "leader": 0, ..}, "broker": [{..}, {..}]}
     ]
    }

`steps[i]` leads from `states[i]` to `states[i + 1]`. A lasso has one more step than that, back to the
state whose index is `loop`; without it `loop` is the last state, and the behaviour stops there.

Inside a state a record is an object, a Vec or a Seq an array, a set of brokers an ascending array, an
enum member its name, an absent optional null, and a number a number.

How many brokers a state has depends on the configuration, which the file itself names. Reading therefore
has two steps: first the frame, then, under the configuration that variant, scope and overrides stand for,
every value. Whatever is wrong is a UsageFault (exit 2) that names the file and the JSON path.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.strictjson import At, kind_of, lay_out, load
from elrcheck.catalogue.select import resolve
from elrcheck.invariants.modules import load_checked_model, load_whole_model
from elrcheck.lang.plain import Label
from elrcheck.lang.types import Ty
from elrcheck.traces.behaviour import Behaviour, Origin, steps_needed
from elrcheck.traces.loaded import Given, Loaded, check_size, stored_traces

SCHEMA = "elrcheck.trace/1"
CODE = "trace-file"


def write_trace(path: Path, behaviour: Behaviour[Label], state: Ty) -> None:
    """Store a behaviour; the file appears whole or not at all."""
    origin, loop = behaviour.origin, behaviour.loop
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "variant": origin.variant,
        "scope": origin.scope,
        "overrides": {name: encode_argument(value) for name, value in origin.overrides.items()},
        "property": origin.property,
        **({} if loop is None else {"loop": loop}),
        "steps": [
            {"action": label.action, "args": [encode_argument(a) for a in label.args]}
            for label in behaviour.labels
        ],
        "states": [encode_value(state, value) for value in behaviour.states],
    }
    write_file(path, lay_out(document))


# ------------------------------------------------------------------------------------ reading


def load_trace(path: Path) -> Loaded[Label]:
    """A stored trace, or the first one of a run folder; UsageFault says what is wrong with it."""
    return loaded_trace(*load(stored_traces(path)[0], CODE))


def loaded_trace(raw: Any, at: At, given: Given | None = None) -> Loaded[Label]:
    """A trace file that has been parsed, in the model it names unless options name another one."""
    frame = _frame(raw, at)
    said = frame.origin.selection()
    selected = resolve(said if given is None else given.over(said))
    model = load_checked_model() if frame.loop is None else load_whole_model()
    signatures = {fn.name: [ty for _, ty in fn.params] for fn in model.actions}
    found = frame.decode(model.state_ty, signatures)
    _check_sizes(found, at, model.state_ty, signatures, selected.config.broker_count)
    origin = Origin.of(selected, frame.origin.property, at.file, "elrcheck")
    loaded = Loaded(model, selected.config, replace(found, origin=origin))
    if origin.property and loaded.property is None:
        known = [fn.ident for fn in (*model.always, *model.sometimes, *model.leads_to)]
        at.field("property").fail(
            f"unknown property `{origin.property}`", help=did_you_mean(origin.property, known)
        )
    return loaded


def stored_origin(path: Path) -> Origin:
    """What a trace file says it belongs to; its states and steps are not looked at."""
    return _frame(*load(path, CODE)).origin


def decode_trace(raw: Any, at: At, state: Ty, signatures: Mapping[str, Sequence[Ty]]) -> Behaviour[Label]:
    """The behaviour in a trace file that has been parsed. signatures: the parameters of every action."""
    return _frame(raw, at).decode(state, signatures)


@dataclass(frozen=True)
class _Frame:
    """A trace file whose frame has been checked, and whose values have not."""

    at: At
    origin: Origin
    loop: int | None
    raw_states: Sequence[Any]
    raw_steps: Sequence[Any]

    def decode(self, state: Ty, signatures: Mapping[str, Sequence[Ty]]) -> Behaviour[Label]:
        at = self.at.field("states")
        states = tuple(decode_value(state, raw, at.item(i)) for i, raw in enumerate(self.raw_states))
        at = self.at.field("steps")
        labels = tuple(_label(raw, signatures, at.item(i)) for i, raw in enumerate(self.raw_steps))
        return Behaviour(self.origin, states, labels, self.loop)


def _frame(raw: Any, at: At) -> _Frame:
    if isinstance(raw, dict) and raw.get("schema") != SCHEMA:
        found = kind_of(raw["schema"]) if "schema" in raw else "no key `schema`"
        at.fail(
            f"not a trace file: expected the schema {SCHEMA}, found {found}",
            help="another version of elrcheck stored it, or it is no trace: run `elrcheck check` again",
        )
    keys = ("schema", "variant", "scope", "overrides", "property", "steps", "states")
    body = at.mapping(raw, keys, ("loop",))
    states = at.field("states").items(body["states"])
    steps = at.field("steps").items(body["steps"])
    loop = at.field("loop").integer(body["loop"]) if "loop" in body else None
    if not states:
        at.field("states").fail("a trace has at least one state")
    if loop is not None and not 0 <= loop < len(states):
        at.field("loop").fail(f"there is no state {loop}, the last one is {len(states) - 1}")
    expected = steps_needed(len(states), len(steps), loop)
    if len(steps) != expected:
        at.field("steps").fail(f"{len(states)} states need {expected} steps, found {len(steps)}")
    overrides = body["overrides"]
    if not isinstance(overrides, dict):
        at.field("overrides").fail(f"expected an object, found {kind_of(overrides)}")
    origin = Origin(
        variant=at.field("variant").text(body["variant"]),
        scope=at.field("scope").text(body["scope"]),
        property=at.field("property").text(body["property"]),
        overrides={k: _plain(v, at.field("overrides").field(k)) for k, v in overrides.items()},
    )
    return _Frame(at, origin, loop, states, steps)


def _check_sizes(
    found: Behaviour[Label], at: At, state: Ty, signatures: Mapping[str, Sequence[Ty]], brokers: int
) -> None:
    """UsageFault for a broker the configuration does not have, or one value too few: types cannot tell."""
    for i, value in enumerate(found.states):
        check_size(state, value, at.field("states").item(i), brokers)
    for i, label in enumerate(found.labels):
        here = at.field("steps").item(i).field("args")
        for k, (ty, value) in enumerate(zip(signatures[label.action], label.args, strict=True)):
            check_size(ty, value, here.item(k), brokers)


# ------------------------------------------------------------------------------------- values


def encode_value(ty: Ty, value: Any) -> Any:
    """The JSON form of a model value of this type."""
    match ty.kind:
        case "bool" | "nat" | "replica":
            return value
        case "enum":
            return value.name
        case "set":
            return sorted(value)
        case "opt":
            return None if value is None else encode_value(ty.elem, value)
        case "vec" | "seq":
            return [encode_value(ty.elem, v) for v in value]
        case "record" | "state":
            return {name: encode_value(t, getattr(value, name)) for name, t in ty.fields.items()}
    raise TypeError(f"no JSON form for a {ty}")


def encode_argument(value: Any) -> Any:
    """The JSON form of an argument or of a configuration value, whose type is not at hand."""
    if isinstance(value, enum.Enum):
        return value.name
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [encode_argument(v) for v in value]
    raise TypeError(f"no JSON form for {value!r}")


def decode_value(ty: Ty, raw: Any, at: At) -> Any:
    """The model value of this type that a JSON value stands for; UsageFault when it does not fit."""
    match ty.kind:
        case "bool":
            if not isinstance(raw, bool):
                at.fail(f"expected true or false, found {kind_of(raw)}")
            return raw
        case "nat" | "replica":
            number = at.integer(raw)
            if ty.kind == "replica" and number < 0:
                at.fail(f"{number} is not a broker id")
            return number
        case "enum":
            return _member(ty, raw, at)
        case "set":
            found = [decode_value(ty.elem, v, at.item(i)) for i, v in enumerate(at.items(raw))]
            if len(set(found)) < len(found):
                at.fail("a member of the set is listed twice")
            return frozenset(found)
        case "opt":
            return None if raw is None else decode_value(ty.elem, raw, at)
        case "vec" | "seq":
            items = at.items(raw)
            if isinstance(ty.hi, int) and len(items) > ty.hi:
                at.fail(f"{len(items)} elements where {ty.hi} are allowed")
            return tuple(decode_value(ty.elem, v, at.item(i)) for i, v in enumerate(items))
        case "record" | "state":
            body = at.mapping(raw, ty.fields)
            return ty.cls(**{n: decode_value(t, body[n], at.field(n)) for n, t in ty.fields.items()})
    raise UsageFault(at.code, f"a {ty} cannot be in a trace", where=str(at))


def _member(ty: Ty, raw: Any, at: At) -> Any:
    name = at.text(raw)
    if name not in ty.members:
        at.fail(f"{ty.name} has no member `{name}`", help=did_you_mean(name, ty.members))
    return ty.cls[name]


def _label(raw: Any, signatures: Mapping[str, Sequence[Ty]], at: At) -> Label:
    body = at.mapping(raw, ("action", "args"))
    action = at.field("action").text(body["action"])
    here = at.field("args")
    args = here.items(body["args"])
    if action not in signatures:
        at.field("action").fail(f"unknown action `{action}`", help=did_you_mean(action, signatures))
    types = signatures[action]
    if len(args) != len(types):
        here.fail(f"{action} takes {len(types)} arguments, found {len(args)}")
    return Label(action, tuple(decode_value(types[i], a, here.item(i)) for i, a in enumerate(args)))


def _plain(raw: Any, at: At) -> Any:
    """A scalar, or a tuple of scalars."""
    if isinstance(raw, list) and all(v is None or isinstance(v, bool | int | str) for v in raw):
        return tuple(raw)
    if raw is None or isinstance(raw, bool | int | str):
        return raw
    at.fail(f"expected a plain value, found {kind_of(raw)}")
