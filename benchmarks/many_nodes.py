"""Plays a search on many nodes in one process, to plan a cluster by figures of this machine.

    python benchmarks/many_nodes.py --scope three-brokers-log --nodes 1,10,100 --fingerprint 64

Every node has one partition and one thread, and runs the very tasks that an executor of Spark would
(`spark/tasks.py`), one node after the other, from the first level on. What the nodes send each other is
compressed as Spark compresses a shuffle (LZ4, in blocks of 32 KiB) and counted; it stays in this process, so
that no network, no Spark and no disk but that of the level files is measured. A level is finished when its
slowest node is, which `slowest` allows for: the sum over the levels of the slowest node's time, over that of
the mean node. Counts must be those of the local engine, else the exit code is 1.

The plan takes from this: processor time and bytes sent for a state on as many nodes as the last of `--nodes`,
where small levels weigh more than they will in a large search, and memory a state where it is least, because
a table has a smallest size. It assumes nodes with processors like this one, `--cores` threads that work as
well as one, levels as unequal as here, and a network that moves `--gbit` a second in and out of every node at
once, after the computing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measure import PrintedTable, add_selection, lowered, run_again, start_control, work_of, write_report

BLOCK = 32 << 10
PLANNED = (10**10, 10**11, 10**12)
FLOOR = 0.5
"""Seconds of Spark itself for a level (docs/spark.md)."""


@dataclass
class Level:
    """One level, summed over the nodes. slowest: seconds of the slowest node. work: seconds by kind of work.

    sent, packed: bytes of the exchange before and after compression. rows: of some MiB at most.
    """

    states: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    sent: int = 0
    packed: int = 0
    rows: int = 0
    work: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Here:
    """Stands for a broadcast of Spark."""

    value: Any


def compressed(batch: Any) -> tuple[int, int]:
    """Return the bytes of states and credits of a row of the exchange, before and after compression."""
    import pyarrow as pa

    codec, before, after = pa.Codec("lz4_raw"), 0, 0
    for name in ("rows", "whos"):
        column = batch.column(name)
        if column[0].is_valid:
            data = memoryview(column[0].as_buffer())
            before += data.nbytes
            for at in range(0, data.nbytes, BLOCK):
                after += codec.compress(data[at : at + BLOCK]).size
    return before, after


def play(options: argparse.Namespace, nodes: int) -> dict[str, Any]:
    """Search on this many nodes, in a child process."""
    import numpy as np

    from elrcheck.base.roundtrip import from_text
    from elrcheck.explorer.kernel.kernel import blueprint
    from elrcheck.explorer.kernel.native_code import KernelCache
    from elrcheck.explorer.search.compiled import Search, SearchSettings
    from elrcheck.explorer.store.levels import LevelFiles
    from elrcheck.spark.shards import Plans, by_owner, write_shard
    from elrcheck.spark.tasks import LevelTasks, ShardReport, SparkRun, fat_row

    program = lowered(options)
    if nodes == 0:
        result = Search(program, SearchSettings(cache=KernelCache())).run(None, "complete")
        return {
            "distinct": result.distinct,
            "generated": result.generated,
            "levels": result.levels,
            "seconds": result.seconds,
        }

    words = options.fingerprint // 64
    plans = Plans(blueprint(program), blueprint(program, words) if words else None)
    kernel = plans.states.compile(KernelCache())
    files = LevelFiles(Path("levels"), kernel.layout.words)
    keys = tuple(range(nodes))
    run = SparkRun("many-nodes", Here(plans), plans.digest, keys, files.place, 1)
    first = kernel.layout.pack_rows(sorted(set(program.init)))
    own: dict[int, Any] = {
        owner: rows for owner, rows, _ in by_owner(kernel, first, np.zeros(len(first), np.uint16), nodes)
    }
    levels = [[write_shard(files, 0, node, nodes, own.get(node, first[:0]), 1)] for node in keys]

    def settled(batches: Iterator[Any]) -> ShardReport:
        (batch,) = tasks.settle(batches)
        return from_text(batch.column("report")[0].as_py(), ShardReport)

    sizes, generated, used, played = [len(first)], len(first), 0, list[dict[str, Any]]()
    while sizes[-1]:
        tasks = LevelTasks(run, tuple(tuple(own) for own in levels))
        inbox: list[list[Any]] = [[] for _ in keys]
        level, spent = Level(), [0.0] * nodes
        for node in keys:
            sending, began = 0.0, time.perf_counter()
            for batch in tasks.expand(iter([fat_row(node)])):
                started = time.perf_counter()
                before, after = compressed(batch)
                level.sent += before
                level.packed += after
                level.rows += 1
                inbox[batch.column("key")[0].as_py()].append(batch)
                sending += time.perf_counter() - started
            spent[node] = time.perf_counter() - began
            level.work["compress"] = level.work.get("compress", 0.0) + sending
        reports = []
        for node in keys:
            began = time.perf_counter()
            reports.append(settled(iter([fat_row(node), *inbox[node]])))
            inbox[node] = []
            spent[node] += time.perf_counter() - began
        for report, written in zip(reports, levels, strict=True):
            assert report.level is not None
            written.append(report.level)
            generated += sum(report.counters[1 : 1 + len(program.instances)])
            for what, seconds in report.seconds.items():
                level.work[what] = level.work.get(what, 0.0) + seconds
        level.work["send"] -= level.work["compress"]
        level.states = sum(report.level.rows for report in reports if report.level is not None)
        level.seconds, level.slowest = sum(spent), max(spent)
        used = sum(report.used for report in reports)
        sizes.append(level.states)
        played.append(vars(level))
        print(len(sizes) - 1, f"{level.states:,}", f"{level.seconds:.1f} s", file=sys.stderr, flush=True)
    return {
        "distinct": sum(sizes),
        "generated": generated,
        "levels": sizes[:-1],
        "used": used,
        "seconds": sum(level["seconds"] for level in played),
        "levels_played": played,
    }


def planned(point: dict[str, Any], nodes: int, states: int, held: float, options: argparse.Namespace) -> list[float]:
    """Return what that many states need on that many nodes: GiB in memory and sent each; minutes by kind of work.

    held: bytes of memory a state.
    """
    searched, played = point["distinct"], point["levels_played"]
    slowest = sum(level["slowest"] for level in played) / sum(level["seconds"] / nodes for level in played)
    computing = states * point["seconds"] / searched / nodes / options.cores * slowest
    sent = states * sum(level["packed"] for level in played) / searched / nodes
    network = sent / (options.gbit * 1e9 / 8)
    minutes = (computing + network + FLOOR * len(played)) / 60
    return [states * held / nodes / 2**30, sent / 2**30, computing / 60, network / 60, minutes]


def render(nodes: int, point: dict[str, Any], local: dict[str, Any]) -> str:
    played, states = point["levels_played"], point["distinct"]
    work = work_of(played)
    total = sum(level["seconds"] for level in played)
    sent, packed = (sum(level[name] for level in played) for name in ("sent", "packed"))
    slowest = sum(level["slowest"] for level in played) * nodes / total
    widest = max(played, key=lambda level: level["states"])
    share, wide = total / local["seconds"], widest["slowest"] * nodes / widest["seconds"]
    each = widest["sent"] / max(1, widest["rows"]) / 1024
    kinds = sorted(work.items(), key=lambda one: -one[1])
    lines = [
        f"{nodes} nodes: {states:,} states, {total:.1f} s of a processor ({share:.2f} of the local engine's "
        f"with one thread), {point['used'] / states:.1f} bytes of memory a state",
        "  " + ", ".join(f"{what} {seconds:.1f}" for what, seconds in kinds),
        f"  sent {sent / states:.0f} bytes a state, {packed / states:.0f} compressed; slowest {slowest:.2f} "
        f"of the mean node, {wide:.2f} in the widest level, whose {widest['rows']:,} rows of the exchange "
        f"have {each:.0f} KiB",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_selection(parser, "three-brokers-log")
    parser.add_argument("--nodes", default="1,10,100")
    parser.add_argument("--fingerprint", type=int, choices=(0, 64, 128), default=0)
    parser.add_argument("--cores", type=int, default=16, help="of a planned node")
    parser.add_argument("--gbit", type=float, default=10.0, help="of a planned node's network, a second")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="for level files (some GiB)")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, default=Path("runs/benchmarks/many_nodes.json"))
    options = parser.parse_args()
    if options.child is not None:
        print(json.dumps(play(options, options.child)))
        return 0
    quiet = start_control()
    points: dict[int, dict[str, Any]] = {}
    for nodes in (0, *(int(number) for number in options.nodes.split(","))):
        _, points[nodes] = run_again(__file__, sys.argv[1:], str(nodes), options.folder)
        if nodes:
            print(render(nodes, points[nodes], points[0]), flush=True)
    last = max(points)
    print(f"\n{last} nodes of {options.cores} cores, {options.gbit:g} Gbit/s each, planned:")
    minutes = (("computing min", 14, ",.1f"), ("network min", 12, ",.1f"), ("in all min", 12, ",.1f"))
    table = PrintedTable(("states", 20, ",d"), ("GiB a node", 14, ",.1f"), ("GiB sent each", 16, ",.1f"), *minutes)
    held = min(point["used"] / point["distinct"] for nodes, point in points.items() if nodes)
    for states in PLANNED:
        table.row(states, *planned(points[last], last, states, held, options))
    write_report(options.output, control=quiet, arguments=sys.argv[1:], points=points)
    facts = ("distinct", "generated", "levels")
    differ = [nodes for nodes in points if any(points[nodes][fact] != points[0][fact] for fact in facts)]
    if differ:
        print(f"counts differ from the local engine's: {differ}", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
