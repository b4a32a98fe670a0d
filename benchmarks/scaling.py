"""Measures how time and memory grow with the number of states: one search, stopped at increasing limits.

    python benchmarks/scaling.py [--states 1e5,1e6,1e7,1e8] [--mode exact --mode "--fingerprint 64"]

Every point is a run of `elrcheck check` with --max-states in its own process, on a scope with more than
3 * 10^8 states. A mode is `exact` or options of `elrcheck check`. Prints a table and writes it as JSON.
seconds and states/s refer to the search with all its checks, the peak to the whole process. Bytes per state
are computed from the peak minus `base`, the peak of the same command stopped after 1000 states, with the
kernel in the cache; the next column shows the store's own figure.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import MEBI, PrintedTable, add_selection, run_child, start_control, write_report

BIG = ("metadata=log", "records=2", "log_slots=2", "response_loss=true", "shrinks=1")
STOPPED = 3  # exit code of an inconclusive search, such as one stopped by a limit


def options_of(mode: str) -> list[str]:
    return [] if mode == "exact" else shlex.split(mode)


def check(selection: list[str], mode: str, workers: str, limits: list[str]) -> dict[str, Any]:
    """Run one search as a child process; raise SystemExit with its output if it failed."""
    command = [sys.executable, "-m", "elrcheck", "check", "--fresh", "--format", "json", "--workers", workers]
    with tempfile.TemporaryDirectory() as folder:
        child = run_child([*command, *selection, *options_of(mode), *limits], cwd=Path(folder))
    if child.exit_code not in (0, 1, STOPPED):
        raise SystemExit(f"{mode}: exit code {child.exit_code}\n{child.errors}{child.output[-500:]}")
    search = json.loads(child.output)["search"]
    return {
        "mode": mode,
        "distinct": search["distinct"],
        "generated": search["generated"],
        "complete": search["complete"],
        "seconds": search["seconds"],
        "distinct_per_second": search["distinct"] / search["seconds"],
        "process_seconds": child.seconds,
        "cpu_seconds": child.cpu_seconds,
        "peak_bytes": child.peak_bytes,
        "store_bytes_per_state": search["bytes_per_state"],
        "collision_probability": search.get("collision_probability"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_selection(parser, "three-brokers")
    parser.add_argument("--states", default="1e5,1e6,1e7,1e8", help="numbers of states to stop at, ascending")
    parser.add_argument("--mode", action="append", help="exact, or options such as '--fingerprint 64'")
    parser.add_argument("--workers", default="auto")
    parser.add_argument("--output", type=Path, default=Path("runs/benchmarks/scaling.json"))
    options = parser.parse_args()
    modes: list[str] = options.mode or ["exact"]
    scope = str(Path(options.scope).resolve()) if Path(options.scope).is_file() else options.scope
    selection = ["--variant", options.variant, "--scope", scope]
    for override in options.overrides or BIG:
        selection += ["--set", override]

    print(" ".join(selection))
    quiet = start_control()
    for _ in range(2):  # the first run fills the kernel cache
        few = ["--max-states", "1000"]
        bases = {mode: check(selection, mode, options.workers, few)["peak_bytes"] for mode in modes}
    print("base: " + ", ".join(f"{mode} {size / MEBI:,.0f} MiB" for mode, size in bases.items()))
    numbers = (("seconds", 10, ".2f"), ("states/s", 12, ",.0f"), ("peak MiB", 10, ",.0f"), ("B/state", 10, ".1f"))
    table = PrintedTable(("mode", 20, ""), ("distinct", 13, ",d"), *numbers, ("in store", 10, ".0f"))
    points = []
    for most in (int(float(text)) for text in options.states.split(",")):
        for mode in modes:
            point = check(selection, mode, options.workers, ["--max-states", str(most)])
            point["base_bytes"] = bases[mode]
            point["peak_bytes_per_state"] = (point["peak_bytes"] - bases[mode]) / point["distinct"]
            points.append(point)
            fields = ("mode", "distinct", "seconds", "distinct_per_second")
            rates = (point["peak_bytes"] / MEBI, point["peak_bytes_per_state"], point["store_bytes_per_state"])
            note = "" if point["complete"] else "  stopped"
            table.row(*(point[field] for field in fields), *rates, note=note)
    write_report(options.output, control=quiet, selection=selection, points=points)


if __name__ == "__main__":
    main()
