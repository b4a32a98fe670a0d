"""What reductions leave of a search: states, steps and seconds with `--reduce`, and the steps of sleep sets.

    python benchmarks/reduction.py                         # all scopes below, one after the other
    python benchmarks/reduction.py --scope two-brokers --scope min-isr-1

One line for each scope, searched with one thread to the end or to the level in which `--states` is reached:

states, steps    distinct states, and steps between them inside the budgets
reduced          the same with `--reduce` (docs/adr/0008, 0009), as factors; `-` where a search was limited
asleep           the share of the steps that the rule of docs/adr/0022 leaves out, where two steps commute if
                 neither writes what the other reads or writes; the search is checked to lose no state by it
idle             the share of the steps that change nothing
most             the share that any rule could leave out which keeps all states: all but one step into each

Kernels come from the cache, and seconds are those of the search alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elrcheck.base.requests import Selection
from elrcheck.catalogue.select import resolve
from elrcheck.explorer.kernel.native_code import KernelCache, default_cache
from elrcheck.explorer.search.compiled import Search
from elrcheck.explorer.search.result import Limits, SearchResult
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.nodes import Node, cone
from elrcheck.lang.lowering.program import Program

REDUCE = ("skips_no_news=true", "forgets=true")
SCOPES = (
    "two-brokers", "three-brokers-tiny", "min-isr-1", "late-fetches", "recovery-two-brokers",
    "three-brokers-small", "min-isr-change", "four-brokers-reassign", "three-brokers-lossy-network",
    "three-brokers-clean-stop", "three-brokers",
)  # fmt: skip

Rows = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Steps:
    """Steps of a search: all of them, those that the rule leaves out, those that change nothing."""

    all: int
    asleep: int
    idle: int


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scope", action="append", choices=SCOPES, help="by default all of them")
    parser.add_argument("--states", type=int, default=100_000, help="limit of each search")
    options = parser.parse_args()
    print(
        f"{'scope':28} {'states':>9} {'steps':>10} {'s':>6}  {'states':>6} {'steps':>6} {'s':>5}"
        f"  {'asleep':>6} {'idle':>6} {'most':>6}"
    )
    print(f"{'':28} {'':>9} {'':>10} {'':>6}  {'reduced by':>19}  {'of the steps':>20}")
    for scope in options.scope or SCOPES:
        plain, found = searched(scope, (), options.states)
        steps = counted(plain, found)
        whole = found.complete
        _, less = searched(scope, REDUCE, options.states)
        factors = f"{'-':>6} {'-':>6} {'-':>5}"
        if whole and less.complete:
            factors = (
                f"{found.distinct / less.distinct:6.2f} {inside(found) / inside(less):6.2f}"
                f" {found.seconds / max(less.seconds, 1e-3):5.1f}"
            )
        most = 1 - (sum(found.levels) - 1) / steps.all
        print(
            f"{scope:28} {found.distinct:9,} {inside(found):10,} {found.seconds:6.2f}  {factors}"
            f"  {steps.asleep / steps.all:6.1%} {steps.idle / steps.all:6.1%} {most:6.1%}"
            f"{'' if whole else '  limited'}",
            flush=True,
        )
    return 0


def searched(scope: str, overrides: Sequence[str], states: int) -> tuple[Search, SearchResult]:
    """A search without properties: reductions are about steps and states."""
    config = resolve(Selection(scope=scope, overrides=tuple(overrides))).config
    program = lower(load_whole_model(), config, ()).program
    search = Search(
        program, workers=1, cache=KernelCache(default_cache()), limits=Limits(max_states=states)
    )
    return search, search.run(None, "complete")


def inside(found: SearchResult) -> int:
    """Steps that stay inside the budgets."""
    return found.generated - 1 - sum(found.cut)


def counted(search: Search, found: SearchResult) -> Steps:
    """Take all steps once more, level by level, and leave out what the rule leaves out.

    RuntimeError if a state of the next level is then reached by no step.
    """
    later = commuting(search.program)
    total = asleep = idle = 0
    arrived: Rows | None = None
    marks: Flags = np.zeros((0, len(later)), np.bool_)
    levels = len(found.levels) if found.complete else len(found.levels) - 2
    for depth in range(levels):
        rows = sorted_rows(np.concatenate(list(search.batches(depth))))
        sleeping = np.zeros((len(rows), len(later)), np.bool_)
        if arrived is not None:
            at = np.searchsorted(as_keys(rows), as_keys(arrived))
            at = np.minimum(at, len(rows) - 1)
            here = as_keys(rows)[at] == as_keys(arrived)
            np.logical_or.at(sleeping, at[here], marks[here])
            if not np.array_equal(np.unique(at[here]), np.arange(len(rows))):
                raise RuntimeError(f"a state of level {depth} is lost")
        made = search.successors(rows)
        enabled = np.zeros((len(rows), len(later)), np.bool_)
        enabled[made.sources, made.instances] = True
        skipped = sleeping[made.sources, made.instances]
        total += len(skipped)
        asleep += int(skipped.sum())
        idle += int((made.rows == rows[made.sources]).all(axis=1).sum())
        arrived = np.ascontiguousarray(made.rows[~skipped])
        marks = later[made.instances[~skipped]] & enabled[made.sources[~skipped]]
    return Steps(total, asleep, idle)


def commuting(program: Program) -> Flags:
    """later[a, t]: t comes after a in the program, and neither writes what the other reads or writes."""

    def leaves(nodes: Sequence[Node]) -> set[int]:
        return {node.leaf for node in cone(nodes) if node.op == "var"}

    reads = [leaves((*one.guards, *one.within, *one.updates.values())) for one in program.instances]
    writes = [
        {leaf for leaf, node in one.updates.items() if not (node.op == "var" and node.leaf == leaf)}
        for one in program.instances
    ]
    later = np.zeros((len(reads), len(reads)), np.bool_)
    for a in range(len(reads)):
        for t in range(a + 1, len(reads)):
            later[a, t] = not (writes[a] & (reads[t] | writes[t]) or writes[t] & reads[a])
    return later


def as_keys(rows: Rows) -> npt.NDArray[np.void]:
    """Rows as values that can be compared."""
    keys: npt.NDArray[np.void] = np.ascontiguousarray(rows).view([("", rows.dtype)] * rows.shape[1]).ravel()
    return keys


def sorted_rows(rows: Rows) -> Rows:
    return rows[np.argsort(as_keys(rows))]


if __name__ == "__main__":
    sys.exit(main())
