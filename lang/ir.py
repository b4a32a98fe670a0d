"""The typed intermediate representation of a model: what a function is, and the blocks of its body.

The IR keeps what a reader of the source would recognise: operator names, calls, binders, local
names, docstrings, named guards. Back ends that need less (the kernel and Z3) unroll it through
`elrcheck.lang.evaluate`; the TLA+ printer prints it nearly one to one. Its expressions are in
`elrcheck.lang.expr`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from elrcheck.lang.expr import Expression, Moment, NoneLiteral, StateVariable
from elrcheck.lang.marks import NO_MARKS, Marks
from elrcheck.lang.tree import walk
from elrcheck.lang.types import NONE, Ty


@dataclass(frozen=True, eq=False)
class View:
    """A whole state as an expression: one expression for each state variable.

    moment: the state it came from; pristine: nothing has been replaced yet.
    """

    moment: Moment
    fields: dict[str, Expression]
    pristine: bool


def state_view(moment: Moment, fields: Mapping[str, Ty]) -> View:
    """A state as it is."""
    return View(moment, {name: StateVariable(ty, moment, name) for name, ty in fields.items()}, True)


@dataclass(frozen=True, eq=False)
class Let:
    name: str
    value: Expression
    rest: Block


@dataclass(frozen=True, eq=False)
class Require:
    condition: Expression
    name: str
    rest: Block


@dataclass(frozen=True, eq=False)
class If:
    condition: Expression
    then: Block
    orelse: Block


@dataclass(frozen=True, eq=False)
class Ret:
    value: Expression | View


Block: TypeAlias = Let | Require | If | Ret


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
    ret: Ty = field(default=NONE)
    body: Block = field(default_factory=lambda: Ret(NoneLiteral(NONE)))
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


def block_expressions(block: Block) -> Iterator[Expression]:
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
        case Ret(value=value):
            yield from value.fields.values() if isinstance(value, View) else (value,)


def fn_nodes(fn: Fn) -> Iterator[Expression]:
    """Every node of a function's body."""
    for root in block_expressions(fn.body):
        yield from walk(root)
