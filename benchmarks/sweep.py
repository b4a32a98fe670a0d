"""Compares sweeps of over a hundred small configurations, with one and two processes, and separate checks.

    python benchmarks/sweep.py                    # prints text, and JSON on the last line
    python benchmarks/sweep.py --cold             # starts each measurement with an empty kernel cache
    python benchmarks/sweep.py --sweep variant=legacy --sweep crashes=0..1

First every configuration is checked separately, one after the other in one process, which also fills the
kernel cache. Then the sweeps run; every count, verdict and depth must equal that of the separate check,
else the exit code is 1. The speed-up is that of two processes over one; `control` is the gain of two busy
processes over one on this machine at that time: a round means little unless it is near 2 before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from measure import control, machine

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection, SweepRequest
from elrcheck.checking.check import run_check
from elrcheck.commands.sweep.grid import make_grid
from elrcheck.commands.sweep.sweep import run_sweep
from elrcheck.report.json_report import as_data
from elrcheck.results.sweep_report import SweepReport

SCOPE = "two-brokers-quiet"
AXES = ("variant=kip_*,code_*,legacy*", "min_isr=1..2", "crashes=0..1", "fences=0..1", "shrinks=0..1")
COUNTS = ("generated", "distinct", "diameter", "complete")


def answer(verdict: str, counts: dict[str, Any], properties: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the results that must be the same in a sweep and in a separate check."""
    return {
        "verdict": verdict,
        **{name: counts[name] for name in COUNTS},
        "properties": {p["id"]: (p["verdict"], p["depth"], p["conjunct"]) for p in properties},
    }


def separate(request: SweepRequest, folder: Path) -> dict[int, dict[str, Any]]:
    """Run `check` on every configuration, with one thread."""
    found = {}
    for point in make_grid(request.selection, request.sweeps, None).points:
        if point.selected is not None:
            asked = CheckRequest(point.selection, workers=1, run_dir=folder / str(point.number))
            data = as_data(run_check(asked, Silent()))
            found[point.number] = answer(data["verdict"], data["search"], data["properties"])
    return found


def answers(report: SweepReport) -> dict[int, dict[str, Any]]:
    rows = [as_data(row) for row in report.rows if row.verdict != "skipped"]
    return {row["number"]: answer(row["verdict"], row, row["properties"]) for row in rows}


def fresh_cache(folder: Path, name: str) -> None:
    os.environ["XDG_CACHE_HOME"] = str(folder / name)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--sweep", action="append", metavar="KEY=VALUES")
    parser.add_argument("--scope", default=SCOPE)
    parser.add_argument("--cold", action="store_true", help="empty the kernel cache before each measurement")
    parser.add_argument("--rounds", type=int, default=1, help="number of measurements of both sweeps")
    options = parser.parse_args()
    request = SweepRequest(tuple(options.sweep or AXES), selection=Selection(scope=options.scope))
    result: dict[str, Any] = {"scope": options.scope, "axes": list(request.sweeps), "cold": options.cold}
    with tempfile.TemporaryDirectory(prefix="elrcheck-sweep-") as name:
        folder = Path(name)
        fresh_cache(folder, "cache")
        started = time.perf_counter()
        expected = separate(request, folder / "separate")
        result["separate_seconds"] = round(time.perf_counter() - started, 2)
        result["configurations"], result["same"], result["rounds"] = len(expected), True, []
        for number in range(options.rounds):
            measured: dict[str, Any] = {"control_before": round(control(), 2)}
            for processes in (1, 2):
                if options.cold:
                    fresh_cache(folder, f"cache-{number}-{processes}")
                place = folder / f"sweep-{number}-{processes}"
                report = run_sweep(replace(request, workers=processes, run_dir=place), Silent())
                measured[f"seconds_{processes}"] = round(report.seconds, 2)
                result["same"] = result["same"] and answers(report) == expected
            measured["speed_up"] = round(measured["seconds_1"] / measured["seconds_2"], 2)
            measured["control_after"] = round(control(), 2)
            result["rounds"].append(measured)
        result["violated"] = report.count("violated")
        result["states"] = sum(row.distinct or 0 for row in report.rows)
    result["machine"] = machine()
    print(f"{result['configurations']} configurations, {result['violated']} violated")
    print(f"separate checks {result['separate_seconds']} s, much of it for compiling")
    for each in result["rounds"]:
        print(f"sweep with one process {each['seconds_1']} s, with two {each['seconds_2']} s:", end=" ")
        print(f"speed-up {each['speed_up']}; control {each['control_before']}, {each['control_after']}")
    print("all results are equal" if result["same"] else "RESULTS DIFFER")
    print(json.dumps(result))
    return 0 if result["same"] else 1


if __name__ == "__main__":
    sys.exit(main())
