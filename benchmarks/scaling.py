"""Measures what would limit a search on many cores: memory, lines that threads share, and what one thread does alone.

    python benchmarks/scaling.py                                     # three-brokers, one worker and two
    python benchmarks/scaling.py --scope three-brokers-log --rounds 5 --workers 1,8

Every row is a process of its own and searches the same states; counts must be equal, else the exit code is 1.

`chunk`: states whose look-ups are prefetched together. `block`: rows that a worker reserves at once, which is how often
it writes to a counter of all workers. `packed`: the structs of the workers, to which they write once for each chunk,
share cache lines, as they do not otherwise. `alone`: share of the seconds in which at most one thread works. `busy`:
share of the others that a worker spends in native code. `lines`: cache lines of the table and of stored states that a
state takes, at least: one for each look-up, one for each state met again, and those of a new row, read once when it is
expanded. `random lines`: independent reads from an array, by numpy, in one thread and in all.

`many_nodes.py` measures the other way, a table for each worker by ranges of hashes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import GIBI, MEBI, PrintedTable, add_selection, lowered, run_again, start_control, write_report

from elrcheck.explorer.kernel import crew, fingerprint_ir, kernel, table_ir
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.lang.lowering.program import Program

LINE = 64
ARRAYS = (8 * MEBI, GIBI)
READS = 1 << 22


@dataclass(frozen=True)
class Setting:
    """A way to build the search. chunk, block, packed: as above."""

    chunk: int = kernel.CHUNK
    block: int = table_ir.ROW_BLOCK
    packed: bool = False


SETTINGS = {
    "as it is": Setting(),
    **{f"chunk {chunk}": Setting(chunk=chunk) for chunk in (4, 16, 32, 128)},
    **{f"block {block}": Setting(block=block) for block in (1, 8, 512)},
    "packed": Setting(packed=True),
}


class Clock:
    """Adds up the wall time of a function, over all its calls in all threads."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.seconds = 0.0
        self._function, self._lock = function, threading.Lock()

    def __call__(self, *args: Any) -> Any:
        started = time.perf_counter()
        result = self._function(*args)
        with self._lock:
            self.seconds += time.perf_counter() - started
        return result


def measured(program: Program, setting: Setting, workers: int) -> dict[str, Any]:
    """Search once in this process, whose kernels are built like this from now on."""
    kernel.CHUNK = crew.CHUNK = setting.chunk
    table_ir.ROW_BLOCK = fingerprint_ir.ROW_BLOCK = crew.ROW_BLOCK = setting.block
    search = Search(program, SearchSettings(workers=workers, cache=KernelCache()))
    if setting.packed:
        _pack(search.crew.workers)
    explore = Clock(search.native.functions["explore"])
    rounds, splits = Clock(search.crew._round), Clock(search.crew.split)
    search.native.functions["explore"] = explore
    search.crew._round, search.crew.split = rounds, splits  # type: ignore[method-assign]
    result = search.run(None, "complete")
    together = rounds.seconds + splits.seconds
    words = search.layout.words
    met_again = search.crew.looked_up - result.distinct
    lines = search.crew.looked_up + met_again + 2 * result.distinct * words * 8 / LINE
    return {
        "distinct": result.distinct,
        "generated": result.generated,
        "seconds": result.seconds,
        "alone": 1 - together / result.seconds,
        "busy": explore.seconds / workers / rounds.seconds,
        "lines": lines / result.distinct,
        "lines a second": lines / result.seconds,
    }


def _pack(workers: list[crew.Worker]) -> None:
    """Place the structs of all workers one behind the other."""
    size = len(workers[0].context)
    packed = np.zeros(size * len(workers), np.int64)
    for number, worker in enumerate(workers):
        place = packed[number * size : (number + 1) * size]
        place[:] = worker.context
        worker.context = place


def random_lines(size: int, threads: int) -> float:
    """Return the lines a second that threads read from an array of this many bytes, at random."""
    lines = size // LINE
    array = np.ones(size // 8, np.int64)
    places = [np.random.default_rng(k).integers(0, lines, READS) * (LINE // 8) for k in range(threads)]
    targets = [np.empty(READS, np.int64) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:

        def read(number: int) -> object:
            return np.take(array, places[number], out=targets[number], mode="clip")

        list(pool.map(read, range(threads)))
        started = time.perf_counter()
        list(pool.map(read, range(threads)))
        return threads * READS / (time.perf_counter() - started)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_selection(parser, "three-brokers")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path.cwd())
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=Path("runs/benchmarks/scaling.json"))
    options = parser.parse_args()
    if options.child:
        name, workers = options.child.rsplit(",", 1)
        print(json.dumps(measured(lowered(options), SETTINGS[name], int(workers))))
        return 0
    quiet, workers = start_control(), [int(number) for number in options.workers.split(",")]
    for size in ARRAYS:
        rates = [max(random_lines(size, number) for _ in range(options.rounds)) for number in workers]
        print(
            f"random lines of {size // MEBI} MiB: {', '.join(f'{rate / 1e6:.0f}' for rate in rates)} million a second"
        )
    runs: dict[str, list[dict[str, Any]]] = {}
    for _ in range(options.rounds):
        for name in SETTINGS:
            for number in workers:
                _, facts = run_again(__file__, sys.argv[1:], f"{name},{number}", options.folder)
                runs.setdefault(f"{name},{number}", []).append(facts)
    table = PrintedTable(
        *(("search", 14, ""), ("workers", 8, ""), ("seconds", 8, ".2f"), ("factor", 7, ".2f"), ("alone", 7, ".1%")),
        *(("busy", 7, ".1%"), ("lines", 6, ".1f"), ("lines/s", 12, ",.0f")),
    )
    usual = {number: _median(runs[f"as it is,{number}"], "seconds") for number in workers}
    for name, facts in runs.items():
        row, number = name.rsplit(",", 1)
        seconds = _median(facts, "seconds")
        figures = (_median(facts, key) for key in ("alone", "busy", "lines", "lines a second"))
        table.row(row, number, seconds, usual[int(number)] / seconds, *figures)
    write_report(options.output, control=quiet, runs=runs)
    counts = {(one["distinct"], one["generated"]) for facts in runs.values() for one in facts}
    return 0 if len(counts) == 1 else 1


def _median(facts: list[dict[str, Any]], key: str) -> float:
    return statistics.median(one[key] for one in facts)


if __name__ == "__main__":
    sys.exit(main())
