"""Compares elrcheck, plain Python, TLC, Spin and C on the same scope of the same model, on one machine.

    python benchmarks/compare.py [--scope S] [--rounds 3] [--tlc-seconds 130] [--skip tlc,spin,reference,c]

Every engine runs in its own process. Each round first measures how quiet the machine is, and then runs all
compiled engines one after the other; reference Python and TLC, which are slow, run once. Figures are
medians over the rounds, ratios are medians of the ratios within a round. Prints a table and writes the same
data as JSON. The exit code is 1 if two exact engines disagree on the number of states. See README.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from measure import (
    MEBI,
    Child,
    PrintedTable,
    add_selection,
    control,
    end_children_on_sigterm,
    machine,
    run_child,
    write_report,
)
from spin import MODES, Mode, read_verifier, verifier_command

HERE = Path(__file__).parent
OURS = "elrcheck"
EVERY = f"{OURS} 1, every step"
REDUCED = f"{OURS} 2, all checks, --reduce"
REDUCE = ("--set", "skips_no_news=true", "--set", "forgets=true")
# (ours, theirs, minimum ratio of the rates)
RATIOS = (
    (f"{OURS} 1", "C 1", 1.5),
    (EVERY, "C 1", None),
    (f"{OURS} 1, state checks", "C 1, state checks", 0.8),
    (f"{OURS} 1", "Spin depth-first 1", 2.0),
    (f"{OURS} 1", "Spin breadth-first 1", 2.0),
    (f"{OURS} 2", "Spin depth-first 2", 2.0),
    (f"{OURS} 2", "Spin breadth-first 2", 2.0),
    (f"{OURS} 2", "TLC 2", 500.0),
    (f"{OURS} 1", "Python 1", 40.0),
    (f"{OURS} 2", f"{OURS} 1", None),
)


@dataclass(frozen=True)
class MeasuredRun:
    """One run. seconds and cpu_seconds refer to the search, peak_bytes to the whole process."""

    distinct: int
    transitions: int | None
    seconds: float
    cpu_seconds: float | None
    peak_bytes: int
    complete: bool
    store_bytes_per_state: float | None = None
    start_up: float | None = None
    generated: int | None = None

    @property
    def steps_rate(self) -> float | None:
        """Generated states a second, where the engine counts them."""
        return self.generated / self.seconds if self.generated and self.seconds else None

    @property
    def rate(self) -> float:
        return self.distinct / self.seconds if self.seconds else 0.0

    @property
    def cpu_rate(self) -> float | None:
        return self.distinct / self.cpu_seconds if self.cpu_seconds else None


class Missing(Exception):
    """Raised for an engine that cannot be used here, with the reason."""


def engine(options: argparse.Namespace, job: str, *more: str) -> tuple[dict[str, Any], Child]:
    """Run engine.py; return its output and the finished child process."""
    selection = ["--variant", options.variant, "--scope", options.scope]
    for override in options.overrides:
        selection += ["--set", override]
    child = run_child([sys.executable, str(HERE / "engine.py"), job, *selection, *more])
    if child.exit_code != 0:
        raise Missing(child.errors.strip().splitlines()[-1] if child.errors.strip() else "failed")
    return json.loads(child.output), child


def sample_of(result: dict[str, Any], child: Child) -> MeasuredRun:
    """Build a sample from the JSON of engine.py or of the C search."""
    cut = result.get("cut")
    return MeasuredRun(
        distinct=result["distinct"],
        transitions=None if cut is None else result["generated"] - cut,
        seconds=result["seconds"],
        cpu_seconds=result.get("cpu_seconds"),
        peak_bytes=child.peak_bytes,
        complete=result.get("complete", True),
        store_bytes_per_state=result.get("store_bytes_per_state"),
        start_up=result.get("start_up"),
        generated=result.get("generated"),
    )


def run_engine(options: argparse.Namespace, job: str, *more: str) -> MeasuredRun:
    return sample_of(*engine(options, job, *more))


def run_c(binary: str, limit: float) -> MeasuredRun:
    child = run_child([binary], timeout=limit)
    if child.exit_code != 0:
        raise Missing(f"the C search failed: {child.errors.strip()}")
    return sample_of(json.loads(child.output), child)


def run_spin(binary: str, mode: Mode, expected: int, limit: float) -> MeasuredRun:
    command = verifier_command(Path(binary), mode, expected)
    child = run_child(command, cwd=Path(binary).parent, timeout=limit)
    if child.exit_code is None:
        raise Missing(f"stopped after {limit:g} s")
    try:
        result = read_verifier(child.output)
    except ValueError as fault:
        raise Missing(str(fault)) from fault
    cpu = child.cpu_seconds if mode.cores == 1 else None
    seconds = result.seconds or child.seconds
    return MeasuredRun(result.stored, result.transitions, seconds, cpu, child.peak_bytes, True)


class Comparison:
    """Runs the rounds of one scope, and collects their samples."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.skip = set(options.skip.split(","))
        self.samples: dict[str, list[MeasuredRun]] = {}
        self.missing: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.controls: list[float] = []
        self.inexact = {f"Spin {mode.name} {mode.cores}" for mode in MODES if not mode.exact}

    def run(self) -> None:
        binaries = self._build()
        for number in range(self.options.rounds):
            self.controls.append(control())
            say(f"round {number + 1}: control {self.controls[-1]:.2f} (2.0 = two quiet cores)")
            self._round(binaries)
        for name, job, more in self._slow():
            self._try(name, partial(run_engine, self.options, job, *more))

    def _build(self) -> dict[str, dict[str, str]]:
        """Build the executables; return them by name."""
        binaries: dict[str, dict[str, str]] = {}
        if "c" not in self.skip or "spin" not in self.skip:
            say("building C and Spin")
            more: tuple[str, ...] = () if "spin" in self.skip else ("--spin",)
            more += ("--folder", str(self.folder / "none"), "--storage", self.options.storage)
            binaries = engine(self.options, "build", *more)[0]
        if "c" in self.skip:
            binaries.pop("c", None)
        else:
            more = ("--folder", str(self.folder / "state"), "--checks", "state")
            binaries["c, state checks"] = engine(self.options, "build", *more)[0]["c"]
        for entry in binaries.values():
            if "version" in entry:
                version = entry["version"]
                self.versions["spin" if "Spin" in version else "c"] = version
        return binaries

    def _round(self, binaries: dict[str, dict[str, str]]) -> None:
        def ours(workers: int, checks: str) -> Callable[[], MeasuredRun]:
            more = ("--workers", str(workers), "--checks", checks)
            return lambda: run_engine(self.options, "compiled", *more)

        self._try(f"{OURS} 1", ours(1, "none"))
        self._try(EVERY, lambda: run_engine(self.options, "compiled", "--workers", "1", "--every-step"))
        expected = self.samples[f"{OURS} 1"][0].distinct
        for key, name in (("c", "C 1"), ("spin0", ""), ("spin1", "")):
            self._rival(binaries, key, name, expected)
        self._try(f"{OURS} 2", ours(2, "none"))
        for key in ("spin2", "spin3"):
            self._rival(binaries, key, "", expected)
        self._try(f"{OURS} 1, state checks", ours(1, "state"))
        self._rival(binaries, "c, state checks", "C 1, state checks", expected)
        self._try(f"{OURS} 2, all checks", ours(2, "all"))
        more = ("--workers", "2", "--checks", "all", *REDUCE)
        self._try(REDUCED, lambda: run_engine(self.options, "compiled", *more))

    def _rival(self, binaries: dict[str, dict[str, str]], key: str, name: str, expected: int) -> None:
        if key not in binaries:
            return
        entry = binaries[key]
        if key.startswith("spin"):
            mode = MODES[int(key[4:])]
            name = f"Spin {mode.name} {mode.cores}"
        if "missing" in entry:
            self.missing[name] = entry["missing"]
        elif key.startswith("spin"):
            self._try(name, lambda: run_spin(entry["binary"], mode, expected, self.options.limit))
        else:
            self._try(name, lambda: run_c(entry["binary"], self.options.limit))

    def _slow(self) -> list[tuple[str, str, tuple[str, ...]]]:
        jobs: list[tuple[str, str, tuple[str, ...]]] = []
        if "reference" not in self.skip:
            jobs.append(("Python 1", "reference", ("--seconds", str(self.options.reference_seconds))))
        if "tlc" not in self.skip:
            jobs.append(("TLC 2", "tlc", ("--workers", "2", "--seconds", str(self.options.tlc_seconds))))
        return jobs

    def _try(self, name: str, run: Callable[[], MeasuredRun]) -> None:
        try:
            sample = run()
        except Missing as fault:
            if name.startswith(OURS):
                raise SystemExit(f"{name}: {fault}") from fault
            self.missing[name] = str(fault)
            return
        say(f"  {name:28} {sample.distinct:>12,} distinct in {sample.seconds:8.3f} s")
        self.samples.setdefault(name, []).append(sample)

    # -- results

    def disagreements(self) -> list[str]:
        """Describe the complete and exact searches whose counts differ from ours."""
        ours = self.samples[f"{OURS} 1"][0]
        return [
            f"{name}: {one.distinct:,} states, {one.transitions} transitions inside the bound;"
            f" elrcheck: {ours.distinct:,}, {ours.transitions}"
            for name, samples in self.samples.items()
            for one in samples
            if one.complete and ours.complete and name not in self.inexact and name != REDUCED
            if one.distinct != ours.distinct or (one.transitions is not None and one.transitions != ours.transitions)
        ]

    def ratios(self) -> list[dict[str, Any]]:
        """Return medians of the ratios within a round; a rival that ran once is compared with every round."""
        ratios = []
        for ours, theirs, least in RATIOS:
            mine, others = self.samples.get(ours), self.samples.get(theirs)
            if not mine or not others:
                continue
            pairs = [(a, others[min(k, len(others) - 1)]) for k, a in enumerate(mine)]
            cpu = [a.cpu_rate / b.cpu_rate for a, b in pairs if a.cpu_rate and b.cpu_rate]
            ratios.append(
                {
                    "of": ours,
                    "over": theirs,
                    "wanted": least,
                    "rounds": [round(a.rate / b.rate, 3) for a, b in pairs],
                    "median": statistics.median(a.rate / b.rate for a, b in pairs),
                    "median_per_cpu_second": statistics.median(cpu) if len(cpu) == len(pairs) else None,
                }
            )
        return ratios

    def report(self) -> dict[str, Any]:
        rows = [
            {
                "engine": name,
                "distinct": samples[-1].distinct,
                "complete": samples[-1].complete,
                "exact": name not in self.inexact,
                "seconds": statistics.median(one.seconds for one in samples),
                "distinct_per_second": statistics.median(one.rate for one in samples),
                "distinct_per_cpu_second": _median([one.cpu_rate for one in samples]),
                "steps_per_second": _median([one.steps_rate for one in samples]),
                "peak_bytes": max(one.peak_bytes for one in samples),
                "peak_bytes_per_state": max(one.peak_bytes for one in samples) / samples[-1].distinct,
                "store_bytes_per_state": samples[-1].store_bytes_per_state,
                "samples": [asdict(one) for one in samples],
            }
            for name, samples in self.samples.items()
        ]
        return {
            "versions": self.versions,
            "variant": self.options.variant,
            "scope": self.options.scope,
            "overrides": self.options.overrides,
            "controls": self.controls,
            "rows": rows,
            "ratios": self.ratios(),
            "missing": self.missing,
            "disagreements": self.disagreements(),
        }


