"""TLC's `-dumpTrace json`: a counterexample without types, read by the types of the model.

    {"counterexample": {"state": [[1, {..}], [2, {..}]],
                        "action": [[[1, {..}], {"name": "Fence", "parameters": ["b"],
                                                "context": {"b": 1}}, [2, {..}]], ..]},
     "vars": [..]}

Sets, sequences and functions on 1..n are all arrays there, model values are strings, other functions are
objects whose keys are the printed values. A step from the last state back to a listed one makes it a lasso.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from elrcheck.base.errors import did_you_mean
from elrcheck.base.strictjson import At, kind_of
from elrcheck.lang.ir import Fn
from elrcheck.lang.plain import Label
from elrcheck.lang.types import Ty
from elrcheck.tla_export.reading.values import NONE_NAME
from elrcheck.traces.behaviour import Behaviour, Origin, Said

Step = tuple[int, int, Said]


def read_tlc_json(
    raw: Any, at: At, state: Ty, actions: Mapping[str, Fn], ignore: Sequence[str], origin: Origin
) -> Behaviour[Said]:
    """UsageFault with the place of whatever does not fit. ignore: foreign variables."""
    body = at.mapping(raw, ("counterexample",), ("vars",))
    here = at.field("counterexample")
    inner = here.mapping(body["counterexample"], ("state", "action"))
    rows = here.field("state").items(inner["state"])
    states, numbers = [], []
    for i, row in enumerate(rows):
        number, value = _numbered(row, here.field("state").item(i))
        place = here.field("state").item(i).item(1)
        found = place.mapping(value, state.fields, ignore)
        numbers.append(number)
        fields = {name: decode(ty, found[name], place.field(name)) for name, ty in state.fields.items()}
        states.append(state.cls(**fields))
    if numbers != list(range(1, len(numbers) + 1)):
        here.field("state").fail("states are not numbered 1, 2, 3, ..")
    steps = [
        _step(row, here.field("action").item(i), actions, [row[1] for row in rows])
        for i, row in enumerate(here.field("action").items(inner["action"]))
    ]
    by_source = {(a, b): name for a, b, name in steps}
    back = [(b - 1, name) for a, b, name in steps if a == len(states) and 1 <= b <= a]
    names = [by_source.get((k, k + 1)) for k in range(1, len(states))]
    loop = back[0][0] if back else None
    return Behaviour(origin, tuple(states), (*names, *([back[0][1]] if back else [])), loop)


def _numbered(row: Any, at: At) -> tuple[int, Any]:
    pair = at.items(row)
    if len(pair) != 2:
        at.fail("expected a pair [number, state]")
    return at.item(0).integer(pair[0]), pair[1]


def _listed(row: Any, at: At, states: Sequence[Any]) -> int:
    """The number of a state that a step repeats; it must be the one that is listed."""
    number, value = _numbered(row, at)
    if not 1 <= number <= len(states):
        at.item(0).fail(f"there is no state {number}, only 1 to {len(states)}")
    if value != states[number - 1]:
        at.item(1).fail(f"this is not state {number} as it is listed")
    return number


def _step(row: Any, at: At, actions: Mapping[str, Fn], states: Sequence[Any]) -> Step:
    parts = at.items(row)
    if len(parts) != 3:
        at.fail("expected [state, action, state]")
    before, after = (_listed(parts[place], at.item(place), states) for place in (0, 2))
    about = parts[1]
    if not isinstance(about, dict):
        at.item(1).fail(f"expected an object, found {kind_of(about)}")
    name = at.item(1).field("name").text(about.get("name", ""))
    if name not in actions:
        return before, after, None
    args = _arguments(about, actions[name])
    return before, after, name if args is None else Label(name, args)


def _arguments(about: Mapping[str, Any], fn: Fn) -> tuple[Any, ...] | None:
    """Arguments, if the file has one for each parameter. TLC may call them otherwise, so order counts."""
    names, context = about.get("parameters", []), about.get("context", {})
    if not isinstance(names, list) or not isinstance(context, dict) or len(names) != len(fn.params):
        return None
    if any(not isinstance(name, str) or name not in context for name in names):
        return None
    from elrcheck.base.errors import UsageFault

    nowhere = At("", "trace-file")
    try:
        return tuple(
            decode(ty, context[name], nowhere) for name, (_, ty) in zip(names, fn.params, strict=True)
        )
    except UsageFault:
        return None


def decode(ty: Ty, raw: Any, at: At) -> Any:
    """The model value of this type that TLC's JSON stands for; UsageFault if it does not fit."""
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
            name = at.text(raw)
            if name not in ty.members:
                at.fail(f"{ty.name} has no member `{name}`", help=did_you_mean(name, ty.members))
            return ty.cls[name]
        case "set":
            members = [decode(ty.elem, v, at.item(i)) for i, v in enumerate(at.items(raw))]
            if len(set(members)) < len(members):
                at.fail("a member of the set is listed twice")
            return frozenset(members)
        case "opt":
            return None if raw == NONE_NAME else decode(ty.elem, raw, at)
        case "seq":
            return tuple(decode(ty.elem, v, at.item(i)) for i, v in enumerate(at.items(raw)))
        case "vec":
            return _vector(ty, raw, at)
        case "record" | "state":
            body = at.mapping(raw, ty.fields)
            return ty.cls(**{n: decode(t, body[n], at.field(n)) for n, t in ty.fields.items()})
    at.fail(f"a {ty} cannot be in a trace")


def _vector(ty: Ty, raw: Any, at: At) -> tuple[Any, ...]:
    """A function on 0..n-1 is an object with the keys "0", "1", .."""
    if not isinstance(raw, dict):
        at.fail(f"expected an object with one key for each broker, found {kind_of(raw)}")
    wanted = [str(i) for i in range(len(raw))]
    if sorted(raw) != sorted(wanted):
        at.fail(f"expected the keys 0 to {len(raw) - 1}, found {', '.join(sorted(raw))}")
    return tuple(decode(ty.elem, raw[key], at.item(int(key))) for key in wanted)
