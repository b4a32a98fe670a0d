"""Measures first commands: what a command takes with an empty cache, and again with what it left there.

    python benchmarks/first_second.py                          # this version
    python benchmarks/first_second.py --before ../other        # paired with the checkout of another version
    python benchmarks/first_second.py --command "risk --kafka 4.1 --event kill --events 1" --rounds 5

Every run is a process of its own, and every round has an empty cache. Versions take turns within a round, each with
its bytecode and the programs of a wheel written beforehand, as an installation has them; `--checkout` leaves out those
programs. `cold` begins with the empty cache, `searched` searches again with what is there (`--fresh`), `warm` asks once
more. Processor time is that of the process and its helpers. The least of all rounds is shown, which other programs have
disturbed least, and the wall time of the same run.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Child, PrintedTable, run_child, start_control, write_report

COMMANDS = ("check --scope two-brokers", "check --max-depth 1", "risk --kafka 4.1 --event kill --events 1")
ROOT = Path(__file__).resolve().parent.parent
STEPS = {"cold": (), "searched": ("--fresh",), "warm": ()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", action="append", help="arguments of elrcheck, as one text")
    parser.add_argument("--before", type=Path, help="the checkout of another version")
    parser.add_argument("--checkout", action="store_true", help="without the programs that a wheel brings along")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=ROOT / "runs" / "benchmarks" / "first_second.json")
    options = parser.parse_args()
    versions = {"this": ROOT} | ({"before": options.before.resolve()} if options.before else {})
    quiet = start_control()
    table = PrintedTable(
        ("command", 40, ""), ("version", 9, ""), ("step", 10, ""), ("CPU s", 8, ".2f"), ("s", 8, ".2f")
    )
    figures = []
    with tempfile.TemporaryDirectory(prefix="elrcheck-first-") as folder:
        packages = {name: _package(Path(folder) / name, root) for name, root in versions.items()}
        if not options.checkout:
            for place in packages.values():
                _ship_programs(place)
        for command in options.command or COMMANDS:
            best: dict[tuple[str, str], Child] = {}
            for number in range(options.rounds + 1):  # the first one writes bytecode
                for name, place in packages.items():
                    with tempfile.TemporaryDirectory(dir=folder) as cache:
                        for step, more in STEPS.items():
                            done = _run(place, Path(cache), (*shlex.split(command), *more))
                            quickest = best.get((name, step))
                            if number and (quickest is None or done.cpu_seconds < quickest.cpu_seconds):
                                best[name, step] = done
            for (name, step), done in sorted(
                best.items(), key=lambda each: (list(STEPS).index(each[0][1]), each[0][0])
            ):
                table.row(command, name, step, done.cpu_seconds, done.seconds)
                figures.append([command, name, step, done.cpu_seconds, done.seconds])
    write_report(options.json, control=quiet, rounds=options.rounds, figures=figures)
    return 0


def _package(place: Path, root: Path) -> Path:
    """Return a folder from which `elrcheck` is imported."""
    (place / "elrcheck").mkdir(parents=True)
    for entry in root.iterdir():
        (place / "elrcheck" / entry.name).symlink_to(entry)
    return place


def _ship_programs(package: Path) -> None:
    """Add the programs that the build of a wheel adds (`setup.py`)."""
    command = [sys.executable, "-m", "elrcheck.catalogue.shipped_programs", str(package / "elrcheck" / "shipped")]
    subprocess.run(command, env=_environ(package), check=True)


def _environ(package: Path) -> dict[str, str]:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environ | {"PYTHONPATH": str(package), "PYTHONPYCACHEPREFIX": str(package / "bytecode")}


def _run(package: Path, cache: Path, arguments: tuple[str, ...]) -> Child:
    environ = _environ(package) | {"ELRCHECK_CACHE_DIR": str(cache)}
    done = run_child([sys.executable, "-m", "elrcheck", *arguments], environ=environ)
    if done.exit_code not in (0, 1, 3):
        raise SystemExit(f"{' '.join(arguments)}: exit code {done.exit_code}\n{done.errors[-2000:]}")
    return done


if __name__ == "__main__":
    sys.exit(main())
