"""Protocols side by side: elrcheck, TLC on the exported module and, where it has the example, Stateright.

    python benchmarks/protocols.py [NAME ...] [--rounds 3] [--tlc-seconds 600] [--stateright CHECKOUT]

Every command runs in a process of its own: seconds, processor seconds and peak memory are of the whole of it, from its
start to its verdict. `first` has an empty cache, so it compiles; `again` finds the compiled kernel and searches anew.
States a second are of the search alone: of elrcheck as it reports it, of TLC from the moment that it has computed the
initial states until it ends. A round runs everything once, one after the other; the table has the medians. TLC has two
workers, as elrcheck has. Stateright is measured where its example counts the same states: build it with
`cargo build --release --example 2pc`. Its reporter looks once a second whether the search has ended, so only its
processor seconds are compared: with those of the whole command, and with those of its search, which are what it takes
more than `start`, the same command with `--max-depth 1`. Ratios are those of `again`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

from measure import MEBI, Child, PrintedTable, run_child, start_control, write_report

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "runs" / "benchmarks" / "protocols.json"
LARGE = 100_000
"""Distinct states from which a protocol counts for the geometric means."""
CASES: Mapping[str, tuple[str, ...]] = {
    "peterson": (),
    "two_phase": (),
    "paxos": (),
    "paxos_voting": (),
    "disruptor": (),
    "nbac_guerraoui": (),
    "crdt": (),
    "reusable_barrier": (),
    "atomic_commit": (),
    "disruptor_writers": (),
    "simple_regular": (),
    "two_phase@7": ("rms=7",),
    "ewd998": (),
    "btree": (),
    "raft": (),
    "paxos_commit": (),
    "two_phase@8": ("rms=8",),
    "multi_paxos": (),
    "fast_paxos": (),
    "snapshot_store@3": ("transactions=3",),
    "two_phase@9": ("rms=9",),
}
"""Name of a row -> settings; the file is what stands before the @."""
TLC_BEGINS = re.compile(r"^Finished computing initial states")
TLC_COUNTS = re.compile(r"^(\d+) states generated, (\d+) distinct states found, 0 states left", re.M)
STATERIGHT_COUNTS = re.compile(r"Done\. states=(\d+), unique=(\d+)")


@dataclass(frozen=True)
class CountedRun:
    """A finished command with what it counted, and the seconds of its search alone."""

    child: Child
    generated: int
    distinct: int
    searched: float


def main() -> int:
    """Run the rounds, and print the table; exit code 1 if two of the tools count differently."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}; by default all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tlc-seconds", type=float, default=600.0, help="a longer run of TLC is left out")
    parser.add_argument("--stateright", type=Path, help="a checkout in which the example 2pc is built")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in CASES]:
        parser.error(f"unknown: {', '.join(unknown)}")
    quiet = [start_control()]
    runs: dict[tuple[str, str], list[CountedRun]] = {}
    for number in range(options.rounds):
        for name in options.names or CASES:
            for tool, counted in _round(name, options):
                runs.setdefault((name, tool), []).append(counted)
                print(f"round {number + 1}: {name} {tool} {counted.child.seconds:.2f} s", file=sys.stderr)
    quiet.append(start_control())
    rows = [_row(name, runs) for name in options.names or CASES]
    _print(rows)
    write_report(REPORT, rounds=options.rounds, control=quiet, rows=rows)
    different = [row["name"] for row in rows if not row["same"]]
    if different:
        print(f"counts differ: {', '.join(map(str, different))}")
    return 1 if different else 0


def _round(name: str, options: argparse.Namespace) -> Iterator[tuple[str, CountedRun]]:
    stem, settings = name.partition("@")[0], CASES[name]
    (file,) = (ROOT / "protocols").glob(f"*/{stem}.py")
    model = ["--model", str(file), *(w for each in settings for w in ("--set", each))]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        environ = {**os.environ, "ELRCHECK_CACHE_DIR": str(folder / "cache"), "XDG_CACHE_HOME": str(folder / "xdg")}
        check = [*_elrcheck(), "--no-progress", "check", "--fresh", *model, "--format", "json"]
        for tool in ("first", "again"):
            yield tool, _elrcheck_counted(_finished(check, folder, environ))
        yield "start", _elrcheck_counted(_finished([*check, "--max-depth", "1"], folder, environ, expected=3))
        _finished([*_elrcheck(), "export", "spec", *model, "--out", str(folder / "tla")], folder, environ)
        tlc = _tlc(folder / "tla", options.tlc_seconds)
        if tlc is not None:
            yield "tlc", tlc
    example = None if options.stateright is None else options.stateright / "target" / "release" / "examples" / "2pc"
    if stem == "two_phase" and example is not None:
        managers = settings[0].partition("=")[2] if settings else "3"
        child = _finished([str(example), "check", managers], ROOT, dict(os.environ))
        yield "stateright", _read(STATERIGHT_COUNTS, child, child.output + child.errors)


def _elrcheck() -> list[str]:
    return [sys.executable, "-m", "elrcheck"]


