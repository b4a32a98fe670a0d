"""The plain reading of a model: its Python functions, called unchanged.

It is the oracle for every other reading: nothing is compiled, packed or fingerprinted. Every trace of an engine or a
solver is replayed in it before it is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model, instances, searched_from
from elrcheck.lang.runtime import ModelConfig, NotEnabled


@dataclass(frozen=True)
class Label:
    """One action with its arguments."""

    action: str
    args: tuple[object, ...]


class PlainModel:
    """The functions of a model under one configuration."""

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self.model, self.config = model, config
        self.steps: list[tuple[Label, Callable[..., Any]]] = [
            (Label(fn.name, args), fn.source) for fn in model.actions for args in instances(fn, config)
        ]

    @cached_property
    def starts(self) -> tuple[Any, ...]:
        """The initial states, in the order of the choices of @init; a state may occur more than once."""
        return searched_from(self.model, self.config)

    def initial(self) -> Any:
        """The first initial state; most models have no other."""
        return self.starts[0]

    def within(self, state: object) -> bool:
        return bool(self.model.bound.source(self.config, state))

    def holds(self, fn: Fn, *states: object) -> bool:
        return bool(fn.source(self.config, *states))

    def says(self, fn: Fn, state: object, args: tuple[object, ...] = (), field: str = "") -> bool:
        """Return the truth value of a function on a state, or of one field of the record that it returns."""
        arguments = (*([self.config] if fn.has_config else []), *([state] if fn.states else []), *args)
        value = fn.source(*arguments)
        return bool(getattr(value, field) if field else value)

    def step(self, state: object, label: Label) -> Any:
        """Return the next state; raise NotEnabled with the guard that refuses the step."""
        fn = next(a for a in self.model.actions if a.name == label.action)
        return fn.source(self.config, state, *label.args)

    def attempt(self, state: object, label: Label) -> Any:
        """Return the next state; None if the step is not enabled."""
        try:
            return self.step(state, label)
        except NotEnabled:
            return None

    def successors(self, state: object) -> Iterator[tuple[Label, Any]]:
        """Yield every enabled step, including those outside the bound."""
        for label, source in self.steps:
            try:
                yield label, source(self.config, state, *label.args)
            except NotEnabled:
                continue
