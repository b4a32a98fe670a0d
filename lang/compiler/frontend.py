"""The functions of a model, each compiled on first use, and at most once; and checks of its types.

Functions call each other by plain name. `function_compiler` is imported when the first one is compiled. Of the types:
limits exist, records do not contain themselves, state numbers have limits.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_type_hints

from elrcheck.lang.ir import Fn
from elrcheck.lang.runtime import Role
from elrcheck.lang.source import ModelError, error_at, error_in_field, line_of_function, near
from elrcheck.lang.tree import sorts_in, types_inside
from elrcheck.lang.types import Ty, endless, record_fields, type_of

if TYPE_CHECKING:
    from elrcheck.lang.compiler.function_compiler import FunctionCompiler


RESULT = "return"


class Frontend:
    """Compiles functions on demand and caches them by name.

    lazily: compile a function when its signature or body is first used. A mistake in an unused function then goes
    unnoticed, so this is for sources that have been compiled as a whole before.
    """

    def __init__(self, state: type, config: type, lazily: bool = False) -> None:
        self.state, self.config, self.lazily = state, config, lazily
        self.state_fields = record_fields(state)
        record_fields(config)
        demand_end(state)
        self._limited: set[Ty] = set()
        self.demand_limits(type_of(state))
        demand_room(type_of(state))
        self.sorts = sorts_in(type_of(state))
        self.fns: dict[str, Fn] = {}
        self._sources: dict[str, Callable[..., object]] = {}
        self._hints: dict[tuple[int, object], Any] = {}
        self._busy: list[str] = []
        self._called: dict[str, list[str]] = {}

    def demand_limits(self, ty: Ty) -> None:
        """See `check_limits`; each type is checked once."""
        if ty not in self._limited:
            check_limits(ty, self.config)
            self._limited.add(ty)

    def hints(self, function: Callable[..., object]) -> dict[str, Any]:
        """Return the resolved annotations of the parameters and the result; those of a module are cached."""
        written, names = function.__annotations__, function.__globals__
        for hint in written.values():
            if (id(names), hint) not in self._hints:
                only = SimpleNamespace(__annotations__={RESULT: hint})
                self._hints[id(names), hint] = get_type_hints(only, names, include_extras=True)[RESULT]
        return {name: self._hints[id(names), hint] for name, hint in written.items()}

    def adopt(self, fn: Fn) -> None:
        """Add a compiled function."""
        self.fns[fn.name], self._sources[fn.name] = fn, fn.source

    def fn(self, function: Callable[..., object]) -> Fn:
        """Return the compiled form of a decorated function; ModelError if it leaves the language."""
        name = function.__name__
        if self._busy:
            self._called.setdefault(self._busy[-1], []).append(name)
        if name in self._busy:
            chain = " -> ".join([*self._busy[self._busy.index(name) :], name])
            message = f"{chain}: model functions must not be recursive"
            raise _at(function, message, "write a repetition as a comprehension over a set, a sequence or range(n)")
        if name in self.fns:
            if self._sources[name] is not function:
                message = f"two model functions are called {name}: names must be unique in a model"
                raise _at(function, message, f"the other one is at {self.fns[name].place}")
            return self.fns[name]
        described = _described(function, _DeferredCompiler(self))
        if not self.lazily:
            described.body  # noqa: B018  (compiled by asking for it)
        self.fns[name], self._sources[name] = described, function
        return described

    @contextlib.contextmanager
    def busy(self, fn: Fn) -> Iterator[None]:
        """Record, for the length of a `with` block, that the body of a function is being compiled."""
        self._busy.append(fn.name)
        try:
            yield
        finally:
            self._busy.pop()

    def complete(self) -> dict[str, Fn]:
        """Compile all functions and those that they call; return them with definitions before uses."""
        ordered: dict[str, Fn] = {}

        def visit(fn: Fn) -> None:
            if fn.name in ordered:
                return
            fn.body  # noqa: B018  (compiled by asking for it)
            for callee in self._called.get(fn.name, ()):
                visit(self.fns[callee])
            ordered[fn.name] = fn

        for fn in list(self.fns.values()):
            visit(fn)
        return ordered


class _DeferredCompiler:
    """Compiles one function, in two steps."""

    def __init__(self, frontend: Frontend) -> None:
        self._frontend = frontend
        self._compiler: FunctionCompiler | None = None

    def sign(self, fn: Fn) -> None:
        """See `Later`."""
        from elrcheck.lang.compiler.function_compiler import FunctionCompiler

        self._compiler = FunctionCompiler(self._frontend, fn.source)
        self._compiler.sign(fn)

    def fill(self, fn: Fn) -> None:
        """See `Later`."""
        fn.params  # noqa: B018  (signed by asking for it)
        assert self._compiler is not None
        with self._frontend.busy(fn):
            self._compiler.fill(fn)


def _described(function: Callable[..., object], later: _DeferredCompiler) -> Fn:
    """Return a decorated function that is not yet compiled."""
    role: Role = function.__elr_role__  # type: ignore[attr-defined]
    return Fn.uncompiled(
        later,
        name=function.__name__,
        kind=role.kind,
        ident=role.ident,
        note=role.note,
        doc=inspect.getdoc(function) or "",
        source=function,
        file=function.__code__.co_filename,
        line=line_of_function(function),
        marks=role.marks,
    )


def _at(function: Callable[..., object], message: str, help: str) -> ModelError:
    """Return an error about a whole function."""
    return error_at(function.__code__.co_filename, function.__code__.co_firstlineno + 1, message, help)


def demand_end(cls: Any, inside: tuple[Any, ...] = ()) -> None:
    """Raise ModelError for a field by which a record contains one of its own class."""
    for name, part in record_fields(cls).items():
        for record in _records_in(part):
            if record in (*inside, cls):
                raise endless(cls, name)
            demand_end(record, (*inside, cls))


def _records_in(ty: Ty) -> Iterator[Any]:
    """Yield the classes of the records in a type, without those inside other records."""
    if ty.kind == "record" and not ty.is_pair:
        yield ty.cls
    for part in (*ty.parts, *(part for part in (ty.index, ty.arg) if part is not None)):
        yield from _records_in(part)


def check_limits(ty: Ty, config: Any) -> None:
    """Raise ModelError for a limit that is no number or configuration field, or an optional sequence or vector."""
    names = [field.name for field in fields(config)]
    names += [name for cls in config.__mro__ for name, value in vars(cls).items() if isinstance(value, property)]
    for part, cls, field in types_inside(ty):
        if part.kind == "opt" and part.elem.kind in ("opt", "seq", "vec"):
            message = f"not a type of the modelling language: {part}"
            help = "None stands beside any type but sequences and vectors; a record that has one can be None"
            raise error_in_field(cls, field, message, help) if cls else ModelError(message, help=help)
        for limit in (part.hi, part.cap, part.size):
            if isinstance(limit, str) and limit not in names:
                what = "size" if limit == part.size else "limit"
                message = f"the {what} '{limit}' of {part} is not a field of {config.__name__}"
                help = near(limit, names) or f"declare it in {config.__name__}"
                raise error_in_field(cls, field, message, help) if cls else ModelError(message, help=help)


def demand_room(ty: Ty) -> None:
    """Raise ModelError for a number in a state without a limit."""
    for part, cls, field in types_inside(ty):
        if part.kind == "nat" and part.hi is None and part.cap is None:
            name = field.title().replace("_", "")
            help = f'Annotated[int, nat("{name}", hi=3)] limits it in the protocol, cap=7 in a search only'
            raise error_in_field(cls, field, "a search has to reserve room for a number", help)