def _finished(command: Sequence[str], folder: Path, environ: Mapping[str, str], expected: int = 0) -> Child:
    child = run_child(command, cwd=folder, environ=environ)
    if child.exit_code != expected:
        raise SystemExit(f"{' '.join(command)}: exit code {child.exit_code}\n{child.errors[-2000:]}")
    return child


def _elrcheck_counted(child: Child) -> CountedRun:
    search = json.loads(child.output)["search"]
    return CountedRun(child, search["generated"], search["distinct"], search["seconds"])


def _tlc(folder: Path, seconds: float) -> CountedRun | None:
    """Run TLC on the module in a folder; None if it takes too long."""
    from elrcheck.tla_export.tlc_process import find_tools

    tools, (module,) = find_tools(), folder.glob("*.tla")
    java = [str(tools.java.path), "-XX:+UseParallelGC", "-Xmx6g", "-cp", str(tools.jar), "tlc2.TLC"]
    child = run_child([*java, "-workers", "2", "-deadlock", module.name], cwd=folder, timeout=seconds, mark=TLC_BEGINS)
    return None if child.exit_code is None else _read(TLC_COUNTS, child, child.output)


def _read(counts: re.Pattern[str], child: Child, text: str) -> CountedRun:
    match = counts.search(text)
    if match is None:
        raise SystemExit(f"no counts in:\n{text[-2000:]}")
    return CountedRun(child, int(match[1]), int(match[2]), child.seconds - (child.mark or 0.0))


def _row(name: str, runs: Mapping[tuple[str, str], Sequence[CountedRun]]) -> dict[str, object]:
    tools = {tool: every for (row, tool), every in runs.items() if row == name}
    counts = {tool: (every[0].generated, every[0].distinct) for tool, every in tools.items() if tool != "start"}
    ours = counts["again"]
    # Stateright counts other steps as generated ones, so only distinct states are compared with it.
    same = all(each == ours if tool != "stateright" else each[1] == ours[1] for tool, each in counts.items())
    return {
        "name": name,
        "same": same,
        "generated": ours[0],
        "distinct": ours[1],
        "tools": {
            tool: {
                "seconds": median(one.child.seconds for one in every),
                "cpu_seconds": median(one.child.cpu_seconds for one in every),
                "peak_mib": median(one.child.peak_bytes for one in every) / MEBI,
                "states_a_second": median(one.distinct / one.searched for one in every),
            }
            for tool, every in tools.items()
        },
    }


HEADS = (
    ("first s", ".2f"),
    ("again s", ".2f"),
    ("CPU s", ".2f"),
    ("MiB", ".0f"),
    ("states/s", ",.0f"),
    ("TLC s", ".2f"),
    ("CPU s", ".2f"),
    ("MiB", ".0f"),
    ("states/s", ",.0f"),
    ("TLC/again", ".1f"),
    ("in CPU", ".1f"),
    ("states/s", ".1f"),
    ("Stateright CPU s", ".2f"),
    ("in CPU", ".1f"),
    ("in search CPU", ".1f"),
)
MEASURES = ("seconds", "cpu_seconds", "peak_mib", "states_a_second")


def _print(rows: Sequence[Mapping[str, object]]) -> None:
    table = PrintedTable(
        ("protocol", 18, ""), ("distinct", 11, ","), *((head, max(10, len(head) + 2), form) for head, form in HEADS)
    )
    ratios: dict[str, list[float]] = {}
    for row in rows:
        tools, distinct = row["tools"], row["distinct"]
        assert isinstance(tools, dict) and isinstance(distinct, int)
        again, none = tools["again"], dict.fromkeys(MEASURES)
        tlc, stateright = tools.get("tlc", none), tools.get("stateright", none)
        compared = {
            "TLC, whole command": _ratio(tlc["seconds"], again["seconds"]),
            "TLC, processor seconds": _ratio(tlc["cpu_seconds"], again["cpu_seconds"]),
            "TLC, states a second": _ratio(again["states_a_second"], tlc["states_a_second"]),
            "Stateright, processor seconds": _ratio(stateright["cpu_seconds"], again["cpu_seconds"]),
            "Stateright, processor seconds of the search": _ratio(
                stateright["cpu_seconds"], again["cpu_seconds"] - tools["start"]["cpu_seconds"]
            ),
        }
        *with_tlc, with_stateright, with_its_search = compared.values()
        ours, theirs = [again[one] for one in MEASURES], [tlc[one] for one in MEASURES]
        seconds = tools["first"]["seconds"]
        with_rust = stateright["cpu_seconds"], with_stateright, with_its_search
        table.row(row["name"], distinct, seconds, *ours, *theirs, *with_tlc, *with_rust)
        if distinct >= LARGE:
            for what, ratio in compared.items():
                ratios.setdefault(what, []).extend([] if ratio is None else [ratio])
    for what, values in ratios.items():
        if values:
            many = f"{len(values)} with {LARGE:,} distinct states or more"
            print(f"geometric mean of {many}, {what}: {geometric_mean(values):.1f}")


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one / other


if __name__ == "__main__":
    sys.exit(main())
