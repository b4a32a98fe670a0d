"""The order of guard tests and the placement of computed values in the expansion kernel.

Idea. Most action instances are disabled in most states, so the kernel tests guards in a tree: an inner
block is entered when its guard holds, and instances that share a guard share the test. The tree is built
greedily: among the remaining guards, the one shared by most instances is tested first; ties keep the
order of the model. Conjuncts may be tested in any order, because all operations are total.

Placement. Several blocks may need the same value. Computing it in their common ancestor does so once, but
also when none of the blocks is entered; computing it in each block repeats code. A block is entered with
an estimated probability (`EDGE` for every guard on its path), and a value is placed where the expected
cost is least, where each extra copy of the code costs `COPY`. So a value that few need is not computed for
all, and one shared by many guards is computed once. The kernel looks at a block of states at a time, so its
guards hold more often (`group_ir.EDGE`) than for one state (`EDGE`). Nodes are placed after their users,
because a node's placement determines where its operands are used.

Invariant: a node is computed in a block just before the item that needs it, and every use is in that item,
a later one, or in blocks below them. Cost: O(uses x depth of the tree).

Worked example, for one state: guards {a, b}, {a, c}, {d} give  root -> a -> (b, c)  and  root -> d.  A value
used under b and under d is computed twice (0.35 * 0.35 + 0.35 < 1); one used by the guards a and d is
computed once, in the root before a.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.lowering.program import Instance, Program

EDGE = 0.35
LIKELY = 0.95
COPY = 0.2

Site = tuple["GuardBlock", int]


@dataclass(eq=False)
class GuardBlock:
    """Code that is entered when `conditions` hold.

    Its items are its children, in order. `enters` is the instance whose guards all hold here (at most one
    per block); `stores` is the instance whose successor is built here.
    """

    parent: GuardBlock | None
    conditions: tuple[DagNode, ...]
    reach: float
    position: int = 0
    depth: int = 0
    enters: int | None = None
    stores: int | None = None
    children: list[GuardBlock] = field(default_factory=list)
    code: dict[int, list[DagNode]] = field(default_factory=dict)  # item -> nodes computed just before it

    def child(self, conditions: tuple[DagNode, ...], chance: float) -> GuardBlock:
        block = GuardBlock(self, conditions, self.reach * chance, len(self.children), self.depth + 1)
        self.children.append(block)
        return block


def build_tree(program: Program, members: Iterable[int] | None = None, edge: float = EDGE) -> GuardBlock:
    """Build the tree of guards, with a pair of blocks (enters, stores) for every instance that can fire.

    members: the instances to consider, all by default. edge: how likely a guard is to hold, for one state, or
    for one of the states that are looked at together.
    """
    root = GuardBlock(None, (), 1.0)
    open_guards = []
    for index in range(len(program.instances)) if members is None else members:
        guards = conjuncts(program.instances[index].guards)
        if guards is not None:
            open_guards.append((index, guards))
    _grow(root, open_guards, program.instances, edge)
    return root


def conjuncts(nodes: Iterable[DagNode]) -> list[DagNode] | None:
    """Return the distinct conjuncts that are not trivially true; None if one is trivially false."""
    parts: dict[int, DagNode] = {}
    for node in nodes:
        for part in node.args if node.op == "and" else (node,):
            if part.is_const:
                if part.lo == 0:
                    return None
            else:
                parts.setdefault(part.id, part)
    return list(parts.values())


def _grow(
    block: GuardBlock, waiting: list[tuple[int, list[DagNode]]], instances: Sequence[Instance], edge: float
) -> None:
    while waiting:
        ready = [index for index, guards in waiting if not guards]
        for index in ready:
            _finish(block, index, instances[index])
        waiting = [entry for entry in waiting if entry[1]]
        if not waiting:
            return
        votes = Counter(guard.id for _, guards in waiting for guard in guards)
        most = max(votes.values())
        chosen = next(guard for _, guards in waiting for guard in guards if votes[guard.id] == most)
        inside, outside = [], []
        for index, guards in waiting:
            if chosen in guards:
                inside.append((index, [guard for guard in guards if guard is not chosen]))
            else:
                outside.append((index, guards))
        _grow(block.child((chosen,), edge), inside, instances, edge)
        waiting = outside


def _finish(block: GuardBlock, index: int, instance: Instance) -> None:
    enter = block.child((), 1.0)
    enter.enters = index
    within = conjuncts(instance.within)
    if within is None:
        return  # always outside the bound
    store = enter.child(tuple(within), LIKELY if within else 1.0)
    store.stores = index


def blocks_of(root: GuardBlock) -> Iterable[GuardBlock]:
    """Yield the block and all blocks below it, parents first."""
    todo = [root]
    while todo:
        block = todo.pop()
        yield block
        todo.extend(reversed(block.children))


def place(root: GuardBlock, outputs: Mapping[int, Iterable[DagNode]]) -> None:
    """Decide where nodes are computed, and fill `code` of every block.

    outputs: by instance, the nodes that are computed where it is stored.
    """
    uses: dict[int, list[Site]] = {}
    nodes_used: dict[int, DagNode] = {}

    def use(node: DagNode, site: Site) -> None:
        if node.op == "not":
            node = node.args[0]  # negation is part of the use
        if not node.is_const:
            uses.setdefault(node.id, []).append(site)
            nodes_used[node.id] = node

    for block in blocks_of(root):
        if block.parent is not None:
            for node in block.conditions:
                use(node, (block.parent, block.position))
        if block.stores is not None:
            for node in outputs[block.stores]:
                use(node, (block, 0))
    # Ids grow from operands to users, so operands enter the heap in the right order.
    heap = [-ident for ident in nodes_used]
    heapq.heapify(heap)
    queued: set[int] = set(nodes_used)
    while heap:
        node = nodes_used[-heapq.heappop(heap)]
        for block, item in _best_sites(uses.pop(node.id)):
            block.code.setdefault(item, []).append(node)
            for arg in node.args:
                use(arg, (block, item))
        for arg in node.args:
            base = arg.args[0] if arg.op == "not" else arg
            if not base.is_const and base.id not in queued:
                queued.add(base.id)
                heapq.heappush(heap, -base.id)
    for block in blocks_of(root):
        for nodes in block.code.values():
            nodes.reverse()


def _best_sites(sites: list[Site]) -> list[Site]:
    """Choose where to compute a value used at these sites: at one site above all of them, or at several."""
    if len(sites) == 1:
        return sites
    # Per block: the item before which the value is needed, and the cost and the sites of the best choice.
    pending: dict[GuardBlock, tuple[int, float, list[Site]]] = {}
    direct: dict[GuardBlock, int] = {}
    for block, item in sites:
        direct[block] = min(item, direct.get(block, item))
    if len(direct) == 1:
        return list(direct.items())
    layers: dict[int, set[GuardBlock]] = {}
    for block in direct:
        layers.setdefault(block.depth, set()).add(block)
    for depth in range(max(layers), -1, -1):
        layer = layers.get(depth, set())
        alone = len(layer) == 1 and not any(d < depth for d in layers if layers[d])
        for block in layer:
            item, below, choice = pending.pop(block, (1 << 30, 0.0, []))
            if block in direct:
                item = min(item, direct[block])
            here = block.reach + COPY
            if block in direct or here <= below:
                below, choice = here, [(block, item)]
            if alone or block.parent is None:
                return choice
            above = pending.get(block.parent, (1 << 30, 0.0, []))
            pending[block.parent] = (min(above[0], block.position), above[1] + below, above[2] + choice)
            layers.setdefault(depth - 1, set()).add(block.parent)
        layers.pop(depth, None)
    raise AssertionError("the root is an ancestor of every site")
