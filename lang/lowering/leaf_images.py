"""The effect of renamings on the leaves of a program, for a search up to renaming.

Swaps of neighbours generate the renamings of a sort. `plain_changes` orders all n! such that each follows from the one
before by one swap (S. M. Johnson, "Generation of permutations by adjacent transposition", 1963), so a search gets from
one image of a state to the next by moving the few leaves that depend on two members.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from elrcheck.lang.algebra import PACKED, ConcreteAlgebra
from elrcheck.lang.domains import domain, size_of
from elrcheck.lang.load import initial_states
from elrcheck.lang.lowering.lowered import Lowered
from elrcheck.lang.lowering.program import LeafImage, Symmetry
from elrcheck.lang.source import error_at
from elrcheck.lang.structure import Structure
from elrcheck.lang.symmetry.alike_members import Renaming, renamed
from elrcheck.lang.types import BOOL, Ty


def up_to_renaming(lowered: Lowered) -> Lowered:
    """Return the program with its symmetry; raise ModelError if the initial states tell members apart."""
    model, config = lowered.model, lowered.config
    sorts = {name: size_of(ty, config) for name, ty in model.symmetric_sorts.items()}
    starts = set(initial_states(model, config))
    swaps: list[tuple[LeafImage, ...]] = []
    path: list[int] = []
    for name, size in sorts.items():
        first = len(swaps)
        for low in range(size - 1):
            to = {name: (*range(low), low + 1, low, *range(low + 2, size))}
            if {renamed(start, model.state_ty, to) for start in starts} != starts:
                message = f"the initial states change if members {low} and {low + 1} of {name} are swapped"
                raise error_at(model.init.file, model.init.line, message, "leave out symmetric=True")
            swaps.append(leaf_images(lowered, to))
        own = [first + swap for swap in plain_changes(size)]
        path = [*path, *(swap for change in own for swap in (change, *path))]
    copied = copy.copy(lowered)
    copied.program = replace(lowered.program, symmetry=Symmetry(tuple(sorts), tuple(swaps), tuple(path)))
    copied.name = f"{lowered.name} up to {', '.join(sorts)}" if lowered.name else ""
    return copied


def plain_changes(size: int) -> tuple[int, ...]:
    """Return the swaps of neighbours, by the lower position, that visit all orders of `size` things."""
    if size < 2:
        return ()
    sweeps = (tuple(range(size - 2, -1, -1)), tuple(range(size - 1)))
    changes = list(sweeps[0])
    for number, swap in enumerate(plain_changes(size - 1), start=1):
        changes += [swap + number % 2, *sweeps[number % 2]]  # after a sweep down the last thing is first
    return tuple(changes)


@dataclass(frozen=True)
class _ScalarImage:
    """Like `LeafImage`, with the numbers of scalars of the whole state."""

    source: int
    ty: Ty
    behind: tuple[tuple[int, int], ...]


def leaf_images(lowered: Lowered, to: Renaming) -> tuple[LeafImage, ...]:
    """Return the image of every leaf of the program under a renaming.

    The image of a reachable state is reachable, so constant scalars have the same value in the image.
    """
    images: dict[int, LeafImage] = {}
    for slot, image in zip(lowered.slots, _Images(lowered, to).of(lowered.model.state_ty, 0, ()), strict=True):
        if slot.index is not None:
            images[slot.index] = _leaf_image(lowered, image, to)
    opened = (k for k in range(len(lowered.program.leaves)) if k not in images)
    images.update((leaf, LeafImage(leaf)) for leaf in opened)
    return tuple(images[leaf] for leaf in sorted(images))


def _leaf_image(lowered: Lowered, image: _ScalarImage, to: Renaming) -> LeafImage:
    source = lowered.slots[image.source]
    values, bits = _moved(lowered, image.ty, to)
    behind = []
    for scalar, least in image.behind if values else ():
        length = lowered.slots[scalar]
        if length.index is not None:
            behind.append((length.index, least))
        elif length.initial < least:
            values = ()  # the value behind it never exists
    needed = tuple(behind) if values else ()
    if source.index is not None:
        return LeafImage(source.index, values, bits, needed)
    held = source.initial
    becomes = values[held - source.lo] if values else held
    if bits:
        becomes = sum(1 << target for bit, target in enumerate(bits) if held >> bit & 1)
    return LeafImage(None, () if becomes == held else (becomes,), (), needed, held)


def _moved(lowered: Lowered, ty: Ty, to: Renaming) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the images of a scalar's values, and of the bits of a set; each empty if they stay."""
    if ty.kind == "set":
        bits = positions(ty.elem, lowered.config, to)
        return (), () if bits == tuple(range(len(bits))) else bits
    if ty.present.kind == "member" and ty.present.name in to:
        names = tuple(to[ty.present.name])
        return (-1, *names) if ty.kind == "opt" else names, ()
    return (), ()


def positions(ty: Ty, config: object, to: Renaming) -> tuple[int, ...]:
    """Return the position of the image of each value of a finite type, among the values of the type."""
    values = domain(ty, config)  # type: ignore[arg-type]
    places: Mapping[object, int] = {value: k for k, value in enumerate(values)}
    return tuple(places[renamed(value, ty, to)] for value in values)


class _Images:
    """Walks over the scalars of a value in layout order, each with the scalar whose image it is."""

    def __init__(self, lowered: Lowered, to: Renaming) -> None:
        self.config, self.to = lowered.config, to
        self.structure = Structure(lowered.config, ConcreteAlgebra())

    def of(self, ty: Ty, at: int, behind: tuple[tuple[int, int], ...]) -> Iterator[_ScalarImage]:
        """Yield the image of each scalar of a value whose first scalar has the number `at`."""
        match ty.kind:
            case "seq":
                yield _ScalarImage(at, Ty("nat", "length", hi=ty.hi), ())
                size = self.structure.size(ty.elem)
                for k in range(self.structure.limit(ty.hi)):
                    yield from self.of(ty.elem, at + 1 + k * size, (*behind, (at, k + 1)))
            case "opt" if ty.flagged:
                yield _ScalarImage(at, BOOL, ())
                yield from self.of(ty.elem, at + 1, (*behind, (at, 1)))
            case "vec":
                size, moved = self.structure.size(ty.elem), positions(ty.keys, self.config, self.to)
                for k in range(len(moved)):
                    yield from self.of(ty.elem, at + moved.index(k) * size, behind)
            case "set" if self.structure.count(ty.elem) > PACKED:
                moved = positions(ty.elem, self.config, self.to)
                for k in range(len(moved)):
                    yield _ScalarImage(at + moved.index(k), BOOL, ())
            case "record" | "state":
                for part in ty.fields.values():
                    yield from self.of(part, at, behind)
                    at += self.structure.size(part)
            case _:
                yield _ScalarImage(at, ty, behind)
