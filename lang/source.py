"""The position of model source, and the errors that point at it."""

from __future__ import annotations

import ast
import difflib
import inspect
import linecache
import re
import textwrap
from collections.abc import Callable, Iterable
from typing import NoReturn

from elrcheck.lang.runtime import Role

FEW = 16


class ModelError(Exception):
    """Model source that the language refuses.

    message: the error; where: `file:line`, empty if it has no single place; excerpt: the source,
    underlined; help: what to write instead, unless the message says so already.
    """

    def __init__(self, message: str, *, where: str = "", excerpt: str = "", help: str = "") -> None:
        shown = f"{where}: {message}" if where else message
        super().__init__("\n".join(part for part in (shown, textwrap.indent(excerpt, "    "), help) if part))
        self.message, self.where, self.excerpt, self.help = message, where, excerpt, help


def error_at(file: str, line: int, message: str, help: str = "") -> ModelError:
    """Build an error about one line of a file, and quote the line."""
    excerpt = linecache.getline(file, line).strip()
    return ModelError(message, where=f"{file}:{line}", excerpt=excerpt, help=help)


def error_in_field(cls: type, name: str, message: str, help: str = "") -> ModelError:
    """Build an error about a field of a model class, or about the class if its source cannot be read."""
    title = f"{cls.__name__}.{name}: {message}"
    try:
        lines, first = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls) or "<unknown>"
    except (OSError, TypeError):
        return ModelError(title, help=help)
    declaration = re.compile(rf"\s+{re.escape(name)}\s*:")
    declared = (n for n, text in enumerate(lines, start=first) if declaration.match(text))
    return error_at(file, next(declared, first), title, help)


def near(word: str, known: Iterable[str]) -> str:
    """Suggest the closest known word, or list all known words if they are few; may be empty."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"known: {', '.join(names)}" if 0 < len(names) <= FEW else ""


class Source:
    """The parsed source of one decorated function, with positions in its file."""

    def __init__(self, function: Callable[..., object]) -> None:
        role: Role = function.__elr_role__  # type: ignore[attr-defined]
        text, self.first_line, node = _read(function)
        node = getattr(function, "__elr_tree__", node)  # of a changed function, see lang/changed/altered.py
        self.indent = len(text) - len(text.lstrip())
        self.file = function.__code__.co_filename
        self.title = f"{role.kind} {function.__name__}"
        if not isinstance(node, ast.FunctionDef):
            raise error_at(self.file, self.first_line, f"{self.title} is not a plain function: write def")
        self.tree: ast.FunctionDef = node

    def line_of(self, node: ast.AST) -> int:
        return self.first_line + int(getattr(node, "lineno", 1)) - 1

    def error(self, node: ast.AST, message: str, help: str = "") -> NoReturn:
        """Raise ModelError that points at the node; at the first line of a node of several."""
        line = self.line_of(node)
        text = linecache.getline(self.file, line).rstrip("\n")
        start = getattr(node, "col_offset", 0) + self.indent
        same_line = getattr(node, "end_lineno", None) == getattr(node, "lineno", None)
        end = (getattr(node, "end_col_offset", start + 1) + self.indent) if same_line else len(text)
        margin = len(text) - len(text.lstrip())
        underline = " " * (start - margin) + "^" * max(1, end - start)
        raise ModelError(
            f"in {self.title}: {message}",
            where=f"{self.file}:{line}",
            excerpt=f"{text.strip()}\n{underline}",
            help=help,
        )


def line_of_function(function: Callable[..., object]) -> int:
    """The line of a function's `def`, below its decorators, without reading what it says."""
    first = function.__code__.co_firstlineno
    lines = linecache.getlines(function.__code__.co_filename, function.__globals__)
    for number in range(first, len(lines) + 1):
        if lines[number - 1].lstrip().startswith("def "):
            return number
    return first


def function_tree(function: Callable[..., object]) -> ast.stmt:
    """What a function says; of a changed one, what it says now."""
    changed: ast.stmt | None = getattr(function, "__elr_tree__", None)  # see lang/changed/altered.py
    return _read(function)[2] if changed is None else changed


def _read(function: Callable[..., object]) -> tuple[str, int, ast.stmt]:
    """The source of a function, the line it begins at, and what it says.

    The compiled code knows where the function ends. `inspect` reads its tokens to find out, which takes a
    third of the time of loading a model, so it is only asked where the code ends too early, such as after a
    body that is nothing but a docstring.
    """
    code = function.__code__
    last = max((end for _, end, _, _ in code.co_positions() if end is not None), default=0)
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)[code.co_firstlineno - 1 : last]
    text, first = "".join(lines), code.co_firstlineno
    try:
        return text, first, ast.parse(textwrap.dedent(text)).body[0]
    except (SyntaxError, IndexError):
        lines, first = inspect.getsourcelines(function)
        text = "".join(lines)
        return text, first, ast.parse(textwrap.dedent(text)).body[0]
