"""Values of any size: a vector or map is a function, a set a predicate, a sequence a length and a function.

Scalars are Python constants or Z3 terms. An optional is a pair (present, value), a record a dictionary, as in the
structural evaluator.

`Sizes` are the settings that any-size proofs leave arbitrary: the sizes of sorts, and the limits of types.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal, NamedTuple, TypeAlias

import z3

from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.lang.tree import types_inside
from elrcheck.lang.types import Ty

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


class _Reads:
    """A configuration that records which of its fields are read, also by its own properties."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self.fields: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        computed = getattr(type(self._config), name, None)
        if isinstance(computed, property) and computed.fget is not None:
            return computed.fget(self)
        self.fields.add(name)
        return getattr(self._config, name)


class Sizes:
    """The numbers of a configuration as terms.

    arbitrary: field -> variable: the sizes of sorts, limits of numbers and sequences, and the fields that the model's
    `Induction` names. A limit that the configuration sets to 0 stays 0: it leaves out what is limited, and the actions
    that need it. least: field -> least value, which `axioms` state.
    """

    def __init__(self, model: Model, config: ModelConfig) -> None:
        self.config = config
        types = [model.state_ty, *(ty for fn in (model.init, *model.actions) for _, ty in fn.params)]
        inside = [part for ty in types for part, _, _ in types_inside(ty)]
        fields = {name: 0 for part in inside if isinstance(name := part.hi, str) and self._is_limit(name)}
        fields |= dict.fromkeys(model.sizes, 1) | dict(model.induction.arbitrary)
        self.arbitrary = {name: z3.Int(f"config.{name}") for name in sorted(fields)}
        self.least = fields
        self.axioms = [self.arbitrary[name] >= least for name, least in sorted(fields.items())]

    def _is_limit(self, name: str) -> bool:
        computed = isinstance(getattr(type(self.config), name, None), property)
        return not computed and int(getattr(self.config, name)) > 0

    def depends(self, name: str) -> bool:
        """Return whether a field or property of the configuration is computed from arbitrary numbers."""
        reads = _Reads(self.config)
        getattr(reads, name)
        return not self.arbitrary.keys().isdisjoint(reads.fields)

    def limit(self, bound: int | str | None) -> Any:
        """Return a limit of a type; None, no limit, if it is computed from arbitrary numbers.

        Without the limit a type has more values, so what is proved holds for those within the limit, too.
        """
        if bound is None or isinstance(bound, int):
            return bound
        if bound in self.arbitrary:
            return self.arbitrary[bound]
        return None if self.depends(bound) else int(getattr(self.config, bound))

    def count(self, sort: Ty) -> Any:
        """Return the size of a sort."""
        return self.arbitrary[sort.size] if isinstance(sort.size, str) else int(sort.size or 0)
