"""Read the counterexample of TLC's `-dumpTrace json`, which is untyped, using the model's types.

    {"counterexample": {"state": [[1, {..}], [2, {..}]],
                        "action": [[[1, {..}], {"name": "Fence", "parameters": ["b"],
                                                "context": {"b": 1}}, [2, {..}]], ..]},
     "vars": [..]}

Sets, sequences and functions on 1..n are all arrays, model values are strings, and other functions are
objects whose keys are the printed values. In a lasso, the last step leads back to a listed state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from elrcheck.base.errors import UsageFault
from elrcheck.base.strict import Node
from elrcheck.base.typed.model_values import JsonValues
from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import Label
from elrcheck.lang.types import Ty
from elrcheck.tla_export.reading.values import NONE_NAME
from elrcheck.traces.behaviour import Behaviour, RecordedStep, TraceOrigin

Step = tuple[int, int, RecordedStep]


def read_tlc_json(
    root: Node, state: Ty, actions: Mapping[str, Fn], ignore: Sequence[str], origin: TraceOrigin
) -> Behaviour[RecordedStep]:
    """Read a behaviour; a UsageFault names the place of a mismatch. ignore: variables that are not of the model."""
    inner = root.object(("counterexample",), ("vars",))["counterexample"].object(("state", "action"))
    rows = inner["state"].items()
    states, numbers = [], []
    for row in rows:
        number, value = _numbered(row)
        value.object(state.fields, ignore)
        numbers.append(number)
        states.append(state.cls(**{name: decode(ty, value[name]) for name, ty in state.fields.items()}))
    if numbers != list(range(1, len(numbers) + 1)):
        inner["state"].fail("states are not numbered 1, 2, 3, ..")
    listed = [row.value[1] for row in rows]
    steps = [_step(row, actions, listed) for row in inner["action"].items()]
    by_source = {(a, b): name for a, b, name in steps}
    back = [(b - 1, name) for a, b, name in steps if a == len(states) and 1 <= b <= a]
    names = [by_source.get((k, k + 1)) for k in range(1, len(states))]
    loop = back[0][0] if back else None
    return Behaviour(origin, tuple(states), (*names, *([back[0][1]] if back else [])), loop)


def _numbered(row: Node) -> tuple[int, Node]:
    pair = row.items()
    if len(pair) != 2:
        row.fail("expected a pair [number, state]")
    return pair[0].integer(), pair[1]


def _listed(row: Node, states: Sequence[Any]) -> int:
    """Return the number of a state repeated in a step; it must equal the listed state."""
    number, state = _numbered(row)
    if not 1 <= number <= len(states):
        row.inside(0).fail(f"there is no state {number}, only 1 to {len(states)}")
    if state.value != states[number - 1]:
        state.fail(f"this is not state {number} as it is listed")
    return number


def _step(row: Node, actions: Mapping[str, Fn], states: Sequence[Any]) -> Step:
    parts = row.items()
    if len(parts) != 3:
        row.fail("expected [state, action, state]")
    before, after = _listed(parts[0], states), _listed(parts[2], states)
    about = parts[1].object((), None)
    name = about.get("name", "").text()
    if name not in actions:
        return before, after, None
    args = _arguments(about, actions[name])
    return before, after, name if args is None else Label(name, args)


def _arguments(about: Node, fn: Fn) -> tuple[Any, ...] | None:
    """Read the arguments, if there is one per parameter; by position, since TLC may use other names."""
    names, context = about.get("parameters", []).value, about.get("context", {})
    if not isinstance(names, list) or not isinstance(context.value, dict) or len(names) != len(fn.params):
        return None
    if any(not isinstance(name, str) or name not in context for name in names):
        return None
    try:
        return tuple(decode(ty, context[name]) for name, (_, ty) in zip(names, fn.params, strict=True))
    except UsageFault:
        return None


class _TlcValues(JsonValues):
    def optional(self, ty: Ty, node: Node) -> Any:
        return None if node.value == NONE_NAME else self.decode(ty.elem, node)

    def vector(self, ty: Ty, node: Node) -> tuple[Any, ...]:
        """Return a function on 0..n-1, an object with the keys "0", "1", .., as a tuple."""
        if not isinstance(node.value, dict):
            node.expected("an object with one key for each broker")
        keys = [str(i) for i in range(len(node.value))]
        if sorted(node.value) != sorted(keys):
            node.fail(f"expected the keys 0 to {len(node.value) - 1}, not {', '.join(sorted(node.value))}")
        return tuple(self.decode(ty.elem, node[key]) for key in keys)


def decode(ty: Ty, node: Node) -> Any:
    """Decode TLC's JSON into a model value of this type; raise UsageFault if it does not fit."""
    return _TlcValues().decode(ty, node)
