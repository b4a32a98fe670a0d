"""Read and write traces as ITF, Apalache's JSON format (ADR-015), also used by Quint and ITF Trace Viewer.

Values by type:

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
"c_OF_S", so an absent optional is the constant None of the sort OPT. A variant, {"tag": "Some",
"value": ..}, would be better typed, but itf-py (0.5.0) cannot read one that contains a number or is
called None. The union in `varTypes` is informal: Apalache has no such type. The reader accepts
variants as well, since Quint writes them.

ITF has no action labels either: the `#meta` of a state names the action that led to it.

Pitfalls of itf-py, the independent reader in the tests: records become namedtuples, so a field may
not be a Python keyword or start with `_`, and a record with exactly the fields `tag` and `value`
would be read as a variant.

The reader is strict (see `elrcheck.base.strict`): it knows the type of everything it reads,
so its recursion is never deeper than the state type, whatever the file contains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elrcheck.base.atomic import write_file
from elrcheck.base.documents import lay_out
from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.base.typed.model_values import JsonValues
from elrcheck.lang.domains import in_order
from elrcheck.lang.types import Ty, optional_fields

FORMAT_URL = "https://apalache-mc.org/docs/adr/015adr-trace.html"
NONE_TEXT = "None_OF_OPT"
BIGINT = re.compile(r"-?[0-9]{1,30}\Z")


def write_itf(
    path: Path,
    state: Ty,
    states: Sequence[Any],
    actions: Sequence[str],
    *,
    loop: int | None = None,
    meta: Mapping[str, Any] | None = None,
) -> None:
    """Write a trace; meta: further keys of `#meta`, such as variant and scope, needed for a replay."""
    if len(actions) != len(states) - 1:
        raise ValueError(f"{len(states)} states need {len(states) - 1} actions, got {len(actions)}")
    head: dict[str, Any] = {"format": "ITF", "format-description": FORMAT_URL, "source": "elrcheck"}
    head["varTypes"] = {name: type_text(ty) for name, ty in state.fields.items()}
    rows = []
    for i, value in enumerate(states):
        about = {"index": i} | ({"action": actions[i - 1]} if i else {})
        rows.append({"#meta": about} | {n: encode(t, getattr(value, n)) for n, t in state.fields.items()})
    document = {"#meta": head | dict(meta or {}), "params": [], "vars": list(state.fields), "states": rows}
    write_file(path, lay_out(document if loop is None else document | {"loop": loop}))


def itf_states(root: Node, state: Ty, *, ignore: Sequence[str] = ()) -> tuple[list[Any], list[str | None], int | None]:
    """Decode a parsed trace into its states, the action that leads to each but the first, and its loop.

    An action is None where the file does not name one; `ignore` names foreign variables to drop.
    """
    root.object(("vars", "states"), ("#meta", "params", "loop"))
    names = root["vars"].texts()
    for node in root["vars"].items():
        if node.value not in state.fields and node.value not in ignore:
            node.fail(f"unknown variable `{node.value}`", did_you_mean(node.value, state.fields))
    optional = optional_fields(state.cls)
    if missing := [name for name in state.fields if name not in names and name not in optional]:
        root["vars"].fail(f"variable `{missing[0]}` is missing")
    rows = root["states"].items()
    if not rows:
        root["states"].fail("a trace has at least one state")
    loop = None if root.get("loop").value is None else root["loop"].integer()
    if loop is not None and not 0 <= loop < len(rows):
        root["loop"].fail(f"there is no state {loop}, the last one is {len(rows) - 1}")
    states, actions = [], []
    held = {name: ty for name, ty in state.fields.items() if name in names}
    for row in rows:
        row.object(held, ("#meta", *ignore))
        states.append(state.cls(**{name: decode(ty, row[name]) for name, ty in held.items()}))
        actions.append(_action(row.get("#meta").value))
    return states, actions[1:], loop


def _action(meta: Any) -> str | None:
    action = meta.get("action") if isinstance(meta, dict) else None
    return action if isinstance(action, str) else None


def type_text(ty: Ty) -> str:
    """Format the type in Apalache's notation, where it has one."""
    match ty.kind:
        case "bool":
            return "Bool"
        case "nat" | "member":
            return "Int"
        case "enum":
            return "Str"
        case "set":
            return f"Set({type_text(ty.elem)})"
        case "opt":
            return f"({type_text(ty.elem)} | {NONE_TEXT})"
        case "vec":
            return f"({type_text(ty.keys)} -> {type_text(ty.elem)})"
        case "seq":
            return f"Seq({type_text(ty.elem)})"
        case "record" if ty.is_pair:
            return f"<<{', '.join(map(type_text, ty.parts))}>>"
        case "record" | "state":
            return "{ " + ", ".join(f"{n}: {type_text(t)}" for n, t in ty.fields.items()) + " }"
    raise TypeError(f"no ITF type for a {ty}")


