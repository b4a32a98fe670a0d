"""Runs or prepares one engine for `table.py`, and prints one line of JSON.

    python benchmarks/engine.py {compiled|reference|c|spin|stateright|tlc} [--scope S | --model FILE] [--set K=V] ...

`compiled` and `reference` search in this process; seconds and cpu_seconds are of the search alone. The other engines
are built in --folder, and what is printed is their command. Instead of either, `missing` says what is not there.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from c_program import compile_c, find_compiler
from measure import LevelFolder, Missing, add_selection, selected
from promela import promela_source
from spin import MODES, build_verifier, find_spin, spin_version

from elrcheck.base.errors import ElrError
from elrcheck.base.requests import Limits
from elrcheck.checking.engines import demand_renamings
from elrcheck.explorer.kernel.native_code import KernelCache
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.explorer.search.reference import search as reference_search
from elrcheck.lang.load import Model
from elrcheck.lang.lowering.leaf_images import up_to_renaming
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program import Program
from elrcheck.tla_export.spec import write_spec
from elrcheck.tla_export.tlc_process import find_tools

RUST = Path(__file__).parent / "stateright"


def program_of(model: Model, config: Any, options: argparse.Namespace) -> Program:
    """Lower the model with no checks, with state checks only, or with all checks; up to renaming if --symmetry."""
    lowered = lower(model, config, () if options.checks == "none" else model.checks)
    program = (up_to_renaming(lowered) if options.symmetry else lowered).program
    if options.checks != "state":
        return program
    checks_of_states = tuple(check for check in program.checks if check.scope == "state")
    instances = tuple(dataclasses.replace(each, step_checks={}) for each in program.instances)
    return dataclasses.replace(program, checks=checks_of_states, instances=instances)


def compiled(model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    limits, keeper = Limits(max_states=options.max_states), LevelFolder() if options.fingerprint else None
    settings = SearchSettings(limits, options.workers, KernelCache(), options.fingerprint, keeper)
    search = Search(program_of(model, config, options), settings, leave_out=not options.every_step)
    cpu = time.process_time()
    result = search.run(None, "complete")
    facts = (result.levels, result.enabled, result.cut, result.new_states, result.leaf_values)
    return {
        "complete": result.complete,
        "generated": result.generated,
        "distinct": result.distinct,
        "cut": sum(result.cut),
        "seconds": result.seconds,
        "cpu_seconds": time.process_time() - cpu,
        "looked_up": search.crew.looked_up,
        "store_bytes_per_state": result.bytes_per_state,
        "digest": hashlib.sha256(repr(facts).encode()).hexdigest(),
    }


def reference(model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    if options.checks == "none":
        model = dataclasses.replace(model, always=(), sometimes=())
    cpu = time.process_time()
    deadline = None if options.seconds is None else time.monotonic() + options.seconds
    limits = {"max_states": options.max_states, "deadline": deadline, "symmetry": options.symmetry}
    result = reference_search(model, config, **limits)
    return {
        "complete": result.complete,
        "generated": result.generated,
        "distinct": result.distinct,
        "cut": result.cut,
        "seconds": result.seconds,
        "cpu_seconds": time.process_time() - cpu,
    }


def c(model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    binary = compile_c(program_of(model, config, options), options.folder, compiler := _compiler())
    return {"command": [str(binary)], "version": _output(compiler, "--version").splitlines()[0]}


def spin(model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    spin = find_spin()
    if spin is None:
        raise Missing("spin")
    source = promela_source(program_of(model, config, options), options.storage)
    binary = build_verifier(source, MODES[options.mode], options.folder, spin, _compiler())
    return {"command": [str(binary)], "version": spin_version(spin)}


def stateright(_model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Build the Rust program, which stays where Cargo puts it."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise Missing("cargo")
    place = RUST / "target"
    _output(cargo, "build", "--release", "--manifest-path", str(RUST / "Cargo.toml"))
    how = "symmetric" if options.symmetry else "all"
    command = [str(place / "release" / "two-phase-commit"), str(config.rms), str(options.workers), how]
    pinned = re.search(r'stateright = "=(.*)"', (RUST / "Cargo.toml").read_text())
    return {"command": command, "version": f"Stateright {pinned and pinned[1]}"}


def tlc(model: Model, config: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Write the module."""
    tools, name = find_tools(), "Table"
    write_spec(model, config, options.folder, name, symmetry=options.symmetry)
    cfg = options.folder / f"{name}.cfg"
    if options.checks == "none":
        cfg.write_text(re.sub(r"^(INVARIANTS?|PROPERT(Y|IES))\b[^\n]*(\n\s+\S+)*\n?", "", cfg.read_text(), flags=re.M))
    java = [str(tools.java.path), "-XX:+UseParallelGC", "-Xmx6g", "-cp", str(tools.jar), "tlc2.TLC"]
    return {"command": [*java, "-workers", str(options.workers), "-deadlock", f"{name}.tla"], "version": tools.jar.name}


def _compiler() -> str:
    compiler = find_compiler()
    if compiler is None:
        raise Missing("a C compiler")
    return compiler


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


JOBS = {job.__name__: job for job in (compiled, reference, c, spin, stateright, tlc)}


def outcome(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the job prints."""
    try:
        model, config = selected(options)
        if options.symmetry and (options.job == "compiled" or not model.symmetric_sorts):
            demand_renamings(model, config)  # others have no limit
        return JOBS[options.job](model, config, options)
    except (ElrError, Missing, ValueError, subprocess.CalledProcessError) as fault:
        lines: Sequence[str] = str(getattr(fault, "stderr", "") or fault).strip().splitlines()
        return {"missing": lines[-1] if isinstance(fault, subprocess.CalledProcessError) else lines[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", choices=JOBS)
    add_selection(parser, "three-brokers-small")
    parser.add_argument("--checks", choices=("none", "state", "all"), default="none")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--every-step", action="store_true", help="look up every step (docs/adr/0025)")
    parser.add_argument("--symmetry", action="store_true", help="one state for all that renaming makes of it")
    parser.add_argument("--mode", type=int, default=0, help="of Spin, by number (spin.py)")
    parser.add_argument("--storage", choices=("bits", "bytes"), default="bits", help="Promela variables")
    parser.add_argument("--fingerprint", type=int, choices=(0, 64, 128), default=0)
    parser.add_argument("--max-states", type=lambda text: int(float(text)))
    parser.add_argument("--seconds", type=float, help="of plain Python")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.folder is not None:
        options.folder = options.folder.resolve()
        os.chdir(options.folder)
    print(json.dumps(outcome(options)))


if __name__ == "__main__":
    main()
