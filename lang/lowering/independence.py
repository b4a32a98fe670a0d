"""Steps that a search in levels may skip, because it takes the same two steps in another order.

Two action instances commute if neither writes a leaf that the other reads (in guards, bounds or new values) or writes.
Let s be a state of the newest level, and a the least instance that leads into s from the level before. A later instance
t that commutes with a may be skipped in s: its successor is also reached by t and then a (docs/adr/0025 has the
argument). No state is lost, moves to another level, or is credited to another instance. With a symmetry nothing is
skipped: the instance that led to a representative may be one of other members.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from elrcheck.lang.lowering.nodes import DagNode, cone
from elrcheck.lang.lowering.program import Instance, Program


def changes(instance: Instance) -> dict[int, DagNode]:
    """Return the updates that can change the value of a leaf."""
    return {
        leaf: node for leaf, node in sorted(instance.updates.items()) if not (node.op == "var" and node.leaf == leaf)
    }


def asleep(program: Program) -> list[int]:
    """Return, for every instance a, the bit mask of the instances that may be skipped after a."""
    if program.symmetry is not None:
        return [0] * len(program.instances)
    written = [_bits(changes(instance)) for instance in program.instances]
    read = [_bits(_read(instance)) for instance in program.instances]
    count = len(written)
    return [
        sum(1 << t for t in range(a + 1, count) if not (written[a] & (read[t] | written[t]) or written[t] & read[a]))
        for a in range(count)
    ]


def _read(instance: Instance) -> Iterator[int]:
    """Yield the leaves that guards, bounds and new values read."""
    nodes = cone((*instance.guards, *instance.within, *changes(instance).values()))
    return (node.leaf for node in nodes if node.op == "var")


def _bits(places: Iterable[int]) -> int:
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask
