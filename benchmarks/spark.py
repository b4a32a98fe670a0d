"""Compares the search on Spark with the local one, on the same scope and the same processors.

    python benchmarks/spark.py --scope three-brokers-log --partitions 1,2
    python benchmarks/spark.py --scope three-brokers-log-shrink --set acks_one=0 --partitions 1

Each search runs in its own process: first the local engine, then `local[N]` with every number of
partitions. Counts, levels, new states by action and first depths must be equal, else the exit code is 1.
`search` is the wall time of the search without starting the session and compiling kernels, `process` that of
the whole process. The least time of a level on Spark is shown beside that of an empty level. Time by kind of
work is summed over tasks: with one task at a time the sum is wall time, and `rest` is the time of Spark
itself: scheduling, writing and reading the shuffle, serialisation.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from measure import control, end_children_on_sigterm, machine, run_again, work_of

MEBI = 1 << 20


def search(options: argparse.Namespace) -> dict[str, Any]:
    """Run one search, in a child process."""
    from elrcheck.base.progress import Silent
    from elrcheck.base.requests import Limits, Selection, SparkRequest
    from elrcheck.catalogue.select import resolve
    from elrcheck.explorer.kernel.native_code import KernelCache
    from elrcheck.explorer.search.compiled import Search, SearchSettings
    from elrcheck.explorer.search.tally import Tally
    from elrcheck.explorer.store.levels import LevelFiles, SavedLevel
    from elrcheck.invariants.modules import load_checked_model
    from elrcheck.lang.lowering.lower import lower

    class Folder:
        """A keeper that stores levels but no manifest."""

        def files(self, words: int) -> LevelFiles:
            return LevelFiles(Path("levels"), words)

        def due(self) -> bool:
            return False

        def at_stop(self, interrupted: bool) -> bool:
            return False

        def save(self, written: list[SavedLevel], tally: Tally) -> None: ...

    model = load_checked_model()
    config = resolve(Selection(options.variant, options.scope, tuple(options.overrides))).config
    program = lower(model, config, (*model.always, *model.sometimes)).program
    limits = Limits(max_depth=options.max_depth)
    settings = SearchSettings(limits, options.threads, KernelCache(), options.fingerprint, Folder())
    found: dict[str, Any]
    if options.partitions == "local":
        keeper = Folder() if options.fingerprint else None
        result = Search(program, replace(settings, keeper=keeper)).run(None, "complete")
        found = {}
    else:
        from elrcheck.spark.engine import spark_search

        conf = tuple(options.spark_conf)
        request = SparkRequest(f"local[{options.threads}]", conf, int(options.partitions), options.handover)
        with spark_search(program, request, settings, Silent()) as on_spark:
            started = time.perf_counter()
            result = on_spark.run(lambda level: print(level.depth, f"{level.distinct:,}", file=sys.stderr), "complete")
            found = {
                "empty_level": on_spark.placement.floor,
                "wall": time.perf_counter() - started,
                "levels_on_spark": [vars(cost) for cost in on_spark.costs],
                "bytes_per_state": on_spark.space.used_bytes / max(1, result.distinct),
            }
    return {
        **found,
        "seconds": result.seconds,
        "peak_bytes": result.peak_bytes,
        "same": {
            "generated": result.generated,
            "distinct": result.distinct,
            "levels": result.levels,
            "new_states": result.new_states,
            "first": result.first,
            "values": result.leaf_values,
            "complete": result.complete,
        },
    }


def run(options: argparse.Namespace, arguments: list[str], partitions: str) -> dict[str, Any]:
    child, point = run_again(__file__, arguments, partitions, options.folder)
    return {"partitions": partitions, "process_seconds": child.seconds, **point}


def render(point: dict[str, Any], local: dict[str, Any]) -> str:
    name = "local" if point["partitions"] == "local" else f"Spark, {point['partitions']}"
    ratio = point["seconds"] / local["seconds"]
    lines = [
        f"{name:12}{point['same']['distinct']:>14,}{point['seconds']:>10.1f}{point['process_seconds']:>10.1f}"
        f"{ratio:>8.2f}{point['peak_bytes'] / MEBI:>10,.0f}"
    ]
    levels = point.get("levels_on_spark", [])
    if levels:
        work = work_of(levels)
        total = sum(level["seconds"] for level in levels)
        work["rest"] = total - sum(work.values())
        small = [level["seconds"] for level in levels if level["states"] < 20_000]
        sent = sum(level["sent"] for level in levels)
        states = sum(level["states"] for level in levels)
        lines += [
            f"  {len(levels)} levels on Spark in {total:.1f} s, {states:,} states; least "
            f"{min(level['seconds'] for level in levels):.2f} s, without states {point['empty_level']:.2f} s"
            + (f", with less than 20,000 at most {max(small):.2f} s" if small else ""),
            "  " + ", ".join(f"{what} {seconds:.1f}" for what, seconds in sorted(work.items())),
            f"  shuffled {sent / MEBI:,.0f} MiB, {sent / max(1, states):.0f} bytes a state; "
            f"visited sets {point['bytes_per_state']:.0f} bytes a state, worker processes at most "
            f"{max(level['peak'] for level in levels) / MEBI:,.0f} MiB",
        ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", default="kip_full")
    parser.add_argument("--scope", default="three-brokers-log")
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    parser.add_argument("--max-depth", type=int)
    parser.add_argument("--partitions", default="1,2")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fingerprint", type=int, choices=(0, 64, 128), default=0)
    parser.add_argument("--handover", type=int)
    parser.add_argument("--spark-conf", action="append", default=["spark.driver.memory=2g"])
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="for level files (some GiB)")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=Path("runs/benchmarks/spark.json"))
    options = parser.parse_args()
    if options.child:
        options.partitions = options.child
        print(json.dumps(search(options)))
        return 0
    end_children_on_sigterm()
    quiet = control()
    print(f"control: {quiet:.2f} (2.0 = two quiet cores)", flush=True)
    print(f"{'':12}{'distinct':>14}{'search s':>10}{'process s':>10}{'ratio':>8}{'peak MiB':>10}")
    points: list[dict[str, Any]] = []
    for partitions in ("local", *options.partitions.split(",")):
        points.append(run(options, sys.argv[1:], partitions))
        print(render(points[-1], points[0]), flush=True)
    report = {"machine": machine(), "control": quiet, "arguments": sys.argv[1:], "points": points}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    differ = [point["partitions"] for point in points if point["same"] != points[0]["same"]]
    if differ:
        print(f"results differ from the local engine's: {', '.join(differ)}", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
