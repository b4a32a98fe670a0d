"""Compares the search on Spark with the local one, on the same scope and the same processors.

    python benchmarks/spark.py --scope three-brokers-log --partitions 1,2
    python benchmarks/spark.py --scope three-brokers --cluster 3 --kill 0.3        # three workers, one of them killed
    python benchmarks/spark.py --scope three-brokers --cluster 3 --python /usr/bin/python3 --ship-packages

Each search runs in its own process: the local engine, then `local[N]` with every number of partitions, and with
--cluster a standalone cluster of that many workers with one core each, on loopback, which is started before and
stopped after. --kill: once more, and when that share of the states is reached, a worker is killed with its executor
(SIGKILL); what is said of it is shown with the seconds that this took. Traces to every property that was hit are
rebuilt. Counts, levels, new states by action, first depths and traces must be equal, else the exit code is 1.

`search` is the wall time of the search without starting the session, `process` that of the whole process; with
--handover it waits for executors to compile their kernels. The least time of a level on Spark is shown beside that of
an empty level. Time by kind of work is summed over tasks: with one task at a time the sum is wall time, and `rest` is
the time of Spark itself: scheduling, writing and reading the shuffle, serialisation.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

from elrcheck.base.progress import Event, ExecutorsLost, LevelDone, ProgressLines
from elrcheck.base.requests import SparkRequest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

if TYPE_CHECKING:
    from support.spark_cluster import Cluster

LOCAL, CLUSTER, KILLED = "local", "cluster", "killed"
MEMORY = "2g"


@dataclass
class Accident:
    """Progress of a search in which a worker is killed when enough states are reached.

    notes: seconds since then, and what was said.
    """

    cluster: Cluster | None
    states: float
    lines: ProgressLines = field(default_factory=lambda: ProgressLines(sys.stderr, every_level=True))
    began: float = 0.0
    notes: list[tuple[float, str]] = field(default_factory=list)

    def stage(self, text: str) -> None:
        self.lines.stage(text)

    def tell(self, event: Event) -> None:
        self.lines.tell(event)
        if isinstance(event, ExecutorsLost):
            self.notes.append((time.monotonic() - self.began, str(event)))
        elif (
            isinstance(event, LevelDone)
            and self.cluster is not None
            and event.distinct >= self.states
            and not self.began
        ):
            self.began = time.monotonic() + 1.0  # some way into the level
            threading.Timer(1.0, self.cluster.kill_worker, (0,)).start()


@contextlib.contextmanager
def standalone(options: argparse.Namespace, point: str) -> Iterator[tuple[SparkRequest, Cluster | None]]:
    """Yield how to reach Spark: `local[N]`, or a cluster that is stopped afterwards."""
    if point not in (CLUSTER, KILLED):
        yield SparkRequest(f"local[{options.threads}]", tuple(options.spark_conf), int(point), options.handover), None
        return
    from support.spark_cluster import standalone_cluster

    conf = [*options.spark_conf, "spark.executor.memory=1g", f"spark.pyspark.python={options.python}"]
    with (
        tempfile.TemporaryDirectory() as folder,
        standalone_cluster(Path(folder), options.cluster, memory=MEMORY) as cluster,
    ):
        yield (
            SparkRequest(cluster.url, tuple(conf), None, options.handover, ship_packages=options.ship_packages),
            cluster,
        )


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Run one search, in a child process; return its times and its results."""
    from elrcheck.base.requests import Limits
    from elrcheck.explorer.kernel.native_code import KernelCache
    from elrcheck.explorer.search.compiled import Search, SearchSettings
    from elrcheck.explorer.search.retrace import Retrace

    program = lowered(options)
    keeper = LevelFolder() if options.fingerprint or options.child != LOCAL else None
    limits = Limits(max_depth=options.max_depth)
    settings = SearchSettings(limits, options.threads, KernelCache(), options.fingerprint, keeper)
    on_spark: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        progress = Accident(None, 0.0)
        started = time.perf_counter()
        if options.child == LOCAL:
            search = Search(program, settings)
        else:
            from elrcheck.spark.distributed_search import spark_search

            request, cluster = stack.enter_context(standalone(options, options.child))
            if options.child == KILLED:
                progress = Accident(cluster, options.kill * options.states)
            started = time.perf_counter()
            search = stack.enter_context(spark_search(program, request, settings, progress))
        opened = time.perf_counter()
        result = search.run(progress, "complete")
        searched = time.perf_counter()
        traces = Retrace(search).traces(list(result.first))
        if options.child != LOCAL:
            on_spark = {
                "empty_level": search.placement.floor,
                "levels_on_spark": [vars(cost) for cost in search.costs],
                "bytes_per_state": search.space.used_bytes / max(1, result.distinct),
                "notes": progress.notes,
            }
    return {
        **on_spark,
        "opening": opened - started,
        "tracing": time.perf_counter() - searched,
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
            "traces": hashlib.sha256(repr(sorted(traces.items())).encode()).hexdigest(),
        },
    }


