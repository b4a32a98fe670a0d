"""Model source as text: positions, the errors that point at it, and operators that only choose another."""

from __future__ import annotations
import __future__

import ast
import copy
import difflib
import inspect
import linecache
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar, get_args, get_type_hints

from elrcheck.lang.runtime import Role

Node = TypeVar("Node", bound=ast.AST)
FEW = 16


class ModelError(Exception):
    """An error in model source.

    message: the error; where: `file:line`, empty if it has no single place; excerpt: the source, underlined; help: what
    to write instead, unless the message says so.
    """

    def __init__(self, message: str, *, where: str = "", excerpt: str = "", help: str = "") -> None:
        title = f"{where}: {message}" if where else message
        super().__init__("\n".join(part for part in (title, textwrap.indent(excerpt, "    "), help) if part))
        self.message, self.where, self.excerpt, self.help = message, where, excerpt, help


def error_at(file: str, line: int, message: str, help: str = "") -> ModelError:
    """Return an error about one line of a file, which quotes the line."""
    excerpt = linecache.getline(file, line).strip()
    return ModelError(message, where=f"{file}:{line}", excerpt=excerpt, help=help)


def error_in_field(cls: type, name: str, message: str, help: str = "") -> ModelError:
    """Return an error about a field of a model class, without a place if the source cannot be read."""
    title = f"{cls.__name__}.{name}: {message}"
    try:
        lines, first = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls) or "<unknown>"
    except (OSError, TypeError):
        return ModelError(title, help=help)
    declaration = re.compile(rf"\s+{re.escape(name)}\s*:")
    declared = (n for n, text in enumerate(lines, start=first) if declaration.match(text))
    return error_at(file, next(declared, first), title, help)


def near(word: str, candidates: Iterable[str]) -> str:
    """Suggest the closest of the candidates, or list them if they are few; may be empty."""
    names = list(candidates)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"known: {', '.join(names)}" if 0 < len(names) <= FEW else ""


class Source:
    """The parsed source of one decorated function, with positions in its file."""

    def __init__(self, function: Callable[..., object]) -> None:
        role: Role = function.__elr_role__  # type: ignore[attr-defined]
        text, self.first_line, node = _read(function)
        node = getattr(function, "__elr_tree__", node)  # of a changed function, see `recompiled`
        self.indent = len(text) - len(text.lstrip())
        self.file = function.__code__.co_filename
        self.title = f"{role.kind} {function.__name__}"
        if not isinstance(node, ast.FunctionDef):
            raise error_at(self.file, self.first_line, f"{self.title} is not a plain function: write def")
        self.tree: ast.FunctionDef = node

    def line_of(self, node: ast.AST) -> int:
        return self.first_line + int(getattr(node, "lineno", 1)) - 1

    def error(self, node: ast.AST, message: str, help: str = "") -> NoReturn:
        """Raise ModelError that points at the node, or at its first line if it has several."""
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


def recompiled(function: Callable[..., Any], tree: ast.FunctionDef) -> Callable[..., Any]:
    """Compile a changed tree to a plain function with the place of the original; `Source` reads the tree from it."""
    source = Source(function)
    body = copy.deepcopy(tree)
    body.decorator_list = []
    ast.increment_lineno(body, source.first_line - 1)
    code = compile(
        ast.Module(body=[body], type_ignores=[]),
        source.file,
        "exec",
        flags=__future__.annotations.compiler_flag,
        dont_inherit=True,
    )
    namespace: dict[str, Any] = {}
    exec(code, function.__globals__, namespace)
    compiled: Callable[..., Any] = namespace[function.__name__]
    compiled.__module__ = function.__module__
    compiled.__elr_role__ = function.__elr_role__  # type: ignore[attr-defined]
    compiled.__elr_tree__ = tree  # type: ignore[attr-defined]
    return compiled


def placed(node: Node, origin: ast.AST) -> Node:
    """Give generated nodes the place of the node that they stand for; return the root."""
    for part in ast.walk(node):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, origin)
    return node


def line_of_function(function: Callable[..., object]) -> int:
    """Return the line of a function's `def`, below its decorators, without parsing the function."""
    first = function.__code__.co_firstlineno
    lines = linecache.getlines(function.__code__.co_filename, function.__globals__)
    for number in range(first, len(lines) + 1):
        if lines[number - 1].lstrip().startswith("def "):
            return number
    return first


def function_tree(function: Callable[..., object]) -> ast.stmt:
    """Return the syntax of a function; of a changed one, the changed syntax."""
    changed: ast.stmt | None = getattr(function, "__elr_tree__", None)  # see `recompiled`
    return _read(function)[2] if changed is None else changed


