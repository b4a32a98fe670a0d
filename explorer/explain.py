"""Which part of a property broke, and for which broker or offset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.evaluate import MEMO, STATES, Evaluator
from elrcheck.lang.ir import E, Fn, Ret
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import Conjunction


@dataclass(frozen=True)
class Broken:
    """The first false conjunct, and the values of the bound variables that make it false."""

    conjunct: str | None
    witness: str | None


def explain(model: Model, config: Any, fn: Fn, states: Sequence[Any]) -> Broken:
    """Why an `always` property is false on a state or a step."""
    value = fn.source(config, *states)
    conjunct = value.broken[0] if isinstance(value, Conjunction) and value.broken else None
    body = fn.body
    if not isinstance(body, Ret) or not isinstance(body.value, E):
        return Broken(conjunct, None)
    finder = _Finder(model, config)
    root = body.value
    if root.kind == "conj" and conjunct is not None:
        root = root.args[root.x.index(conjunct)]
    lifted = tuple(finder.evaluator.structure.lift(s, model.state_ty) for s in states)
    found = finder.find(root, {STATES: lifted, MEMO: {}})
    return Broken(conjunct, ", ".join(f"{name}={value}" for name, value in found.items()) or None)


class _Finder:
    """Follows false quantifiers down, remembering what they were bound to."""

    def __init__(self, model: Model, config: Any) -> None:
        self.fns = model.fns
        self.evaluator = Evaluator(model.fns, config, ConcreteAlgebra(config.broker_count))

    def find(self, e: E, env: Mapping[str, Any]) -> dict[str, Any]:
        """Bindings that make a false expression false."""
        ev, env = self.evaluator.ev, dict(env)
        match e.kind:
            case "all":
                for holds, value, inner in self.evaluator.over(e, env):
                    if holds and not ev(e.args[2], inner):
                        name = str(e.x[0].x).rstrip("_")
                        rest = self.find(e.args[2], inner)
                        return {name: value, **rest} if isinstance(value, int) else rest
            case "and" | "conj":
                for part in e.args:
                    if not ev(part, env):
                        return self.find(part, env)
            case "implies":
                return self.find(e.args[1], env)
            case "call":
                name, which = e.x
                fn = self.fns[name]
                if isinstance(fn.body, Ret) and isinstance(fn.body.value, E):
                    args = {p: ev(a, env) for (p, _), a in zip(fn.params, e.args, strict=True)}
                    states = tuple(env[STATES][0 if w == "now" else 1] for w in which)
                    return self.find(fn.body.value, {STATES: states, MEMO: {}, **args})
        return {}
