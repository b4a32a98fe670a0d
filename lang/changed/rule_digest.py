"""Digests of rules, function by function, which do not depend on comments, docstrings and layout.

A recorded comparison of a rule is about everything that the rule calls. `below` follows the calls, and `digest_of`
hashes one function by itself: its syntax, the constants and types that it names, and the full names of the functions
that it calls.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

from elrcheck.lang.source import error_at, function_tree

DIGITS = 12
_IGNORED = frozenset(("annotation", "ctx", "decorator_list", "kind", "returns", "type_comment", "type_params"))


def full_name(function: Callable[..., Any]) -> str:
    """Return the module of a function and its name there."""
    return f"{function.__module__}.{function.__qualname__}"


def below(roots: Iterable[Callable[..., Any]], package: str, config: type) -> dict[str, FunctionType]:
    """Return the roots and the functions of a package that they call, directly or not, by full name.

    config: the class of the configuration; a function that reads one of its properties calls it.
    """
    reached: dict[str, FunctionType] = {}
    todo = [function for root in roots for function in _functions(root, package)]
    while todo:
        function = todo.pop()
        if full_name(function) in reached:
            continue
        reached[full_name(function)] = function
        for _, value in _globals(function):
            todo += _functions(value, package)
        for name in attributes(function):
            part = inspect.getattr_static(config, name, None)
            if isinstance(part, property):
                todo += _functions(part.fget, package)
    return reached


def attributes(function: FunctionType) -> frozenset[str]:
    """Return the names of all attributes that a function reads."""
    return frozenset(node.attr for node in _syntax_below(_tree(function)) if isinstance(node, ast.Attribute))


def digest_of(function: FunctionType) -> str:
    """Return a digest of the function's syntax, and of the constants and types that it names."""
    named = sorted(f"{name} = {_meaning(value)}" for name, value in _globals(function))
    text = "\n".join((_canonical(_tree(function)), *named))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


# ---------------------------------------------------------------------------- what a function names


@lru_cache(maxsize=4096)
def _tree(function: FunctionType) -> ast.stmt:
    """Return the syntax of a function; ModelError if its file has been edited since it was loaded."""
    tree = function_tree(function)
    if getattr(tree, "name", None) != function.__name__:
        code = function.__code__
        raise error_at(
            code.co_filename,
            code.co_firstlineno,
            f"{function.__name__} was loaded from here, and is no longer there",
            "the source has been edited since: start again",
        )
    return tree


def _globals(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the global names that a function uses, with their values; `module.name` counts as one name."""
    namespace = function.__globals__
    names: set[str] = set()
    for node in _syntax_below(_tree(function)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = namespace.get(node.value.id)
            if isinstance(owner, ModuleType) and hasattr(owner, node.attr):
                yield f"{node.value.id}.{node.attr}", getattr(owner, node.attr)
        elif isinstance(node, ast.Name):
            names.add(node.id)
    yield from ((name, namespace[name]) for name in names if name in namespace)


def _functions(value: Any, package: str) -> Iterator[FunctionType]:
    """Yield the functions of a package that a value is or contains."""
    if isinstance(value, type):
        if _inside(value.__module__, package):
            for name, part in vars(value).items():
                if not name.startswith("__"):
                    yield from _functions(part.fget if isinstance(part, property) else part, package)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _functions(part, package)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _functions(part, package)
    elif callable(value):
        plain = inspect.unwrap(value)
        if isinstance(plain, FunctionType) and _inside(plain.__module__, package):
            yield plain


def _inside(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _meaning(value: Any) -> str:
    """Format a value as text that is the same in every process."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if isinstance(value, type):
        return f"{value.__qualname__}({', '.join(_parts(value))})"
    if isinstance(value, bool | int | str | float | bytes | None):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_meaning, value))})"
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted(map(_meaning, value)))}}}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{_meaning(k)}: {_meaning(v)}' for k, v in value.items()))}}}"
    if callable(value) and hasattr(value, "__qualname__"):
        return full_name(value)
    return type(value).__qualname__


def _parts(kind: type) -> Iterator[str]:
    """Yield the members of an enum, without their values, which are texts for readers; or the fields of a record."""
    if issubclass(kind, enum.Enum):
        yield from kind.__members__
    elif dataclasses.is_dataclass(kind):
        for part in dataclasses.fields(kind):
            default = "" if part.default is dataclasses.MISSING else f" = {_meaning(part.default)}"
            yield f"{part.name}: {part.type}{default}"


# ---------------------------------------------------------------------------- syntax as text


def _syntax_below(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes below it, without annotations and decorators."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in _IGNORED:
            for part in value if isinstance(value, list) else (value,):
                if isinstance(part, ast.AST):
                    yield from _syntax_below(part)


def _canonical(node: Any) -> str:
    """Format a tree without positions, annotations and docstrings, alike in every version of Python."""
    if isinstance(node, ast.AST):
        parts = []
        for name, value in ast.iter_fields(node):
            if name in _IGNORED or value is None or value == []:
                continue
            parts.append(f"{name}={_canonical(_body(value) if name == 'body' else value)}")
        return f"{type(node).__name__}({' '.join(parts)})"
    if isinstance(node, list):
        return f"[{' '.join(map(_canonical, node))}]"
    return repr(node)


def _body(value: Any) -> Any:
    """Return statements without docstrings."""
    return [node for node in value if not _only_text(node)] if isinstance(value, list) else value


def _only_text(node: ast.AST) -> bool:
    text = node.value if isinstance(node, ast.Expr) else None
    return isinstance(text, ast.Constant) and isinstance(text.value, str)
