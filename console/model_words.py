"""The names in a user's model, for completion, read from its text: a Tab must not run the user's Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

Named: TypeAlias = tuple[str, str, str]
"""(id, name, first line of the docstring); the id is empty for an action"""


def functions_in(model: Path, roles: tuple[str, ...]) -> Iterator[Named]:
    """Yield the functions that are decorated with one of these roles, in the order of the text."""
    for node in _statements(model):
        if isinstance(node, ast.FunctionDef):
            for role, arguments in _decorators(node):
                if role in roles:
                    yield next(_texts(arguments), ""), node.name, (ast.get_docstring(node) or "").partition("\n")[0]


def settings_in(model: Path) -> Iterator[tuple[str, str]]:
    """Yield the fields of the configuration with their defaults."""
    for node in _statements(model):
        if isinstance(node, ast.ClassDef) and any(role == "config" for role, _ in _decorators(node)):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    yield field.target.id, "" if field.value is None else f"default {ast.unparse(field.value)}"


def sets_in(model: Path, keyword: str) -> Iterator[str]:
    """Yield the variants or scopes (`keyword`) of a `ProtocolModel`, if they are written as a dictionary."""
    for node in _statements(model):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for argument in node.value.keywords:
                if argument.arg == keyword and isinstance(argument.value, ast.Dict):
                    yield from _texts([key for key in argument.value.keys if key is not None])


def _statements(model: Path) -> Iterator[ast.stmt]:
    for file in sorted(model.rglob("*.py")) if model.is_dir() else [model]:
        yield from ast.parse(file.read_text(encoding="utf-8")).body


def _decorators(node: ast.FunctionDef | ast.ClassDef) -> Iterator[tuple[str, list[ast.expr]]]:
    for decorator in node.decorator_list:
        name, arguments = (decorator.func, decorator.args) if isinstance(decorator, ast.Call) else (decorator, [])
        if isinstance(name, ast.Name):
            yield name.id, arguments


def _texts(nodes: list[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
