"""The stored form of a trace: plain JSON, schema `elrcheck.trace/1`, easy to read and to diff.

    {
     "schema": "elrcheck.trace/1",
     "variant": "kip_full",
     "scope": "two-brokers",
     "overrides": {"min_isr": 1},
     "property": "P-21",
     "patch": {"file": "weaker.diff", "digest": "5f..e1"},
     "steps": [
      {"action": "Fence", "args": [1]}
     ],
     "states": [
      {"partition": {"isr": [0, 1], "leader": 0, ..}, "broker": [{..}, {..}]},
      {"partition": {"isr": [0], "leader": 0, ..}, "broker": [{..}, {..}]}
     ]
    }

`steps[i]` leads from `states[i]` to `states[i + 1]`. A lasso has one more step, back to the state with
index `loop`; if that step is missing, `loop` is the last state and the behaviour stutters there.

Inside a state a record is an object, a Vec or a Seq an array, a set an ascending array, an enum member its name, an
absent optional null, and a number a number.

`model` is the file of the model as the user named it, and `patch` the diff that was applied to it, with its SHA-256;
a trace of the default model without a diff has neither. They are information only: no trace runs a model.

The number of members of a sort in a state depends on the configuration, which the file itself names. So reading takes
two passes: first the frame, then the values, under the configuration selected by variant, scope and overrides. Every
error is a UsageFault (exit 2) that names the file and the JSON path.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from elrcheck.base.atomic import write_file
from elrcheck.base.documents import lay_out, read_json
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import Selection
from elrcheck.base.roundtrip import to_data
from elrcheck.base.strict import Codes, Node, format_value
from elrcheck.base.typed.model_values import JsonValues
from elrcheck.declared.patched import patch_applied
from elrcheck.declared.select import Selected, resolve
from elrcheck.lang.domains import in_order
from elrcheck.lang.plain import Label
from elrcheck.lang.types import Ty, later_fields
from elrcheck.results.any_report import PatchApplied
from elrcheck.traces.behaviour import Behaviour, TraceOrigin, steps_needed
from elrcheck.traces.loaded import Loaded, NamedSelection, check_size, stored_traces

SCHEMA = "elrcheck.trace/1"
CODES = Codes("trace-file")


def write_trace(path: Path, behaviour: Behaviour[Label], state: Ty) -> None:
    """Store a behaviour atomically."""
    write_file(path, lay_out(trace_document(behaviour, state)))


def trace_document(behaviour: Behaviour[Label], state: Ty) -> dict[str, Any]:
    """Return the stored form of a behaviour."""
    origin, loop = behaviour.origin, behaviour.loop
    return {
        "schema": SCHEMA,
        "variant": origin.variant,
        "scope": origin.scope,
        "overrides": {name: encode_argument(value) for name, value in origin.overrides.items()},
        "property": origin.property,
        **({} if origin.model is None else {"model": origin.model}),
        **({} if origin.patch is None else {"patch": to_data(origin.patch)}),
        **({} if loop is None else {"loop": loop}),
        "steps": [
            {"action": label.action, "args": [encode_argument(a) for a in label.args]} for label in behaviour.labels
        ],
        "states": [encode_value(state, value) for value in behaviour.states],
    }


# ------------------------------------------------------------------------------------ reading


def load_trace(path: Path, model: Selection | None = None) -> Loaded[Label]:
    """Load a stored trace, or the first one of a run folder; raise UsageFault if it is invalid.

    model: a selection of another model than the default one; a trace cannot select one, because models run as Python.
    """
    named = NamedSelection(Selection() if model is None else Selection(model=model.model, patch=model.patch))
    return loaded_trace(read_json(stored_traces(path)[0], CODES), named)


def loaded_trace(root: Node, named: NamedSelection) -> Loaded[Label]:
    """Load a parsed trace file with the configuration it names, unless options select another one.

    If the options select another model than the trace records, the help of a UsageFault says so.
    """
    frame = _frame(root)
    missing = _missing_options(frame.origin, named.selection)
    try:
        return _loaded_frame(frame, named, missing)
    except UsageFault as fault:
        if missing is not None:
            fault.help = f"the trace was stored with {missing}, which is missing here"
        raise


def _missing_options(origin: TraceOrigin, selection: Selection) -> str | None:
    """Return the options for the model and the diff of a stored trace that a selection lacks; None if it has all."""
    applied = patch_applied(selection.source)
    missing = [f"--model {origin.model}"] if origin.model is not None and selection.model is None else []
    if origin.patch is not None and (applied is None or applied.digest != origin.patch.digest):
        missing.append(f"--patch {origin.patch}")
    return " ".join(missing) or None


def _loaded_frame(frame: _Frame, named: NamedSelection, missing: str | None) -> Loaded[Label]:
    root = frame.root
    selected = _selected_by(frame, named)
    model = selected.declared.checked() if frame.loop is None else selected.declared.whole()
    signatures = model.signatures
    behaviour = frame.decode(model.state_ty, signatures)
    _check_sizes(behaviour, root, model.state_ty, signatures, selected.config)
    origin = replace(TraceOrigin.of(selected, frame.origin.property, root.source.name, "elrcheck"), missing=missing)
    loaded = Loaded(model, selected.config, replace(behaviour, origin=origin))
    if origin.property and loaded.property is None:
        idents = [fn.ident for fn in model.properties]
        root["property"].fail(f"unknown property `{origin.property}`", help=did_you_mean(origin.property, idents))
    return loaded


def _selected_by(frame: _Frame, named: NamedSelection) -> Selected:
    """Return the configuration of a trace; a UsageFault about what the file names has its place."""
    try:
        return resolve(named.over(frame.origin.selection()))
    except UsageFault as fault:
        resolve(named.selection)  # raises if the options of the command are at fault
        fault.where = ": ".join(filter(None, (frame.root.source.name, fault.where)))
        raise


def stored_origin(path: Path) -> TraceOrigin:
    """Read the origin recorded in a trace file, without decoding its states and steps."""
    return _frame(read_json(path, CODES)).origin


def decode_trace(root: Node, state: Ty, signatures: Mapping[str, Sequence[Ty]]) -> Behaviour[Label]:
    """Decode the behaviour in a parsed trace file. signatures: the parameters of every action."""
    return _frame(root).decode(state, signatures)


@dataclass(frozen=True)
class _Frame:
    """A trace file whose frame has been checked but whose values have not."""

    root: Node
    origin: TraceOrigin
    loop: int | None

    def decode(self, state: Ty, signatures: Mapping[str, Sequence[Ty]]) -> Behaviour[Label]:
        states = tuple(decode_value(state, node) for node in self.root["states"].items())
        labels = tuple(_label(node, signatures) for node in self.root["steps"].items())
        return Behaviour(self.origin, states, labels, self.loop)


def _frame(root: Node) -> _Frame:
    if isinstance(root.value, dict) and root.value.get("schema") != SCHEMA:
        actual = f"not {format_value(root.value['schema'])}" if "schema" in root else "there is no key `schema`"
        root.fail(
            f"not a trace file: expected the schema {SCHEMA}, {actual}",
            help="another version of elrcheck stored it, or it is not a trace: run `elrcheck check` again",
        )
    root.object(("schema", "variant", "scope", "overrides", "property", "steps", "states"), ("loop", "model", "patch"))
    states, steps = root["states"].items(), root["steps"].items()
    loop = root.maybe("loop", Node.integer, None)
    if not states:
        root["states"].fail("a trace has at least one state")
    if loop is not None and not 0 <= loop < len(states):
        root["loop"].fail(f"there is no state {loop}, the last one is {len(states) - 1}")
    expected = steps_needed(len(states), len(steps), loop)
    if len(steps) != expected:
        root["steps"].fail(f"{len(states)} states need {expected} steps, not {len(steps)}")
    origin = TraceOrigin(
        variant=root["variant"].text(),
        scope=root["scope"].text(),
        property=root["property"].text(),
        overrides=root["overrides"].map(_plain),
        model=root.maybe("model", Node.text, None),
        patch=root.maybe("patch", _patch, None),
    )
    return _Frame(root, origin, loop)


def _patch(node: Node) -> PatchApplied:
    node.object(("file", "digest"))
    return PatchApplied(node["file"].text(), node["digest"].text())


def _check_sizes(
    behaviour: Behaviour[Label], root: Node, state: Ty, signatures: Mapping[str, Sequence[Ty]], config: Any
) -> None:
    """Raise UsageFault for values whose size does not fit the configuration, which their types do not show."""
    for i, value in enumerate(behaviour.states):
        check_size(state, value, root["states"].inside(i), config)
    for i, label in enumerate(behaviour.labels):
        here = root["steps"].inside(i).inside("args")
        for k, (ty, value) in enumerate(zip(signatures[label.action], label.args, strict=True)):
            check_size(ty, value, here.inside(k), config)


# ------------------------------------------------------------------------------------- values


def encode_value(ty: Ty, value: Any) -> Any:
    """Encode a model value of this type as JSON."""
    match ty.kind:
        case "bool" | "nat" | "member":
            return value
        case "enum":
            return value.name
        case "set":
            return [encode_value(ty.elem, v) for v in in_order(value)]
        case "opt":
            return None if value is None else encode_value(ty.elem, value)
        case "vec" if ty.is_map:
            return [[encode_value(ty.keys, k), encode_value(ty.elem, v)] for k, v in value.items()]
        case "vec" | "seq":
            return [encode_value(ty.elem, v) for v in value]
        case "record" if ty.is_pair:
            return [encode_value(part, v) for part, v in zip(ty.parts, value, strict=True)]
        case "record" | "state":
            later = later_fields(ty.cls)
            held = {name: getattr(value, name) for name in ty.fields}
            stored = {name: part for name, part in held.items() if name not in later or part != later[name]}
            return {name: encode_value(ty.fields[name], part) for name, part in stored.items()}
    raise TypeError(f"no JSON form for a {ty}")


def encode_argument(value: Any) -> Any:
    """Encode an argument or a configuration value, whose type is not available, as JSON."""
    if isinstance(value, enum.Enum):
        return value.name
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, frozenset):
        return [encode_argument(v) for v in in_order(value)]
    if is_dataclass(value):
        return {part.name: encode_argument(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, tuple | list):
        return [encode_argument(v) for v in value]
    raise TypeError(f"no JSON form for {value!r}")


class _StoredValues(JsonValues):
    def sequence(self, ty: Ty, node: Node) -> tuple[Any, ...]:
        if isinstance(ty.hi, int) and len(node.items()) > ty.hi:
            node.fail(f"{len(node.items())} elements where {ty.hi} are allowed")
        return super().sequence(ty, node)


def decode_value(ty: Ty, node: Node) -> Any:
    """Decode a JSON value into a model value of this type; raise UsageFault when it does not fit."""
    return _StoredValues().decode(ty, node)


def _label(node: Node, signatures: Mapping[str, Sequence[Ty]]) -> Label:
    node.object(("action", "args"))
    action, args = node["action"].text(), node["args"].items()
    if action not in signatures:
        node["action"].fail(f"unknown action `{action}`", did_you_mean(action, signatures))
    types = signatures[action]
    if len(args) != len(types):
        node["args"].fail(f"{action} takes {len(types)} arguments, not {len(args)}")
    return Label(action, tuple(decode_value(ty, arg) for ty, arg in zip(types, args, strict=True)))


def _plain(node: Node) -> Any:
    """Return a scalar, or a tuple of scalars."""
    raw = node.value
    if isinstance(raw, list) and all(v is None or isinstance(v, bool | int | str) for v in raw):
        return tuple(raw)
    if raw is None or isinstance(raw, bool | int | str):
        return raw
    node.expected("a plain value")
