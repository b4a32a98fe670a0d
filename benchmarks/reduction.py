"""Measures what reductions leave of a search: steps that are left out, and states that `--reduce` merges.

    python benchmarks/reduction.py                         # all scopes below, one after the other
    python benchmarks/reduction.py --scope two-brokers --scope min-isr-1 --rounds 5

One line for each scope, searched with one thread, without properties, to the end or to the level in which
`--states` is reached. Factors are those of a search that looks up every step, divided by the search named:

states, steps    distinct states, and steps between them inside the budgets, of a search without reduction
left out         steps that are not looked up (docs/adr/0025), and the factor in seconds; the search is
                 checked to find the same levels, counts and new states of every action
--reduce         the factors in states, steps and seconds that docs/adr/0008 and 0009 bring alone
both             the factor in seconds of both
most             the share of the steps that any rule could leave out which keeps all states

Seconds are medians over the rounds, of the search alone. A factor is missing where a limit ended a search.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from measure import PrintedTable

from elrcheck.base.requests import Limits, Selection
from elrcheck.declared.select import resolve
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.result import SearchResult
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program

REDUCE = ("skips_no_news=true", "forgets=true")
SCOPES = (
    "two-brokers",
    "three-brokers-tiny",
    "min-isr-1",
    "late-fetches",
    "recovery-two-brokers",
    "three-brokers-small",
    "min-isr-change",
    "four-brokers-reassign",
    "three-brokers-lossy-network",
    "three-brokers-clean-stop",
    "three-brokers-log",
    "three-brokers",
)


@dataclass(frozen=True)
class MeasuredSearch:
    """A search, and the number of steps that it looked up. seconds: median over the rounds."""

    result: SearchResult
    looked_up: int
    seconds: float

    @property
    def inside(self) -> int:
        """Steps that stay inside the budgets."""
        return self.result.generated - 1 - sum(self.result.cut)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scope", action="append", choices=SCOPES, help="by default all of them")
    parser.add_argument("--states", type=int, default=20_000_000, help="limit of each search")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    plain = (("states", 11, ",d"), ("steps", 12, ",d"), ("s", 8, ".3f"))
    left_out = (("left out", 10, ".1%"), ("s", 6, ".2f"))
    reduced = (("--reduce", 10, ".2f"), ("steps", 7, ".2f"), ("s", 6, ".2f"), ("both", 7, ".2f"), ("most", 8, ".1%"))
    table = PrintedTable(("scope", 28, ""), *plain, *left_out, *reduced)
    for scope in options.scope or SCOPES:
        cases = [(program_of(scope, overrides), leave) for overrides in ((), REDUCE) for leave in (False, True)]
        every, fewer, merged, both = (measured(program, options, leave_out) for program, leave_out in cases)
        compare(scope, every.result, fewer.result)
        result = every.result
        factors: tuple[float | None, ...] = (None, None, None, None)
        if result.complete and merged.result.complete:
            states, steps = result.distinct / merged.result.distinct, every.inside / merged.inside
            factors = (states, steps, every.seconds / merged.seconds, every.seconds / both.seconds)
        share, factor = 1 - fewer.looked_up / every.looked_up, every.seconds / fewer.seconds
        counts = (result.distinct, every.inside, every.seconds, share, factor)
        note = "" if result.complete else "  limited"
        table.row(scope, *counts, *factors, 1 - (result.distinct - 1) / every.inside, note=note)
    return 0


def program_of(scope: str, overrides: Sequence[str]) -> Program:
    """Return a scope's program without properties: reductions are about steps and states."""
    config = resolve(Selection(scope=scope, overrides=tuple(overrides))).config
    return lower(load_whole_model(), config, ()).program


def measured(program: Program, options: argparse.Namespace, leave_out: bool) -> MeasuredSearch:
    """Search once per round."""
    seconds = []
    for _ in range(options.rounds):
        settings = SearchSettings(Limits(max_states=options.states), cache=KernelCache())
        search = Search(program, settings, leave_out=leave_out)
        result = search.run(None, "complete")
        seconds.append(result.seconds)
    return MeasuredSearch(result, search.crew.looked_up, statistics.median(seconds))


def compare(scope: str, every: SearchResult, fewer: SearchResult) -> None:
    """Raise RuntimeError if two complete searches differ in a level or in a count of an action."""
    if not every.complete:
        return
    for field in ("generated", "levels", "enabled", "cut", "new_states", "leaf_values", "first"):
        if getattr(every, field) != getattr(fewer, field):
            raise RuntimeError(f"{scope}: steps that are left out change {field}")


if __name__ == "__main__":
    sys.exit(main())
