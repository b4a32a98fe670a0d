"""The changes of `mutate --rules`: which functions belong to a protocol, and each change by name."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.lang.changed.altered import affected, altered, callers, every
from elrcheck.lang.changed.variations import Variation, calls_of, variations
from elrcheck.lang.ir import Fn, callees
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import Role
from elrcheck.lang.source import ModelError, dispatch_of


@dataclass(frozen=True)
class ChangedModel:
    """A model with one change. affected: names of the functions that depend on it. original, plain: for `planted`."""

    variation: Variation
    model: Model
    affected: frozenset[str]
    original: Callable[..., Any]
    plain: Callable[..., Any]


class RuleMutants:
    """All changes of the protocol's functions in one model.

    ghosts: fields of the state that no rule reads, so that expressions for them are not changed. bounds: fields of
    the configuration that only bound a search.
    """

    def __init__(self, model: Model, ghosts: Collection[str] = (), bounds: Collection[str] = ()) -> None:
        self.model = model
        self.ghosts, self.bounds = ghosts, bounds
        self.fns = every(model)
        self._of: dict[str, tuple[Variation, ...]] = {}

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The actions and the functions that they call, except for ghosts only, in the order of their names."""
        todo = [fn.name for fn in self.model.actions]
        reached = set(todo)
        while todo:
            fn = self.fns[todo.pop()]
            called = calls_of(fn.source, self.ghosts)
            for name in called | _chosen(fn, called):
                if name in self.fns and name not in reached:
                    reached.add(name)
                    todo.append(name)
        return tuple(sorted(reached))

    @cached_property
    def _callers(self) -> dict[str, set[str]]:
        return callers(self.model)

    def of(self, function: str) -> tuple[Variation, ...]:
        """Return the changes of one function, including ill-typed ones."""
        if function not in self._of:
            self._of[function] = tuple(variations(self.fns[function].source, self.ghosts, self.bounds))
        return self._of[function]

    def names(self, functions: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
        """Return (function, name) of every change of these functions; of all functions if empty."""
        chosen = functions or self.functions
        return tuple((function, one.name) for function in chosen for one in self.of(function))

    def sample(self, functions: Sequence[str], size: int | None, seed: int) -> list[tuple[str, str]]:
        """Return the changes of these functions (`names`), or a random sample of this size."""
        chosen = list(self.names(functions))
        if size is not None and size < len(chosen):
            chosen = sorted(random.Random(seed).sample(chosen, size))
        return chosen

    def choose(self, requested: Sequence[str]) -> tuple[str, ...]:
        """Return functions by name, ignoring case; raise UsageFault for one that is not part of the protocol."""
        names = {name.lower(): name for name in self.functions}
        for word in requested:
            if word.lower() not in names:
                help = did_you_mean(word, list(self.functions))
                raise UsageFault("unknown-function", f"the protocol has no function `{word}`", help=help)
        return tuple(dict.fromkeys(names[word.lower()] for word in requested))

    def find(self, function: str, name: str) -> Variation:
        return next(one for one in self.of(function) if one.name == name)

    def place(self, variation: Variation) -> str:
        fn: Fn = self.fns[variation.function]
        return f"{fn.place.rpartition(':')[0]}:{variation.line}"

    def make(self, variation: Variation) -> ChangedModel | None:
        """Return the model with the change; None if the change is ill-typed."""
        dependents = affected(self.model, variation.function, self._callers)
        try:
            model, plain = altered(self.model, variation.function, variation.tree, dependents)
        except ModelError:
            return None
        return ChangedModel(variation, model, dependents, self.fns[variation.function].source, plain)


def _chosen(fn: Fn, called: Collection[str]) -> set[str]:
    """Return the operators that a function calls through a dispatching function. called: the names in its source."""
    cases: set[str] = set()
    for function in (fn.source.__globals__[name] for name in called if name in fn.source.__globals__):
        role = getattr(function, "__elr_role__", None)
        if isinstance(role, Role) and role.kind == "dispatch":
            cases |= set(dispatch_of(function).cases.values())
    return cases.intersection(callees(fn)) if cases else set()
