"""How many distinct states a second: the compiled search against TLC, in one run on one machine.

    python benchmarks/tlc_rate.py [--scope three-brokers] [--seconds 240] [--workers 2] [--count-only]

Both explore the same scope of the same model: elrcheck the compiled kernel, TLC the exported module.
Both check all properties; with --count-only neither checks any. A TLC run that does not finish in
--seconds is stopped and its rate taken from its last progress report, JVM start included for both
ways of counting. elrcheck's rate is of the search; its start-up (lowering, compiling) is shown beside it.
A two-process control says how quiet the machine is: 2.0 means both cores were free.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import tempfile
import time
from pathlib import Path

from elrcheck.explorer.compiled import Search
from elrcheck.explorer.lower import lower
from elrcheck.explorer.result import Limits
from elrcheck.explorer.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.report.request import Selection
from elrcheck.tla_export.export import write_spec
from elrcheck.tla_export.tlc import TlcOptions, TlcRun, find_tools, run_tlc

PROGRESS = re.compile(r"([\d,]+) states generated.*?([\d,]+) distinct states found", re.S)


def burn(_: int) -> float:
    started = time.perf_counter()
    total = 0
    for i in range(6_000_000):
        total += i * i
    return time.perf_counter() - started


def control() -> float:
    """Throughput of two processes over one: how many cores this run really has."""
    alone = burn(0)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        together = max(pool.map(burn, range(2)))
    return 2 * alone / together


def tlc_distinct(run: TlcRun) -> tuple[int, int]:
    """(generated, distinct) at the end, or at the last progress report of a stopped run."""
    if run.generated is not None and run.distinct is not None and not run.timed_out:
        return run.generated, run.distinct
    found = PROGRESS.findall(run.output_tail)
    if not found:
        raise SystemExit("TLC reported no progress: give it more --seconds (it reports once a minute)")
    generated, distinct = found[-1]
    return int(generated.replace(",", "")), int(distinct.replace(",", ""))


def progress_seconds(run: TlcRun) -> float:
    """TLC reports its progress on whole minutes; a stopped run is measured up to the last one."""
    return run.seconds if not run.timed_out else run.seconds // 60 * 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", default="kip_full")
    parser.add_argument("--scope", default="three-brokers")
    parser.add_argument("--seconds", type=float, default=250.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--count-only", action="store_true")
    options = parser.parse_args()

    selected = resolve(Selection(options.variant, options.scope))
    model = load_checked_model()
    checks = () if options.count_only else (*model.always, *model.sometimes)
    print(f"control: {control():.2f} (2.0 = two quiet cores)")

    started = time.perf_counter()
    lowered = lower(model, selected.config, checks)
    search = Search(lowered.program, workers=options.workers, cache=None, limits=Limits())
    start_up = time.perf_counter() - started
    result = search.run(None, "complete")
    ours = result.distinct / result.seconds
    print(
        f"elrcheck: {result.distinct:,} distinct, {result.generated:,} generated, "
        f"complete={result.complete}, {result.seconds:.2f} s ({options.workers} workers), "
        f"start-up {start_up:.2f} s, {ours:,.0f} distinct/s"
    )

    with tempfile.TemporaryDirectory() as folder:
        write_spec(model, selected.config, Path(folder), "Rate")
        cfg = Path(folder) / "Rate.cfg"
        if options.count_only:
            cfg.write_text(cfg.read_text().split("INVARIANTS")[0])
        limits = TlcOptions(workers=options.workers, heap="6g", timeout=options.seconds, deadlock=False)
        run = run_tlc(find_tools(), Path(folder) / "Rate.tla", cfg, limits)
    generated, distinct = tlc_distinct(run)
    seconds = progress_seconds(run)
    theirs = distinct / seconds
    ended = "stopped" if run.timed_out else "complete"
    print(
        f"TLC:      {distinct:,} distinct, {generated:,} generated, {ended}, {seconds:.1f} s "
        f"({options.workers} workers), {theirs:,.0f} distinct/s"
    )
    print(f"ratio:    {ours / theirs:,.0f} times the distinct states a second")


if __name__ == "__main__":
    main()