def _median(values: list[float | None]) -> float | None:
    measured = [value for value in values if value is not None]
    return statistics.median(measured) if measured else None


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def show(report: dict[str, Any]) -> None:
    """Print the report as text."""
    print(f"{report['variant']} {report['scope']} {' '.join(report['overrides'])}".rstrip())
    print(", ".join(str(value) for value in (*machine().values(), *report["versions"].values())))
    print("control: " + ", ".join(f"{value:.2f}" for value in report["controls"]) + "\n")
    rates = (("states/s", 12, ",.0f"), ("per CPU s", 12, ",.0f"), ("steps/s", 13, ",.0f"))
    sizes = (("peak MiB", 10, ",.0f"), ("B/state", 12, ",.0f"), ("in store", 9, ".0f"))
    table = PrintedTable(("engine, cores", 28, ""), ("distinct", 13, ",d"), ("seconds", 10, ".3f"), *rates, *sizes)
    for row in report["rows"]:
        fields = ("distinct_per_second", "distinct_per_cpu_second", "steps_per_second")
        memory = (row["peak_bytes"] / MEBI, row["peak_bytes_per_state"], row["store_bytes_per_state"])
        note = ("" if row["complete"] else "  stopped") + ("" if row["exact"] else "  stores hashes only")
        values = (row["engine"], row["distinct"], row["seconds"], *(row[field] for field in fields), *memory)
        table.row(*values, note=note)
    print()
    table = PrintedTable(
        ("ratio of states/s", 52, ""), ("median", 8, ".2f"), ("per CPU s", 11, ".2f"), ("wanted", 8, "g")
    )
    for ratio in report["ratios"]:
        rounds = "  " + " ".join(format(value, ".2f") for value in ratio["rounds"])
        values = (ratio["median"], ratio["median_per_cpu_second"], ratio["wanted"])
        table.row(f"{ratio['of']} / {ratio['over']}", *values, note=rounds)
    for name, reason in report["missing"].items():
        print(f"not measured: {name}: {reason}")
    for text in report["disagreements"]:
        print(f"DISAGREE: {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_selection(parser, "three-brokers-small")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tlc-seconds", type=float, default=130.0, help="TLC reports progress once a minute")
    parser.add_argument("--reference-seconds", type=float, default=20.0)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one run of C or Spin")
    parser.add_argument("--storage", choices=("bits", "bytes"), default="bits", help="Promela variables")
    parser.add_argument("--skip", default="", metavar="NAME,..", help="any of tlc, spin, reference, c")
    parser.add_argument("--output", type=Path, default=Path("runs/benchmarks/compare.json"))
    options = parser.parse_args()
    if unknown := set(filter(None, options.skip.split(","))) - {"tlc", "spin", "reference", "c"}:
        parser.error(f"--skip: unknown engine {', '.join(sorted(unknown))}")
    end_children_on_sigterm()
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options, Path(folder))
        comparison.run()
    report = comparison.report()
    show(report)
    write_report(options.output, **report)
    sys.exit(1 if report["disagreements"] else 0)


if __name__ == "__main__":
    main()
