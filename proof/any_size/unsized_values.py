"""Values without a size: a vector or a map is a function, a set a predicate, a sequence a length and a function.

Scalars are Python constants or Z3 terms. An optional is a pair (present, value), a record a dictionary, as in the
structural evaluator. What a function gives for an argument is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal, NamedTuple, TypeAlias

Extent: TypeAlias = Literal["none", "all", "some"]
"""What is known of a set without a solver: that it has no members, that it has all of its type, or nothing."""


def identity(value: Any) -> Hashable:
    """Return a key that equal scalars have in common; terms are shared by Z3, so their number is one."""
    if isinstance(value, dict):
        return tuple(identity(part) for part in value.values())
    if isinstance(value, tuple):
        return tuple(identity(part) for part in value)
    return (type(value), value) if value is None or isinstance(value, (bool, int)) else ("term", value.get_id())


class ComputedOnce:
    """A function that is computed once for each argument."""

    def __init__(self, at: Callable[[Any], Any]) -> None:
        self._at = at
        self._computed: dict[Hashable, tuple[Any, Any]] = {}

    def __call__(self, index: Any) -> Any:
        key = identity(index)
        if key not in self._computed:  # the index is kept with the value: Z3 gives its number to another term else
            self._computed[key] = (index, self._at(index))
        return self._computed[key][1]


class UnsizedEntries(ComputedOnce):
    """The entries of a map. outside: the condition on which one was put outside the keys, where none can be read."""

    def __init__(self, at: Callable[[Any], Any], outside: Any) -> None:
        super().__init__(at)
        self.outside = outside


def put_outside(entries: ComputedOnce) -> Any:
    """Return the condition on which an entry was put outside the keys of a map."""
    return entries.outside if isinstance(entries, UnsizedEntries) else False


class Members(ComputedOnce):
    """A set, as the predicate that its members satisfy.

    choice: of a set that is one of two, the condition, and the two; its size is then that of one of them.
    """

    def __init__(
        self, holds: Callable[[Any], Any], extent: Extent = "some", choice: tuple[Any, Members, Members] | None = None
    ) -> None:
        super().__init__(holds)
        self.extent, self.choice = extent, choice


class Sequence(NamedTuple):
    """at: the element at an index; what it says from the length on means nothing.

    listing: the sequence has every member of its sort once.
    """

    length: Any
    at: Callable[[Any], Any]
    listing: bool = False


def no_members() -> Members:
    return Members(lambda _: False, "none")
