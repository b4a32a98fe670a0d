"""Counts the states that uniform and guided walks visit until they find a hazard that needs many steps.

    python benchmarks/guided.py                            # 20 seeds, a limit of 2,000,000 states a run
    python benchmarks/guided.py --seeds 5 --hazard F-9

One line for each hazard whose shortest trace is beyond depth 15: the depth, the states that an exhaustive
search visits until the end of that level, and the median over the seeds for both kinds of walks, of states
and of seconds; beyond the limit a run counts as not having found anything. Uniform walks have 40 steps, as by
default, and are counted to the end of a block of 64 walks. Both have one worker. Guided walks count every
state that they judge.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from measure import PrintedTable

from elrcheck.catalogue.hazard import packaged_hazards
from elrcheck.declared.select import select_properties
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search import walk
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.guided import Guided
from elrcheck.explorer.search.walk import Walks
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.hazard_run import sides
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program
from elrcheck.mutation.mutation_run import dropped

DEEP = ("F-8a", "F-8b", "F-9", "F-17", "F-51", "F-55")
SHALLOW = 15
DEPTH = 40
BLOCK = 64


@dataclass(frozen=True)
class WalkRun:
    """states: None if nothing was found below the limit."""

    states: int | None
    seconds: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hazard", action="append", choices=DEEP, help="by default all of them")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--most", type=int, default=2_000_000, help="limit of a run, in states")
    options = parser.parse_args()
    walk.BLOCK = BLOCK  # the resolution of the count, nothing else: a walk depends on seed and number
    walks = [(head, width, "") for kind in ("uniform", "guided") for head, width in ((kind, 12), ("runs", 7), ("s", 8))]
    table = PrintedTable(("hazard", 8, ""), ("depth", 6, ""), ("search", 10, ",d"), *walks, ("states/states", 15, ""))
    for name in options.hazard or DEEP:
        program = program_of(name)
        whole = Search(program, SearchSettings(cache=KernelCache())).run(None, "first")
        depth = min(whole.first.values())
        if depth <= SHALLOW:
            raise SystemExit(f"{name} is found at depth {depth}")
        plain = [uniform(program, seed, options.most) for seed in range(options.seeds)]
        guided = [directed(program, seed, options.most) for seed in range(options.seeds)]
        ratio = f"{median(plain, options.most) / median(guided, options.most):.0f}"
        cells = (*summary(plain, options.most), *summary(guided, options.most))
        table.row(name, depth, whole.distinct, *cells, f"> {ratio}" if "not" in cells[0] else ratio)
    return 0


def program_of(name: str) -> Program:
    """Return the program with the hazard and the properties that it is expected to break."""
    hazard = next(one for one in packaged_hazards() if one.id == name)
    model = load_whole_model()
    model = model if hazard.guard is None else dropped(model, *hazard.guard)
    checks = [fn for fn in select_properties(model, hazard.expected) if fn.kind == "always"]
    return lower(model, sides(hazard).changed, checks).program


def uniform(program: Program, seed: int, most: int) -> WalkRun:
    """Walk uniformly until the end of the block with the first violation."""
    walks = Walks(program, seed, DEPTH, cache=KernelCache())
    result = walks.run(most // DEPTH, stop_at_first=True)
    return WalkRun(result.states if result.first else None, result.seconds)


def directed(program: Program, seed: int, most: int) -> WalkRun:
    """Run guided walks until the first violation, to the state."""
    result = Guided(program, seed, DEPTH, cache=KernelCache()).run(most, stop_at_first=True)
    states = min((hit.states for hit in result.first.values() if hit.states is not None), default=None)
    return WalkRun(states if states is not None and states <= most else None, result.seconds)


def median(runs: Sequence[WalkRun], most: int) -> float:
    return statistics.median(most if run.states is None else run.states for run in runs)


def summary(runs: Sequence[WalkRun], most: int) -> tuple[str, str, str]:
    """Return the median of the states, the share of runs with a violation, and the median of the seconds."""
    successes = sum(run.states is not None for run in runs)
    states = f"{median(runs, most):,.0f}" if 2 * successes > len(runs) else "not found"
    return states, f"{successes}/{len(runs)}", f"{statistics.median(run.seconds for run in runs):.2f}"


if __name__ == "__main__":
    sys.exit(main())
