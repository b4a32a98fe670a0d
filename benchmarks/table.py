"""One table of engines on the same problems: elrcheck with and without reductions, C, Spin, Stateright, TLC, Python.

    python benchmarks/table.py                                   # three-brokers, and two-phase commit
    python benchmarks/table.py --quick                           # the same in small
    python benchmarks/table.py protocols --rows "elrcheck 2$|TLC 2$|Stateright 2"
    python benchmarks/table.py reductions three-brokers@acks_one=0 --rows "elrcheck 1"
    python benchmarks/table.py growth --max-states 1e5,1e6,1e7,1e8 --rows "elrcheck 2, all checks$|fingerprint"

A problem is a scope or a protocol, with settings behind an @, or the name of a group of them (rows.py). Every engine
runs in a process of its own. Each round first measures how quiet the machine is and then runs all engines one after
the other, but TLC and plain Python, which are slow, only once. Figures are medians over the rounds, factors medians of
those within a round. What cannot be measured here is named, with the reason. Exit code 1: two exact engines that search
the same differ in states or steps. See README.md.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from measure import (
    GIBI,
    MEBI,
    Child,
    Missing,
    PrintedTable,
    control,
    end_children_on_sigterm,
    machine,
    run_child,
    touch_memory,
    write_report,
)
from rows import FACTORS, GROUPS, ROWS, TableRow
from spin import MODES, read_verifier, verifier_command

HERE = Path(__file__).parent
PROTOCOLS = HERE.parent / "protocols"
LARGE = 100_000
"""Distinct states from which a problem counts for the geometric means."""
SPIN_ROUNDS = 10**8
"""Spin prints eight digits of greater numbers."""
TLC_BEGINS = re.compile(r"^Finished computing initial states")
TLC_COUNTS = re.compile(r"^(\d+) states generated, (\d+) distinct states found, 0 states left", re.M)
TIME = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"
TLC_START = re.compile(rf"^Starting\.\.\. \({TIME}\)", re.M)
TLC_PROGRESS = re.compile(rf"^Progress.*? at {TIME}: ([\d,]+) states generated.*?([\d,]+) distinct states", re.M)


@dataclass(frozen=True)
class MeasuredRun:
    """One run. seconds, cpu_seconds: of the search; process_seconds, process_cpu, peak_bytes: of the whole process.

    cut: generated states outside the bound; None if unknown. rounded: `generated`, to eight digits.
    looked_up: steps. digest: of levels and counts by action.
    """

    distinct: int
    generated: int
    seconds: float
    process_seconds: float
    process_cpu: float
    peak_bytes: int
    cut: int | None = None
    rounded: bool = False
    complete: bool = True
    cpu_seconds: float | None = None
    looked_up: int | None = None
    store_bytes_per_state: float | None = None
    digest: str | None = None

    @classmethod
    def of(cls, child: Child, values: Mapping[str, Any]) -> MeasuredRun:
        """Return the run of a process that has counted these values."""
        whole = {"process_seconds": child.seconds, "process_cpu": child.cpu_seconds, "peak_bytes": child.peak_bytes}
        names = {each.name for each in fields(cls)}
        return cls(**whole, **{name: value for name, value in values.items() if name in names})

    @property
    def steps(self) -> int:
        """Steps inside the bound, and initial states; of an engine that does not tell them apart, all steps."""
        return self.generated - (self.cut or 0)

    def agrees(self, other: MeasuredRun) -> bool:
        """Return True unless two searches differ in what both have counted."""
        bounded = {self.cut, other.cut}
        comparable = None not in bounded or 0 in bounded
        digests = {self.digest, other.digest} - {None}
        difference = abs(self.steps - other.steps)
        same = difference <= (5 * self.steps / SPIN_ROUNDS if self.rounded or other.rounded else 0)
        return self.distinct == other.distinct and (same or not comparable) and len(digests) < 2


def tlc_counts(child: Child) -> dict[str, Any]:
    """Return what TLC counted, until its last progress report if it was stopped; these come once a minute."""
    if match := TLC_COUNTS.search(child.output):
        seconds = child.seconds - (child.mark or 0.0)
        return {"generated": int(match[1]), "distinct": int(match[2]), "seconds": seconds}
    started, reports = TLC_START.search(child.output), TLC_PROGRESS.findall(child.output)
    if child.exit_code is not None:
        raise Missing(f"no counts in: {child.output[-300:]}")
    if started is None or len(reports) < 2:
        raise Missing("TLC reported no progress: give it more --tlc-seconds")
    at, *counts = reports[-1]
    generated, distinct = (int(count.replace(",", "")) for count in counts)
    seconds = (datetime.fromisoformat(at) - datetime.fromisoformat(started[1])).total_seconds()
    return {"generated": generated, "distinct": distinct, "seconds": seconds, "complete": False}


def spin_counts(child: Child) -> dict[str, Any]:
    """Return what Spin counted; its transitions stay inside the bound, and the initial state is one of them."""
    try:
        result = read_verifier(child.output)
    except ValueError as fault:
        raise Missing(str(fault)) from fault
    seconds = result.seconds or child.seconds
    steps = {"generated": result.transitions, "cut": 0, "rounded": result.transitions >= SPIN_ROUNDS}
    return {"distinct": result.stored, **steps, "seconds": seconds}


class Comparison:
    """Runs the rounds of one problem, and collects the runs by row."""

    def __init__(self, problem: str, options: argparse.Namespace, folder: Path, max_states: str) -> None:
        self.name, self.options, self.folder = f"{problem} {max_states}".strip(), options, folder
        stem, _, settings = problem.partition("@")
        self.rows = [row for row in ROWS if row.only in ("", stem) and re.search(options.rows, row.name)]
        files = [file for file in PROTOCOLS.glob(f"*/{stem}*") if file.stem == stem]
        self.selection = ["--model", str(files[0])] if files else ["--scope", stem, "--variant", options.variant]
        self.selection += [word for each in settings.split(",") if each for word in ("--set", each)]
        self.selection += ["--max-states", max_states] if max_states else []
        self.runs: dict[str, list[MeasuredRun]] = {}
        self.missing: dict[str, str] = {}
        self.commands: dict[str, list[str]] = {}
        self.versions: set[str] = set()
        self.controls: list[float] = []

    def run(self) -> None:
        for number in range(self.options.rounds):
            self.controls.append(control())
            say(f"{self.name}, round {number + 1}: control {self.controls[-1]:.2f} (2.0 = two quiet cores)")
            for row in self.rows:
                if row.name not in self.missing and (number == 0 or not row.once):
                    self._measure(row)

    def _measure(self, row: TableRow) -> None:
        touch_memory(self.options.touch * GIBI)
        try:
            one = self._run(row)
        except Missing as fault:
            self.missing[row.name] = str(fault)
            return say(f"  {row.name}: {fault}")
        self.runs.setdefault(row.name, []).append(one)
        say(f"  {row.name:34} {one.distinct:>12,} states in {one.seconds:8.3f} s")

    def _run(self, row: TableRow) -> MeasuredRun:
        """Run a row; build its engine first, if it has to be."""
        place = self.folder / f"{self.name} {row.name}".replace(" ", "-")
        place.mkdir(exist_ok=True)
        if row.job in ("compiled", "reference"):
            return MeasuredRun.of(*self._engine(row, place, "--seconds", str(self.options.reference_seconds)))
        if row.name not in self.commands:
            built = self._engine(row, place, "--storage", self.options.storage)[1]
            self.commands[row.name] = built["command"]
            self.versions.add(built["version"])
        command, limit, mark = self.commands[row.name], self.options.limit, None
        if row.job == "spin":
            distinct = max((runs[0].distinct for runs in self.runs.values()), default=LARGE)
            command = verifier_command(Path(command[0]), MODES[int(row.arguments.split()[-1])], distinct)
        elif row.job == "tlc":
            limit, mark = self.options.tlc_seconds, TLC_BEGINS
        child = run_child(command, cwd=place, timeout=limit, mark=mark)
        if child.exit_code is None and row.job != "tlc":
            raise Missing(f"stopped after {limit:g} s")
        return MeasuredRun.of(child, COUNTS.get(row.job, lambda child: json.loads(child.output))(child))

    def _engine(self, row: TableRow, place: Path, *more: str) -> tuple[Child, Mapping[str, Any]]:
        command = [sys.executable, str(HERE / "engine.py"), row.job, "--folder", str(place), *self.selection]
        child = run_child([*command, *row.arguments.split(), *more])
        values = json.loads(child.output) if child.exit_code == 0 else {"missing": child.errors[-300:]}
        if "missing" in values:
            raise Missing(values["missing"])
        return child, values

    # -- results

    def disagreements(self) -> list[str]:
        """Describe the complete searches that should have counted alike, and did not."""
        different, first = [], dict[str, tuple[TableRow, MeasuredRun]]()
        for row in self.rows:
            for run in self.runs.get(row.name, []):
                if run.complete and row.counts != "hashed":
                    other, counted = first.setdefault(row.counts, (row, run))
                    if not run.agrees(counted):
                        texts = (
                            f"{name}: {each.distinct:,} states, {each.steps:,} steps"
                            for name, each in ((row.name, run), (other.name, counted))
                        )
                        different.append(f"{self.name}: {'; '.join(texts)}")
        return different

    def factors(self) -> list[dict[str, Any]]:
        """Return what each row of `FACTORS` needs less than another one: the medians over the rounds."""
        factors = []
        for row, other, least in FACTORS:
            ones, others = self.runs.get(row), self.runs.get(other)
            if ones and others:
                pairs = [(one, others[min(k, len(others) - 1)]) for k, one in enumerate(ones)]
                whole = all(run.complete for pair in pairs for run in pair)
                fields = ("distinct", "steps", "seconds", "process_seconds", "cpu_seconds")
                rates = [b.seconds / a.seconds * a.distinct / b.distinct for a, b in pairs]
                factor = {name: _factor(pairs, name) if whole else None for name in fields}
                rate = {"rate": statistics.median(rates), "rounds": rates}
                factors.append({"of": row, "over": other, "wanted": least, **factor, **rate})
        return factors

    def report(self) -> dict[str, Any]:
        """Return everything as JSON."""
        rows = [{"row": name, "runs": [asdict(run) for run in runs]} for name, runs in self.runs.items()]
        facts = {"problem": self.name, "controls": self.controls, "versions": sorted(self.versions)}
        return {**facts, "rows": rows, "factors": self.factors(), "missing": self.missing}

    def show(self) -> None:
        """Print the rows, the factors and what is missing."""
        print(f"\n{self.name}; control: {', '.join(f'{value:.2f}' for value in self.controls)}")
        counts = (("states", 13, ",d"), ("steps", 14, ",d"), ("looked up", 10, ".1%"))
        times = (("seconds", 10, ".3f"), ("states/s", 12, ",.0f"), ("process s", 10, ".2f"), ("CPU s", 8, ".2f"))
        sizes = (("peak MiB", 10, ",.0f"), ("B/state", 10, ",.0f"), ("in store", 9, ".0f"))
        table = PrintedTable(("engine, cores", 36, ""), *counts, *times, *sizes)
        for name, runs in self.runs.items():
            last, peak = runs[-1], statistics.median(run.peak_bytes for run in runs)
            looked_up = last.looked_up and last.looked_up / max(1, last.steps - 1)
            spent = [
                statistics.median(getattr(run, what) for run in runs) for what in ("process_seconds", "process_cpu")
            ]
            seconds = statistics.median(run.seconds for run in runs)
            memory = (peak / MEBI, peak / last.distinct, last.store_bytes_per_state)
            values = (last.distinct, last.steps, looked_up, seconds, last.distinct / seconds, *spent, *memory)
            table.row(name, *values, note="" if last.complete else "  stopped")
        heads = ("states", "steps", "seconds", "process", "CPU s", "states/s")
        table = PrintedTable(("factors", 66, ""), *((head, 9, ".2f") for head in heads), ("wanted", 8, "g"))
        for factor in self.factors():
            what, over, least, *values, rounds = factor.values()
            table.row(f"{what} / {over}", *values, least, note="  " + " ".join(format(rate, ".2f") for rate in rounds))
        for name, reason in self.missing.items():
            print(f"not measured: {name}: {reason}")


COUNTS: Mapping[str, Callable[[Child], dict[str, Any]]] = {"tlc": tlc_counts, "spin": spin_counts}


def _factor(pairs: Iterable[tuple[MeasuredRun, MeasuredRun]], name: str) -> float | None:
    values = [(getattr(one, name), getattr(other, name)) for one, other in pairs]
    return statistics.median(b / a for a, b in values) if all(a and b for a, b in values) else None


def show_means(comparisons: Iterable[Comparison]) -> None:
    """Print geometric means of the factors in states a second over the large problems."""
    rates: dict[tuple[str, str], list[float]] = {}
    for each in comparisons:
        if any(run.distinct >= LARGE for runs in each.runs.values() for run in runs):
            for factor in each.factors():
                rates.setdefault((factor["of"], factor["over"]), []).append(factor["rate"])
    for (row, other), values in rates.items():
        if len(values) > 1:
            mean = statistics.geometric_mean(values)
            print(f"{row} / {other}: geometric mean of states/s {mean:.2f}, of {len(values)} problems")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help=f"or {', '.join(GROUPS)}; by default table")
    parser.add_argument("--quick", action="store_true", help="small problems, one round")
    parser.add_argument("--variant", default="kip_full", help="of the scopes")
    parser.add_argument("--rows", default="", metavar="PATTERN", help="only rows whose name this matches somewhere")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-states", default="", metavar="N,..", help="where ours and Python's searches stop")
    parser.add_argument("--tlc-seconds", type=float, default=250.0, help="TLC reports progress once a minute")
    parser.add_argument("--reference-seconds", type=float, default=20.0)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one run of C, Spin or Stateright")
    parser.add_argument("--storage", choices=("bits", "bytes"), default="bits", help="Promela variables")
    parser.add_argument("--touch", type=int, default=2, metavar="GIB", help="memory to write to before each run")
    parser.add_argument("--output", type=Path, default=Path("runs/benchmarks/table.json"))
    options = parser.parse_args(arguments)
    options.rounds = 1 if options.quick else options.rounds
    names = options.problems or ["quick" if options.quick else "table"]
    points = [
        (one, most) for name in names for one in GROUPS.get(name, (name,)) for most in options.max_states.split(",")
    ]
    end_children_on_sigterm()
    with tempfile.TemporaryDirectory() as folder:
        every = [Comparison(problem, options, Path(folder), most) for problem, most in points]
        for comparison in every:
            comparison.run()
    versions = set[str]().union(*(each.versions for each in every))
    print(", ".join(map(str, (*machine().values(), *sorted(versions)))))
    for comparison in every:
        comparison.show()
    show_means(every)
    different = [text for each in every for text in each.disagreements()]
    for text in different:
        print(f"DISAGREE: {text}")
    write_report(options.output, problems=[each.report() for each in every], disagreements=different)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
