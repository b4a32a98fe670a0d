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

The types of the states depend on the configuration, which the file itself names. Reading therefore
has two steps: `read_trace` checks the frame and returns a `TraceDocument`; once the caller has loaded
the model that variant, scope and overrides stand for, `TraceDocument.decode` checks every value.
Whatever is wrong is a UsageFault (exit 2) that names the file and the JSON path.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elrcheck.base.atomic import write_file
from elrcheck.base.documents import lay_out, read_json
from elrcheck.base.errors import did_you_mean
from elrcheck.base.model_values import broker_or_number, distinct, member_of
from elrcheck.base.strict import Codes, Node, shown
from elrcheck.lang.types import Ty

SCHEMA = "elrcheck.trace/1"
CODES = Codes("trace-file")


@dataclass(frozen=True)
class Step:
    """One step: the action and its arguments."""

    action: str
    args: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Trace:
    """A trace and what is needed to replay it. loop: index of the state a lasso returns to."""

    variant: str
    scope: str
    property: str
    states: tuple[Any, ...]
    steps: tuple[Step, ...]
    overrides: Mapping[str, Any] = field(default_factory=dict)
    loop: int | None = None


@dataclass(frozen=True)
class TraceDocument:
    """A trace file whose frame has been checked, and whose values have not."""

    root: Node
    variant: str
    scope: str
    property: str
    overrides: Mapping[str, Any]
    loop: int | None

    def decode(self, state: Ty, signatures: Mapping[str, Sequence[Ty]] | None = None) -> Trace:
        """The trace with model values; signatures: the parameter types of every action, if known.

        Without signatures the arguments stay what they are in JSON (an enum member its name, a set an
        array turned into a tuple).
        """
        states = tuple(decode_value(state, node) for node in self.root["states"].items())
        steps = tuple(_step(node, signatures) for node in self.root["steps"].items())
        return Trace(self.variant, self.scope, self.property, states, steps, self.overrides, self.loop)


def passed_states(trace: Trace) -> tuple[Any, ...]:
    """One state more than there are steps: a cycle ends in the state where it starts."""
    closes = trace.loop is not None and len(trace.steps) == len(trace.states)
    return (*trace.states, trace.states[trace.loop or 0]) if closes else trace.states


def write_trace(path: Path, trace: Trace, state: Ty) -> None:
    """Store a trace; the file appears whole or not at all."""
    expected = steps_needed(len(trace.states), len(trace.steps), trace.loop)
    if len(trace.steps) != expected:
        raise ValueError(f"{len(trace.states)} states need {expected} steps, got {len(trace.steps)}")
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "variant": trace.variant,
        "scope": trace.scope,
        "overrides": {name: encode_argument(value) for name, value in trace.overrides.items()},
        "property": trace.property,
        **({} if trace.loop is None else {"loop": trace.loop}),
        "steps": [
            {"action": step.action, "args": [encode_argument(a) for a in step.args]} for step in trace.steps
        ],
        "states": [encode_value(state, value) for value in trace.states],
    }
    write_file(path, lay_out(document))


def steps_needed(states: int, steps: int, loop: int | None) -> int:
    """How many steps belong to a trace; a lasso may do without the last one if it stops."""
    stops = loop == states - 1 and steps == states - 1
    return states - (loop is None or stops)


def read_trace(path: Path) -> TraceDocument:
    """Read the frame of a trace file; UsageFault when it is not one of ours."""
    return trace_document(read_json(path, CODES))


def trace_document(root: Node) -> TraceDocument:
    """The frame of a trace file that has been parsed."""
    if isinstance(root.value, dict) and root.value.get("schema") != SCHEMA:
        found = f"not {shown(root.value['schema'])}" if "schema" in root else "there is no key `schema`"
        root.fail(f"not a trace file: expected the schema {SCHEMA}, {found}")
    root.object(("schema", "variant", "scope", "overrides", "property", "steps", "states"), ("loop",))
    states, steps = root["states"].items(), root["steps"].items()
    loop = root.maybe("loop", Node.integer, None)
    if not states:
        root["states"].fail("a trace has at least one state")
    if loop is not None and not 0 <= loop < len(states):
        root["loop"].fail(f"there is no state {loop}, the last one is {len(states) - 1}")
    expected = steps_needed(len(states), len(steps), loop)
    if len(steps) != expected:
        root["steps"].fail(f"{len(states)} states need {expected} steps, not {len(steps)}")
    return TraceDocument(
        root=root,
        variant=root["variant"].text(),
        scope=root["scope"].text(),
        property=root["property"].text(),
        overrides=root["overrides"].map(_plain),
        loop=loop,
    )


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


def decode_value(ty: Ty, node: Node) -> Any:
    """The model value of this type that a JSON value stands for; UsageFault when it does not fit."""
    match ty.kind:
        case "bool":
            return node.boolean()
        case "nat" | "replica":
            return broker_or_number(ty, node)
        case "enum":
            return member_of(ty, node)
        case "set":
            return distinct(node, [decode_value(ty.elem, part) for part in node.items()])
        case "opt":
            return None if node.value is None else decode_value(ty.elem, node)
        case "vec" | "seq":
            items = node.items()
            if isinstance(ty.hi, int) and len(items) > ty.hi:
                node.fail(f"{len(items)} elements where {ty.hi} are allowed")
            return tuple(decode_value(ty.elem, part) for part in items)
        case "record" | "state":
            node.object(ty.fields)
            return ty.cls(**{name: decode_value(part, node[name]) for name, part in ty.fields.items()})
    node.fail(f"a {ty} cannot be in a trace")








def _step(node: Node, signatures: Mapping[str, Sequence[Ty]] | None) -> Step:
    node.object(("action", "args"))
    action, args = node["action"].text(), node["args"].items()
    if signatures is None:
        return Step(action, tuple(_plain(arg) for arg in args))
    if action not in signatures:
        node["action"].fail(f"unknown action `{action}`", did_you_mean(action, signatures))
    types = signatures[action]
    if len(args) != len(types):
        node["args"].fail(f"{action} takes {len(types)} arguments, not {len(args)}")
    return Step(action, tuple(decode_value(ty, arg) for ty, arg in zip(types, args, strict=True)))


def _plain(node: Node) -> Any:
    """A scalar, or a tuple of scalars."""
    raw = node.value
    if isinstance(raw, list) and all(v is None or isinstance(v, bool | int | str) for v in raw):
        return tuple(raw)
    if raw is None or isinstance(raw, bool | int | str):
        return raw
    node.expected("a plain value")
