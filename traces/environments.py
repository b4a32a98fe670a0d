"""The environments in which parts of properties and actions are evaluated over plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from elrcheck.lang.algebra import ConcreteAlgebra
from elrcheck.lang.comprehensions import MEMO, Env
from elrcheck.lang.evaluate import STATES, Evaluator
from elrcheck.lang.expr import Call, Expression, Quantifier
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.traces.places import ALIAS, place_of, value_text


class Environments:
    """The evaluator of one model under one configuration, and the environments that it needs."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self.model = model
        self.evaluator = Evaluator(model.fns, config, ConcreteAlgebra())

    def env_of(self, states: Sequence[Any], fn: Fn | None = None, args: Sequence[Any] = ()) -> Env:
        """Return the environment of a state or a step, with these values of the parameters of a function."""
        lift = self.evaluator.structure.lift
        env: Env = {STATES: tuple(lift(state, self.model.state_ty) for state in states), MEMO: {}}
        params = () if fn is None else fn.params
        return env | {name: lift(value, ty) for (name, ty), value in zip(params, args, strict=True)}

    def env_of_call(self, e: Call, env: Env) -> Env:
        """Return the environment of the body of a called function."""
        params = self.model.fns[e.function].params
        values = {name: self.evaluator.ev(argument, env) for (name, _), argument in zip(params, e.args, strict=True)}
        return {STATES: tuple(env[STATES][0 if moment == "now" else 1] for moment in e.states), MEMO: {}, **values}

    def bound(self, e: Quantifier, value: Any) -> tuple[str, str]:
        """Return the name of a quantifier's variable, and the element that it stands for."""
        return e.variable.name.rstrip("_"), value_text(self.evaluator, value, e.variable.ty)

    def aliases(self, names: Iterable[tuple[str, Expression]], env: Env) -> dict[str, str]:
        """Return the places of the state that names stand for, under which reports show them."""
        places = {ALIAS + name: place_of(self.evaluator, value, env) for name, value in names}
        return {key: place for key, place in places.items() if place is not None}

    def aliases_of_call(self, e: Call, env: Env) -> dict[str, str]:
        """Return the places that the parameters of a called function stand for."""
        names = [name for name, _ in self.model.fns[e.function].params]
        return self.aliases(zip(names, e.args, strict=True), env)
