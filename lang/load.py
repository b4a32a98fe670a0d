"""Collects the parts of a model from its modules and compiles them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from elrcheck.lang.frontend import Frontend
from elrcheck.lang.ir import Fn
from elrcheck.lang.runtime import Role
from elrcheck.lang.source import ModelError
from elrcheck.lang.types import Ty, record_fields, type_of


@dataclass(frozen=True)
class Model:
    """A loaded model. Functions are in source order; `fns` also holds every called operator."""

    state: type
    config: type
    init: Fn
    bound: Fn
    actions: tuple[Fn, ...]
    always: tuple[Fn, ...]
    sometimes: tuple[Fn, ...]
    lemmas: tuple[Fn, ...]
    leads_to: tuple[Fn, ...]
    fns: dict[str, Fn]

    @property
    def state_ty(self) -> Ty:
        return type_of(self.state)

    @property
    def state_fields(self) -> dict[str, Ty]:
        return record_fields(self.state)


def load(state: type, config: type, modules: Sequence[ModuleType]) -> Model:
    """Compile the decorated functions of the modules; ModelError names the place of a mistake."""
    frontend = Frontend(state, config)
    found: dict[str, list[Fn]] = {}
    for module in modules:
        for function in _decorated(module):
            fn = frontend.fn(function)
            found.setdefault(fn.kind, []).append(fn)
    for kind in ("init", "bound"):
        if len(found.get(kind, [])) != 1:
            raise ModelError(f"a model has exactly one @{kind} function, found {len(found.get(kind, []))}")
    kinds = ("always", "sometimes", "leads_to")
    idents = [fn.ident for kind in kinds for fn in found.get(kind, [])]
    twice = sorted({i for i in idents if idents.count(i) > 1})
    if twice:
        raise ModelError(f"property ids must be unique: {', '.join(twice)}")
    return Model(
        state=state,
        config=config,
        init=found["init"][0],
        bound=found["bound"][0],
        actions=tuple(found.get("action", ())),
        always=tuple(found.get("always", ())),
        sometimes=tuple(found.get("sometimes", ())),
        lemmas=tuple(found.get("lemma", ())),
        leads_to=tuple(found.get("leads_to", ())),
        fns=frontend.fns,
    )


def _decorated(module: ModuleType) -> Iterable[Callable[..., Any]]:
    """Decorated functions defined in the module itself, in source order."""
    own = [
        value
        for value in vars(module).values()
        if isinstance(getattr(value, "__elr_role__", None), Role) and value.__module__ == module.__name__
    ]
    return sorted(own, key=lambda f: int(f.__code__.co_firstlineno))


def domain(ty: Ty, config: Any) -> list[Any]:
    """All plain values of a parameter type under a configuration, in ascending order."""
    brokers = list(config.brokers)
    match ty.kind:
        case "bool":
            return [False, True]
        case "replica":
            return brokers
        case "opt":
            return [None, *domain(ty.elem, config)]
        case "enum":
            return list(ty.cls)
        case "set":
            return [frozenset(b for b in brokers if mask >> b & 1) for mask in range(1 << len(brokers))]
        case "nat" if ty.hi is not None:
            top = getattr(config, ty.hi) if isinstance(ty.hi, str) else ty.hi
            return list(range(ty.lo, int(top) + 1))
    raise ModelError(f"a parameter of type {ty} has no finite domain")


def instances(fn: Fn, config: Any) -> Iterator[tuple[Any, ...]]:
    """Every choice of the parameters of an action or a property, in lexicographic order."""
    return itertools.product(*(domain(ty, config) for _, ty in fn.params))
