"""Where a piece of model source stands, and how an error about it is shown."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from typing import Any, NoReturn

from elrcheck.lang.runtime import Role


class ModelError(Exception):
    """Model source that the language refuses: file, line, underlined source and what to write instead."""


class Source:
    """The parsed source of one decorated function, with positions in its file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        role: Role = function.__elr_role__  # type: ignore[attr-defined]
        lines, self.first_line = inspect.getsourcelines(function)
        text = "".join(lines)
        self.indent = len(text) - len(text.lstrip())
        self.file = function.__code__.co_filename
        self.title = f"{role.kind} {function.__name__}"
        node = ast.parse(textwrap.dedent(text)).body[0]
        if not isinstance(node, ast.FunctionDef):
            raise ModelError(f"{self.file}:{self.first_line}: {self.title} is not a plain function")
        self.tree: ast.FunctionDef = node

    def line_of(self, node: ast.AST) -> int:
        return self.first_line + int(getattr(node, "lineno", 1)) - 1

    def error(self, node: ast.AST, message: str) -> NoReturn:
        """Raise ModelError that points at the node."""
        line = self.line_of(node)
        text = linecache.getline(self.file, line).rstrip("\n")
        start = getattr(node, "col_offset", 0) + self.indent
        same_line = getattr(node, "end_lineno", None) == getattr(node, "lineno", None)
        end = (getattr(node, "end_col_offset", start + 1) + self.indent) if same_line else len(text)
        underline = " " * start + "^" * max(1, end - start)
        raise ModelError(f"{self.file}:{line}: in {self.title}: {message}\n    {text}\n    {underline}")
