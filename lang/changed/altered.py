"""A model with one function changed, in every reading alike.

The plain reading calls functions by the names of their modules, and the front end finds them there too. So a
changed function takes the place of the original in every module that knows it, for as long as a `with` block
lasts, and what calls it is compiled again where its body is part of the caller's.
"""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from elrcheck.lang.expr import Call
from elrcheck.lang.frontend import Frontend
from elrcheck.lang.ir import Fn, fn_nodes
from elrcheck.lang.load import Model
from elrcheck.lang.source import recompiled

PACKAGE = "elrcheck."


@contextlib.contextmanager
def planted(original: Callable[..., Any], changed: Callable[..., Any]) -> Iterator[None]:
    """The changed function in place of the original, wherever a module of this package has it by name."""
    name = original.__name__
    places = [
        vars(module)
        for known, module in list(sys.modules.items())
        if known.startswith(PACKAGE) and vars(module).get(name) is original
    ]
    for place in places:
        place[name] = changed
    try:
        yield
    finally:
        for place in places:
            place[name] = original


def callers(model: Model) -> dict[str, set[str]]:
    """Name of a function -> names of those that call it, in the source: also where its body is theirs."""
    found: dict[str, set[str]] = {}
    for fn in every(model).values():
        called = {node.function for node in fn_nodes(fn) if isinstance(node, Call)}
        called |= {name for name in fn.source.__code__.co_names if name in model.fns}
        called |= {name for name in _nested_names(fn.source) if name in model.fns}
        for name in called - {fn.name}:
            found.setdefault(name, set()).add(fn.name)
    return found


def _nested_names(function: Callable[..., Any]) -> set[str]:
    """Names that the comprehensions of a function use, which Python compiles as functions of their own."""
    found: set[str] = set()
    todo = [function.__code__]
    while todo:
        code = todo.pop()
        found.update(code.co_names)
        todo += [part for part in code.co_consts if hasattr(part, "co_names")]
    return found


def every(model: Model) -> dict[str, Fn]:
    """All functions of a model by name."""
    lists = (model.actions, model.always, model.sometimes, model.lemmas, model.leads_to)
    return {**model.fns, **{fn.name: fn for fns in lists for fn in fns}, model.init.name: model.init}


def affected(model: Model, name: str, known: dict[str, set[str]] | None = None) -> frozenset[str]:
    """A function and everything that depends on it."""
    known = callers(model) if known is None else known
    found, todo = {name}, [name]
    while todo:
        for caller in known.get(todo.pop(), ()):
            if caller not in found:
                found.add(caller)
                todo.append(caller)
    return frozenset(found)


def altered(
    model: Model, name: str, tree: ast.FunctionDef, dependents: frozenset[str]
) -> tuple[Model, Callable[..., Any]]:
    """The model with this tree for a function, and the plain function for `planted`.

    Raises ModelError if the change does not fit the types. What depends on the function is compiled again.
    """
    original = every(model)[name].source
    changed = recompiled(original, tree)
    with planted(original, changed):
        frontend = Frontend(model.state, model.config)
        for fn in model.fns.values():
            if fn.name not in dependents:
                frontend.adopt(fn)
        made = {
            fn.name: frontend.fn(changed if fn.name == name else fn.source)
            for fn in every(model).values()
            if fn.name in dependents
        }

    def now(fns: tuple[Fn, ...]) -> tuple[Fn, ...]:
        return tuple(made.get(fn.name, fn) for fn in fns)

    return (
        replace(
            model,
            init=made.get(model.init.name, model.init),
            bound=made.get(model.bound.name, model.bound),
            actions=now(model.actions),
            always=now(model.always),
            sometimes=now(model.sometimes),
            lemmas=now(model.lemmas),
            leads_to=now(model.leads_to),
            fns={**model.fns, **frontend.fns},
        ),
        changed,
    )
