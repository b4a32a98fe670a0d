"""The search of a changed program, without compiling it.

A change of the model touches a few of a program's hundreds of instances. The kernel of the original expands states
by all instances; its results for changed ones are dropped, and numpy evaluates these. A small state space is searched
in a fraction of the time that compiling the changed program would take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from elrcheck.base.requests import Limits
from elrcheck.explorer.kernel.word_layout import Ints, Rows, Successors
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.result import level_batches, violates
from elrcheck.explorer.search.vector import VectorSearch, all_hold, evaluate_columns, successors_of
from elrcheck.lang.lowering.nodes import DagNode
from elrcheck.lang.lowering.program import Program
from elrcheck.lang.lowering.relower import Relowered


def differs(original: Search, change: Relowered) -> bool:
    """Return whether the change alters a successor or a property of a state that the original reaches.

    If not, both programs reach the same states by the same steps, so no search could tell them apart.
    """
    layout, program = original.layout, original.program
    return any(
        differs_in(program, change, layout.columns(rows), len(rows))
        for depth in range(len(original.space.sizes))
        for rows in level_batches(original, depth)
    )


def differs_in(original: Program, change: Relowered, columns: Sequence[Ints], count: int) -> bool:
    """Return whether the change shows in one of `count` states; columns[i] has the values of leaf i.

    All nodes that differ are evaluated in one pass, because they share most of their operands.
    """
    pairs = list(_compared(original, change))
    nodes = {id(node): node for guards, x, y in pairs for node in (*guards, x, y)}
    values = evaluate_columns(list(nodes.values()), columns, count)
    at = dict(zip(nodes, values, strict=True))
    for guards, x, y in pairs:
        other = at[id(x)] != at[id(y)]
        for guard in guards:
            other &= at[id(guard)] != 0
        if other.any():
            return True
    return False


def _compared(original: Program, change: Relowered) -> Iterator[tuple[tuple[DagNode, ...], DagNode, DagNode]]:
    """Yield pairs of nodes that must be equal in every state in which the guards hold."""
    dag, program = original.dag, change.program
    for check in change.checks:
        old_node, new_node = original.checks[check].node, program.checks[check].node
        assert old_node is not None and new_node is not None
        yield (), old_node, new_node
    for old, new in change.instances:
        was = dag.zero if old is None else dag.land(old.guards)
        now = dag.zero if new is None else dag.land(new.guards)
        if was is not now:
            yield (), was, now
        if old is None or new is None:
            continue
        for leaf in {**old.updates, **new.updates}:
            bounds = program.leaves[leaf]
            same = dag.var(leaf, bounds.lo, bounds.hi)
            x, y = old.updates.get(leaf, same), new.updates.get(leaf, same)
            if x is not y:
                yield new.guards, x, y
        for check in {**old.step_checks, **new.step_checks}:
            x, y = old.step_checks.get(check, dag.one), new.step_checks.get(check, dag.one)
            if x is not y:
                yield new.guards, x, y


class ChangedSearch(VectorSearch):
    """Searches the changed program. broken: properties that the original breaks too, which do not end the search."""

    def __init__(
        self, original: Search, change: Relowered, *, limits: Limits, broken: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(change.program, limits=limits)
        self.original, self.change, self.broken = original, change, broken
        now = {(one.action, one.args): k for k, one in enumerate(change.program.instances)}
        gone = {(one.action, one.args) for pair in change.instances for one in pair if one is not None}
        keys = [(one.action, one.args) for one in original.program.instances]
        # The number of each unchanged instance in the changed program, -1 for the others.
        self.number = np.array([-1 if key in gone else now[key] for key in keys], np.int64)
        self.others = [now[key] for key in now if key in gone]

    def _failed(self) -> bool:
        return violates(self.program, self.first.keys() - self.broken)

    def state_hits(self, check: int, rows: Rows) -> npt.NDArray[np.bool_]:
        """See `VectorSearch.state_hits`."""
        if check in self.change.checks:
            return super().state_hits(check, rows)
        return self.original.state_hits(check, rows)

    def _expand(self, rows: Rows, count: bool) -> Successors:
        native = self.original.native
        counters = np.zeros(native.counters.size, np.int64)
        after = native.successors(rows, counters)
        columns = self.layout.columns(rows)
        if count:
            self._note_overflow(Counter(native.counters.totals(counters)[2]), columns, len(rows))
        enabled = after.enabled.copy()
        for old, _ in self.change.instances:
            if old is not None:
                enabled -= all_hold(old.guards, columns, len(rows))
        keep = self.number[after.instances] >= 0
        # The kernel has no words of flags where no check is about steps.
        flags = np.zeros((int(keep.sum()), self._flag_words), np.uint64)
        flags[:, : after.flags.shape[1]] = after.flags[keep]
        parts = [(after.rows[keep], after.sources[keep], self.number[after.instances[keep]], flags)]
        for index in self.others:
            instance = self.program.instances[index]
            holds = all_hold(instance.guards, columns, len(rows))
            enabled += holds
            at = np.nonzero(holds)[0]
            at = at[all_hold(instance.within, [column[at] for column in columns], len(at))]
            if len(at):
                parts.append(self._apply_instance(index, rows[at], at, count))
        return successors_of(parts, enabled)

    def _note_overflow(self, overflow: Counter[int], columns: Sequence[Ints], count: int) -> None:
        """Note the values out of range to which unchanged instances lead.

        overflow: those of all instances of the original, by leaf; a step of a changed one is not a step here.
        """
        if not overflow:
            return
        for old, _ in self.change.instances:
            leaves = [] if old is None else self.original.program.risky(old)
            if old is None or not leaves:
                continue
            taken = all_hold((*old.guards, *old.within), columns, count)
            values = evaluate_columns([old.updates[leaf] for leaf in leaves], columns, count)
            for leaf, value in zip(leaves, values, strict=True):
                bounds = self.program.leaves[leaf]
                overflow[leaf] -= int((taken & ((value < bounds.lo) | (value > bounds.hi))).sum())
        for leaf, number in (+overflow).items():
            self.overflow[leaf] = self.overflow.get(leaf, 0) + number
