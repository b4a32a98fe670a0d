"""A model with one function changed, in every reading alike.

The plain reading and the front end look functions up by name in their modules. So, for the length of a `with` block, a
changed function replaces the original in every module that has it, and its callers are compiled again where its body is
part of theirs.
"""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from elrcheck.lang.compiler.frontend import Frontend
from elrcheck.lang.ir import Fn, callees
from elrcheck.lang.load import LISTS, Model
from elrcheck.lang.source import recompiled

OURS = "elrcheck"
"""Prefix of the names of all modules that may have functions of a model, also of the modules of a user's files."""


@contextlib.contextmanager
def planted(original: Callable[..., Any], changed: Callable[..., Any]) -> Iterator[None]:
    """Replace a function by the changed one in every module of this package or of a model, for a `with` block."""
    name = original.__name__
    places = [
        vars(module)
        for module_name, module in list(sys.modules.items())
        if module_name.startswith(OURS) and vars(module).get(name) is original
    ]
    for place in places:
        place[name] = changed
    try:
        yield
    finally:
        for place in places:
            place[name] = original


def callers(model: Model) -> dict[str, set[str]]:
    """Return, for each function, the names of its callers, also of those that inline its body."""
    callers_of: dict[str, set[str]] = {}
    for fn in every(model).values():
        called = {*callees(fn), *(name for name in _names(fn.source) if name in model.fns)}
        for name in called - {fn.name}:
            callers_of.setdefault(name, set()).add(fn.name)
    return callers_of


def _names(function: Callable[..., Any]) -> set[str]:
    """Return the names that a function and its comprehensions use, which Python compiles as functions."""
    names: set[str] = set()
    todo = [function.__code__]
    while todo:
        code = todo.pop()
        names.update(code.co_names)
        todo += [part for part in code.co_consts if hasattr(part, "co_names")]
    return names


def every(model: Model) -> dict[str, Fn]:
    """Return all functions of a model by name."""
    listed = {fn.name: fn for kind in LISTS for fn in getattr(model, kind)}
    return {**model.fns, **listed, model.init.name: model.init}


def affected(model: Model, name: str, callers_of: dict[str, set[str]] | None = None) -> frozenset[str]:
    """Return the names of a function and of all functions that depend on it."""
    callers_of = callers(model) if callers_of is None else callers_of
    dependents, todo = {name}, [name]
    while todo:
        for caller in callers_of.get(todo.pop(), ()):
            if caller not in dependents:
                dependents.add(caller)
                todo.append(caller)
    return frozenset(dependents)


def altered(
    model: Model, name: str, tree: ast.FunctionDef, dependents: frozenset[str]
) -> tuple[Model, Callable[..., Any]]:
    """Return the model with this tree for a function, and the plain function for `planted`.

    The dependents are compiled again. Raise ModelError if the change does not fit the types.
    """
    original = every(model)[name].source
    changed = recompiled(original, tree)
    with planted(original, changed):
        frontend = Frontend(model.state, model.config)
        for fn in model.fns.values():
            if fn.name not in dependents:
                frontend.adopt(fn)
        compiled = {
            fn.name: frontend.fn(changed if fn.name == name else fn.source)
            for fn in every(model).values()
            if fn.name in dependents
        }

    return model.with_functions(lambda fn: compiled.get(fn.name, fn), {**model.fns, **frontend.fns}), changed
