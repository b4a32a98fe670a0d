"""Values of any size: a vector or map is a function, a set a predicate, a sequence a length and a function.

Scalars are Python constants or Z3 terms. An optional is a pair (present, value), a record a dictionary, as in the
structural evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal, NamedTuple, TypeAlias

Extent: TypeAlias = Literal["none", "all", "some"]
"""Whether a set is known to be empty, or to have all values of its type; `some` if neither is known."""


def identity(value: Any) -> Hashable:
    """Return a key that is the same for identical values; Z3 shares terms, so the id of a term is one."""
    if isinstance(value, dict):
        return tuple(identity(part) for part in value.values())
    if isinstance(value, tuple):
        return tuple(identity(part) for part in value)
    return (type(value), value) if value is None or isinstance(value, (bool, int)) else ("term", value.get_id())


class ComputedOnce:
    """A function that computes its value once for each argument."""

    def __init__(self, at: Callable[[Any], Any]) -> None:
        self._at = at
        self._computed: dict[Hashable, tuple[Any, Any]] = {}

    def __call__(self, index: Any) -> Any:
        key = identity(index)
        if key not in self._computed:  # the entry holds the index, so that Z3 does not reuse its id
            self._computed[key] = (index, self._at(index))
        return self._computed[key][1]


class UnsizedEntries(ComputedOnce):
    """The entries of a map. outside: the condition on which an entry was put outside its keys."""

    def __init__(self, at: Callable[[Any], Any], outside: Any) -> None:
        super().__init__(at)
        self.outside = outside


def put_outside(entries: ComputedOnce) -> Any:
    """Return the condition on which an entry was put outside the keys of a map."""
    return entries.outside if isinstance(entries, UnsizedEntries) else False


class Members(ComputedOnce):
    """A set, as the predicate of its members. choice: (condition, a, b) for the set that is a if it holds, else b.

    count: returns its size, where that is not only a number of which axioms are known.
    """

    def __init__(
        self,
        holds: Callable[[Any], Any],
        extent: Extent = "some",
        choice: tuple[Any, Members, Members] | None = None,
        count: Callable[[], Any] | None = None,
    ) -> None:
        super().__init__(holds)
        self.extent, self.choice, self.count = extent, choice, count


class Sequence(NamedTuple):
    """A sequence. at: the element at an index below the length; listing: it has every member of its sort once."""

    length: Any
    at: Callable[[Any], Any]
    listing: bool = False


def no_members() -> Members:
    return Members(lambda _: False, "none")
