"""Structured values over a scalar algebra: blank, lift, choose, compare, flatten.

The layout of a type is decided here once: `leaves` lists the scalars of a value in the order every
packed or symbolic state uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from elrcheck.lang.algebra import PACKED, Algebra
from elrcheck.lang.domains import domain, key_text
from elrcheck.lang.runtime import Map, ModelConfig
from elrcheck.lang.types import BOOL, Ty


class Entries(list[Any]):
    """The entries of a map, and the condition on which an entry was put outside its keys."""

    def __init__(self, entries: Iterable[Any], outside: Any) -> None:
        super().__init__(entries)
        self.outside = outside


def put_outside(entries: list[Any]) -> Any:
    """Return the condition on which an entry was put outside the keys of a map."""
    return entries.outside if isinstance(entries, Entries) else False


class Structure:
    """Operations on values of a type, for one configuration and algebra."""

    def __init__(self, config: ModelConfig, algebra: Algebra[Any, Any]) -> None:
        self.config, self.alg = config, algebra
        self._members: dict[int, tuple[Sequence[Any], Ty]] = {}
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
        """Return the position of a value among those of its type; None for a term, or if it is not among them."""
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
                raise TypeError(f"{ty} has no end")
        return at if 0 <= at < self.count(ty) else None

    def set_of(self, parts: Sequence[tuple[Any, Any]], elem: Ty) -> Any:
        """Return the set of the values whose condition holds. parts: (condition, value)."""
        alg, size = self.alg, self.count(elem)
        hits: list[list[Any]] = [[] for _ in range(size)]
        for holds, value in parts:
            at = self.position(value, elem)
            if at is not None:
                hits[at].append(holds)
            elif not self._constant(value, elem):
                for i, member in enumerate(self.members(elem)):
                    hits[i].append(alg.and_([holds, self.eq(value, member, elem)]))
        return alg.s_from([alg.or_(some) for some in hits])

    def _constant(self, value: Any, ty: Ty) -> bool:
        """Return whether a value is the same in every state."""
        match ty.kind:
            case "opt" if ty.flagged:
                return isinstance(value[0], bool) and self._constant(value[1], ty.elem)
            case "record":
                return all(self._constant(value[name], part) for name, part in ty.fields.items())
            case "set":
                return all(isinstance(self.alg.s_mem(value, i), bool) for i in range(self.count(ty.elem)))
            case _:
                return isinstance(value, int)

    # ------------------------------------------------------------------------- values

    def blank(self, ty: Ty) -> Any:
        """Return the canonical filler of a type: 0 or the nearest to it, false, None, empty, the first enum member."""
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
            case "record":
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
        """Return a value as one of an optional type; where there is none, the value beside the truth is blank."""
        return (True, value) if ty.flagged else value

    def held(self, value: Any, ty: Ty) -> Any:
        """Return the value in an optional; blank, or the number of None, where there is none."""
        return value[1] if ty.flagged else value

    def is_none(self, value: Any, ty: Ty) -> Any:
        return self.alg.not_(value[0]) if ty.flagged else self.alg.cmp("eq", value, -1)

    # ------------------------------------------------------------------------- leaves

    def places(self, ty: Ty) -> Sequence[object]:
        """Return how the paths of the entries of a vector call them: by number, in a map by the key."""
        return list(map(key_text, self.keys(ty))) if ty.is_map else range(self.count(ty.keys))

    def leaves(self, value: Any, ty: Ty, path: str = "") -> Iterator[tuple[str, Ty, Any]]:
        """Yield (path, scalar type, scalar) of a value in layout order.

        A set is one leaf, or, of more than PACKED possible members, one for each. The length of a sequence is a
        leaf of kind nat with path `PATH.length`.
        """
        match ty.kind:
            case "seq":
                yield f"{path}.length", Ty("nat", "length", hi=ty.hi), value[0]
                for k, x in enumerate(value[1]):
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

    # ------------------------------------------------------------------------- operations

    def ite(self, c: Any, a: Any, b: Any, ty: Ty) -> Any:
        if isinstance(c, bool):
            return a if c else b
        if a is b:
            return a
        match ty.kind:
            case "set":
                return self.alg.s_ite(c, a, b)
            case "seq":
                slots = [self.ite(c, x, y, ty.elem) for x, y in zip(a[1], b[1], strict=True)]
                return (self.alg.ite(c, a[0], b[0]), slots)
            case "opt" if ty.flagged:
                return (self.alg.ite(c, a[0], b[0]), self.ite(c, a[1], b[1], ty.elem))
            case "vec":
                entries = [self.ite(c, x, y, ty.elem) for x, y in zip(a, b, strict=True)]
                return self._entries(entries, self.alg.ite(c, put_outside(a), put_outside(b)))
            case "record" | "state":
                return {f: self.ite(c, a[f], b[f], t) for f, t in ty.fields.items()}
            case _:
                return self.alg.ite(c, a, b)

    def eq(self, a: Any, b: Any, ty: Ty) -> Any:
        if a is b:
            return True
        alg = self.alg
        match ty.kind:
            case "bool":
                return alg.iff(a, b)
            case "set":
                return alg.s_eq(a, b)
            case "seq":
                slots = [self.eq(x, y, ty.elem) for x, y in zip(a[1], b[1], strict=True)]
                return alg.and_([alg.cmp("eq", a[0], b[0]), *slots])
            case "opt" if ty.flagged:
                return alg.and_([alg.iff(a[0], b[0]), self.eq(a[1], b[1], ty.elem)])
            case "vec":
                return alg.and_([self.eq(x, y, ty.elem) for x, y in zip(a, b, strict=True)])
            case "record" | "state":
                return alg.and_([self.eq(a[f], b[f], t) for f, t in ty.fields.items()])
            case _:
                return alg.cmp("eq", a, b)

    def member(self, element: Any, members: Any, ty: Ty) -> Any:
        """Return whether a set has an element; ty: of the set's members."""
        alg = self.alg
        at = self.position(element, ty)
        if at is not None:
            return alg.s_mem(members, at)
        if self._constant(element, ty):
            return False
        hits = ([self.eq(element, x, ty), alg.s_mem(members, i)] for i, x in enumerate(self.members(ty)))
        return alg.or_([alg.and_(pair) for pair in hits])

    def entry(self, items: list[Any], key: Any, keys: Ty, ty: Ty) -> Any:
        """Return the entry of a vector at a key, which may be a term; ty: of the entries."""
        if keys.kind == "member":
            return self.select(items, key, ty)
        at = self.position(key, keys)
        if at is not None or self._constant(key, keys):
            return self.blank(ty) if at is None else items[at]
        result = items[0]
        for member, item in list(zip(self.members(keys), items, strict=True))[1:]:
            result = self.ite(self.eq(key, member, keys), item, result, ty)
        return result

    def with_entry(self, items: list[Any], key: Any, value: Any, ty: Ty) -> list[Any]:
        """Return a vector with one entry replaced; ty: of the vector.

        A key outside its type changes nothing; a map then says so (`put_outside`).
        """
        keys = ty.keys
        at = key if keys.kind == "member" else self.position(key, keys)
        if isinstance(at, int) and 0 <= at < len(items):
            return self._entries([*items[:at], value, *items[at + 1 :]], put_outside(items))
        outside = self.alg.not_(self.is_value(key, keys)) if ty.is_map else False
        if isinstance(at, int) or self._constant(key, keys):
            return self._entries(items, self.alg.or_([put_outside(items), outside]))
        if keys.kind == "member":
            chosen = [self.alg.cmp("eq", key, k) for k in range(len(items))]
        else:
            chosen = [self.eq(key, member, keys) for member in self.members(keys)]
        changed = [self.ite(c, value, old, ty.elem) for c, old in zip(chosen, items, strict=True)]
        return self._entries(changed, self.alg.or_([put_outside(items), outside]))

    def _entries(self, entries: list[Any], outside: Any) -> list[Any]:
        return entries if outside is False else Entries(entries, outside)

    def is_value(self, value: Any, ty: Ty) -> Any:
        """Return whether a value of a finite type, which may be a term, is one of those of its type."""
        alg = self.alg
        match ty.kind:
            case "member" | "nat":
                most = self.count(ty) - 1 if ty.kind == "member" else self.limit(ty.hi)
                return alg.and_([alg.cmp("le", ty.lo, value), alg.cmp("le", value, most)])
            case "opt":
                return alg.or_([self.is_none(value, ty), self.is_value(self.held(value, ty), ty.elem)])
            case "record":
                return alg.and_([self.is_value(value[name], part) for name, part in ty.fields.items()])
            case _:
                return True

    def outside_keys(self, value: Any, ty: Ty) -> Any:
        """Return the condition on which a value has a map in which an entry was put outside the keys."""
        if not ty.has_map:
            return False
        match ty.kind:
            case "vec":
                return self.alg.or_([put_outside(value), *(self.outside_keys(x, ty.elem) for x in value)])
            case "seq":
                return self.alg.or_([self.outside_keys(x, ty.elem) for x in value[1]])
            case "record":
                return self.alg.or_([self.outside_keys(value[f], t) for f, t in ty.fields.items()])
            case _:
                return False

    def select(self, items: list[Any], index: Any, ty: Ty) -> Any:
        """Return items[index]; blank outside the range, which only unneeded branches can ask for."""
        if isinstance(index, int):
            return items[index] if 0 <= index < len(items) else self.blank(ty)
        if not items:
            return self.blank(ty)
        result = items[0]
        for k in range(1, len(items)):
            result = self.ite(self.alg.cmp("eq", index, k), items[k], result, ty)
        return result

    def take(self, seq: tuple[Any, list[Any]], count: Any, elem: Ty) -> tuple[Any, list[Any]]:
        length, slots = seq
        alg = self.alg
        shorter = alg.ite(alg.cmp("le", count, length), count, length)
        blank = self.blank(elem)
        return (shorter, [self.ite(alg.cmp("lt", k, shorter), x, blank, elem) for k, x in enumerate(slots)])

    def drop(self, seq: tuple[Any, list[Any]], count: Any, elem: Ty) -> tuple[Any, list[Any]]:
        """Return a sequence without its first elements; of a shorter one, the empty sequence."""
        length, slots = seq
        alg, blank = self.alg, self.blank(elem)
        rest = alg.ite(alg.cmp("le", count, length), alg.sub(length, count), 0)
        if isinstance(count, int):
            return (rest, [*slots[count:], *(blank for _ in slots[:count])])
        behind = [*slots, *(blank for _ in slots)]
        shifted = [self.select(behind[k : k + len(slots) + 1], count, elem) for k in range(len(slots))]
        return (rest, [self.ite(alg.cmp("lt", k, rest), x, blank, elem) for k, x in enumerate(shifted)])

    def append(self, seq: tuple[Any, list[Any]], value: Any, elem: Ty) -> tuple[Any, list[Any]]:
        """Append an element; a full sequence is a fault of the model, which its guards exclude."""
        length, slots = seq
        alg = self.alg
        appended = [self.ite(alg.cmp("eq", length, k), value, x, elem) for k, x in enumerate(slots)]
        return (alg.add(length, 1), appended)
