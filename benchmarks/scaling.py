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

from measure import control, end_children_on_sigterm, machine, run_child

MEBI = 1 << 20
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


def render(point: dict[str, Any]) -> str:
    return (
        f"{point['mode']:20}{point['distinct']:>13,}{point['seconds']:>10.2f}{point['distinct_per_second']:>12,.0f}"
        f"{point['peak_bytes'] / MEBI:>10,.0f}{point['peak_bytes_per_state']:>10.1f}"
        f"{point['store_bytes_per_state']:>10.0f}{'' if point['complete'] else '  stopped'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", default="kip_full")
    parser.add_argument("--scope", default="three-brokers")
    parser.add_argument("--set", dest="overrides", action="append", help="default: a big scope")
    parser.add_argument("--states", default="1e5,1e6,1e7,1e8", help="numbers of states to stop at, ascending")
    parser.add_argument("--mode", action="append", help="exact, or options such as '--fingerprint 64'")
    parser.add_argument("--workers", default="auto")
    parser.add_argument("--output", type=Path, default=Path("runs/benchmarks/scaling.json"))
    options = parser.parse_args()
    modes: list[str] = options.mode or ["exact"]
    scope = str(Path(options.scope).resolve()) if Path(options.scope).is_file() else options.scope
    selection = ["--variant", options.variant, "--scope", scope]
    for override in BIG if options.overrides is None else options.overrides:
        selection += ["--set", override]

    end_children_on_sigterm()
    quiet = control()
    print(f"{' '.join(selection)}\ncontrol: {quiet:.2f} (2.0 = two quiet cores)", flush=True)
    for _ in range(2):  # the first run fills the kernel cache
        few = ["--max-states", "1000"]
        bases = {mode: check(selection, mode, options.workers, few)["peak_bytes"] for mode in modes}
    print("base: " + ", ".join(f"{mode} {size / MEBI:,.0f} MiB" for mode, size in bases.items()))
    columns = f"{'seconds':>10}{'states/s':>12}{'peak MiB':>10}{'B/state':>10}{'in store':>10}"
    print(f"{'mode':20}{'distinct':>13}{columns}")
    points = []
    for wanted in (int(float(text)) for text in options.states.split(",")):
        for mode in modes:
            point = check(selection, mode, options.workers, ["--max-states", str(wanted)])
            point["base_bytes"] = bases[mode]
            point["peak_bytes_per_state"] = (point["peak_bytes"] - bases[mode]) / point["distinct"]
            points.append(point)
            print(render(point), flush=True)
    report = {"machine": machine(), "control": quiet, "selection": selection, "points": points}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    print(f"written: {options.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
