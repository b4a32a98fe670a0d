"""The typed intermediate representation of a model, and the walker every back end starts from.

The IR keeps what a reader of the source would recognise: operator names, calls, binders, local
names, docstrings, named guards. Back ends that need less (the kernel and Z3) unroll it through
`elrcheck.lang.evaluate`; the TLA+ printer prints it nearly one to one.

Expression kinds (`E.kind`), children in `E.args`, the rest in `E.x`:

    const n | param NAME | enumc NAME | universe | ordered | none | some a | get a | seqnil
    var NAME | svar (STATE, FIELD) | field a .NAME | rec NAMES | upd a NAMES
    ite c a b | and .. | or .. | not a | implies a b | conj NAMES | isnone a
    eq a b | lt | le | gt | ge | add | sub | min a b | max a b
    in r set | setlit .. | union | inter | diff | subset | card | elems seq
    vget v i | put v i x | vecmk body | slen | sget s i | take s n | append s x | concat s t | seqfilter
    all | any | count | filter | first | minof | maxof        binders, see below
    elet NAME value body | call NAME args

A binder has `x = (variable, domain kind)` with domain kind `set`, `seq` (the elements of a sequence)
or `range` (0..n-1), and `args = (domain, condition or None, body ..)`.

`get` turns an optional into its element where the source uses it as one; it is only evaluated where
the value is present, or its result does not matter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elrcheck.lang.marks import NO_MARKS, Marks
from elrcheck.lang.types import Ty


@dataclass(eq=False)
class E:
    """One expression node. `line` is the source line it came from, `node` the syntax (None if derived)."""

    kind: str
    ty: Ty
    args: tuple[Any, ...] = ()
    x: Any = None
    line: int = 0
    node: ast.AST | None = None

    def children(self) -> Iterator[E]:
        return (a for a in self.args if isinstance(a, E))


@dataclass(eq=False)
class View:
    """A whole state as an expression: one expression for each state variable.

    name: the parameter it came from; pristine: nothing has been replaced yet.
    """

    name: str
    fields: dict[str, E]
    pristine: bool


@dataclass(eq=False)
class Let:
    name: str
    value: E
    rest: Block


@dataclass(eq=False)
class Require:
    condition: E
    name: str
    rest: Block


@dataclass(eq=False)
class If:
    condition: E
    then: Block
    orelse: Block


@dataclass(eq=False)
class Ret:
    value: E | View


Block = Let | Require | If | Ret


@dataclass(eq=False)
class Fn:
    """A compiled function of the model.

    params: the value parameters, without configuration and states; states: names of its state
    parameters (none, one, or two for a predicate on steps). marks: what an action says of itself.
    """

    name: str
    kind: str
    ident: str
    note: str
    doc: str
    source: Callable[..., Any]
    file: str
    line: int
    params: list[tuple[str, Ty]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    has_config: bool = False
    ret: Ty = field(default_factory=lambda: Ty("none"))
    body: Block = field(default_factory=lambda: Ret(E("none", Ty("none"))))
    marks: Marks = NO_MARKS

    @property
    def is_step(self) -> bool:
        return len(self.states) == 2

    @property
    def place(self) -> str:
        """`folder/file.py:line` relative to the package; the whole path of a file outside it."""
        package, file = Path(__file__).resolve().parent.parent, Path(self.file).resolve()
        shown = file.relative_to(package) if file.is_relative_to(package) else file
        return f"{shown.as_posix()}:{self.line}"


class UnsupportedNode(Exception):
    """A back end met a node it does not know: names the node and the back end."""

    def __init__(self, backend: str, kind: str, line: int = 0) -> None:
        super().__init__(
            f"{backend} cannot print the node '{kind}'" + (f" (source line {line})" if line else "")
        )
        self.backend, self.kind = backend, kind


class Walker:
    """Dispatch on the node kind: a subclass defines `on_KIND` for what it supports.

    `backend` names the reading in errors. Unknown kinds raise UnsupportedNode, never a wrong print.
    """

    backend = "walker"

    def dispatch(self, node: E, *context: Any) -> Any:
        method = getattr(self, f"on_{node.kind}", None)
        if method is None:
            raise UnsupportedNode(self.backend, node.kind, node.line)
        return method(node, *context)


def free_names(root: E) -> set[str]:
    """Names of the local variables that occur in an expression."""
    found: set[str] = set()
    todo, seen = [root], set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.kind == "var":
            found.add(node.x)
        todo.extend(node.children())
    return found


def block_expressions(block: Block) -> Iterator[E]:
    """Every expression that stands directly in a block, outermost first."""
    match block:
        case Let(value=value, rest=rest):
            yield value
            yield from block_expressions(rest)
        case Require(condition=condition, rest=rest):
            yield condition
            yield from block_expressions(rest)
        case If(condition=condition, then=then, orelse=orelse):
            yield condition
            yield from block_expressions(then)
            yield from block_expressions(orelse)
        case Ret(value=View() as view):
            yield from view.fields.values()
        case Ret(value=E() as value):
            yield value


def walk(root: E) -> Iterator[E]:
    """The node and everything below it, each shared node once."""
    todo, seen = [root], set()
    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            todo.extend(node.children())


def fn_nodes(fn: Fn) -> Iterator[E]:
    """Every node of a function's body."""
    for root in block_expressions(fn.body):
        yield from walk(root)