def details(point: dict[str, Any]) -> list[str]:
    """Return lines about the levels of a search on Spark."""
    levels = point["levels_on_spark"]
    if not levels and not point["empty_level"]:
        return ["  the driver had searched all levels before the executors were ready"]
    if not levels:
        return [f"  the driver searched all levels: an empty one takes Spark {point['empty_level']:.2f} s"]
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
        *(f"  {seconds:.1f} s after a worker was killed: {note}" for seconds, note in point["notes"]),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_selection(parser, "three-brokers-log")
    parser.add_argument("--max-depth", type=int)
    parser.add_argument("--partitions", default="1,2", help="of local[N]; may be empty")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cluster", type=int, default=0, metavar="WORKERS")
    parser.add_argument("--python", default=sys.executable, help="of the executors of the cluster")
    parser.add_argument("--ship-packages", action="store_true", help="as elrcheck has it")
    parser.add_argument("--kill", type=float, metavar="SHARE", help="of the states, after which a worker is killed")
    parser.add_argument("--fingerprint", type=int, choices=(0, 64, 128), default=0)
    parser.add_argument("--handover", type=int)
    parser.add_argument("--spark-conf", action="append", default=["spark.driver.memory=2g"])
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="for level files (some GiB)")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--states", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=Path("runs/benchmarks/spark.json"))
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measured(options)))
        return 0
    quiet = start_control()
    times = (("start s", 9, ".1f"), ("search s", 10, ".1f"), ("traces s", 10, ".1f"), ("process s", 10, ".1f"))
    table = PrintedTable(("", 12, ""), ("distinct", 14, ",d"), *times, ("ratio", 8, ".2f"), ("peak MiB", 10, ",.0f"))
    points: list[dict[str, Any]] = []
    clusters = [CLUSTER] * bool(options.cluster) + [KILLED] * bool(options.cluster and options.kill)
    for name in (LOCAL, *filter(None, options.partitions.split(",")), *clusters):
        states = ["--states", str(points[0]["same"]["distinct"])] if points else []
        child, point = run_again(__file__, [*sys.argv[1:], *states], name, options.folder)
        points.append({"name": name, "process_seconds": child.seconds, **point})
        seconds = (point["opening"], point["seconds"], point["tracing"], child.seconds)
        ratio = point["seconds"] / points[0]["seconds"]
        title = f"Spark, {name}" if name.isdecimal() else name
        table.row(title, point["same"]["distinct"], *seconds, ratio, point["peak_bytes"] / MEBI)
        if "empty_level" in point:
            print("\n".join(details(point)), flush=True)
    write_report(options.output, control=quiet, arguments=sys.argv[1:], points=points)
    differ = [point["name"] for point in points if point["same"] != points[0]["same"]]
    if differ:
        print(f"results differ from the local engine's: {', '.join(differ)}", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