def _read(function: Callable[..., object]) -> tuple[str, int, ast.stmt]:
    """Return the source of a function, its first line, and its syntax.

    The compiled code knows where the function ends. `inspect` would read tokens to determine it, a third of the time of
    loading a model; it is the fallback where the code ends too early, as for a body that is only a docstring.
    """
    code = function.__code__
    last = max((end for _, end, _, _ in code.co_positions() if end is not None), default=0)
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)[code.co_firstlineno - 1 : last]
    text, first = "".join(lines), code.co_firstlineno
    try:
        return text, first, ast.parse(textwrap.dedent(text) if text[:1].isspace() else text).body[0]
    except (SyntaxError, IndexError):
        lines, first = inspect.getsourcelines(function)
        text = "".join(lines)
        return text, first, ast.parse(textwrap.dedent(text)).body[0]


# ---------------------------------------------------------------------------- operators that choose

# The language has no values of a union type. An operator with `@dispatch` takes a union of records, and Python chooses
# the case at run time. The compiler knows the type of the record at each call and compiles a call of that case, so no
# back end needs unions.


SHAPE = "write one match on a parameter, with `case Record(): return operator(the same parameters)` for each"


@dataclass(frozen=True)
class Dispatch:
    """A dispatching operator. position: of the parameter that chooses; cases: record -> operator's name."""

    function: Callable[..., Any]
    position: int
    count: int
    cases: dict[type, str]

    def operator(self, kind: type | None) -> Callable[..., Any] | None:
        """Return the operator for records of this type, as its module has it now; None if there is no case."""
        name = None if kind is None else self.cases.get(kind)
        return None if name is None else self.function.__globals__[name]

    @property
    def records(self) -> str:
        """The types that have a case, in the order of the source."""
        return ", ".join(kind.__name__ for kind in self.cases)


def dispatch_of(function: Callable[..., Any]) -> Dispatch:
    """Read a function with `@dispatch`; ModelError if it is more than a choice, or lacks a case."""
    choice: Dispatch | None = function.__dict__.get("__elr_dispatch__")
    if choice is None:
        choice = _read_dispatch(function)
        function.__dict__["__elr_dispatch__"] = choice
    return choice


def _read_dispatch(function: Callable[..., Any]) -> Dispatch:
    source = Source(function)
    names = [arg.arg for arg in source.tree.args.args]
    body = source.tree.body
    match body[1:] if isinstance(body[0], ast.Expr) else body:  # without the docstring
        case [ast.Match(subject=ast.Name(id=subject), cases=cases)] if subject in names:
            chosen = dict(_case(source, function, case, names) for case in cases)
        case _:
            source.error(source.tree, "@dispatch is for an operator that only chooses", SHAPE)
    _demand_every(source, function, subject, chosen)
    return Dispatch(function, names.index(subject), len(names), chosen)


def _case(source: Source, function: Callable[..., Any], case: ast.match_case, names: list[str]) -> tuple[type, str]:
    """Return the record of a case and the name of its operator."""
    match case:
        case ast.match_case(
            pattern=ast.MatchClass(cls=ast.Name(id=record), patterns=[], kwd_patterns=[]),
            guard=None,
            body=[ast.Return(value=ast.Call(func=ast.Name(id=operator), args=args, keywords=[]))],
        ) if [ast.unparse(arg) for arg in args] == names:
            kind, target = function.__globals__.get(record), function.__globals__.get(operator)
            role = getattr(target, "__elr_role__", None)
            if not isinstance(kind, type) or getattr(kind, "__elr_role__", None) != "record":
                source.error(case.pattern, f"'{record}' is not a record: decorate the class with @record")
            if not isinstance(role, Role) or role.kind != "op":
                source.error(case.body[0], f"'{operator}' is not an operator: decorate it with @op")
            return kind, operator
    _refuse(source, case)


def _refuse(source: Source, case: ast.match_case) -> NoReturn:
    source.error(case.pattern, "this case is not the call of an operator with the same parameters", SHAPE)


def _demand_every(source: Source, function: Callable[..., Any], subject: str, chosen: dict[type, str]) -> None:
    """Require that the cases are exactly the members of the union."""
    union = get_args(get_type_hints(function)[subject])
    for kind in union:
        if kind not in chosen:
            source.error(source.tree, f"there is no case for {kind.__name__}", SHAPE)
    for kind in chosen:
        if kind not in union:
            source.error(source.tree, f"{kind.__name__} is not a member of the type of '{subject}'")


def field_texts(kind: type) -> dict[str, str]:
    """Return the docstrings below the fields of a class, by field."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    texts = {}
    for node, below in zip(tree.body, tree.body[1:], strict=False):
        match node, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = inspect.cleandoc(text)
    return texts
