"""Measures how many records a second an audit reads, on how much memory.

    python benchmarks/audit.py [--records 1000000] [--partitions 100000] [--brokers 30] [--keep FOLDER]
                               [--workers 1 --workers 2] [--spark "local[2]"] [--parts] [--profile]

Writes the metadata log of a cluster whose brokers restart one after the other (cluster_restarts.py in
tests/support) into a temporary folder, and audits it in a process of its own: time of the processor, because
other processes may run, time on the clock, and the largest resident memory. --keep: the folder for the log,
which is not written again if it is there. --logs: so many logs, each in a folder, which share partitions and
records. --workers: with that many processes; the memory is that of the reader, and of the largest of them.
--spark: the same on Spark; the memory is that of Python and Java together, twice a second. --parts: side by
side, in this process, `cut` (batches checked and cut into records), `follow` (records decoded and applied one
by one), `judge` (each record judged, nothing remembered) and `audit`.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF

from measure import machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.base.requests import SparkRequest
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.kafka.audit.log_audit import LogAudit
from elrcheck.kafka.log.history import History
from elrcheck.kafka.log.log_files import logs_of, read_log
from elrcheck.kafka.log.segments import read_segment
from support.cluster_restarts import Cluster, written_restarts


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
    audited.history.apply_run = None
    audited.known_changes.is_sound = lambda *_: False  # type: ignore[method-assign]
    for _ in audited.run(read_log(log)):
        pass


def audit(path: Path, spark: str | None = None, workers: int = 1) -> int:
    paths = tuple(sorted(path.iterdir())) if path.is_dir() else (path,)
    plain = AuditRequest(paths, workers=workers)
    request = plain if spark is None else AuditRequest(paths, engine="spark", spark=SparkRequest(spark))
    report = run_audit(request, Silent())
    if report.flags or report.damage or any(log.unexplained or log.not_asked for log in report.logs):
        raise SystemExit(f"the log is sound, but {report.flags[:1] or report.damage[:1] or report.logs}")
    return report.records


def alone(path: Path, workers: int, spark: str | None) -> None:
    """Audit in this process, which does nothing else, and print what it took, its children included."""
    started, used = time.monotonic(), _processor()
    watch = Memory()
    records = audit(path, spark, workers)
    seconds, clock = _processor() - used, time.monotonic() - started
    own, child = (resource.getrusage(who).ru_maxrss / 1024 for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    peak = f"{own:,.0f} MiB" + (f", the largest process {child:,.0f} MiB" if workers > 1 else "")
    peak = f"{watch.peak():,.0f} MiB together" if spark else peak
    name = spark or f"{workers} process{'es' if workers > 1 else ''}"
    print(
        f"{name:12}{seconds:>9.2f} s of the processor{records / seconds:>12,.0f} records/s;"
        f"{clock:>9.2f} s on the clock{records / clock:>12,.0f} records/s; {peak}",
        flush=True,
    )


def _processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Memory:
    """Looks twice a second at the resident memory of this process and all that it has started."""

    def __init__(self) -> None:
        self.largest = 0.0
        threading.Thread(target=self._look, daemon=True).start()

    def peak(self) -> float:
        return self.largest

    def _look(self) -> None:
        while True:
            self.largest = max(self.largest, sum(map(_resident, _family(os.getpid()))))
            time.sleep(0.5)


def _family(process: int) -> list[int]:
    try:
        children = Path(f"/proc/{process}/task").glob("*/children")
        started = [int(child) for each in children for child in each.read_text().split()]
    except OSError:
        return []
    return [process, *(one for child in started for one in _family(child))]


def _resident(process: int) -> float:
    """MiB."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * resource.getpagesize() / (1 << 20)


def measured(work: Callable[[Path], object], path: Path) -> float:
    before = time.process_time()
    work(path)
    return time.process_time() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--brokers", type=int, default=30)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the log stays, or is already")
    parser.add_argument("--logs", type=int, default=1, help="among which partitions and records are divided")
    parser.add_argument("--workers", type=int, action="append", help="processes; may be repeated")
    parser.add_argument("--spark", metavar="MASTER", help="measure the audit on Spark too")
    parser.add_argument("--parts", action="store_true", help="measure the parts, each record by itself")
    parser.add_argument("--profile", action="store_true", help="show where the time of the audit goes")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        return alone(options.alone, (options.workers or [1])[0], options.spark)
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        place = options.keep or Path(folder)
        path = place / (f"{0:020}.log" if options.logs == 1 else "logs")
        if not path.exists():
            share = options.partitions // options.logs, options.records // options.logs
            for number in range(options.logs):
                log = place if options.logs == 1 else path / f"{number:03}"
                log.mkdir(parents=True, exist_ok=True)
                written_restarts(log, Cluster(share[0], options.brokers, seed=number + 1), share[1])
        size = sum(file.stat().st_size for file in place.rglob("*.log"))
        print(f"{options.brokers} brokers, {options.logs} logs, {size:,} bytes", flush=True)
        for workers in options.workers or [1]:
            subprocess.run([sys.executable, __file__, "--alone", path, "--workers", str(workers)], check=True)
        if options.spark:
            subprocess.run([sys.executable, __file__, "--alone", path, "--spark", options.spark], check=True)
        for work in (cut, follow, judge, audit) if options.parts else ():
            seconds = measured(work, path)
            print(f"{work.__name__:8}{seconds:>9.2f} s of the processor", flush=True)
        if options.profile:
            profile = cProfile.Profile()
            profile.runcall(audit, path)
            pstats.Stats(profile).sort_stats("tottime").print_stats(30)


if __name__ == "__main__":
    main()
