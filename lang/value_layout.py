"""The layout of structured values over a scalar algebra: finite types, blank values, and the scalars of a value.

`leaves` lists the scalars of a value in the order that every packed or symbolic state uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from elrcheck.lang.algebra import PACKED, Algebra
from elrcheck.lang.domains import domain, key_text
from elrcheck.lang.runtime import Map, ModelConfig
from elrcheck.lang.types import BOOL, Ty


class ValueLayout:
    """The values of types under one configuration, as an evaluator over one algebra represents them."""

    def __init__(self, config: ModelConfig, algebra: Algebra[Any, Any]) -> None:
        self.config, self.alg = config, algebra
        self._members: dict[int, tuple[Sequence[Any], Ty]] = {}
        self._sizes: dict[int, tuple[int, Ty]] = {}
        self._limits: dict[str, int] = {}

    def limit(self, bound: int | str | None) -> int:
        """Return a bound as a number: itself, or the configuration field that it names."""
        if bound is None:
            raise TypeError("a number has no limit, and a range cannot be unrolled")
        if not isinstance(bound, str):
            return bound
        limit = self._limits.get(bound)
        if limit is None:
            limit = self._limits[bound] = int(getattr(self.config, bound))
        return limit

    # ------------------------------------------------------------------------- finite types

    def members(self, ty: Ty) -> Sequence[Any]:
        """Return all values of a finite type in ascending order, as values of the evaluator."""
        listed = self._members.get(id(ty))
        if listed is None:
            plain = domain(ty, self.config)
            scalar = ty.kind in ("member", "nat")
            listed = self._members[id(ty)] = (plain if scalar else [self.lift(x, ty) for x in plain], ty)
        return listed[0]

    def count(self, ty: Ty) -> int:
        return len(self.members(ty))

    def keys(self, ty: Ty) -> Sequence[Any]:
        """Return the plain keys of a vector, in the order of its entries."""
        return domain(ty.keys, self.config)

    def position(self, value: Any, ty: Ty) -> int | None:
        """Return the position of a value among the values of its type; None for a term, or a value outside the type."""
        match ty.kind:
            case "member" | "enum" | "bool" | "nat":
                at = int(value) - ty.lo if isinstance(value, int) else -1
            case "opt" if ty.flagged:
                present, held = value
                if not isinstance(present, bool):
                    return None
                inner = self.position(held, ty.elem) if present else -1
                if inner is None:
                    return None
                at = inner + 1
            case "opt":
                inner = -1 if value == -1 and isinstance(value, int) else self.position(value, ty.elem)
                at = -1 if inner is None else inner + 1
            case "record":
                at = 0
                for name, part in ty.fields.items():
                    inner = self.position(value[name], part)
                    if inner is None:
                        return None
                    at = at * self.count(part) + inner
            case "set":
                flags = [self.alg.s_mem(value, i) for i in range(self.count(ty.elem))]
                if not all(isinstance(flag, bool) for flag in flags):
                    return None
                at = sum(1 << i for i, flag in enumerate(flags) if flag)
            case _:
                raise TypeError(f"{ty} is infinite")
        return at if 0 <= at < self.count(ty) else None

    # ------------------------------------------------------------------------- values

    def blank(self, ty: Ty) -> Any:
        """Return the canonical filler of a type: the number nearest to 0, false, None, empty, the first enum member."""
        match ty.kind:
            case "nat" if ty.lo > 0 or (ty.lo < 0 and ty.hi is not None):
                return max(ty.lo, 0 if ty.hi is None else min(0, self.limit(ty.hi)))
            case "bool":
                return False
            case "set":
                return self.alg.s_const((), self.count(ty.elem))
            case "opt":
                return (False, self.blank(ty.elem)) if ty.flagged else -1
            case "seq":
                return (0, [self.blank(ty.elem) for _ in range(self.limit(ty.hi))])
            case "vec":
                return [self.blank(ty.elem) for _ in self.members(ty.keys)]
            case "record" | "state":
                return {f: self.blank(t) for f, t in ty.fields.items()}
            case _:
                return 0

    def lift(self, value: Any, ty: Ty) -> Any:
        """Return a plain Python value of the model as a value of the evaluator."""
        match ty.kind:
            case "set":
                positions = (self.position(self.lift(x, ty.elem), ty.elem) for x in value)
                return self.alg.s_const([at for at in positions if at is not None], self.count(ty.elem))
            case "opt":
                return self.blank(ty) if value is None else self.some(self.lift(value, ty.elem), ty)
            case "enum":
                return ty.members.index(value.name)
            case "seq":
                slots = [self.lift(x, ty.elem) for x in value]
                return (len(value), slots + [self.blank(ty.elem)] * (self.limit(ty.hi) - len(slots)))
            case "vec":
                return [self.lift(x, ty.elem) for x in ([value[k] for k in self.keys(ty)] if ty.is_map else value)]
            case "record" | "state":
                return {f: self.lift(ty.field_of(value, f), t) for f, t in ty.fields.items()}
            case _:
                return value

    def lower(self, value: Any, ty: Ty) -> Any:
        """Return a plain value: the inverse of `lift`, where scalars are Python constants."""
        match ty.kind:
            case "bool":
                return bool(value)
            case "set":
                members = enumerate(self.members(ty.elem))
                return frozenset(self.lower(x, ty.elem) for i, x in members if self.alg.s_mem(value, i))
            case "opt":
                nothing = not value[0] if ty.flagged else value == -1
                return None if nothing else self.lower(self.held(value, ty), ty.elem)
            case "enum":
                return ty.cls[ty.members[value]]
            case "seq":
                return tuple(self.lower(x, ty.elem) for x in value[1][: value[0]])
            case "vec":
                entries = tuple(self.lower(x, ty.elem) for x in value)
                return Map(dict(zip(self.keys(ty), entries, strict=True))) if ty.is_map else entries
            case "record" | "state":
                return ty.built({f: self.lower(value[f], t) for f, t in ty.fields.items()})
            case _:
                return int(value)

    # ------------------------------------------------------------------------- optionals

    def some(self, value: Any, ty: Ty) -> Any:
        """Return a value as one of an optional type.

        A number may be less than its type allows. Beside None, which is -1, it is then one less: no other number is
        None, and the type refuses it.
        """
        if ty.flagged:
            return (True, value)
        least = self.alg.least(value) if ty.elem.counts else 0
        if least is not None and least >= 0:
            return value
        return self.alg.ite(self.alg.cmp("lt", value, 0), self.alg.sub(value, 1), value)

    def held(self, value: Any, ty: Ty) -> Any:
        """Return the value in an optional; blank, or -1, for None."""
        if ty.flagged:
            return value[1]
        least = self.alg.least(value) if ty.elem.counts else 0
        if least is not None and least >= -1:
            return value
        return self.alg.ite(self.alg.cmp("lt", value, -1), self.alg.add(value, 1), value)

    def is_none(self, value: Any, ty: Ty) -> Any:
        return self.alg.not_(value[0]) if ty.flagged else self.alg.cmp("eq", value, -1)

    # ------------------------------------------------------------------------- leaves

    def places(self, ty: Ty) -> Sequence[object]:
        """Return the names of a vector's entries in paths: numbers, or the keys of a map."""
        return list(map(key_text, self.keys(ty))) if ty.is_map else range(self.count(ty.keys))

    def leaves(self, value: Any, ty: Ty, path: str = "") -> Iterator[tuple[str, Ty, Any]]:
        """Yield (path, scalar type, scalar) of a value in layout order.

        A set of more than PACKED possible members has a leaf for each. The length of a sequence is a leaf of kind nat
        with path `PATH.length`; one that is too long has the slots of its type.
        """
        match ty.kind:
            case "seq":
                yield f"{path}.length", Ty("nat", "length", hi=ty.hi), value[0]
                for k, x in enumerate(value[1][: self.limit(ty.hi)]):
                    yield from self.leaves(x, ty.elem, f"{path}[{k}]")
            case "opt" if ty.flagged:
                yield f"{path}.present", BOOL, value[0]
                yield from self.leaves(value[1], ty.elem, path)
            case "vec":
                for place, x in zip(self.places(ty), value, strict=True):
                    yield from self.leaves(x, ty.elem, f"{path}[{place}]")
            case "set" if self.count(ty.elem) > PACKED:
                for i in range(self.count(ty.elem)):
                    yield f"{path}{{{i}}}", BOOL, self.alg.s_mem(value, i)
            case "record" | "state":
                for f, t in ty.fields.items():
                    yield from self.leaves(value[f], t, f"{path}.{f}" if path else f)
            case _:
                yield path, ty, value

    def size(self, ty: Ty) -> int:
        """Return the number of scalars in a value of a type."""
        size = self._sizes.get(id(ty))
        if size is None:
            size = self._sizes[id(ty)] = (sum(1 for _ in self.leaves(self.blank(ty), ty)), ty)
        return size[0]

    def rebuild(self, scalars: Iterator[Any], ty: Ty) -> Any:
        """Return a value from its scalars in layout order."""
        match ty.kind:
            case "seq":
                length = next(scalars)
                return (length, [self.rebuild(scalars, ty.elem) for _ in range(self.limit(ty.hi))])
            case "opt" if ty.flagged:
                return (next(scalars), self.rebuild(scalars, ty.elem))
            case "vec":
                return [self.rebuild(scalars, ty.elem) for _ in self.members(ty.keys)]
            case "set" if self.count(ty.elem) > PACKED:
                return self.alg.s_from([next(scalars) for _ in range(self.count(ty.elem))])
            case "record" | "state":
                return {f: self.rebuild(scalars, t) for f, t in ty.fields.items()}
            case _:
                return next(scalars)
