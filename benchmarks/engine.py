"""Runs one engine on one scope in this process, and prints one line of JSON.

    python benchmarks/engine.py {compiled|reference|tlc|build} [--scope S] [--set KEY=VALUE] ...

`compare.py` calls this script. seconds and cpu_seconds refer to the search alone; start_up is the time
before it, which includes lowering and compiling but not imports. `build` compiles the C search and Spin's
verifiers into --folder, and prints their paths, or why they could not be built.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from c_program import compile_c, find_compiler
from measure import add_selection, selected
from promela import promela_source
from spin import MODES, build_verifier, find_spin, spin_version

from elrcheck.base.requests import Limits
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.reference import search as reference_search
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program
from elrcheck.tla_export.module import write_spec
from elrcheck.tla_export.tlc_process import TlcOptions, TlcRun, find_tools, run_tlc

TIME = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"
STARTING = re.compile(rf"^Starting\.\.\. \({TIME}\)", re.M)
PROGRESS = re.compile(rf"^Progress.*? at {TIME}: ([\d,]+) states generated.*?([\d,]+) distinct states", re.M)
SHORTEST = 30.0


def lowered_with(model: Model, config: Any, checks: str) -> Program:
    """Lower the model with no checks, with state checks only, or with all checks."""
    program = lower(model, config, () if checks == "none" else model.checks).program
    if checks != "state":
        return program
    checks_of_states = tuple(check for check in program.checks if check.scope == "state")
    instances = tuple(dataclasses.replace(each, step_checks={}) for each in program.instances)
    return dataclasses.replace(program, checks=checks_of_states, instances=instances)


def compiled(model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    started = time.perf_counter()
    program = lowered_with(model, config, options.checks)
    settings = SearchSettings(Limits(max_states=options.max_states), options.workers)
    search = Search(program, settings, leave_out=not options.every_step)
    start_up = time.perf_counter() - started
    cpu = time.process_time()
    result = search.run(None, "complete")
    return {
        "complete": result.complete,
        "generated": result.generated,
        "distinct": result.distinct,
        "depth": len(result.levels),
        "cut": sum(result.cut),
        "seconds": result.seconds,
        "cpu_seconds": time.process_time() - cpu,
        "start_up": start_up,
        "store_bytes_per_state": result.bytes_per_state,
    }


def reference(model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    if options.checks == "none":
        model = dataclasses.replace(model, always=(), sometimes=())
    cpu = time.process_time()
    deadline = None if options.seconds is None else time.monotonic() + options.seconds
    result = reference_search(model, config, max_states=options.max_states, deadline=deadline)
    return {
        "complete": result.complete,
        "generated": result.generated,
        "distinct": result.distinct,
        "depth": len(result.levels),
        "cut": result.cut,
        "seconds": result.seconds,
        "cpu_seconds": time.process_time() - cpu,
    }


def tlc(model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Run TLC on the exported module."""
    with tempfile.TemporaryDirectory() as folder:
        write_spec(model, config, Path(folder), "Rate")
        cfg = Path(folder) / "Rate.cfg"
        if options.checks == "none":
            cfg.write_text(cfg.read_text().split("INVARIANTS")[0])
        limits = TlcOptions(workers=options.workers, heap="6g", timeout=options.seconds, deadlock=False)
        run = run_tlc(find_tools(), Path(folder) / "Rate.tla", cfg, limits)
    generated, distinct, seconds = tlc_counts(run)
    return {
        "complete": not run.timed_out,
        "generated": generated,
        "distinct": distinct,
        "depth": run.output.depth,
        "seconds": seconds,
        "version": run.output.version,
    }


def tlc_counts(run: TlcRun) -> tuple[int, int, float]:
    """Return (generated, distinct, seconds) of a run; of a stopped one, those of its last progress report.

    TLC reports progress soon after its start and then once a minute, with the time of day in seconds.
    """
    if run.output.generated is not None and run.output.distinct is not None and not run.timed_out:
        return run.output.generated, run.output.distinct, run.seconds
    started, reports = STARTING.search(run.output_tail), PROGRESS.findall(run.output_tail)
    if started is None or not reports:
        raise SystemExit("TLC reported no progress: give it more --tlc-seconds")
    at, generated, distinct = reports[-1]
    seconds = (datetime.fromisoformat(at) - datetime.fromisoformat(started[1])).total_seconds()
    if seconds < SHORTEST:
        raise SystemExit(f"TLC's last progress report came after {seconds:.0f} s: give it more --tlc-seconds")
    return int(generated.replace(",", "")), int(distinct.replace(",", "")), seconds


def build(model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Build the rivals' executables: {name: {"binary": path} or {"missing": reason}}."""
    program = lowered_with(model, config, options.checks)
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    compiler, spin = find_compiler(), find_spin()
    binaries: dict[str, Any] = {}
    if compiler is None:
        binaries["c"] = {"missing": "no C compiler found"}
    else:
        binaries["c"] = {"binary": str(compile_c(program, folder, compiler)), "version": _first_line(compiler)}
    for number, mode in enumerate(MODES if options.spin else ()):
        if spin is None or compiler is None:
            binaries[f"spin{number}"] = {"missing": "no spin found" if spin is None else "no C compiler found"}
            continue
        try:
            source = promela_source(program, options.storage)
            binary = build_verifier(source, mode, folder / f"spin{number}", spin, compiler)
            binaries[f"spin{number}"] = {"binary": str(binary), "version": spin_version(spin)}
        except (ValueError, subprocess.CalledProcessError) as fault:
            lines = str(getattr(fault, "stderr", "") or fault).strip().splitlines()
            binaries[f"spin{number}"] = {"missing": f"build failed: {lines[-1]}"}
    return binaries


def _first_line(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]


JOBS = {"compiled": compiled, "reference": reference, "tlc": tlc, "build": build}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", choices=JOBS)
    add_selection(parser, "three-brokers-small")
    parser.add_argument("--checks", choices=("none", "state", "all"), default="none")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--every-step", action="store_true", help="look up every step (docs/adr/0025)")
    parser.add_argument("--max-states", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--spin", action="store_true", help="also build Spin's verifiers")
    parser.add_argument("--storage", choices=("bits", "bytes"), default="bits")
    options = parser.parse_args()
    print(json.dumps(JOBS[options.job](*selected(options), options)))


if __name__ == "__main__":
    main()
