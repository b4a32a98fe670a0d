"""The names that model source imports: decorators that mark its parts, and a few functions on values.

A decorator only attaches its role to the function or class, and `elrcheck.lang.load` collects the roles from the
modules of a model. Decorated functions are unchanged, so a model runs in plain Python.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, ItemsView, Mapping
from dataclasses import replace as replace
from typing import Any, ClassVar, Generic, Never, Protocol, TypeVar, cast, dataclass_transform, overload

from elrcheck.lang.marks import NO_MARKS, Fair, Marks, Message, Names, Unfair

C = TypeVar("C", bound=type)
K = TypeVar("K")
F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T")

EMPTY: frozenset[Never] = frozenset()


class NotEnabled(Exception):
    """Raised by `require` when a guard refuses a step; `guard` is the name of the condition."""

    def __init__(self, guard: str) -> None:
        super().__init__(guard)
        self.guard = guard


class ModelConfig(Protocol):
    """The configuration of any model."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


class Conjunction:
    """The value of `conj`: its parts by name; true if all of them are."""

    __slots__ = ("parts",)

    def __init__(self, parts: Mapping[str, bool]) -> None:
        self.parts = dict(parts)

    def __bool__(self) -> bool:
        return all(self.parts.values())

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the conjuncts that are false."""
        return tuple(name for name, value in self.parts.items() if not value)


def require(condition: bool, name: str = "") -> None:
    """Declare a named guard: the step is enabled only if the condition holds; else raise NotEnabled."""
    if not condition:
        raise NotEnabled(name)


def conj(**named: bool) -> bool:
    """Return a conjunction with named parts, so that a violation can name the part that is false."""
    return Conjunction(named)  # type: ignore[return-value]


def within(used: Any, limits: Any) -> bool:
    """Return the conjunction that every field of a record is at most the configuration's field of the same name."""
    names = [field.name for field in dataclasses.fields(used)]
    return conj(**{name: getattr(used, name) <= getattr(limits, name) for name in names})


def implies(premise: bool, conclusion: bool) -> bool:
    """Return the material implication. Both sides are evaluated, as in TLA+ on total operators."""
    return (not premise) or conclusion


class Map(Generic[K, T]):
    """An immutable map with one entry for each value of a finite type, in their order.

    `Map({k: 0 for k in Mode})` has all entries; `put(m, k, 3)` returns a map with another value at k. A map to bounded
    numbers is a bag, for `add`, `remove` and `contents`: its values are the numbers of copies.
    """

    __slots__ = ("_entries", "_hash")

    def __init__(self, entries: Mapping[K, T]) -> None:
        self._entries = dict(entries)
        self._hash: int | None = None

    def __getitem__(self, key: K) -> T:
        return self._entries[key]

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> ItemsView[K, T]:
        """Return the keys with their values."""
        return self._entries.items()

    def with_entry(self, key: K, value: T) -> Map[K, T]:
        """Return the map with one entry replaced; raise KeyError for a key outside its type."""
        if key not in self._entries:
            raise KeyError(f"{key!r} is not a key of the map")
        return Map({**self._entries, key: value})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Map) and self._entries == other._entries

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._entries.items()))
        return self._hash

    def __reduce__(self) -> Any:
        return Map, (self._entries,)

    def __repr__(self) -> str:
        return f"Map({self._entries!r})"


@overload
def put(vector: tuple[T, ...], index: int, value: T) -> tuple[T, ...]: ...
@overload
def put(vector: Map[K, T], index: K, value: T) -> Map[K, T]: ...
def put(vector: Any, index: Any, value: Any) -> Any:
    """Return the vector or map with one entry replaced."""
    if isinstance(vector, Map):
        return vector.with_entry(index, value)
    return (*vector[:index], value, *vector[index + 1 :])


def add(bag: Map[K, int], element: K) -> Map[K, int]:
    """Return the bag with one more copy of an element."""
    return bag.with_entry(element, bag[element] + 1)


def remove(bag: Map[K, int], element: K) -> Map[K, int]:
    """Return the bag with one copy less of an element; a guard must ensure that there is one."""
    return bag.with_entry(element, bag[element] - 1)


def contents(bag: Map[K, int]) -> frozenset[K]:
    """Return the set of elements of which a bag has at least one copy."""
    return frozenset(element for element, copies in bag.items() if copies > 0)


# ---------------------------------------------------------------------------- roles of classes


