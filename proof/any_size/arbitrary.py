"""An arbitrary state of any size.

The parts that lowering finds constant in one configuration have their initial value; the goal `Frame` of every step
checks this assumption for all sizes. An initial value may depend on sizes: a list of all members of a sort does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import z3

from elrcheck.lang.lowering.lowered import Slot
from elrcheck.lang.types import Ty
from elrcheck.proof.any_size.unsized_structure import AnySizeStructure
from elrcheck.proof.any_size.unsized_values import ComputedOnce, Members, Sequence

_INDEX = re.compile(r"\[[^\[\]]*\]")
_MEMBER = re.compile(r"\{\d+\}$")


class Varying:
    """The paths of the parts of a state that may change, with `[]` for every index."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._paths: set[str] = set()
        for slot in slots:
            if slot.index is not None:
                self._paths.update(_above(_MEMBER.sub("", _INDEX.sub("[]", slot.path))))

    def __contains__(self, path: str) -> bool:
        return path in self._paths


def _above(path: str) -> Iterator[str]:
    """Yield a path and those of all values that contain it."""
    yield path
    yield from (path[: mark.start()] for mark in re.finditer(r"\.|\[\]", path))


class Arbitrary:
    """Builds arbitrary values. A scalar is a function of the indices on its path, with a suffix to its name.

    varying: None if all parts vary.
    """

    def __init__(self, structure: AnySizeStructure, varying: Varying | None, suffix: str = "") -> None:
        self.structure, self.varying, self.suffix = structure, varying, suffix

    def state(self, ty: Ty, initial: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.value(part, name, (), initial[name]) for name, part in ty.fields.items()}

    def value(self, ty: Ty, path: str, indices: tuple[Any, ...] = (), initial: Any = None) -> Any:
        """Return an arbitrary value, in which constant parts equal those of `initial`."""
        if self.varying is not None and path not in self.varying:
            return initial
        term = self.structure.alg.term
        match ty.kind:
            case "vec":
                return ComputedOnce(
                    lambda x: self.value(
                        ty.elem, f"{path}[]", (*indices, *self.structure.terms(x, ty.keys)), _at(initial, x)
                    )
                )
            case "seq":
                length = self._length(path, indices, initial)
                entry = None if initial is None else initial.at
                at = ComputedOnce(lambda i: self.value(ty.elem, f"{path}[]", (*indices, term(i)), _at(entry, i)))
                return Sequence(length, at)
            case "record" | "state":
                return {
                    name: self.value(part, f"{path}.{name}", indices, None if initial is None else initial[name])
                    for name, part in ty.fields.items()
                }
            case "set":
                return Members(
                    lambda x: self._scalar(path, (*indices, *self.structure.terms(x, ty.elem)), z3.BoolSort())
                )
            case "opt":
                present = self._scalar(f"{path}.present", indices, z3.BoolSort())
                held = None if initial is None else initial[1]
                is_whole = ty.elem.kind not in ("record", "seq", "vec")
                inner = Arbitrary(self.structure, None, self.suffix) if is_whole else self
                return (present, inner.value(ty.elem, path, indices, held))
            case _:
                return self._scalar(path, indices, self.structure.sort_of(ty))

    def _length(self, path: str, indices: tuple[Any, ...], initial: Any) -> Any:
        if self.varying is not None and f"{path}.length" not in self.varying:
            return initial.length
        length = self._scalar(f"{path}.length", indices, z3.IntSort())
        if len(indices) == 1 and not self.suffix:
            self.structure.scope.lengths[path] = length.decl()
        return length

    def _scalar(self, path: str, indices: tuple[Any, ...], sort: Any) -> Any:
        name = path + self.suffix
        if not indices:
            return z3.Const(name, sort)
        return z3.Function(name, *(index.sort() for index in indices), sort)(*indices)

    # ------------------------------------------------------------------------- constants

    def keeps(self, after: Any, ty: Ty, path: str, initial: Any) -> Any:
        """Return the formula that the constant parts of a value equal those of `initial`."""
        structure, alg = self.structure, self.structure.alg
        assert self.varying is not None
        if path not in self.varying:
            return structure.eq(after, initial, ty)
        match ty.kind:
            case "vec":
                return structure.for_all(ty.keys, lambda x: self.keeps(after(x), ty.elem, f"{path}[]", initial(x)))
            case "seq":
                parts = [f"{path}.length" in self.varying or alg.cmp("eq", after.length, initial.length)]
                if not self._varies_below(ty.elem, f"{path}[]"):
                    entry = lambda i: self.keeps(after.at(i), ty.elem, f"{path}[]", initial.at(i))  # noqa: E731
                    parts.append(structure.for_all_below(after.length, entry))
                return alg.and_(parts)
            case "record" | "state":
                return alg.and_(
                    self.keeps(after[name], part, f"{path}.{name}" if path else name, initial[name])
                    for name, part in ty.fields.items()
                )
            case "opt" if ty.elem.kind == "record":
                held = self.keeps(after[1], ty.elem, path, initial[1])
                return alg.or_([alg.not_(after[0]), held])
        return True

    def _varies_below(self, ty: Ty, path: str) -> bool:
        """Return whether no part of a value is constant."""
        assert self.varying is not None
        if path not in self.varying:
            return False
        parts = ty.fields.items() if ty.kind == "record" else ()
        return all(self._varies_below(part, f"{path}.{name}") for name, part in parts)


def _at(initial: Any, index: Any) -> Any:
    return None if initial is None else initial(index)
