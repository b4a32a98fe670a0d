"""The typed intermediate representation of a model: functions, and the blocks of their bodies.

The IR preserves what a reader of the source recognises: operator names, calls, binders, local names, docstrings, named
guards. The kernel and Z3 unroll it through `elrcheck.lang.evaluate`; the TLA+ printer prints it nearly one to one. Its
expressions are in `elrcheck.lang.expr`, which is imported when the first function is compiled: many commands compile
none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from elrcheck.lang.marks import NO_MARKS, Marks
from elrcheck.lang.types import NONE, Ty

if TYPE_CHECKING:
    from elrcheck.lang.expr import Expression, Moment


@dataclass(frozen=True, eq=False)
class StateView:
    """A whole state as an expression: one expression for each state variable.

    moment: the state that it was built from; pristine: no field has been replaced.
    """

    moment: Moment
    fields: dict[str, Expression]
    pristine: bool


def state_view(moment: Moment, fields: Mapping[str, Ty]) -> StateView:
    """Return a state as an expression, with no field replaced."""
    from elrcheck.lang.expr import StateVariable

    return StateView(moment, {name: StateVariable(ty, moment, name) for name, ty in fields.items()}, True)


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
    value: Expression | StateView


Block: TypeAlias = Let | Require | If | Ret
LATER = "_later"
SIGNATURE = ("params", "states", "has_config", "ret")


def _nothing() -> Block:
    """Return the body of a function that has none."""
    from elrcheck.lang.expr import NoneLiteral

    return Ret(NoneLiteral(NONE))


class Later(Protocol):
    """Compiles a function when it is first used."""

    def sign(self, fn: Fn, /) -> None:
        """Fill in its parameters and return type."""
        ...

    def fill(self, fn: Fn, /) -> None:
        """Fill in its body."""
        ...


@dataclass(eq=False)
class Fn:
    """A compiled function of the model.

    params: the value parameters, without configuration and states; states: names of its state parameters (none, one,
    or two for a predicate on steps). marks: metadata of an action. The fields after the marks may be compiled on first
    use (`uncompiled`).
    """

    name: str
    kind: str
    ident: str
    note: str
    doc: str
    source: Callable[..., Any]
    file: str
    line: int
    marks: Marks = NO_MARKS
    params: list[tuple[str, Ty]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    has_config: bool = field(default_factory=bool)
    ret: Ty = field(default_factory=lambda: NONE)
    body: Block = field(default_factory=lambda: _nothing())
    guards: tuple[str, ...] | None = field(default=None, init=False)
    """The guard names, if known without the body; a changed copy computes them."""

    @classmethod
    def uncompiled(cls, later: Later, **attributes: Any) -> Fn:
        """Return a function that `later` compiles. attributes: the fields up to the marks."""
        fn = cls.__new__(cls)
        fn.__dict__.update(attributes)
        fn.__dict__[LATER] = later
        return fn

    def __getattr__(self, name: str) -> Any:
        """Compile the signature or the body on first use."""
        later = self.__dict__.get(LATER)
        if later is not None and name in SIGNATURE:
            later.sign(self)
        elif later is not None and name == "body":
            later.fill(self)
            del self.__dict__[LATER]
        else:
            raise AttributeError(f"a function of the model has no {name!r}")
        return self.__dict__[name]

    @property
    def is_step(self) -> bool:
        return len(self.states) == 2

    @property
    def place(self) -> str:
        """`folder/file.py:line`, relative to the package; the whole path for a file outside it."""
        package, file = Path(__file__).resolve().parent.parent, Path(self.file).resolve()
        path = file.relative_to(package) if file.is_relative_to(package) else file
        return f"{path.as_posix()}:{self.line}"


def blocks(block: Block) -> Iterator[Block]:
    """Yield a block and all blocks inside it, in source order."""
    yield block
    match block:
        case Let(rest=rest) | Require(rest=rest):
            yield from blocks(rest)
        case If(then=then, orelse=orelse):
            yield from blocks(then)
            yield from blocks(orelse)


def block_expressions(block: Block) -> Iterator[Expression]:
    """Yield every expression that stands directly in a block, outermost first."""
    for part in blocks(block):
        match part:
            case Require(condition=condition) | If(condition=condition):
                yield condition
            case Ret(value=StateView() as view):
                yield from view.fields.values()
            case Let(value=value) | Ret(value=value):
                yield value  # type: ignore[misc]


def fn_nodes(fn: Fn) -> Iterator[Expression]:
    """Yield every node of a function's body."""
    from elrcheck.lang.tree import walk

    for root in block_expressions(fn.body):
        yield from walk(root)


def callees(fn: Fn) -> list[str]:
    """Return the names of the functions that a function calls, each once."""
    from elrcheck.lang.expr import Call

    return list(dict.fromkeys(node.function for node in fn_nodes(fn) if isinstance(node, Call)))


def reachable(fns: Mapping[str, Fn], roots: Iterable[Fn]) -> dict[str, Fn]:
    """Return the roots and all functions that they call, directly or not, by name."""
    reached = {fn.name: fn for fn in roots}
    todo = list(reached.values())
    while todo:
        new = [fns[name] for name in callees(todo.pop()) if name not in reached]
        reached.update((fn.name, fn) for fn in new)
        todo += new
    return reached


def requires(block: Block) -> Iterator[Require]:
    """Yield the guards of a function in source order."""
    return (part for part in blocks(block) if isinstance(part, Require))


def guard_names(fn: Fn) -> tuple[str, ...]:
    """Return each guard name once: guards with the same name, in any branch, are one guard."""
    if fn.guards is None:
        fn.guards = tuple(dict.fromkeys(guard.name for guard in requires(fn.body)))
    return fn.guards