@dataclass_transform(frozen_default=True)
def record(cls: C) -> C:
    """Make a class an immutable record of the model."""
    frozen: Any = dataclasses.dataclass(frozen=True)(cls)
    frozen.__elr_role__ = "record"
    return cast(C, frozen)


@dataclass_transform(frozen_default=True)
def state(cls: C) -> C:
    """Make a class the record whose fields are the state variables."""
    frozen: Any = record(cls)
    frozen.__elr_role__ = "state"
    return cast(C, frozen)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def config(cls: C) -> C:
    """Make a class the configuration of the model: sizes, knobs and budgets."""
    frozen: Any = dataclasses.dataclass(frozen=True, kw_only=True)(cls)
    frozen.__elr_role__ = "config"
    return cast(C, frozen)


# -------------------------------------------------------------------------- roles of functions


@dataclasses.dataclass(frozen=True)
class Role:
    """The role of a model function. ident: the id of a property, such as P-1."""

    kind: str
    ident: str = ""
    note: str = ""
    marks: Marks = NO_MARKS


def _marker(kind: str) -> Callable[[F], F]:
    """Return a decorator without arguments that gives a function this role."""

    def mark(*functions: F) -> F:
        if len(functions) != 1 or not callable(functions[0]):
            raise TypeError(f"@{kind} takes no arguments: write @{kind} alone above the function")
        return _marking(Role(kind))(functions[0])

    return mark


def _marking(role: Role) -> Callable[[F], F]:
    def mark(function: F) -> F:
        other = getattr(function, "__elr_role__", None)
        if isinstance(other, Role):
            name = function.__name__
            raise TypeError(f"{name} is @{other.kind} and @{role.kind}: write two functions, one calls the other")
        function.__elr_role__ = role  # type: ignore[attr-defined]
        return function

    return mark


def _property(kind: str, ident: object, note: str = "") -> Callable[[F], F]:
    """Return the decorator of a property. Without an id, the decorator would receive the function in its place."""
    if not isinstance(ident, str):
        raise TypeError(f'@{kind} takes the id of the property: write @{kind}("P-32")')
    return _marking(Role(kind, ident, note))


op = _marker("op")
dispatch = _marker("dispatch")
init = _marker("init")
bound = _marker("bound")
lemma = _marker("lemma")


@overload
def action(function: F, /) -> F: ...


@overload
def action(
    *,
    message: Message | None = ...,
    fairness: Fair | Unfair | None = ...,
    event: Names = ...,
    what_if: Names = ...,
    because: str = ...,
) -> Callable[[F], F]: ...


def action(
    *functions: F,
    message: Message | None = None,
    fairness: Fair | Unfair | None = None,
    event: Names = (),
    what_if: Names = (),
    because: str = "",
) -> F | Callable[[F], F]:
    """Declare a step `(c, s, ..) -> State`. The arguments, all optional, are explained in `elrcheck.lang.marks`."""
    if not isinstance(message, Message | None):
        raise TypeError(f'@action takes message=Message("p", "q"), not {message!r}')
    if not isinstance(fairness, Fair | Unfair | None):
        raise TypeError(f'@action takes fairness=Fair("why"), not {fairness!r}')
    marks = Marks(message, fairness, _several(event), _several(what_if), because)
    if functions or marks == NO_MARKS:
        return _marker("action")(*functions)
    return _marking(Role("action", marks=marks))


def _several(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def always(ident: str, *, bounded_only: str = "") -> Callable[[F], F]:
    """Declare a safety property of every state `(c, s)` or of every step `(c, s, t)`.

    bounded_only: why the property needs the budgets of a scope and cannot be proved without them.
    """
    return _property("always", ident, bounded_only)


def sometimes(ident: str) -> Callable[[F], F]:
    """Declare a witness: some reachable state or step must satisfy it, which guards against vacuous passes."""
    return _property("sometimes", ident)


def rule(ident: str, source: str) -> Callable[[F], F]:
    """Declare a rule about one step of the controller. source: where the rule is written (`controller_rules`)."""
    return _marking(Role("rule", ident, source))


# ------------------------------------------------------------------------------------ liveness


@record
class LeadsTo:
    """The value of a `leads_to` property in one state: whether its premise and its conclusion hold."""

    premise: bool
    conclusion: bool


def leads_to(ident: str) -> Callable[[F], F]:
    """Declare a liveness property `(c, s, ..) -> LeadsTo`: whenever the premise holds, the conclusion follows.

    It follows at once or later, on every fair behaviour. Each choice of further parameters is a property of its own,
    such as one for every process.
    """
    return _property("leads_to", ident)
