"""Builds and runs the verifier that Spin generates from a Promela model.

All modes check safety without partial-order reduction, which has nothing to reduce with one process, and
store vectors uncompressed (NOCOMP), which was faster. The parallel breadth-first mode has no exact form: it
stores 4-byte hashes and may therefore miss states.

Spin rejects hidden variables in its breadth-first and multi-core modes because it would not restore them.
Our models write them before they read them, within one step, so the check is removed from the generated
code; the number of stored states shows that this is sound. Option -o2 keeps Spin from dropping variables
that are never read from the state.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

DEPTH = 10_000
BASE = ("-march=native", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOCOMP")


@dataclass(frozen=True)
class Mode:
    """A search mode of Spin. flags: for the C compiler; arguments: for the verifier.

    counts: `all` states, or those whose `hashed` fingerprints differ.
    """

    name: str
    cores: int
    counts: str
    flags: tuple[str, ...]
    arguments: tuple[str, ...] = ()


MODES = (
    Mode("depth-first", 1, "all", ()),
    Mode("breadth-first", 1, "all", ("-DBFS",)),
    Mode("depth-first", 2, "all", ("-DNCORE=2", "-DMEMLIM=8000")),
    Mode("breadth-first", 2, "hashed", ("-DBFS_PAR",), ("-u2",)),
)


@dataclass(frozen=True)
class SpinResult:
    """Spin's counts. transitions: those inside the bound, plus one for the initial state; from 10^8 on, rounded."""

    stored: int
    transitions: int
    depth: int
    seconds: float
    vector_bytes: int


def find_spin() -> str | None:
    return shutil.which("spin")


def spin_version(spin: str) -> str:
    return subprocess.run([spin, "-V"], capture_output=True, text=True).stdout.strip()


def build_verifier(source: str, mode: Mode, folder: Path, spin: str, compiler: str, optimise: str = "-O3") -> Path:
    """Build the verifier of one mode in the folder; raise CalledProcessError if that fails."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.pml").write_text(source)
    subprocess.run([spin, "-a", "-o2", "model.pml"], cwd=folder, check=True, capture_output=True, text=True)
    for name in ("pan.h", "pan.c"):
        text = (folder / name).read_text()
        (folder / name).write_text(re.sub(r"^\s*#error cannot use .*hidden.*$", "", text, flags=re.M))
    command = [compiler, optimise, *BASE, *mode.flags, "-o", "pan", "pan.c"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return folder / "pan"


def verifier_command(binary: Path, mode: Mode, expected: int) -> list[str]:
    """Return the command to run it: deadlocks are not errors, and the table starts at the right size."""
    slots = max(10, expected.bit_length() + 1)
    return [str(binary), "-E", f"-m{DEPTH}", f"-w{slots}", *mode.arguments]


def read_verifier(output: str) -> SpinResult:
    """Parse the verifier's output; raise ValueError if the search was cut short or a figure is missing."""
    if "max search depth too small" in output or "Search not completed" in output:
        raise ValueError("Spin did not complete its search")

    def number(pattern: str) -> float:
        figures = re.findall(pattern, output)
        if not figures:
            raise ValueError(f"Spin's output does not match {pattern!r}:\n{output[-2000:]}")
        return float(figures[-1])

    return SpinResult(
        stored=int(number(r"([\d.e+]+) states, stored")),
        transitions=int(number(r"([\d.e+]+) transitions")),
        depth=int(number(r"depth reached (\d+)")),
        seconds=number(r"elapsed time ([\d.e+]+)"),
        vector_bytes=int(number(r"State-vector (\d+) byte")),
    )