def encode(ty: Ty, value: Any) -> Any:
    """Encode a model value of this type as an ITF expression."""
    match ty.kind:
        case "bool":
            return value
        case "nat" | "member":
            return {"#bigint": str(value)}
        case "enum":
            return value.name
        case "set":
            return {"#set": [encode(ty.elem, v) for v in in_order(value)]}
        case "opt":
            return NONE_TEXT if value is None else encode(ty.elem, value)
        case "vec" if ty.is_map:
            return {"#map": [[encode(ty.keys, k), encode(ty.elem, v)] for k, v in value.items()]}
        case "vec":
            return {"#map": [[{"#bigint": str(i)}, encode(ty.elem, v)] for i, v in enumerate(value)]}
        case "seq":
            return [encode(ty.elem, v) for v in value]
        case "record" if ty.is_pair:
            return {"#tup": [encode(t, v) for t, v in zip(ty.parts, value, strict=True)]}
        case "record" | "state":
            return {n: encode(t, getattr(value, n)) for n, t in ty.fields.items()}
    raise TypeError(f"no ITF expression for a {ty}")


class _ItfValues(JsonValues):
    def number(self, ty: Ty, node: Node) -> int:
        """Read {"#bigint": "7"}, or a plain number, which ITF allowed until 2023."""
        if isinstance(node.value, dict):
            digits = node.object(("#bigint",))["#bigint"].text()
            if not BIGINT.match(digits):
                node["#bigint"].expected("an integer")
            node = replace(node, value=int(digits))
        return super().number(ty, node)

    def ordered(self, node: Node) -> list[Node]:
        return _special(node, "#tup")

    def listed(self, node: Node) -> list[Node]:
        return _special(node, "#set")

    def optional(self, ty: Ty, node: Node) -> Any:
        if node.value == NONE_TEXT:
            return None
        if isinstance(node.value, dict) and set(node.value) == {"tag", "value"}:
            return None if node["tag"].choice(("None", "Some")) == "None" else self.decode(ty.elem, node["value"])
        return self.decode(ty.elem, node)

    def sequence(self, ty: Ty, node: Node) -> tuple[Any, ...]:
        items = node.items() if isinstance(node.value, list) else _special(node, "#tup")
        return tuple(self.decode(ty.elem, part) for part in items)

    def entries(self, node: Node) -> list[Node]:
        return _special(node, "#map")

    def vector(self, ty: Ty, node: Node) -> tuple[Any, ...]:
        values: dict[int, Any] = {}
        for pair in _special(node, "#map"):
            if len(pair.items()) != 2:
                pair.fail(f"expected a pair [{ty.keys.word}, value]")
            index, value = pair.items()
            key = self.number(ty.keys, index)
            if key in values:
                pair.fail(f"{ty.keys.word} {key} is given twice")
            values[key] = self.decode(ty.elem, value)
        if set(values) != set(range(len(values))):
            node.fail(f"expected one value for each of 0..{len(values) - 1}, not {sorted(values)}")
        return tuple(values[i] for i in range(len(values)))


def _special(node: Node, key: str) -> list[Node]:
    """Return the array inside {"#set": [..]} and similar objects."""
    if not isinstance(node.value, dict) or list(node.value) != [key]:
        node.expected(f'{{"{key}": [..]}}')
    return node[key].items()


def decode(ty: Ty, node: Node) -> Any:
    """Decode an ITF expression into a model value of this type; raise UsageFault if it does not fit."""
    return _ItfValues().decode(ty, node)
