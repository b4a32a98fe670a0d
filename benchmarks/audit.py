"""Measures how many records a second an audit reads, on how much memory.

    python benchmarks/audit.py [--records 1000000] [--partitions 100000] [--brokers 30] [--spark "local[2]"]
                               [--parts] [--profile]

Writes the metadata log of a cluster whose brokers restart one after the other (cluster_restarts.py in
tests/support) into a temporary folder, and audits it in a process of its own: time of the processor, because
other processes may run, time on the clock, and the largest resident memory. --spark: the same on Spark, on
the clock. --parts: side by side, in this process, `cut` (batches checked and cut into records), `follow`
(records decoded and applied one by one), `judge` (each record judged, nothing remembered) and `audit`.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measure import machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from cluster_restarts import Cluster, written_restarts

from elrcheck.base.progress import Silent
from elrcheck.base.requests import AuditRequest, SparkRequest
from elrcheck.commands.audit.audit import run_audit
from elrcheck.commands.audit.log_audit import LogAudit
from elrcheck.kafka.log.history import History
from elrcheck.kafka.log.log_files import logs_of, read_log
from elrcheck.kafka.log.segments import read_segment


def cut(path: Path) -> None:
    for _ in read_segment(path, 0):
        pass


def follow(path: Path) -> None:
    (log,) = logs_of([path])
    for _ in History().events(read_log(log)):
        pass


def judge(path: Path) -> None:
    (log,) = logs_of([path])
    audited = LogAudit(log)
    audited.history.take = None
    audited._quiet.is_sound = lambda *_: False  # type: ignore[method-assign]
    for _ in audited.run(read_log(log)):
        pass


def audit(path: Path, spark: str | None = None) -> int:
    plain = AuditRequest((path,))
    request = plain if spark is None else AuditRequest((path,), engine="spark", spark=SparkRequest(spark))
    report = run_audit(request, Silent())
    if report.flags or report.damage or report.logs[0].unexplained or report.logs[0].not_asked:
        raise SystemExit(f"the log is sound, but {report.flags[:1] or report.damage[:1] or report.logs}")
    return report.records


def alone(path: Path) -> None:
    """Audit in this process, which does nothing else, and print what it took."""
    started, used = time.monotonic(), time.process_time()
    records = audit(path)
    seconds, clock = time.process_time() - used, time.monotonic() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told = f"{seconds:>9.2f} s{records / seconds:>12,.0f} records/s"
    print(f"audit   {told}, {clock:.2f} s on the clock, {peak:,.0f} MiB", flush=True)


def measured(work: Callable[[Path], object], path: Path) -> float:
    before = time.process_time()
    work(path)
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--brokers", type=int, default=30)
    parser.add_argument("--spark", metavar="MASTER", help="measure the audit on Spark too")
    parser.add_argument("--parts", action="store_true", help="measure the parts, each record by itself")
    parser.add_argument("--profile", action="store_true", help="show where the time of the audit goes")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        return alone(options.alone)
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(options.partitions, options.brokers)
        path = written_restarts(Path(folder), cluster, options.records)
        size = path.stat().st_size
        print(f"{cluster.told:,} records, {options.partitions:,} partitions, {size:,} bytes", flush=True)
        subprocess.run([sys.executable, __file__, "--alone", path], check=True)
        for work in (cut, follow, judge, audit) if options.parts else ():
            seconds = measured(work, path)
            rate = cluster.told / seconds
            print(f"{work.__name__:8}{seconds:>9.2f} s{rate:>12,.0f} records/s", flush=True)
        if options.spark:
            started = time.monotonic()
            rate = audit(path, options.spark) / (seconds := time.monotonic() - started)
            print(f"{options.spark:8}{seconds:>9.2f} s{rate:>12,.0f} records/s on the clock")
        if options.profile:
            profile = cProfile.Profile()
            profile.runcall(audit, path)
            pstats.Stats(profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
