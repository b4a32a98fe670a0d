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

from measure import (
    MEBI,
    LevelFolder,
    PrintedTable,
    add_selection,
    lowered,
    run_again,
    start_control,
    work_of,
    write_report,
)


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Run one search, in a child process; return its times and its results."""
    from elrcheck.base.progress import ProgressLines, Silent
    from elrcheck.base.requests import Limits, SparkRequest
    from elrcheck.explorer.kernel.native_code import KernelCache
    from elrcheck.explorer.search.compiled import Search, SearchSettings

    limits = Limits(max_depth=options.max_depth)
    program = lowered(options)
    settings = SearchSettings(limits, options.threads, KernelCache(), options.fingerprint, LevelFolder())
    if options.partitions == "local":
        keeper = LevelFolder() if options.fingerprint else None
        result = Search(program, replace(settings, keeper=keeper)).run(None, "complete")
        on_spark: dict[str, Any] = {}
    else:
        from elrcheck.spark.engine import spark_search

        conf = tuple(options.spark_conf)
        request = SparkRequest(f"local[{options.threads}]", conf, int(options.partitions), options.handover)
        with spark_search(program, request, settings, Silent()) as search:
            started = time.perf_counter()
            result = search.run(ProgressLines(sys.stderr, every_level=True), "complete")
            on_spark = {
                "empty_level": search.placement.floor,
                "wall": time.perf_counter() - started,
                "levels_on_spark": [vars(cost) for cost in search.costs],
                "bytes_per_state": search.space.used_bytes / max(1, result.distinct),
            }
    return {
        **on_spark,
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


def details(point: dict[str, Any]) -> list[str]:
    """Return lines about the levels of a search on Spark."""
    levels = point["levels_on_spark"]
    work = work_of(levels)
    total = sum(level["seconds"] for level in levels)
    work["rest"] = total - sum(work.values())
    small = [level["seconds"] for level in levels if level["states"] < 20_000]
    sent = sum(level["sent"] for level in levels)
    states = sum(level["states"] for level in levels)
    return [
        f"  {len(levels)} levels on Spark in {total:.1f} s, {states:,} states; least "
        f"{min(level['seconds'] for level in levels):.2f} s, without states {point['empty_level']:.2f} s"
        + (f", with less than 20,000 at most {max(small):.2f} s" if small else ""),
        "  " + ", ".join(f"{what} {seconds:.1f}" for what, seconds in sorted(work.items())),
        f"  shuffled {sent / MEBI:,.0f} MiB, {sent / max(1, states):.0f} bytes a state; "
        f"visited sets {point['bytes_per_state']:.0f} bytes a state, worker processes at most "
        f"{max(level['peak'] for level in levels) / MEBI:,.0f} MiB",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_selection(parser, "three-brokers-log")
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
        print(json.dumps(measured(options)))
        return 0
    quiet = start_control()
    times = (("search s", 10, ".1f"), ("process s", 10, ".1f"), ("ratio", 8, ".2f"), ("peak MiB", 10, ",.0f"))
    table = PrintedTable(("", 12, ""), ("distinct", 14, ",d"), *times)
    points: list[dict[str, Any]] = []
    for partitions in ("local", *options.partitions.split(",")):
        child, point = run_again(__file__, sys.argv[1:], partitions, options.folder)
        points.append({"partitions": partitions, "process_seconds": child.seconds, **point})
        name = "local" if partitions == "local" else f"Spark, {partitions}"
        ratio = point["seconds"] / points[0]["seconds"]
        table.row(name, point["same"]["distinct"], point["seconds"], child.seconds, ratio, point["peak_bytes"] / MEBI)
        if point.get("levels_on_spark"):
            print("\n".join(details(point)), flush=True)
    write_report(options.output, control=quiet, arguments=sys.argv[1:], points=points)
    differ = [point["partitions"] for point in points if point["same"] != points[0]["same"]]
    if differ:
        print(f"results differ from the local engine's: {', '.join(differ)}", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
