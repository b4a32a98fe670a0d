"""Operations on structured values over a scalar algebra: choice, comparison, sets, vectors and sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from elrcheck.lang.types import Ty
from elrcheck.lang.value_layout import ValueLayout


class Entries(list[Any]):
    """The entries of a map, and the condition on which an entry was put outside its keys."""

    def __init__(self, entries: Iterable[Any], outside: Any) -> None:
        super().__init__(entries)
        self.outside = outside


def put_outside(entries: list[Any]) -> Any:
    """Return the condition on which an entry was put outside the keys of a map."""
    return entries.outside if isinstance(entries, Entries) else False


def _same(parts: Iterable[Any], others: Iterable[Any]) -> bool:
    """Return whether they are the same objects."""
    return all(x is y for x, y in zip_longest(parts, others))


class Structure(ValueLayout):
    """Operations on values of a type, for one configuration and algebra."""

    def ite(self, c: Any, a: Any, b: Any, ty: Ty) -> Any:
        if isinstance(c, bool):
            return a if c else b
        if a is b:
            return a
        match ty.kind:
            case "set":
                return self.alg.s_ite(c, a, b)
            case "seq":
                slots = [self.ite(c, x, y, ty.elem) for x, y in self._slots(a, b, ty.elem)]
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
                slots = [self.eq(x, y, ty.elem) for x, y in self._slots(a, b, ty.elem)]
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
        """Return the condition that a set has an element. ty: of the set's members."""
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
            return self.select(items, self.from_end(key, len(items)) if keys.ordered else key, ty)
        at = self.position(key, keys)
        if at is not None or self._constant(key, keys):
            return self.blank(ty) if at is None else items[at]
        result = items[0]
        for member, item in list(zip(self.members(keys), items, strict=True))[1:]:
            result = self.ite(self.eq(key, member, keys), item, result, ty)
        return result

    def with_entry(self, items: list[Any], key: Any, value: Any, ty: Ty) -> list[Any]:
        """Return a vector with one entry replaced; ty: of the vector.

        A key outside its type changes nothing; if there may be one, it makes the condition `put_outside` true.
        """
        keys = ty.keys
        at = key if keys.kind == "member" else self.position(key, keys)
        if isinstance(at, int) and 0 <= at < len(items):
            return self._entries([*items[:at], value, *items[at + 1 :]], put_outside(items))
        outside = self.alg.not_(self.is_value(key, keys)) if ty.has_keys else False
        if isinstance(at, int) or self._constant(key, keys):
            return self._entries(items, self.alg.or_([put_outside(items), outside]))
        places = zip(self.members(keys), items, strict=True)
        changed = [self.ite(self.eq(key, member, keys), value, old, ty.elem) for member, old in places]
        return self._entries(changed, self.alg.or_([put_outside(items), outside]))

    def _entries(self, entries: list[Any], outside: Any) -> list[Any]:
        return entries if outside is False else Entries(entries, outside)

    def is_value(self, value: Any, ty: Ty) -> Any:
        """Return the condition that a value, which may be a term, is one of the values of its finite type."""
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
        """Return the condition on which an entry was put outside the keys of some map in a value."""
        if not ty.may_lack_key:
            return False
        match ty.kind:
            case "vec":
                return self.alg.or_([put_outside(value), *(self.outside_keys(x, ty.elem) for x in value)])
            case "seq":
                return self.alg.or_([self.outside_keys(x, ty.elem) for x in value[1]])
            case "opt":
                return self.alg.and_([value[0], self.outside_keys(value[1], ty.elem)])
            case "record":
                return self.alg.or_([self.outside_keys(value[f], t) for f, t in ty.fields.items()])
            case _:
                return False

    def select(self, items: list[Any], index: Any, ty: Ty) -> Any:
        """Return items[index]; blank outside the range, which only irrelevant branches read."""
        if isinstance(index, int):
            return items[index] if 0 <= index < len(items) else self.blank(ty)
        if not items:
            return self.blank(ty)
        result = items[0]
        for k in range(1, len(items)):
            result = self.ite(self.alg.cmp("eq", index, k), items[k], result, ty)
        return result

    def from_end(self, index: Any, length: Any) -> Any:
        """Return the place of an index, where a negative one counts from the end, as in Python."""
        alg, least = self.alg, self.alg.least(index)
        if least is not None and least >= 0:
            return index
        return alg.ite(alg.cmp("lt", index, 0), alg.add(index, length), index)

    def from_begin(self, count: Any, length: Any) -> Any:
        """Return the place that a slice names, where a negative number counts from the end, as in Python."""
        alg, least = self.alg, self.alg.least(count)
        if least is not None and least >= 0:
            return count
        place = alg.add(length, count)
        return alg.ite(alg.cmp("lt", count, 0), alg.ite(alg.cmp("lt", place, 0), 0, place), count)

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

    def indices(self, ty: Ty) -> Sequence[Any]:
        """Return the places of a sequence's slots: numbers from 0."""
        return range(self.limit(ty.hi))

    def append(self, seq: tuple[Any, list[Any]], value: Any, elem: Ty) -> tuple[Any, list[Any]]:
        """Append an element, with a slot more if the sequence may be full: a part of it may be within the type."""
        length, slots = seq
        alg, most = self.alg, self.alg.greatest(seq[0])
        if most is None or most >= len(slots):
            slots = [*slots, self.blank(elem)]
        appended = [self.ite(alg.cmp("eq", length, k), value, x, elem) for k, x in enumerate(slots)]
        return (alg.add(length, 1), appended)

    def _slots(self, a: Any, b: Any, elem: Ty) -> Iterator[tuple[Any, Any]]:
        """Yield the slots of two sequences side by side; one may have more than its type has room for."""
        blank = None if len(a[1]) == len(b[1]) else self.blank(elem)
        return zip_longest(a[1], b[1], fillvalue=blank)

    def cut(self, value: Any, ty: Ty) -> Any:
        """Return a value for a state, in which sequences have the slots of their type, but their own length."""
        if not ty.has_sequence:
            return value
        match ty.kind:
            case "seq":
                room, (length, slots) = len(self.indices(ty)), value
                parts = [self.cut(x, ty.elem) for x in slots[:room]]
                return value if _same(parts, slots) else (length, parts)
            case "opt" if ty.flagged:
                held = self.cut(value[1], ty.elem)
                return value if held is value[1] else (value[0], held)
            case "vec":
                parts = [self.cut(x, ty.elem) for x in value]
                return value if _same(parts, value) else self._entries(parts, put_outside(value))
            case "record" | "state":
                fields = {f: self.cut(value[f], t) for f, t in ty.fields.items()}
                return value if _same(fields.values(), value.values()) else fields
            case _:
                return value

    # ------------------------------------------------------------------------- sets

    def set_of(self, parts: Sequence[tuple[Any, Any]], elem: Ty) -> Any:
        """Return the set of the values whose condition holds. parts: (condition, value) pairs."""
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
