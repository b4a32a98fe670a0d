"""A lowered model as plain data, which the engines execute.

`Program` is the contract between lowering, which writes it, and the searches, which only read it. All expressions are
nodes of one `Dag` over the leaves of the current state. Every engine searches a program in the same way:

* generated counts the initial states and every enabled transition, also those cut or already seen;
* an enabled transition whose `within` conjuncts do not all hold is cut: it is not stored and not checked;
* otherwise a new value outside its leaf's bounds is an overflow: the transition is dropped, and the search continues
  and ends inconclusive, naming the leaf;
* otherwise the step checks are evaluated and the successor is stored if it is new;
* state checks are evaluated once on every distinct state, before its level is expanded;
* a state without an enabled instance is a deadlock (a cut transition counts as enabled);
* with a symmetry, every state is replaced by its least image when it is reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from elrcheck.lang.lowering.dag import Dag, DagNode
from elrcheck.lang.lowering.nodes import cone, evaluate_all


@dataclass(frozen=True)
class Leaf:
    """One bounded integer of the state, at a path such as `broker[1].view.isr`."""

    path: str
    lo: int
    hi: int

    @property
    def bits(self) -> int:
        return (self.hi - self.lo).bit_length()


@dataclass(frozen=True)
class Instance:
    """An action with fixed arguments. Every node is over the current state.

    guards: conjuncts, the cheapest or most shared first. updates: leaf -> new value; other leaves are unchanged.
    within: conjuncts of the bound on the successor. step_checks: index of a step check -> node that is 1 if the
    transition satisfies it; a missing one is 1.
    """

    action: str
    args: tuple[object, ...]
    guards: tuple[DagNode, ...]
    updates: dict[int, DagNode]
    within: tuple[DagNode, ...] = ()
    step_checks: dict[int, DagNode] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[DagNode, ...]:
        """All nodes of the instance."""
        return (*self.guards, *self.within, *self.updates.values(), *self.step_checks.values())


@dataclass(frozen=True)
class Check:
    """A property: `always` fails where its node is 0, `sometimes` is witnessed where it is 1."""

    name: str
    kind: Literal["always", "sometimes"]
    scope: Literal["state", "step"]
    node: DagNode | None = None

    @property
    def hit_value(self) -> int:
        """The value of the node that is reported."""
        return 0 if self.kind == "always" else 1


@dataclass(frozen=True)
class LeafImage:
    """The value of a leaf after a renaming of members: that of the leaf `source`, itself renamed.

    values: the images of the source's values, the least first; empty if they stay. bits: the new positions of a set's
    bits; empty if they stay. behind: (leaf, number) pairs; values are renamed only where each leaf, such as a length,
    has at least its number. Without a source, the source is `constant` in every state, and `values` has at most one
    entry.
    """

    source: int | None
    values: tuple[int, ...] = ()
    bits: tuple[int, ...] = ()
    behind: tuple[tuple[int, int], ...] = ()
    constant: int = 0


@dataclass(frozen=True)
class Symmetry:
    """The renamings of the members of symmetric sorts. A search stores one image of each state: that with the least
    packed words, compared in order.

    sorts: their names. swaps: renamings that exchange two neighbours of a sort, as the images of all leaves. path:
    numbers of swaps that lead from a state through all its other images.
    """

    sorts: tuple[str, ...]
    swaps: tuple[tuple[LeafImage, ...], ...]
    path: tuple[int, ...]

    @property
    def renamings(self) -> int:
        return len(self.path) + 1


@dataclass(frozen=True)
class Program:
    """A lowered model: leaves, action instances, checks and the leaf values of the initial states.

    parameters: the leaves that are open numbers of the configuration. symmetry: of a search up to renaming.
    """

    dag: Dag
    leaves: tuple[Leaf, ...]
    instances: tuple[Instance, ...]
    checks: tuple[Check, ...]
    init: tuple[tuple[int, ...], ...]
    parameters: tuple[int, ...] = ()
    symmetry: Symmetry | None = None

    def __post_init__(self) -> None:
        for leaf in self.leaves:
            if leaf.lo > leaf.hi or leaf.bits > 62:
                raise ValueError(f"leaf {leaf.path} has unusable bounds {leaf.lo}..{leaf.hi}")
        for state in self.init:
            self._check_state(state)
        for where, node in self._roots():
            if not self.dag.owns(node):
                raise ValueError(f"{where} is a node of another dag")
        for check in self.checks:
            if (check.node is None) != (check.scope == "step"):
                raise ValueError(f"check {check.name}: state checks, and only they, have a node")
        for instance in self.instances:
            for index in instance.step_checks:
                if self.checks[index].scope != "step":
                    raise ValueError(f"{instance.action}: check {index} is not a step check")

    def _check_state(self, state: tuple[int, ...]) -> None:
        if len(state) != len(self.leaves):
            raise ValueError(f"an initial state has {len(state)} values for {len(self.leaves)} leaves")
        for leaf, value in zip(self.leaves, state, strict=True):
            if not leaf.lo <= value <= leaf.hi:
                raise ValueError(f"initial value {value} of {leaf.path} is outside {leaf.lo}..{leaf.hi}")

    def _roots(self) -> Iterator[tuple[str, DagNode]]:
        yield from ((instance.action, node) for instance in self.instances for node in instance.nodes)
        for check in self.checks:
            if check.node is not None:
                yield check.name, check.node

    def fits(self, index: int, node: DagNode) -> bool:
        """Return whether the node's interval proves that it can be stored in the leaf."""
        return self.leaves[index].lo <= node.lo and node.hi <= self.leaves[index].hi

    def switched_off(self, instance: Instance) -> bool:
        """Return whether the values of the parameters alone disable the instance."""
        if not self.parameters:
            return False
        parts = [part for node in instance.guards for part in (node.args if node.op == "and" else (node,))]
        fixed = [
            part for part in parts if all(node.op != "var" or node.leaf in self.parameters for node in cone((part,)))
        ]
        return not all(evaluate_all(fixed, self.init[0]))

    def risky(self, instance: Instance) -> list[int]:
        """Return the leaves that this instance might overflow, ascending."""
        return sorted(index for index, node in instance.updates.items() if not self.fits(index, node))

    def hits_without_node(self, instance: Instance) -> list[int]:
        """Return the step checks that every transition of the instance hits: `sometimes` without a node."""
        return [
            index
            for index, check in enumerate(self.checks)
            if check.scope == "step" and check.kind == "sometimes" and index not in instance.step_checks
        ]
